"""Pairs of a test of a judge: a random sample of its graded pairs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from django.db.models import QuerySet

from annotation.models import Dataset
from judging.engine.pair_loader import PairLoader
from judging.grading.pairs import Pair, State
from judging.grading.prompt import hashes
from judging.grading.spec import Spec
from judging.grading.variants import JudgeTest, is_varied, varied_pair
from judging.models import Attempt, Judge, JudgeRun, JudgeTestReply, Shard

PAIRS_AT_ONCE = 500
MAX_RENDERED = 20_000  # pairs: a page waits while a test looks for texts that it changes


@dataclass(frozen=True)
class Sample:
    """Sample of a test: its pairs as the test sends them, by text.

    `n_unchanged` counts the pairs that were drawn, and left out since the test would not change their
    prompt.
    """

    pairs: Sequence[Pair]
    n_unchanged: int

    @cached_property
    def by_text(self) -> dict[int, list[int]]:
        """Return the keys of the questions to ask about each text."""
        questions: dict[int, list[int]] = {}
        for pair in self.pairs:
            questions.setdefault(pair.text_id, []).append(pair.question_id)
        return questions


def draw_sample(judge: Judge, dataset: Dataset, test: str, n: int, seed: int) -> Sample:
    """Draw `n` of the pairs that a judge has graded itself; all, if there are fewer.

    A simple random sample by `seed` of graded pairs whose prompt is the same today. Copied grades are
    left out: nothing was asked about their text. Of a large dataset the first MAX_RENDERED in random order
    are considered.
    """
    graded = tested_attempts(judge).filter(text__dataset=dataset).order_by("pk")
    keys = np.fromiter(graded.values_list("pk", flat=True), dtype=np.int64)
    shuffled = np.random.default_rng(seed).permutation(keys)[:MAX_RENDERED].tolist()
    spec = judge.spec
    pairs: list[Pair] = []
    n_unchanged = 0
    for start in range(0, len(shuffled), PAIRS_AT_ONCE):
        lot = shuffled[start : start + PAIRS_AT_ONCE]
        current = _current_pairs(spec, graded.filter(pk__in=lot))
        for pair in (current[key] for key in lot if key in current):
            if len(pairs) == n:
                break
            if test == JudgeTest.REPEAT or is_varied(test, spec, pair):
                pairs.append(varied_pair(test, spec, pair))
            else:
                n_unchanged += 1
        if len(pairs) == n:
            break
    return Sample(sorted(pairs, key=lambda pair: (pair.text_id, pair.question_id)), n_unchanged)


def pairs_to_ask(run: JudgeRun, shard: Shard) -> list[Pair]:
    """Return the pairs of a test's shard that have no reply yet, as the test sends them.

    Pairs whose text, question or grade has changed since the sample was drawn are left out.
    """
    texts = {text for group in shard.groups for text in group[0]}
    current = _current_pairs(run.judge.spec, tested_attempts(run.judge).filter(text__in=texts))
    pairs = {(pair.text_id, pair.question_id): pair for pair in current.values()}
    replies = JudgeTestReply.objects.filter(run=run, attempt__text__in=texts).order_by()
    replied = set(replies.values_list("attempt__text", "attempt__question", "repeat"))
    return [
        replace(varied_pair(run.test, run.judge.spec, pair), repeat=repeat)
        for group_texts, questions, repeat in shard.groups
        for text in group_texts
        for question in questions
        if (text, question, repeat) not in replied and (pair := pairs.get((text, question)))
    ]


def attempts_by_pair(judge: Judge, texts: Collection[int]) -> dict[tuple[int, int], int]:
    """Return the keys of the attempts that a test compares with, by text and question."""
    rows = tested_attempts(judge).filter(text__in=texts).order_by()
    return {
        (text, question): pk
        for pk, text, question in rows.values_list("pk", "text_id", "question_id")
    }


def tested_attempts(judge: Judge) -> QuerySet[Attempt]:
    """Return the attempts that a test may ask again: they count, are graded, and no copies."""
    return Attempt.objects.filter(judge=judge, counts=True, state=State.GRADED, copied=False)


def _current_pairs(spec: Spec, attempts: QuerySet[Attempt]) -> dict[int, Pair]:
    """Return the pairs of attempts by key, without those whose prompt has changed since."""
    rows = list(attempts.order_by().values_list("pk", "text_id", "question_id", "prompt_hash"))
    loader = PairLoader(spec, {row[1] for row in rows}, {row[2] for row in rows})
    pairs = {pk: loader.pair(text, question) for pk, text, question, _ in rows}
    return {
        pk: pairs[pk]
        for pk, _, _, sent_hash in rows
        if not sent_hash or sent_hash in hashes(spec, pairs[pk])
    }
