"""manage.py export_project SLUG --out FILE.zip"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.base import SiteCommand
from annotation.models import Project
from crux_site.datasets.export_scope import EXPORT_OMISSIONS
from crux_site.exports.folders import zipped
from crux_site.exports.projects import export_project


class Command(SiteCommand):
    help = "Write all datasets of a project as one archive, or as a folder, for import_project."
    expected_errors = (OSError,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="SLUG")
        parser.add_argument(
            "--out",
            type=Path,
            required=True,
            help="a new file that ends with .zip, or a new folder",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']}.")
        out: Path = options["out"]
        if out.suffix == ".zip":
            if out.exists():
                raise CommandError(f"{out} is there already.")
            with TemporaryDirectory() as parent:
                folder = Path(parent) / project.slug
                summaries = export_project(project, folder)
                zipped(folder, out)
        else:
            summaries = export_project(project, out)
        for slug, summary in summaries.items():
            self.stdout.write(f"{slug}\n{summary}\n")
        self.stdout.write("Not carried:")
        for sentence in EXPORT_OMISSIONS:
            self.stdout.write(f"  {sentence}")
