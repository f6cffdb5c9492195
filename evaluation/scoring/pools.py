"""Pool of a topic: its relevant passages P*, their grades, and the required subset Z*."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from annotation.models import Dataset
from evaluation.data.cells import Cells, Scale, load_cells
from evaluation.data.corpus import PASSAGE, Corpus, Question, load_corpus
from evaluation.data.question_kinds import questions_of
from evaluation.metrics.coverage import answerable_questions
from evaluation.metrics.grades import BoolArray
from evaluation.metrics.required_subset import required_subset
from evaluation.scoring.options import Options
from evaluation.scoring.tokens import TokenCounts, token_counts
from evaluation.stats.estimate import FloatArray, IntArray

DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A text, without its words. `tokens` is None where its words are not there."""

    pk: int
    name: str
    tokens: int | None
    has_body: bool


@dataclass(frozen=True)
class Pool:
    """The relevant passages of a topic, P*, as one source of grades sees them.

    `grades` is passages x questions in the order of `passages` and `questions`, NaN = unrated;
    a grade of at least `eta` answers. `answerable` are the columns that some passage answers, and
    `required` the rows of the required subset, Z*, in the order in which they were picked.
    `required_tokens` is the length of Z*, None if it is not known. A topic of which no passage is
    rated has a pool without passages.
    """

    topic: int
    topic_name: str
    questions: tuple[Question, ...]
    passages: tuple[PassageRow, ...]
    grades: FloatArray
    by_people: BoolArray
    """The cells of `grades` that people decided over a judge."""
    eta: int
    answerable: tuple[int, ...]
    required: tuple[int, ...]
    required_tokens: int | None
    takes_all_rated: bool
    """No passage belongs to the topic, so that every rated one that answers something is in P*."""
    scales: Mapping[str, Scale]
    """How the grades of each kind of text are read: `scales["report"].eta`."""
    rated_texts: IntArray = field(repr=False)
    """The keys of all texts with a grade on the topic's questions, ascending, and their grades."""
    rated_grades: FloatArray = field(repr=False)
    visitors_are_zero: bool
    topic_texts: frozenset[int] = field(repr=False)
    """The keys of the texts that belong to the topic, rated or not."""

    @cached_property
    def row_of(self) -> dict[int, int]:
        """The row of each passage of P*, by the key of its text."""
        return {passage.pk: row for row, passage in enumerate(self.passages)}

    @property
    def required_texts(self) -> tuple[int, ...]:
        """The keys of the passages of Z*, in the order in which they were picked."""
        return tuple(self.passages[row].pk for row in self.required)

    @property
    def required_names(self) -> tuple[str, ...]:
        return tuple(self.passages[row].name for row in self.required)

    def relevance(self, text: int) -> float:
        """1 for a passage of P*, 0 for another, NaN for one that nobody judged.

        A passage of another topic is irrelevant by the design of the paper's data; one of the topic
        itself, or any if the dataset does not say where passages belong, has to be rated.
        """
        if text in self.row_of:
            return 1.0
        if self.takes_all_rated:
            return 0.0 if text in self._rated else np.nan
        return np.nan if text in self.topic_texts else 0.0

    def is_visitor(self, text: int) -> bool:
        """Return True if the text belongs to another topic, where the dataset assigns passages."""
        return not self.takes_all_rated and text not in self.topic_texts

    @cached_property
    def _rated(self) -> frozenset[int]:
        return frozenset(self.rated_texts.tolist())

    def context(self, texts: Sequence[int]) -> FloatArray:
        """The grades of any texts on the topic's questions: texts x questions, NaN = unrated.

        Under the authors' rules passages that do not belong to the topic are rated 0 throughout.
        """
        keys = np.asarray(texts, dtype=np.int64)
        grades = np.full((len(keys), len(self.questions)), np.nan)
        if len(self.rated_texts):
            index = np.minimum(np.searchsorted(self.rated_texts, keys), len(self.rated_texts) - 1)
            is_rated = self.rated_texts[index] == keys
            grades[is_rated] = self.rated_grades[index[is_rated]]
        if self.visitors_are_zero:
            grades[[pk not in self.topic_texts for pk in keys.tolist()]] = 0.0
        return grades


def load_pools(
    dataset: Dataset,
    options: Options,
    *,
    corpus: Corpus | None = None,
    counts: TokenCounts | None = None,
) -> dict[int, Pool]:
    """The pool of every topic, by its key, in the order of the dataset.

    P* holds the passages that belong to the topic and of which the source rated any question. Where
    a dataset does not say which passages belong to a topic, those that the source rated on its
    questions and that answer one of them are taken for relevant. Passages are in the order of their
    names, numbers in them by value: for the authors' names that of the passage index.

    Filtered questions are not treated apart: which questions count is found again from P* at eta,
    and a question that was filtered in a study of reports counts here if a passage answers it. (The
    expected values of the real study need that, and have it so.) Questions without any grade are
    never answerable. Where the options name a kind of questions, the others are not there. A fixed
    number of queries, but for the words of the passages of P*, which are read by the thousand.
    """
    corpus = corpus or load_corpus(dataset)
    counts = counts or token_counts(
        dataset, corpus, options.tokenizer, options.rules.mean_stands_in
    )
    cells = load_cells(dataset, options.source, options.eta, corpus)
    by_topic = _by_topic(corpus)
    drafts = [_draft(corpus, cells, by_topic, topic) for topic in corpus.topics]
    counts.of(pk for d in drafts for pk in cells.text[d.rows][d.relevant].tolist())  # all at once
    counted = questions_counted(dataset, corpus, options)
    return {draft.topic: _pool(draft, corpus, counted, cells, options, counts) for draft in drafts}


def questions_counted(
    dataset: Dataset, corpus: Corpus, options: Options
) -> Mapping[int, tuple[Question, ...]]:
    """The questions of each topic that count: all but the whole request, or those of a kind."""
    of_kind = questions_of(dataset, options.questions) if options.questions else None
    return {
        topic: tuple(
            question
            for question in questions
            if not question.is_whole and (of_kind is None or question.pk in of_kind)
        )
        for topic, questions in corpus.questions.items()
    }


@dataclass(frozen=True, slots=True)
class _Draft:
    """A topic's rows of the cells, and which of them are P*, in its order."""

    topic: int
    rows: slice
    relevant: list[int]
    """Rows of the cells."""
    topic_texts: frozenset[int]
    takes_all_rated: bool


def _draft(corpus: Corpus, cells: Cells, by_topic: Mapping[int, IntArray], topic: int) -> _Draft:
    rows = cells.of_topic(topic)
    indices = corpus.at(cells.text[rows])
    passages = corpus.kind[indices] == PASSAGE
    mine = by_topic.get(topic, np.empty(0, dtype=np.int64))
    takes_all_rated = not (corpus.kind[mine] == PASSAGE).any()
    if takes_all_rated:
        relevant = passages & (cells.grades[rows] >= cells.scales["passage"].eta).any(axis=1)
    else:
        relevant = passages & (corpus.topic[indices] == topic)
    relevant_rows = np.flatnonzero(relevant).tolist()
    return _Draft(
        topic=topic,
        rows=rows,
        relevant=sorted(relevant_rows, key=lambda row: _natural(corpus.names[indices[row]])),
        topic_texts=frozenset(corpus.pk[mine].tolist()),
        takes_all_rated=takes_all_rated,
    )


def _natural(name: str) -> list[tuple[int, str]]:
    """A name as a key of sorting in which 9 comes before 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in DIGITS.split(name)]


def _by_topic(corpus: Corpus) -> dict[int, IntArray]:
    """Return the indices of each topic's texts in the corpus."""
    order = np.argsort(corpus.topic, kind="stable")
    topics, starts = np.unique(corpus.topic[order], return_index=True)
    parts = np.split(order, starts[1:])
    return dict(zip(topics.tolist(), parts, strict=True))


def _pool(
    draft: _Draft,
    corpus: Corpus,
    counted: Mapping[int, tuple[Question, ...]],
    cells: Cells,
    options: Options,
    counts: TokenCounts,
) -> Pool:
    questions = counted[draft.topic]
    columns = [question.position for question in questions]
    rated = cells.grades[draft.rows][:, columns]
    texts = cells.text[draft.rows]
    grades, scale = rated[draft.relevant], cells.scales["passage"]
    indices = corpus.at(texts[draft.relevant])
    tokens = counts.of(corpus.pk[indices].tolist())
    passages = [
        PassageRow(pk, corpus.names[index], tokens[pk], bool(corpus.has_body[index]))
        for pk, index in zip(tokens, indices.tolist(), strict=True)
    ]
    required = required_subset(grades, scale.eta, options.rules.subset).rows
    return Pool(
        topic=draft.topic,
        topic_name=corpus.topics[draft.topic],
        questions=questions,
        passages=tuple(passages),
        grades=grades,
        by_people=cells.by_people[draft.rows][:, columns][draft.relevant],
        eta=scale.eta,
        answerable=answerable_questions(grades, scale.eta),
        required=required,
        required_tokens=counts.total(passages[row].pk for row in required),
        takes_all_rated=draft.takes_all_rated,
        scales=cells.scales,
        rated_texts=texts,
        rated_grades=rated,
        visitors_are_zero=options.rules.visitors_are_zero,
        topic_texts=draft.topic_texts,
    )
