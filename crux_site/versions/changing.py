"""New words, and what judges said to the old ones: a page and an import change words by this alone."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q

from annotation.adjudication import decisions
from annotation.models import Campaign, Dataset, Text, User, Version
from annotation.participation import counting
from annotation.text.carrying import Worded
from annotation.text.versions import RewordingRefused, choose, lock, reword
from annotation.text.words_back import give_back
from judging.engine.background import GOING
from judging.models import Attempt


@transaction.atomic
def change(
    thing: Worded, body: str, *, by: User | None, why: str, counts: bool, seen: str | None = None
) -> Version:
    """As `reword`; replies of judges stop counting with grades that do. Raises RewordingRefused, EditConflict.

    A decision that waited, as it is about earlier words, counts if these are the words that come.
    """
    lock(thing, seen)
    nobody_judges(thing.dataset if isinstance(thing, Text) else thing.topic.dataset)
    version = reword(thing, body, by=by, why=why, counts=counts)
    if not counts:
        attempts_at(thing).count_no_more()
    decisions.level(thing)
    return version


@transaction.atomic
def choose_again(
    version: Version, *, counts: bool, by: User | None, seen: str | None = None
) -> None:
    """As `choose`, for replies of judges too, and for what people answered to a campaign that is closed.

    Raises RewordingRefused while a judge is at work, and EditConflict.
    """
    thing = version.thing
    lock(thing, seen)
    nobody_judges(version.dataset)
    if not choose(version, counts=counts, by=by):
        return
    attempts = attempts_at(thing)
    attempts.count_again() if counts else attempts.count_no_more()
    counting.level(thing)
    decisions.level(thing)


@transaction.atomic
def take_back(version: Version) -> None:
    """Let a thing have its last words again, as `give_back`, with the replies of judges to these."""
    thing, counted = version.thing, version.counts
    lock(thing)
    give_back(version)
    if not counted:
        attempts_at(thing).count_again()
    # Since the edit, people may have withdrawn grades, or decided about words that are gone again now.
    counting.level(thing)
    decisions.level(thing)


def check_again(dataset: Dataset, since: int) -> None:
    """Raises RewordingRefused if somebody needs old words by now, of versions with a greater key than `since`.

    An import takes long, and meanwhile a campaign may open or a judge begin.
    """
    nobody_judges(dataset)
    reworded = Q(items__text__versions__pk__gt=since) | Q(
        items__asked__question__versions__pk__gt=since
    )
    going_on = Campaign.objects.published().exclude(state=Campaign.State.CLOSED)
    if campaign := going_on.filter(reworded, dataset=dataset).first():
        raise RewordingRefused(f"The campaign {campaign} was opened meanwhile, with the old words.")


def attempts_at(thing: Worded) -> Any:
    """What judges replied about a text, or under a question."""
    return Attempt.objects.filter(**{"text" if isinstance(thing, Text) else "question": thing})


def nobody_judges(dataset: Dataset) -> None:
    """Raises RewordingRefused while a judge run of the dataset is at work."""
    run = dataset.judge_runs.filter(state__in=GOING).first()
    if run:
        raise RewordingRefused(f"The {run} is at work: pause it first, so that it asks one thing.")
