"""A study of twelve texts with participants in all states, and a decision, to export."""

from uuid import uuid4

from annotation.models import Campaign, Decision, Participant
from annotation.monitoring import actions
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import make_study
from tests.toolbox.users import Cast, make_cast


def new_study() -> Campaign:
    study = make_study(texts=12)
    study.refresh_from_db()
    return study


def make_filled() -> tuple[dict[str, Participant], Cast]:
    """The people by status, and the cast."""
    study, cast = new_study(), make_cast()
    by_status = participant_states.fill(study)
    actions.extend(by_status["working"], 5, cast.admin)
    item_question = study.items.first().asked.first()
    Decision.objects.create(
        item=item_question.item,
        question=item_question.question,
        key=uuid4(),
        grade=1,
        spans=[{"start": 0, "end": 6, "quote": "Report"}],
        note="-plain to see",
        by=cast.admin,
    )
    return by_status, cast
