"""manage.py expire_leases: for a scheduler, every few minutes."""

from typing import Any

from annotation.management.base import SiteCommand
from annotation.models import Campaign
from annotation.monitoring.actions import return_overdue
from annotation.plurals import n_of


class Command(SiteCommand):
    help = "Return the untouched items of parts whose time is over, in all open campaigns."

    def handle(self, *args: Any, **options: Any) -> None:
        for campaign in Campaign.objects.filter(state=Campaign.State.OPEN).order_by("pk"):
            n = return_overdue(campaign, by=None)
            if n:
                self.stdout.write(f"{campaign.slug}: {n_of(n, 'item')} returned.")
