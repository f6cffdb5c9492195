"""How an export of a campaign calls people, staff and times, and which answers it holds.

The anonymous one names workers and staff by a keyed hash, and gives times as days. What could
lead back to a person is not in it: ids of platforms, notes, keys, and the seeds and orders that
come from a rater's name. What is typed by people has an apostrophe before a sign that a
spreadsheet would take for a formula.
"""

import hashlib
import hmac
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.db.models import F, Max

from annotation.exporters.cells import safe
from annotation.models import Answer, Campaign, User

Cells = dict[str, Any]

PRIVATE = {
    "external_id": "ids that platforms gave to people, and whom links were for",
    "study_id": "ids of studies on a platform",
    "session_id": "ids of submissions on a platform",
    "seed": "the seeds of people's own orders, which come from their names",
    "position": "the places in people's own orders",
    "key": "the keys that browsers gave to answers",
    "note": "notes, which are free text",
    "detail": "the details of the log, which are free text",
}
PAGE = 2000  # rows read at once


class Names:
    """How an export calls people and times; and which answers were there when it began."""

    def __init__(self, campaign: Campaign, anonymous: bool) -> None:
        self.campaign = campaign
        self.anonymous = anonymous
        stays = campaign.participants.order_by().values_list("pk", "rater__name")
        self.worker = {pk: self._shown("rater", name) for pk, name in stays}
        answers = Answer.objects.filter(assignment__participant__campaign=campaign)
        self.last = answers.aggregate(last=Max("pk"))["last"] or 0

    def _shown(self, kind: str, name: str) -> str:
        if not self.anonymous:
            return safe(name)
        key = self.campaign.salt.encode()
        return hmac.new(key, f"{kind}:{name}".encode(), hashlib.sha256).hexdigest()[:16]

    def staff(self, by: User | None) -> str:
        """Who did something; empty for a scheduled command, and for an account that is gone."""
        return self._shown("user", by.username) if by else ""

    def moment(self, at: datetime | None) -> str:
        if at is None:
            return ""
        at = at.astimezone(UTC)
        return str(at.date()) if self.anonymous else at.isoformat()

    def workers(self) -> list[int]:
        """The participants in the order of their printed names."""
        return sorted(self.worker, key=lambda pk: self.worker[pk])

    def answers(self, pk: int) -> Iterator[Cells]:
        """A participant's answers, item by item, oldest first, as bare rows: there are many."""
        found = Answer.objects.filter(assignment__participant=pk, pk__lte=self.last)
        return (
            found.order_by("assignment__item__position", "pk")
            .values(
                *("grade", "spans", "text_sha256", "key", "active_ms", "created", "late"),
                at=F("assignment__item__position"),
                state=F("assignment__state"),
                check=F("check_asked__position"),
                question_index=F("question__position"),
                question_body=F("question__body"),
            )
            .iterator(chunk_size=PAGE)
        )
