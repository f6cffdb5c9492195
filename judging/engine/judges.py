"""Making judges (a changed word is a new one), and the lexical baseline of a dataset."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction

from annotation.models import Dataset, Rater, Rubric, Text
from annotation.models.standard import CITATION_SUPPORT, GRADED, STANDARD, add_standard
from annotation.unique import check_again_if_taken
from judging.graders.lexical import BaselineGrader, LexicalGrader
from judging.grading.spec import STAND_IN
from judging.models import Judge


class JudgeRefused(ValueError):
    """A judge that cannot be made; the message can be shown to a person."""


def levels_of(rubric: Rubric) -> list[list[Any]]:
    """The grades of a rubric with their words, ascending, as a judge keeps them: one word, if there is one."""
    return [[level.grade, level.name or level.label] for level in rubric.levels.order_by("grade")]


def make_judge(slug: str, *, kind: str = Rater.Kind.MODEL, **fields: Any) -> Judge:
    """Store a new judge with a rater of its name and kind. `fields` are those of Judge.

    What asks the stand-in for a model is a baseline, whoever makes it and whatever it is called. The
    rubric's levels are taken as they are now, where `fields` do not give them.

    Raises JudgeRefused if a judge with the same fingerprint is there, naming it, if the name is another
    rater's, or if its rubric has no grade for what it counts without one.
    """
    if fields.get("model") == STAND_IN:
        kind = Rater.Kind.BASELINE
    fields.setdefault("levels", levels_of(fields["rubric"]))
    judge = Judge(**fields)
    if judge.failure_policy == Judge.FailurePolicy.ZERO and 0 not in judge.spec.grades:
        raise JudgeRefused(
            f"{judge.rubric} has no grade 0 that a reply without a grade could count as."
        )
    check = partial(_check_new, judge.spec.fingerprint, slug)
    check()
    with check_again_if_taken(check):
        judge.rater = Rater.objects.create(name=slug, kind=kind)
        judge.save()
    return judge


def _check_new(fingerprint: str, slug: str) -> None:
    if there := Judge.objects.filter(fingerprint=fingerprint).first():
        raise JudgeRefused(f"This is the judge {there.slug}: nothing in it is different.")
    if Rater.objects.filter(dataset=None, name=slug).exists():
        raise JudgeRefused(f"The name {slug} is taken: judges never change, so choose another.")


def find_judge(slug: str, dataset: Any) -> Judge | None:
    """The judge of this name that may judge a dataset: its own first, then one known everywhere."""
    named = Judge.objects.filter(rater__name=slug).select_related("rater", "rubric")
    return named.filter(rater__dataset=dataset).first() or named.filter(rater__dataset=None).first()


SLUG = "lexical"
# The rubrics that it can grade under, by what it is called there: grades from 0 up, of a text and a question.
BASELINES = {SLUG: GRADED.slug, f"{SLUG}-{CITATION_SUPPORT.slug}": CITATION_SUPPORT.slug}
_BATCH = 2_000


def baseline_of(dataset: Dataset, called: str = SLUG) -> tuple[Judge, BaselineGrader]:
    """The baseline judge of a dataset, made if there is none, and its grader.

    `called` is one of BASELINES. Other passages give other idf weights, and so another judge: the first
    has this name, a later one carries the beginning of its fingerprint, as does one whose name a model
    of a file has taken.
    """
    judge, grader = fitted(dataset, BASELINES[called])
    fingerprint = judge.spec.fingerprint
    if there := Judge.objects.filter(fingerprint=fingerprint).select_related("rater").first():
        return there, grader
    name = called
    named = Rater.objects.filter(dataset=dataset, name=name)
    if named.exclude(kind=Rater.Kind.BASELINE, judge=None).exists():
        name = f"{called}-{fingerprint[:8]}"
    judge.rater, _ = Rater.objects.get_or_create(
        dataset=dataset, name=name, defaults={"kind": Rater.Kind.BASELINE}
    )
    try:
        with transaction.atomic():
            judge.save(force_insert=True)
    except IntegrityError:
        # Somebody else has made it meanwhile; or one of other passages, which has taken the name.
        return baseline_of(dataset, called)
    return judge, grader


def baseline_under(rubric: str) -> str:
    """Which of BASELINES grades under a rubric."""
    return next(name for name, slug in BASELINES.items() if slug == rubric)


def fitted(dataset: Dataset, rubric: str) -> tuple[Judge, BaselineGrader]:
    """What the baseline of a dataset is now, as a judge that is not stored and has no rater."""
    bodies = dataset.texts.with_body().filter(kind=Text.Kind.PASSAGE).order_by("pk")
    words = bodies.values_list("body", flat=True).iterator(_BATCH)
    lexical = LexicalGrader.fit(body for body in words if body is not None)
    under = add_standard(STANDARD[rubric])
    levels = levels_of(under)
    judge = Judge(
        rubric=under,
        levels=levels,
        backend=Judge.Backend.LEXICAL,
        model="idf-weighted coverage of question terms",
        revision=f"{dataset.slug}:{_hash(lexical)}",
        parser="lexical-1",
    )
    return judge, BaselineGrader(lexical, len(levels))


def _hash(lexical: LexicalGrader) -> str:
    """Of the document frequencies, which are all that the corpus gives to a grade."""
    frequencies = sorted(lexical.document_frequency.items())
    return hashlib.sha256(repr((lexical.documents, frequencies)).encode()).hexdigest()[:16]
