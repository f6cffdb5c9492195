"""Creation of judges, which are immutable, and the lexical baseline of a dataset."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction

from annotation.errors import UserError
from annotation.models import Dataset, Rater, Rubric, Text
from annotation.models.standard import CITATION_SUPPORT, GRADED, STANDARD, add_standard
from annotation.unique import check_again_if_taken
from judging.graders.lexical import BaselineGrader, LexicalGrader
from judging.grading.spec import STAND_IN
from judging.models import Judge


class JudgeError(UserError):
    """A judge that cannot be made; the message can be shown to a person."""


def levels_of(rubric: Rubric) -> list[list[Any]]:
    """Return the grades of a rubric with their labels, ascending, as a judge stores them.

    The label is the level's name, if it has one.
    """
    return [[level.grade, level.name or level.label] for level in rubric.levels.order_by("grade")]


def make_judge(slug: str, *, kind: str = Rater.Kind.MODEL, **fields: Any) -> Judge:
    """Store a new judge with a rater of its name and kind. `fields` are those of Judge.

    What asks the stand-in for a model is a baseline, whoever makes it and whatever it is called. The
    rubric's levels are taken as they are now, where `fields` do not give them.

    Raises JudgeError if a judge with the same fingerprint is there, naming it, if the name is another
    rater's, or if its rubric has no grade for what it counts without one.
    """
    if fields.get("model") == STAND_IN:
        kind = Rater.Kind.BASELINE
    if fields["rubric"].is_multi_label:
        raise JudgeError(
            f"{fields['rubric']} is multi-label, and a judge gives one grade to each pair: ask about "
            "each label under a rubric of its own."
        )
    fields.setdefault("levels", levels_of(fields["rubric"]))
    judge = Judge(**fields)
    if judge.failure_policy == Judge.FailurePolicy.ZERO and 0 not in judge.spec.grades:
        raise JudgeError(
            f"{judge.rubric} has no grade 0 that a reply without a grade could count as."
        )
    check = partial(_check_new, judge.spec.fingerprint, slug)
    check()
    with check_again_if_taken(check):
        judge.rater = Rater.objects.create(name=slug, kind=kind)
        judge.save()
    return judge


def _check_new(fingerprint: str, slug: str) -> None:
    if existing := Judge.objects.filter(fingerprint=fingerprint).first():
        raise JudgeError(f"The judge {existing.slug} has exactly the same settings.")
    if Rater.objects.filter(dataset=None, name=slug).exists():
        raise JudgeError(f"The name {slug} is taken by another judge: choose another name.")


def find_judge(slug: str, dataset: Any) -> Judge | None:
    """Return the judge of this name that may judge a dataset.

    A judge of the dataset itself comes before one of the whole site.
    """
    candidates = Judge.objects.filter(rater__name=slug).select_related("rater", "rubric")
    return (
        candidates.filter(rater__dataset=dataset).first()
        or candidates.filter(rater__dataset=None).first()
    )


SLUG = "lexical"
# The rubrics that it can grade under, by what it is called there: grades from 0 up, of a text and a question.
BASELINES = {SLUG: GRADED.slug, f"{SLUG}-{CITATION_SUPPORT.slug}": CITATION_SUPPORT.slug}
_BATCH = 2_000


def baseline_of(dataset: Dataset, slug: str = SLUG) -> tuple[Judge, BaselineGrader]:
    """Return the baseline judge of a dataset, created if there is none, and its grader.

    `slug` is one of BASELINES. Other passages give other idf weights, and so another judge: the first
    has this name, a later one carries the beginning of its fingerprint, as does one whose name a model
    of a file has taken.
    """
    judge, grader = fit_baseline(dataset, BASELINES[slug])
    fingerprint = judge.spec.fingerprint
    if existing := Judge.objects.filter(fingerprint=fingerprint).select_related("rater").first():
        return existing, grader
    name = slug
    namesakes = Rater.objects.filter(dataset=dataset, name=name)
    if namesakes.exclude(kind=Rater.Kind.BASELINE, judge=None).exists():
        name = f"{slug}-{fingerprint[:8]}"
    judge.rater, _ = Rater.objects.get_or_create(
        dataset=dataset, name=name, defaults={"kind": Rater.Kind.BASELINE}
    )
    try:
        with transaction.atomic():
            judge.save(force_insert=True)
    except IntegrityError:
        # Somebody else has made it meanwhile; or one of other passages, which has taken the name.
        return baseline_of(dataset, slug)
    return judge, grader


def baseline_under(rubric: str) -> str:
    """Return the name in BASELINES of the baseline that grades under a rubric."""
    return next(name for name, slug in BASELINES.items() if slug == rubric)


def fit_baseline(dataset: Dataset, rubric: str) -> tuple[Judge, BaselineGrader]:
    """Fit the current baseline of a dataset, as an unsaved judge without a rater."""
    bodies = dataset.texts.with_body().filter(kind=Text.Kind.PASSAGE).order_by("pk")
    texts = bodies.values_list("body", flat=True).iterator(_BATCH)
    lexical = LexicalGrader.fit(body for body in texts if body is not None)
    standard_rubric = add_standard(STANDARD[rubric])
    levels = levels_of(standard_rubric)
    judge = Judge(
        rubric=standard_rubric,
        levels=levels,
        backend=Judge.Backend.LEXICAL,
        model="idf-weighted coverage of question terms",
        revision=f"{dataset.slug}:{_hash(lexical)}",
        parser="lexical-1",
    )
    return judge, BaselineGrader(lexical, len(levels))


def _hash(lexical: LexicalGrader) -> str:
    """Return a hash of the document frequencies, the corpus's only effect on a grade."""
    frequencies = sorted(lexical.document_frequency.items())
    return hashlib.sha256(repr((lexical.documents, frequencies)).encode()).hexdigest()[:16]
