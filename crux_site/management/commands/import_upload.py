"""manage.py import_upload FOLDER: subprocess of the import page."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import SiteCommand
from crux_site.imports.uploads import Upload


class Command(SiteCommand):
    help = (
        "Look at an upload, or store it: the page Import starts this. By hand, take import_dataset."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--store", default="", metavar="DIGEST", help="of the preview")

    def handle(self, *args: Any, **options: Any) -> None:
        Upload(options["folder"]).read(previewed=options["store"])
