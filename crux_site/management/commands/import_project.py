"""manage.py import_project FILE.zip"""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.validators import slug_re

from annotation.management.base import SiteCommand
from crux_site.imports.importing import DatasetImportError
from crux_site.imports.projects import import_project


class Command(SiteCommand):
    help = (
        "Read a project that export_project wrote: all of its datasets or nothing. Reading it again "
        "changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH", help="the archive, or its folder")
        parser.add_argument(
            "--project", default="", metavar="SLUG", help="its name here, if not that of the file"
        )
        parser.add_argument("--dry-run", action="store_true", help="report what would change")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["project"]
        if slug and not slug_re.match(slug):
            raise CommandError(
                f"{slug!r} is no name of a project: letters, digits and hyphens are."
            )
        try:
            summaries = import_project(options["path"], slug=slug, dry_run=options["dry_run"])
        except DatasetImportError as failed:
            for problem in failed.problems:
                self.stderr.write(str(problem))
            self.stderr.write("Nothing was imported.")
            sys.exit(1)
        for dataset, summary in summaries.items():
            self.stdout.write(f"{dataset}\n{summary}\n")
