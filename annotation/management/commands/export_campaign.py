"""manage.py export_campaign SLUG OUT [--anonymous]"""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.base import SiteCommand
from annotation.models import Campaign
from annotation.monitoring.export import write_archive, write_folder


class Command(SiteCommand):
    help = "Write what came of a campaign as tables: who took part, every answer, the labels."
    expected_errors = (OSError,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="SLUG")
        parser.add_argument(
            "out", metavar="OUT", help="a new folder, or a file that ends with .zip"
        )
        parser.add_argument(
            "--anonymous",
            action="store_true",
            help="people by a hash, times as days, no ids of platforms, no notes",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = Campaign.objects.filter(slug=options["campaign"]).first()
        if campaign is None:
            slugs = ", ".join(Campaign.objects.order_by("slug").values_list("slug", flat=True))
            raise CommandError(
                f"There is no campaign {options['campaign']}. There are: {slugs or 'none'}."
            )
        out = Path(options["out"])
        write = write_archive if out.suffix == ".zip" else write_folder
        write(campaign, out, anonymous=options["anonymous"])
        self.stdout.write(f"{campaign} is in {out}.")
