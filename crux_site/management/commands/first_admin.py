"""manage.py first_admin: print the address at which the first admin is created."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.base import SiteCommand
from crux_site.login import first_admin_token


class Command(SiteCommand):
    help = "Print the address, with its one-time token, at which the first admin is created."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--site",
            default=first_admin_token.site_address(),
            help="address of the site (%(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not first_admin_token.is_site_empty():
            raise CommandError("There is an account already: log in, or run createsuperuser.")
        self.stdout.write(first_admin_token.first_admin_url(options["site"]))
