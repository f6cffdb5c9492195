"""Options and output that several commands share."""

import json
import sys
from typing import NoReturn

from django.core.management.base import CommandError
from django.core.validators import slug_re

from annotation.formats.summary import LIMIT, DatasetImportError, ImportSummary
from annotation.management.base import SiteCommand
from annotation.models import Project


def project_of(slug: str | None) -> Project | None:
    """Return the project of this slug, not yet stored if it is new; None without a slug.

    An import stores a new project together with its dataset. Raises CommandError.
    """
    if slug is None:
        return None
    if not slug_re.match(slug):
        raise CommandError(f"{slug!r} is no name of a project: letters, digits and hyphens are.")
    return Project.objects.filter(slug=slug).first() or Project(slug=slug, title=slug)


class ImportCommand(SiteCommand):
    """Command that imports a dataset, and prints its summary or its errors."""

    def print_summary(self, summary: ImportSummary, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(summary.as_dict(), ensure_ascii=False, indent=1))
        else:
            self.stdout.write(f"{summary}\n\n{summary.seconds:.1f} s")

    def refuse(self, failed: DatasetImportError, *, as_json: bool) -> NoReturn:
        """Print the errors of an import that changed nothing, and exit with 1."""
        if as_json:
            errors = [problem.as_dict() for problem in failed.problems]
            self.stdout.write(json.dumps({"errors": errors}, ensure_ascii=False))
        else:
            for problem in failed.problems:
                self.stderr.write(str(problem))
            if len(failed.problems) >= LIMIT:
                self.stderr.write(f"There may be more: reading stopped after {LIMIT} errors.")
            self.stderr.write("Nothing was imported.")
        sys.exit(1)
