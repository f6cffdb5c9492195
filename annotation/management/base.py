"""Base class of the site's management commands."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.db_version import snapshot
from annotation.errors import UserError


class SiteCommand(BaseCommand):
    """Command that ends with the text of a UserError, and exit code 1."""

    expected_errors: tuple[type[Exception], ...] = ()
    """Further exceptions that end this command with their text, such as OSError."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        expected: tuple[type[Exception], ...] = (UserError, *self.expected_errors)
        try:
            return super().execute(*args, **options)
        except expected as error:
            raise CommandError(str(error)) from error


class ReadOnlyCommand(SiteCommand):
    """Command that reads one state of the database, and writes nothing to it."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        with snapshot():
            return super().execute(*args, **options)
