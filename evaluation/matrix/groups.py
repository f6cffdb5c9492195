"""Groups of a topic's texts: context, missing required, other passages, reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from annotation.models import Text, Topic
from annotation.models.standard import ANSWERABLE, GRADED
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.sources import MAJORITY, Source
from evaluation.matrix.query import MatrixQuery
from evaluation.matrix.rows import MatrixRow, RowGroup, answers, cells, roles
from evaluation.metrics.grades import BoolArray
from evaluation.metrics.greedy_ideal import hit_gains
from evaluation.scoring.pools import Pool, load_pools
from evaluation.scoring.rows import REQUIRED
from evaluation.scoring.rules import PAPER
from evaluation.scoring.score import Scores

PASSAGE, REPORT, REFERENCE = (kind.value for kind in Text.Kind)


class TopicTexts:
    """Texts of a topic under one choice: one query, and two where people override a judge.

    The context is that of the chosen run, after the cut-off, or else the required subset; `score`
    is None, and the context empty, where it has none for the topic.
    """

    def __init__(self, choice: MatrixQuery, topic: Topic, scores: Scores) -> None:
        self.choice = choice
        self.options = choice.options
        self.topic = topic
        self.pool = scores.pools[topic.pk]
        chosen = scores.by_name[choice.run or REQUIRED]
        self.score = chosen.topics.get(self.pool.topic_name)
        self.ranked = self.score.texts if self.score else ()
        # Reports and references, in the order of the rows that they belong to.
        self.written = {
            row.row.contexts[topic.pk][0]: row
            for row in scores.rows
            if row.row.kind in ("reports", "references") and topic.pk in row.row.contexts
        }
        text_ids = {*self.pool.topic_texts, *self.pool.rated_texts.tolist(), *self.ranked}
        self.texts = Text.objects.in_bulk(text_ids)

    @cached_property
    def hits(self) -> BoolArray:
        """Mask of the context's answers to answerable questions, ranks x questions."""
        return answers(self.pool.context(self.ranked), self.pool.answerable, self.pool.eta)

    @cached_property
    def by_people(self) -> Pool | None:
        """Grades of the people alone, where the source has them override a judge."""
        if self.options.source.kind != "people over":
            return None
        people = Source(MAJORITY, "majority", None, self.options.source.people)
        by_people = replace(self.options, source=people, rules=PAPER)
        dataset = self.choice.dataset
        return cached(
            dataset, (CacheKey.POOLS_BY_PEOPLE, by_people), lambda: load_pools(dataset, by_people)
        )[self.topic.pk]

    def groups(self) -> Iterator[RowGroup]:
        """Yield the groups: the context and missing required passages in full, others if shown."""
        run = self.choice.run
        title = run or "The required subset, Z*"
        note = "in rank order" if run else "in the order of selection"
        if run and not self.ranked:
            note = "no ranking for this topic"
        yield RowGroup(title, note, self._rows(self.ranked, is_context=True))
        unranked = [pk for pk in self.pool.required_texts if pk not in self.ranked]
        if unranked:
            yield RowGroup("Required, but not in the run", "the rest of Z*", self._rows(unranked))
        yield from self._other_passages({*self.ranked, *unranked})
        for kind, title in ((REPORT, "Reports"), (REFERENCE, "Reference summaries")):
            texts = [pk for pk in self.written if self.texts[pk].kind == kind]
            if set(texts) & set(self.pool.rated_texts.tolist()):
                yield RowGroup(title, "each text is a context of its own", self._rows(texts))
            elif texts:
                yield self._folded(title, f"without ratings by {self.options.source.title}", texts)

    def _other_passages(self, excluded_ids: set[int]) -> Iterator[RowGroup]:
        """Yield the groups of passages that are neither in the context nor required."""
        source_title = self.options.source.title
        relevant = [p.pk for p in self.pool.passages if p.pk not in excluded_ids]
        outside_pool = sorted(
            (
                text
                for text in self.texts.values()
                if text.kind == PASSAGE
                and text.pk not in excluded_ids
                and text.pk not in self.pool.row_of
            ),
            key=lambda text: text.name,
        )
        of_topic = [text.pk for text in outside_pool if text.pk in self.pool.topic_texts]
        visitors = [text.pk for text in outside_pool if text.pk not in self.pool.topic_texts]
        for title, note, texts in (
            ("Other passages of P*", f"rated by {source_title}", relevant),
            ("Passages of the topic without a grade", f"by {source_title}", of_topic),
            ("Other rated passages", "of other topics, so not part of P*", visitors),
        ):
            if texts:
                yield self._folded(title, note, texts)

    def _folded(self, title: str, note: str, texts: Sequence[int]) -> RowGroup:
        if self.choice.expands_groups:
            return RowGroup(title, note, self._rows(texts))
        return RowGroup(title, note, (), len(texts))

    def _rows(self, texts: Sequence[int], is_context: bool = False) -> tuple[MatrixRow, ...]:
        """Return the rows of texts of one kind; those of the context have ranks, roles and gains."""
        if not texts:
            return ()
        kind = self.texts[texts[0]].kind
        scale = self.pool.scales[kind]
        numbers = [(question.pk, question.position + 1) for question in self.pool.questions]
        grades = self.pool.context(texts)
        hits = answers(grades, self.pool.answerable, scale.eta)
        added = roles(hits) if is_context else [[""] * len(numbers)] * len(texts)
        gains = hit_gains(hits, self.options.alpha).tolist()
        decided = self._decided(texts)
        picked = {pk: order for order, pk in enumerate(self.pool.required_texts, start=1)}
        count = self.options.tokenizer.counter()
        # The rubric under which the page of a pair displays these grades.
        rubric = scale.rubric or (GRADED.slug if kind == PASSAGE else ANSWERABLE.slug)
        rows = []
        for index, pk in enumerate(texts):
            text, written = self.texts[pk], self.written.get(pk)
            rows.append(
                MatrixRow(
                    text=pk,
                    name=text.system if kind == REPORT else text.name,
                    kind=kind,
                    system=text.system,
                    pair_query=f"?rubric={rubric}&eta={self.options.eta}",
                    is_visitor=self._is_visitor(pk),
                    tokens=None if text.body is None else count(text.body),
                    cells=cells(grades[index], numbers, scale.levels, added[index], decided[index]),
                    n_answers=int(hits[index].sum()),
                    n_unrated=int(np.isnan(grades[index]).sum()),
                    rank=index + 1 if is_context else None,
                    required=picked.get(pk),
                    gain=gains[index] if is_context else None,
                    coverage=written.topics[self.pool.topic_name].coverage if written else None,
                )
            )
        return tuple(rows)

    def _decided(self, texts: Sequence[int]) -> BoolArray:
        """Return a mask of the cells where people override a judge, texts x questions."""
        if self.by_people is None:
            return np.zeros((len(texts), len(self.pool.questions)), dtype=bool)
        decided = ~np.isnan(self.by_people.context(texts))
        if self.pool.visitors_are_zero:
            decided[[self._is_visitor(pk) for pk in texts]] = False
        return np.asarray(decided)

    def _is_visitor(self, pk: int) -> bool:
        return self.texts[pk].kind == PASSAGE and pk not in self.pool.topic_texts
