"""Dataset of cited pairs: the citations of systems, for people and judges to grade.

A dataset of cited pairs has a topic for each statement that cites, the statement as its one question,
and what it cites as its passages: every pair of a passage and a question in it is a cited one. The
system is a rater under `cites`; who grades support does it under `citation-support`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from annotation.errors import UserError
from annotation.formats.summary import DatasetImportError
from annotation.formats.target import check_dataset
from annotation.models import Dataset, Rater, Rating, SubQuestion, Text, Topic
from annotation.models.rating import Exposure
from annotation.models.standard import CITATION_SUPPORT, CITES, add_standard
from annotation.plurals import n_of
from building.engine.statements import (
    Statement,
    prefix_of,
    rater_name,
    statements_of,
    with_citations,
)
from building.models import Writer

_AT_ONCE = 200  # reports per batch, with the bodies of their cited texts in memory
MAX_NAMES = 10  # changed names listed in a message


class CitedPairsError(UserError):
    """A dataset of cited pairs that cannot be made; a sentence for people."""


@dataclass
class CitedPairsSummary:
    """Counts of a citation import. `changed` names texts that were edited after grading."""

    dataset: str
    reports: int = 0
    statements: int = 0
    without_citation: int = 0
    wrong_citations: int = 0
    pairs: int = 0
    pairs_without_words: int = 0
    added: int = 0
    changed: list[str] = field(default_factory=list)
    no_longer_cited: int = 0

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def in_words(self) -> str:
        sentences = [
            f"{self.dataset}: {n_of(self.pairs, 'cited pair', ',')} of {n_of(self.reports, 'report', ',')},"
            f" {self.added:,} of them new.",
            f"Of {n_of(self.statements, 'statement', ',')} {self.without_citation:,} cite nothing.",
        ]
        if self.wrong_citations:
            sentences.append(f"Citations of nothing that is known: {self.wrong_citations:,}.")
        if self.pairs_without_words:
            sentences.append(
                f"Pairs whose cited text has no words here, so that nobody can grade them: "
                f"{self.pairs_without_words:,}."
            )
        if self.changed:
            names = ", ".join(self.changed[:MAX_NAMES])
            sentences.append(
                f"Changed since they were taken, and left as they are with their grades, which do not count: "
                f"{len(self.changed):,}: {names}."
            )
        if self.no_longer_cited:
            sentences.append(f"Pairs that are no longer cited, and stay: {self.no_longer_cited:,}.")
        return " ".join(sentences)


def make_support(
    dataset: Dataset, systems: Sequence[str], slug: str, title: str = ""
) -> CitedPairsSummary:
    """Copy the citations of these systems into the dataset of this slug, atomically.

    Taken again, it adds what is new, and changes nothing that is there. Raises CitedPairsError where a
    system has no report, nothing that is known is cited, or the slug is another dataset's.
    """
    try:
        check_dataset(slug, title)
    except DatasetImportError as failed:
        raise CitedPairsError(str(failed.problems[0])) from None
    if slug == dataset.slug:
        raise CitedPairsError(f"{slug} holds the reports themselves: name another dataset.")
    of_reports = dataset.texts.with_body().filter(kind=Text.Kind.REPORT)
    existing = set(of_reports.order_by().values_list("system", flat=True).distinct())
    if unknown := [system for system in systems if system not in existing]:
        names = ", ".join(sorted(existing)) or "none"
        raise CitedPairsError(
            f"{dataset.slug} has no reports of “{unknown[0]}”; there are: {names}."
        )
    try:
        with transaction.atomic():
            summary = _Maker(dataset, slug, title).make(systems)
            if not summary.pairs:
                raise CitedPairsError(f"The reports of {', '.join(systems)} cite nothing known.")
    except IntegrityError:
        raise CitedPairsError(f"Somebody has just changed {slug}: try again.") from None
    return summary


class _Maker:
    """Import of citations in one transaction."""

    def __init__(self, dataset: Dataset, slug: str, title: str) -> None:
        self.dataset = dataset
        self.target, is_new = Dataset.objects.select_for_update().get_or_create(
            slug=slug,
            defaults={
                "title": title or f"Citations of {dataset.title}"[:200],
                "project": dataset.project,
            },
        )
        if self.target.project_id != dataset.project_id:
            raise CitedPairsError(f"The name {slug} is taken: choose another.")
        self.summary = CitedPairsSummary(slug)
        self.cites = add_standard(CITES)
        add_standard(CITATION_SUPPORT)
        self.questions = {
            name: (topic, question, body)
            for name, topic, question, body in self.target.topics.order_by().values_list(
                "name", "pk", "questions__pk", "questions__body"
            )
        }
        if not is_new:
            self._check_ours()
        last = self.target.topics.order_by("-position").first()
        self.next_position = last.position + 1 if last else 0

    def _check_ours(self) -> None:
        """Raise CitedPairsError unless every topic is a statement of one of our reports."""
        reports = self.dataset.texts.filter(kind=Text.Kind.REPORT).order_by()
        ours = {prefix_of(*report) for report in reports.values_list("system", "name")}
        foreign = next((n for n in self.questions if f"{n.rpartition('/')[0]}/" not in ours), None)
        if foreign or not self.questions:
            reason = f"its topic {foreign} is no statement" if foreign else "it holds no statement"
            raise CitedPairsError(
                f"{self.target.slug} is another dataset: {reason} of a report of {self.dataset.slug}."
            )

    def make(self, systems: Sequence[str]) -> CitedPairsSummary:
        for system in systems:
            reports = self.dataset.texts.with_body().filter(kind=Text.Kind.REPORT, system=system)
            in_order = with_citations(reports, with_bodies=True).order_by("topic__position", "pk")
            existing = self._pairs_of(system)
            rater = self._rater(system)
            for batch in _batches(in_order):
                self._take(batch, existing, rater)
            self.summary.no_longer_cited += len(existing)
        return self.summary

    def _pairs_of(self, system: str) -> dict[str, Text]:
        """Return the existing cited texts of a system, by name."""
        prefix = prefix_of(system)
        texts = self.target.texts.filter(kind=Text.Kind.PASSAGE, name__startswith=prefix)
        # SQLite does not tell capitals from small letters there.
        return {t.name: t for t in texts.defer("body") if t.name.startswith(prefix)}

    def _take(self, reports: list[Text], existing: dict[str, Text], rater: Rater) -> None:
        """Import the citations of some reports; remove from `existing` what they cite."""
        self.summary.reports += len(reports)
        statements = [
            (report, statement) for report in reports for statement in statements_of(report)
        ]
        for _, statement in statements:
            self.summary.statements += 1
            self.summary.without_citation += not statement.citations
            self.summary.wrong_citations += statement.n_wrong
        cited = [(report, statement) for report, statement in statements if statement.pairs]
        self._add_questions([entry for entry in cited if entry[1].topic not in self.questions])
        new: list[Text] = []
        for _, statement in cited:
            new += self._new_texts(statement, existing)
        texts = Text.objects.bulk_create(new)
        question_ids = {topic: question for topic, question, _ in self.questions.values()}
        pairs = [(text.pk, question_ids[text.topic_id], 1) for text in texts if text.topic_id]
        Rating.objects.add(rater.pk, self.cites.pk, pairs, Exposure.NONE)
        self.summary.added += len(pairs)

    def _add_questions(self, cited: list[tuple[Text, Statement]]) -> None:
        topics = Topic.objects.bulk_create(
            Topic(
                dataset=self.target,
                name=statement.topic,
                request=report.topic.request if report.topic else "",
                position=position,
            )
            for position, (report, statement) in enumerate(cited, self.next_position)
        )
        self.next_position += len(topics)
        questions = SubQuestion.objects.bulk_create(
            SubQuestion(topic=topic, position=0, body=statement.words.strip())
            for topic, (_, statement) in zip(topics, cited, strict=True)
        )
        for topic, question in zip(topics, questions, strict=True):
            self.questions[topic.name] = (topic.pk, question.pk, question.body)

    def _new_texts(self, statement: Statement, existing: dict[str, Text]) -> list[Text]:
        """Create the texts for a statement; fill in bodies that were imported later."""
        topic, _, body = self.questions[statement.topic]
        self.summary.pairs += len(statement.pairs)
        if body != statement.words.strip():
            self.summary.changed.append(statement.topic)
            for name in statement.pairs:
                existing.pop(name, None)
            return []
        new: list[Text] = []
        for name, cited in statement.pairs.items():
            self.summary.pairs_without_words += not cited.body
            text = existing.pop(name, None)
            if text is None:
                new.append(_copy(cited, self.target, topic, name))
            elif not text.sha256 and cited.sha256:
                text.body = cited.body
                text.save(update_fields=["body", "sha256"])
            elif text.sha256 != cited.sha256:
                self.summary.changed.append(name)
        return new

    def _rater(self, system: str) -> Rater:
        """Return the system as a rater; a system that a baseline wrote is a baseline."""
        baselines = [writer for writer in Writer.objects.all() if writer.is_baseline]
        by_baseline = any(system.split(".", 1)[0] == writer.slug for writer in baselines)
        kind = Rater.Kind.BASELINE if by_baseline else Rater.Kind.MODEL
        rater, _ = Rater.objects.get_or_create(
            dataset=self.target, name=rater_name(system), defaults={"kind": kind}
        )
        if rater.kind not in (Rater.Kind.BASELINE, Rater.Kind.MODEL):
            raise CitedPairsError(
                f"{rater.name} is a {rater.get_kind_display()} in {self.target.slug}, and cannot be the system."
            )
        return rater


def _copy(cited: Text, target: Dataset, topic: int, name: str) -> Text:
    return Text(
        dataset=target,
        topic_id=topic,
        kind=Text.Kind.PASSAGE,
        name=name,
        body=cited.body,
        sha256=cited.sha256,
    )


def _batches(reports: QuerySet[Text]) -> Iterator[list[Text]]:
    """Yield reports in batches of _AT_ONCE."""
    batch: list[Text] = []
    for report in reports.iterator(chunk_size=_AT_ONCE):
        batch.append(report)
        if len(batch) == _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
