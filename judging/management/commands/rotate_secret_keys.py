"""Encrypt the stored keys of model servers again, under the newest of JUDGE_SECRET_KEYS."""

from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from annotation.management.base import SiteCommand
from judging.engine.secrets import rotate
from judging.llm.errors import BackendError
from judging.models import Endpoint


class Command(SiteCommand):
    help = (
        "Encrypt the stored keys of model servers again, under the first key of JUDGE_SECRET_KEYS. Afterwards "
        "the others can be deleted."
    )

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        rows = Endpoint.objects.select_for_update(of=("self",)).exclude(encrypted_key="")
        n = 0
        for row in rows.select_related("project").order_by("pk"):
            try:
                row.encrypted_key = rotate(row.encrypted_key)
            except BackendError as error:
                raise CommandError(f"{row.reference}: {error} Nothing is changed.") from None
            row.save(update_fields=["encrypted_key"])
            n += 1
        self.stdout.write(f"{n} key{'s' if n != 1 else ''} encrypted again.")
