"""The lexical baseline of a dataset: a judge of its own, since its idf weights are that dataset's."""

import hashlib

from django.db import IntegrityError, transaction

from annotation.models import Dataset, Rater, Rubric, Text
from judging.engine.judges import levels_of
from judging.graders.baseline import BaselineGrader
from judging.graders.lexical import LexicalGrader
from judging.models import Judge

SLUG = "lexical"
_BATCH = 2_000


def baseline_of(dataset: Dataset) -> tuple[Judge, BaselineGrader]:
    """The baseline judge of a dataset, made if there is none, and its grader.

    Other passages give other idf weights, and so another judge: the first is called "lexical", a later
    one carries the beginning of its fingerprint, as does one whose name a model of a file has taken.
    """
    judge, grader = fitted(dataset)
    fingerprint = judge.spec.fingerprint
    if there := Judge.objects.filter(fingerprint=fingerprint).select_related("rater").first():
        return there, grader
    name = SLUG
    named = Rater.objects.filter(dataset=dataset, name=SLUG)
    if named.exclude(kind=Rater.Kind.BASELINE, judge=None).exists():
        name = f"{SLUG}-{fingerprint[:8]}"
    judge.rater, _ = Rater.objects.get_or_create(
        dataset=dataset, name=name, defaults={"kind": Rater.Kind.BASELINE}
    )
    try:
        with transaction.atomic():
            judge.save()
    except IntegrityError:  # somebody else has made it meanwhile
        judge = Judge.objects.select_related("rater").get(fingerprint=fingerprint)
    return judge, grader


def fitted(dataset: Dataset) -> tuple[Judge, BaselineGrader]:
    """What the baseline of a dataset is now, as a judge that is not stored and has no rater."""
    bodies = dataset.texts.with_body().filter(kind=Text.Kind.PASSAGE).order_by("pk")
    words = bodies.values_list("body", flat=True).iterator(_BATCH)
    lexical = LexicalGrader.fit(body for body in words if body is not None)
    rubric = Rubric.objects.get(slug="graded")
    judge = Judge(
        rubric=rubric,
        levels=levels_of(rubric),
        backend=Judge.Backend.LEXICAL,
        model="idf-weighted coverage of question terms",
        revision=f"{dataset.slug}:{_hash(lexical)}",
        parser="lexical-1",
    )
    return judge, BaselineGrader(lexical)


def _hash(lexical: LexicalGrader) -> str:
    """Of the document frequencies, which are all that the corpus gives to a grade."""
    frequencies = sorted(lexical.document_frequency.items())
    return hashlib.sha256(repr((lexical.documents, frequencies)).encode()).hexdigest()[:16]
