"""Text edits with their effect on judges' replies, by the page and by imports."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q

from annotation.adjudication import decisions
from annotation.models import Campaign, Dataset, Text, User, Version
from annotation.participation import rating_sync
from annotation.text.edit_undo import undo_edit
from annotation.text.reanchoring import TextOrQuestion
from annotation.text.versions import TextEditError, edit_wording, lock_for_edit, set_grades_count
from judging.execution.background import ACTIVE_STATES
from judging.models import Attempt


@transaction.atomic
def edit_text(
    entity: TextOrQuestion,
    body: str,
    *,
    by: User | None,
    why: str,
    counts: bool,
    seen: str | None = None,
    is_from_file: bool = False,
) -> Version:
    """Edit a text or question, as `reword`. Raises TextEditError, TextEditConflictError.

    Replies of judges stop counting if existing grades do. A pending decision about an earlier wording counts
    if that wording is restored.

    A decision that waited, as it is about earlier words, counts if these are the words that come.
    """
    lock_for_edit(entity, seen)
    refuse_while_judging(entity.dataset if isinstance(entity, Text) else entity.topic.dataset)
    version = edit_wording(
        entity, body, by=by, reason=why, counts=counts, is_from_file=is_from_file
    )
    if not counts:
        attempts_at(entity).stop_counting()
    decisions.recompute_decision_ratings(entity)
    return version


@transaction.atomic
def set_grades_valid(
    version: Version, *, counts: bool, by: User | None, seen: str | None = None
) -> None:
    """Set whether earlier grades count, as `choose`, with replies of judges.

    Also with people's answers to a closed campaign.

    Raises TextEditError while a judge is at work, and TextEditConflictError.
    """
    entity = version.entity
    lock_for_edit(entity, seen)
    refuse_while_judging(version.dataset)
    if not set_grades_count(version, counts=counts, by=by):
        return
    attempts = attempts_at(entity)
    attempts.count_again() if counts else attempts.stop_counting()
    rating_sync.recompute_ratings(entity)
    decisions.recompute_decision_ratings(entity)


@transaction.atomic
def undo_text_edit(version: Version) -> None:
    """Undo the last edit, as `give_back`, with the replies of judges to that wording."""
    entity, counted = version.entity, version.counts
    lock_for_edit(entity)
    undo_edit(version)
    if not counted:
        attempts_at(entity).count_again()
    # Since the edit, people may have withdrawn grades, or decided about words that are gone again now.
    rating_sync.recompute_ratings(entity)
    decisions.recompute_decision_ratings(entity)


def recheck_edits(dataset: Dataset, since: int) -> None:
    """Raise TextEditError if wordings replaced since a version key are in use again.

    An import takes long, and meanwhile a campaign may open or a judge begin.
    """
    refuse_while_judging(dataset)
    reworded = (
        Q(items__text__versions__pk__gt=since)
        | Q(items__equal_texts__text__versions__pk__gt=since)
        | Q(items__asked__question__versions__pk__gt=since)
    )
    active_campaigns = Campaign.objects.published().exclude(state=Campaign.State.CLOSED)
    if campaign := active_campaigns.filter(reworded, dataset=dataset).first():
        raise TextEditError(
            f"The campaign {campaign} was opened in the meantime, with the old text."
        )


def attempts_at(entity: TextOrQuestion) -> Any:
    """Return the attempts of judges at a text, or under a question."""
    return Attempt.objects.filter(**{"text" if isinstance(entity, Text) else "question": entity})


def refuse_while_judging(dataset: Dataset) -> None:
    """Raise TextEditError while a judging run of the dataset is at work."""
    run = dataset.judge_runs.filter(state__in=ACTIVE_STATES).first()
    if run:
        raise TextEditError(
            f"The {run} is running: pause it first, so that it uses only one version."
        )
