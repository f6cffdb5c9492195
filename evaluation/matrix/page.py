"""Rating matrix of one topic: questions, texts in groups, and gains of a run by rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from django.urls import reverse

from annotation.models import Rater, SubQuestion, Topic
from evaluation.data.sources import Source
from evaluation.matrix.groups import PASSAGE, TopicTexts
from evaluation.matrix.query import MatrixQuery
from evaluation.matrix.rows import RowGroup
from evaluation.metrics.grades import BoolArray
from evaluation.page_tables import SortValue
from evaluation.scoring.options import Options
from evaluation.scoring.pools import Pool
from evaluation.scoring.row_score import TopicScore
from evaluation.scoring.score import cached_scores
from evaluation.stats.estimate import Estimate


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """Question as a column. `status` says whether it counts, and its first answering rank."""

    pk: int
    number: int
    body: str
    is_answerable: bool
    is_filtered: bool
    first_rank: int | None
    status: str


def asked_questions(
    pool: Pool, hits: BoolArray, *, with_text: bool = True
) -> tuple[AskedQuestion, ...]:
    """Return the questions in the order of the pool's columns; one query.

    `hits` is a mask of a context's answers to answerable questions, ranks x questions. Without text
    a question is its number, and the reason why it is filtered is left out.
    """
    by_id = SubQuestion.objects.in_bulk([question.pk for question in pool.questions])
    n_answers = (pool.grades >= pool.eta).sum(axis=0).tolist()
    counted = set(pool.answerable)
    columns = []
    for column, question in enumerate(pool.questions):
        ranks = np.flatnonzero(hits[:, column]).tolist()
        first = ranks[0] + 1 if ranks else None
        sub_question = by_id[question.pk]
        columns.append(
            AskedQuestion(
                pk=question.pk,
                number=sub_question.number,
                body=str(sub_question) if with_text else f"Sub-question {sub_question.number}",
                is_answerable=column in counted,
                is_filtered=sub_question.is_filtered,
                first_rank=first,
                status=_status(
                    _filter_note(sub_question, with_text=with_text),
                    column in counted,
                    n_answers[column],
                    first,
                ),
            )
        )
    return tuple(columns)


def _filter_note(question: SubQuestion, *, with_text: bool) -> str:
    if not question.is_filtered:
        return ""
    return f"filtered, {question.filtered_because}" if with_text else "filtered"


def _status(filtered: str, counts: bool, n: int, first: int | None) -> str:
    if not counts:
        return f"{filtered or 'no passage of P* answers it'}; does not count"
    rank_note = f"first at rank {first}" if first else "not answered by this run"
    answer_note = "1 passage of P* answers it" if n == 1 else f"{n} passages of P* answer it"
    filter_note = f"; {filtered}, but it counts, because a passage answers it" if filtered else ""
    return f"{rank_note}; {answer_note}{filter_note}"


NOT_RANKED = "undefined, because the run does not rank this topic"
LINKED = 12  # sources of grades beside the form


@dataclass(frozen=True)
class MatrixPage:
    """Matrix of a topic under one choice. `score` is None where the run ranks nothing for it."""

    choice: MatrixQuery
    topic: Topic
    pool: Pool
    score: TopicScore | None
    place: int
    n_topics: int
    previous: int | None
    next: int | None
    request: str
    questions: tuple[AskedQuestion, ...]
    groups: tuple[RowGroup, ...]
    judge: int | None
    """The rater whose grades these are, or who stands below the people's, if it has replies here."""

    @property
    def options(self) -> Options:
        return self.choice.options

    @property
    def n_never(self) -> int:
        """Number of questions that no passage of P* answers, which never count."""
        return len(self.questions) - len(self.pool.answerable)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of the context's texts and the answerable questions."""
        return self.score.n_passages * self.score.n_answerable if self.score else 0

    @property
    def n_passages(self) -> int:
        """Number of passages of P*."""
        return len(self.pool.passages)

    @property
    def n_columns(self) -> int:
        """Number of columns: the text, the questions, gain, answers, unrated, tokens."""
        return len(self.questions) + 5

    @property
    def n_hidden(self) -> int:
        return sum(group.n_hidden for group in self.groups)

    @property
    def has_people_over(self) -> bool:
        return self.options.source.kind == "people over"

    @property
    def has_filtered(self) -> bool:
        return any(question.is_filtered for question in self.questions)

    @property
    def other_sources(self) -> list[Source]:
        """Other sources of grades for links; none where a crowd is listed in the form alone."""
        candidates = [source for source in self.choice.sources if source != self.options.source]
        return candidates if len(candidates) <= LINKED else []

    @property
    def scale_note(self) -> str:
        """Sentence on how the grades of passages are dichotomised."""
        scale = self.pool.scales[PASSAGE]
        if not scale.is_verdict:
            return (
                f"Grades are {scale.levels[0]} to {scale.levels[-1]}; {scale.eta} or more answers."
            )
        read = "" if scale.rubric else f"; a grade of {self.options.eta} or more was read as 1"
        return f"Verdicts: 1 answers, 0 does not{read}."

    @property
    def pairs_url(self) -> str:
        """Base URL of the pages of pairs; a cell's own is below it, by text and question."""
        return reverse("pair", args=[self.choice.dataset.slug, 0, 0]).removesuffix("0/0/")


def matrix_page(choice: MatrixQuery, topic: Topic, *, with_text: bool = True) -> MatrixPage:
    """Return the matrix of a topic, with the context of the chosen run or the required subset.

    Without text the page has neither questions nor the request: only numbers and names.
    """
    scores = cached_scores(choice.dataset, choice.options)
    keys = list(scores.pools)
    index = keys.index(topic.pk)
    texts = TopicTexts(choice, topic, scores)
    return MatrixPage(
        choice=choice,
        topic=topic,
        pool=texts.pool,
        score=texts.score,
        place=index + 1,
        n_topics=len(keys),
        previous=keys[index - 1] if index else None,
        next=keys[index + 1] if index + 1 < len(keys) else None,
        request=topic.request if with_text else "",
        questions=asked_questions(texts.pool, texts.hits, with_text=with_text),
        groups=tuple(texts.groups()),
        judge=_judge(choice.options.source),
    )


def _judge(source: Source) -> int | None:
    # A model whose grades came in a file is a rater without a judge.
    if source.rater is None or source.rater.is_person:
        return None
    judges = Rater.objects.filter(pk=source.rater.pk, judge__isnull=False)
    return judges.values_list("pk", flat=True).first()


@dataclass(frozen=True, slots=True)
class TopicRow:
    """Topic in the list. `n_unrated` of its `n_pairs` pairs of P* and questions have no grade.

    `coverage` is by name of the run, in the order in which they are listed; None where the run
    ranks nothing for the topic.
    """

    pk: int
    name: str
    n_questions: int
    n_answerable: int
    n_passages: int
    n_required: int
    n_pairs: int
    n_unrated: int
    coverage: tuple[tuple[str, Estimate | None], ...]


def topic_values(choice: MatrixQuery) -> dict[str, Callable[[TopicRow], SortValue]]:
    """Return the values by which the topics are sorted, by column: coverage by the run's name."""

    def coverage(name: str, row: TopicRow) -> float | None:
        estimate = dict(row.coverage)[name]
        return estimate.value if estimate else None

    return {
        "topic": lambda row: row.name,
        "answerable": lambda row: row.n_answerable,
        "passages": lambda row: row.n_passages,
        "required": lambda row: row.n_required,
        "unrated": lambda row: row.n_unrated if row.n_pairs else None,
        **{name: partial(coverage, name) for name in choice.listed},
    }


def topic_rows(choice: MatrixQuery) -> list[TopicRow]:
    """Return all topics, in the order of the dataset."""
    scores = cached_scores(choice.dataset, choice.options)
    runs = {name: scores.by_name[name] for name in choice.listed}
    return [
        TopicRow(
            pk=pk,
            name=pool.topic_name,
            n_questions=len(pool.questions),
            n_answerable=len(pool.answerable),
            n_passages=len(pool.passages),
            n_required=len(pool.required),
            n_pairs=pool.grades.size,
            n_unrated=int(np.isnan(pool.grades).sum()),
            coverage=tuple(
                (name, run.on("coverage", position) if run.has[position] else None)
                for name, run in runs.items()
            ),
        )
        for position, (pk, pool) in enumerate(scores.pools.items())
    ]
