"""Making judges. A changed word is a new judge, and the same words are the same one."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from annotation.models import Rater, Rubric
from judging.grading.spec import STAND_IN
from judging.models import Judge


class JudgeRefused(ValueError):
    """A judge that cannot be made; the message can be shown to a person."""


def levels_of(rubric: Rubric) -> list[list[Any]]:
    """The grades of a rubric with their words, ascending, as a judge keeps them."""
    return [list(level) for level in rubric.levels.order_by("grade").values_list("grade", "label")]


def make_judge(slug: str, *, kind: str = Rater.Kind.MODEL, **fields: Any) -> Judge:
    """Store a new judge with a rater of its name and kind. `fields` are those of Judge.

    What asks the stand-in for a model is a baseline, whoever makes it and whatever it is called. The
    rubric's levels are taken as they are now, where `fields` do not give them.

    Raises JudgeRefused if a judge with the same fingerprint is there, naming it, or if the name is
    another rater's.
    """
    if fields.get("model") == STAND_IN:
        kind = Rater.Kind.BASELINE
    fields.setdefault("levels", levels_of(fields["rubric"]))
    judge = Judge(**fields)
    if there := Judge.objects.filter(fingerprint=judge.spec.fingerprint).first():
        raise JudgeRefused(f"This is the judge {there.slug}: nothing in it is different.")
    if Rater.objects.filter(dataset=None, name=slug).exists():
        raise JudgeRefused(f"The name {slug} is taken: judges never change, so choose another.")
    try:
        with transaction.atomic():
            judge.rater = Rater.objects.create(name=slug, kind=kind)
            judge.save()
    except IntegrityError:
        raise JudgeRefused(f"The judge {slug} was just made by somebody else.") from None
    return judge


def find_judge(slug: str, dataset: Any) -> Judge | None:
    """The judge of this name that may judge a dataset: its own first, then one known everywhere."""
    named = Judge.objects.filter(rater__name=slug).select_related("rater", "rubric")
    return named.filter(rater__dataset=dataset).first() or named.filter(rater__dataset=None).first()
