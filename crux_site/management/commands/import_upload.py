"""manage.py import_upload FOLDER: what the page Import starts."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from crux_site.imports.uploads import Upload


class Command(BaseCommand):
    help = (
        "Look at an upload, or store it: the page Import starts this. By hand, take import_dataset."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--store", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        Upload(options["folder"]).read(stores=options["store"])
