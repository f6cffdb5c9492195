"""Certificates of judges: the ratings they were computed from, and their states."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from django.db.models import Max
from numpy.typing import NDArray

from annotation.models import Campaign, Dataset, Rater, Rubric, SubQuestion, Text
from annotation.plurals import n_of
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.filter_line import Phrase
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.data.ratings import RatingMatrix, load
from evaluation.data.selection import Selection, SelectionError, select
from evaluation.models import Certificate

DIGEST = 6  # hexadecimal digits of the digest of a rating: enough to tell those of a topic apart
MAX_NAMES = 3  # topics that a reason names
Digests = Mapping[str, str]  # by the key of a topic


@dataclass(frozen=True)
class TestedRatings:
    """The ratings that a test reads: pairs with grades of two people and of the judge."""

    matrix: RatingMatrix

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Return which items of the matrix are tested."""
        n_people = (~np.isnan(self.matrix.grades)).sum(axis=1)
        return np.asarray((n_people >= 2) & ~np.isnan(self.matrix.judge))

    @property
    def topics(self) -> list[int]:
        return list(dict.fromkeys(self.matrix.topic[self.mask].tolist()))

    def rows(self) -> Iterable[tuple[int, int, int, int, int]]:
        """Yield topic, rater, text, question and grade of each rating."""
        matrix, selection = self.matrix, self.matrix.selection
        judge = selection.judge
        assert judge is not None
        columns = [*((rater.pk, matrix.grades[:, n]) for n, rater in enumerate(selection.raters))]
        for rater, grades in [*columns, (judge.pk, matrix.judge)]:
            for item in np.flatnonzero(self.mask & ~np.isnan(grades)).tolist():
                yield (
                    int(matrix.topic[item]),
                    rater,
                    int(matrix.text[item]),
                    int(matrix.question[item]),
                    int(grades[item]),
                )

    def grade_digests(self) -> dict[str, str]:
        """Return the sorted digests of the ratings of each topic, one after the other."""
        lines: dict[str, set[str]] = defaultdict(set)
        for topic, *rating in self.rows():
            lines[str(topic)].add(" ".join(map(str, rating)))
        return _digests(lines)

    @cached_property
    def _bodies(self) -> tuple[dict[int, str], dict[int, str]]:
        """Return the digests of texts and of questions, by their keys."""
        texts = Text.objects.filter(pk__in=set(self.matrix.text[self.mask].tolist()))
        questions = SubQuestion.objects.filter(pk__in=set(self.matrix.question[self.mask].tolist()))
        return dict(texts.values_list("pk", "sha256")), {
            pk: hashlib.sha256(body.encode()).hexdigest()
            for pk, body in questions.values_list("pk", "body")
        }

    def text_digests(self) -> dict[str, str]:
        """Return the sorted digests of the texts and questions of each topic."""
        texts, questions = self._bodies
        lines: dict[str, set[str]] = defaultdict(set)
        for topic, _, text, question, _ in self.rows():
            lines[str(topic)] |= {f"t{text} {texts[text]}", f"q{question} {questions[question]}"}
        return _digests(lines)

    def data_hash(self) -> str:
        """Return the SHA-256 of the sorted lines: rater, rubric, text, question, grade.

        Texts and questions are the SHA-256 of their words, so another site has the same hash.
        """
        texts, questions = self._bodies
        selection = self.matrix.selection
        judge = selection.judge
        assert judge is not None
        names = {rater.pk: (rater.name, selection.rubric.slug) for rater in selection.raters}
        names[judge.pk] = (judge.name, selection.judge_rubric.slug)
        return _sha256(
            "\t".join([*names[rater], texts[text], questions[question], str(grade)])
            for _, rater, text, question, grade in self.rows()
        )


def _digests(lines: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {
        topic: "".join(
            sorted(hashlib.sha256(line.encode()).hexdigest()[:DIGEST] for line in of_topic)
        )
        for topic, of_topic in lines.items()
    }


def _sha256(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def fingerprint_of(judge: int) -> str:
    """Return the fingerprint of a judge by the key of its rater; "" for one from a file."""
    fingerprints = Rater.objects.filter(pk=judge).values_list("judge__fingerprint", flat=True)
    return fingerprints.first() or ""


def rubric_hash(dataset: Dataset, rubric: Rubric) -> str:
    """Return the SHA-256 of a rubric and of the guidelines of its campaigns."""
    rubric_fields = {
        "rubric": [rubric.question, rubric.scale, rubric.eta, rubric.guideline],
        "levels": list(
            rubric.levels.order_by("grade").values_list("grade", "label", "name", "examples")
        ),
    }
    campaigns = Campaign.objects.published().filter(dataset=dataset, rubric=rubric, is_pilot=False)
    guidelines = list(campaigns.order_by("pk").values_list("pk", "guideline", "wording"))
    content = json.dumps([rubric_fields, guidelines], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True)
class _Changes:
    """Differences of the present ratings and texts from those that a certificate read."""

    n_changed: int
    n_added: int
    changed_topics: tuple[str, ...]
    reworded_topics: tuple[str, ...]


Kind = Literal["holds", "not shown", "void", "not tested"]


@dataclass(frozen=True)
class CertificateState:
    """State of a judge under a rubric, with the reason for which a certificate is void."""

    kind: Kind
    reason: str = ""
    certificate: Certificate | None = None
    n_added: int = 0
    """Ratings that people and the judge have added since the test."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}" if self.reason else self.kind

    @property
    def url(self) -> str:
        return self.certificate.get_absolute_url() if self.certificate else ""

    @property
    def css_class(self) -> str:
        return {"holds": "holds", "void": "void", "not shown": "not-shown"}.get(self.kind, "")


NOT_TESTED = CertificateState("not tested")


def certificate_states(dataset: Dataset) -> dict[tuple[int, int], CertificateState]:
    """Return the state of the newest certificate of each judge and rubric, by their keys.

    Cached until the next write: a changed grade is visible on the next page.
    """
    return SHARED_CACHE.until_db_write(
        (CacheKey.CERTIFICATE_STATES, dataset.pk), lambda: _states(dataset)
    )


def certificate_state(dataset: Dataset, judge: int, rubric: int | None = None) -> CertificateState:
    """Return the state of a judge under a rubric; without one, of its newest test.

    `judge` and `rubric` are keys.
    """
    states = certificate_states(dataset)
    if rubric is not None:
        return states.get((judge, rubric), NOT_TESTED)
    tested = [state for (rater, _), state in states.items() if rater == judge]
    return max(
        tested,
        key=lambda state: state.certificate.pk if state.certificate else 0,
        default=NOT_TESTED,
    )


def certificates_in_words(dataset: Dataset, phrases: Iterable[Phrase]) -> str:
    """Return the judges in the phrases of a filter with their states; "" without a judge."""
    return "; ".join(
        f"{text}: {certificate_state(dataset, judge, rubric)}"
        for text, judge, rubric in phrases
        if judge
    )


def _states(dataset: Dataset) -> dict[tuple[int, int], CertificateState]:
    newest = dataset.certificates.order_by().values("judge", "rubric").annotate(last=Max("pk"))
    certificates = Certificate.objects.filter(pk__in=[row["last"] for row in newest])
    return {
        (certificate.judge_id, certificate.rubric_id): state_of(certificate)
        for certificate in certificates.select_related("dataset", "judge", "rubric")
    }


def state_of(certificate: Certificate) -> CertificateState:
    """Return whether a certificate still holds; one that was not passed says so in any case."""
    dataset = certificate.dataset
    reasons = []
    if fingerprint_of(certificate.judge_id) != certificate.fingerprint:
        reasons.append("another judge")
    if rubric_hash(dataset, certificate.rubric) != certificate.rubric_hash:
        reasons.append("rubric or guideline changed")
    changes = cached(
        dataset, (CacheKey.CERTIFICATE_CHANGES, certificate.pk), lambda: _changes(certificate)
    )
    if changes.n_changed:
        reasons.append(
            f"{n_of(changes.n_changed, 'grade', ',')} changed in {_listed(changes.changed_topics)}"
        )
    if changes.reworded_topics:
        reasons.append(f"words changed in {_listed(changes.reworded_topics)}")
    if reasons:
        return CertificateState("void", "; ".join(reasons), certificate)
    kind: Kind = "holds" if certificate.is_certified else "not shown"
    return CertificateState(kind, "", certificate, changes.n_added)


def _listed(topics: tuple[str, ...]) -> str:
    if len(topics) <= MAX_NAMES:
        return ", ".join(topics)
    return f"{n_of(len(topics), 'topic')}"


def selection_of(certificate: Certificate) -> Selection:
    """Return the selection that a certificate tests. Raises SelectionError if raters are gone."""
    parameters = certificate.parameters
    selection = select(
        certificate.dataset,
        rubric=certificate.rubric.slug,
        raters=parameters["people"],
        judge=certificate.judge.name,
        eta=parameters["eta"],
    )
    if selection.judge is None or selection.judge.pk != certificate.judge_id:
        raise SelectionError(f"{certificate.judge.name} has no grades of the tested pairs.")
    return selection


def rename_person(dataset: Dataset, name: str, new: str) -> None:
    """Rename a person in the certificates of a dataset. In a transaction.

    They find people by name. `data_hash` keeps the names at the time of the test.
    """
    for certificate in dataset.certificates.select_for_update():
        people = certificate.parameters["people"]
        if name not in people:
            continue
        certificate.parameters["people"] = sorted(new if old == name else old for old in people)
        for row in certificate.result["people"]:
            if row["name"] == name:
                row["name"] = new
        certificate.save(update_fields=["parameters", "result"])


def _changes(certificate: Certificate) -> _Changes:
    names = {str(pk): name for pk, name in certificate.dataset.topics.values_list("pk", "name")}
    before: Digests = certificate.grade_digests
    try:
        ratings = TestedRatings(load(selection_of(certificate)))
    except SelectionError:
        grades, texts = {}, {}
    else:
        grades, texts = ratings.grade_digests(), ratings.text_digests()
    n_changed = n_added = 0
    changed_topics = []
    for topic in {**before, **grades}:
        tested, current = (_split(digests.get(topic, "")) for digests in (before, grades))
        n_gone = (tested - current).total()
        n_changed += n_gone
        n_added += (current - tested).total() - n_gone
        if n_gone:
            changed_topics.append(names.get(topic, "a removed topic"))
    reworded = [
        names.get(topic, "a removed topic")
        for topic, digests in certificate.text_digests.items()
        if _split(digests) - _split(texts.get(topic, ""))
    ]
    # Texts without a grade any more are not read again, reworded or not.
    reworded_alone = [name for name in reworded if name not in changed_topics]
    return _Changes(n_changed, max(n_added, 0), tuple(changed_topics), tuple(reworded_alone))


def _split(digests: str) -> Counter[str]:
    return Counter(digests[start : start + DIGEST] for start in range(0, len(digests), DIGEST))
