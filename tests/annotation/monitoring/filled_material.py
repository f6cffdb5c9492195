"""A study of twelve texts with somebody in every state, and one decision: what an export has to tell."""

from uuid import uuid4

from annotation.models import Campaign, Decision, Participant
from annotation.monitoring import actions
from tests import field
from tests.conftest import Cast, make_cast
from tests.crowd import make_study


def new_study() -> Campaign:
    study = make_study(texts=12)
    study.refresh_from_db()
    return study


def make_filled() -> tuple[dict[str, Participant], Cast]:
    """The people by status, and the cast."""
    study, cast = new_study(), make_cast()
    by_status = field.fill(study)
    actions.extend(by_status["working"], 5, cast.admin)
    asked = study.items.first().asked.first()
    Decision.objects.create(
        item=asked.item,
        question=asked.question,
        key=uuid4(),
        grade=1,
        spans=[{"start": 0, "end": 6, "quote": "Report"}],
        note="-plain to see",
        by=cast.admin,
    )
    return by_status, cast
