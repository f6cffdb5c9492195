"""Planning of a run: the pairs that its judge lacks, cut into shards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q, Sum
from django.db.models.functions import Now

from annotation.models import Dataset, Rating
from annotation.text.answers import answers_in
from judging.engine.judge_test_pairs import draw_sample
from judging.engine.pair_loader import omits_text
from judging.engine.selection import Selection, TopicTexts
from judging.engine.storing import Copies, store_copies
from judging.execution.leases import lease_expiry
from judging.execution.states import PlanningConflictError
from judging.grading.pairs import State
from judging.grading.prompt import placeholders_of
from judging.grading.spec import Spec
from judging.models import Attempt, Judge, JudgeRun, Shard

SHARD = 2_000  # pairs: a lease of some seconds to minutes, and a row of some 20 kB
SMALLEST_SHARD = 50
SHARES = 20  # a small run is cut so finely that several workers find work in it
TEXTS_AT_ONCE = 1_000
NOTHING_LEFT = "This judge has already graded all of these pairs."


class Kind(NamedTuple):
    """Texts of a topic that are asked alike: of equal words, or not shown."""

    texts: list[int]
    questions: list[int]


class Group(NamedTuple):
    """Questions to ask of the first text; the replies hold for the others.

    The others have the same prompt.
    """

    texts: tuple[int, ...]
    questions: list[int]


@dataclass
class Counts:
    """Counts of planning, in pairs.

    `to_fill` are asked or copied; `to_send` go to the grader. `texts` are those that something is asked
    about. `copied` were said of a text that is asked alike before, and are stored while planning.
    """

    to_fill: int = 0
    to_send: int = 0
    texts: int = 0
    copied: int = 0
    there_before: int = 0
    without_words: int = 0

    @property
    def copies(self) -> int:
        """Return the pairs filled with the reply to an identical prompt."""
        return self.to_fill - self.to_send

    def as_json(self) -> dict[str, int]:
        return {**asdict(self), "copied": self.copies}


def missing(
    judge: Judge, dataset: Dataset, selection: Selection, counts: Counts
) -> Iterator[tuple[list[Group], Copies]]:
    """Yield the pairs of a selection that a judge lacks, counted in `counts`.

    Some texts come at a time. All questions of a text are consecutive, so that a server can keep what
    it has read of it. Texts of one topic with the same words, but for white space at the ends, are asked
    about once, and what was said of one before is copied to the others; so are all texts of a topic where
    the prompt shows none. Where it shows the answer of a pair, a pair without one is not asked. With
    `selection.retry` they are the pairs whose attempt has no grade.
    """
    for lot in _lots(kinds_of(judge.spec, dataset, selection, counts)):
        yield _missing_of(judge, lot, selection, counts)
        if _room(selection, counts) == 0:
            return


def _lots(kinds: Iterator[Kind]) -> Iterator[list[Kind]]:
    """Yield lists of kinds with TEXTS_AT_ONCE texts each, or few more."""
    lot: list[Kind] = []
    n = 0
    for kind in kinds:
        lot.append(kind)
        n += len(kind.texts)
        if n >= TEXTS_AT_ONCE:
            yield lot
            lot, n = [], 0
    if lot:
        yield lot


def kinds_of(spec: Spec, dataset: Dataset, selection: Selection, counts: Counts) -> Iterator[Kind]:
    """Yield the kinds to ask of a new judge: each question about the first text of a kind."""
    ignores_text = omits_text(spec)
    shows_answers = "answer" in placeholders_of(spec)
    for topic in selection.by_topic(dataset):
        counts.without_words += topic.n_without_words * len(topic.questions)
        if shows_answers:
            yield from _answered(topic, counts)
            continue
        by_body: dict[str, list[int]] = {}
        for pk, body in topic.texts:
            by_body.setdefault("" if ignores_text else body, []).append(pk)
        for texts in by_body.values():
            for start in range(0, len(texts), TEXTS_AT_ONCE):
                yield Kind(texts[start : start + TEXTS_AT_ONCE], topic.questions)


def _answered(topic: TopicTexts, counts: Counts) -> Iterator[Kind]:
    """Yield each text by itself, with the questions that it has an answer to."""
    for start in range(0, len(topic.texts), TEXTS_AT_ONCE):
        text_ids = [pk for pk, _ in topic.texts[start : start + TEXTS_AT_ONCE]]
        answers = answers_in(text_ids)
        for pk in text_ids:
            answered = [question for question in topic.questions if (pk, question) in answers]
            counts.without_words += len(topic.questions) - len(answered)
            yield Kind([pk], answered)


class _PriorReplies:
    """Prior attempts and ratings of a judge on some texts."""

    def __init__(self, judge: Judge, texts: list[int], failed_in: int | None) -> None:
        counted = Attempt.objects.filter(judge=judge, counts=True, text_id__in=texts)
        if failed_in:
            counted = counted.filter(Q(state=State.GRADED) | Q(batch__run=failed_in))
        fields = counted.values_list("text_id", "question_id", "pk", "state").order_by()
        self.attempts = {
            (text, question): (pk, state == State.GRADED) for text, question, pk, state in fields
        }
        # Grades without an attempt came in a file, before the judge had a row here.
        self.rated = set(
            Rating.objects.filter(rater=judge.rater, rubric=judge.rubric, text_id__in=texts)
            .values_list("text_id", "question_id")
            .order_by()
        )
        self.texts = {text for text, _ in self.attempts} | {text for text, _ in self.rated}

    def lacks(self, text: int, question: int) -> bool:
        return (text, question) not in self.attempts and (text, question) not in self.rated

    def failed(self, text: int, question: int) -> bool:
        _, is_graded = self.attempts.get((text, question), (0, True))
        return not is_graded

    def attempt(self, texts: list[int], question: int) -> int | None:
        """Return the attempt at one of these texts."""
        attempts = (self.attempts.get((text, question)) for text in texts)
        return next((pk for pk, _ in filter(None, attempts)), None)


def _missing_of(
    judge: Judge, kinds: list[Kind], selection: Selection, counts: Counts
) -> tuple[list[Group], Copies]:
    prior = _PriorReplies(judge, [pk for texts, _ in kinds for pk in texts], selection.failed_in)
    needs_reply = prior.failed if selection.retry else prior.lacks
    groups: list[Group] = []
    copies: Copies = []
    for texts, questions in kinds:
        to_ask: dict[tuple[int, ...], list[int]] = {}
        if prior.texts.isdisjoint(texts):
            if questions and not selection.retry:
                to_ask[tuple(texts)] = questions
        else:
            for question in questions:
                lacking = [text for text in texts if needs_reply(text, question)]
                counts.there_before += sum(
                    not prior.lacks(text, question) for text in texts if text not in lacking
                )
                source = None if selection.retry else prior.attempt(texts, question)
                if lacking and source:
                    copies += [(source, text) for text in lacking]
                elif lacking:
                    to_ask.setdefault(tuple(lacking), []).append(question)
        for text_ids, question_ids in to_ask.items():
            if question_ids := question_ids[: _room(selection, counts)]:
                counts.texts += not groups or groups[-1].texts[0] != text_ids[0]
                groups.append(Group(text_ids, question_ids))
                counts.to_send += len(question_ids)
                counts.to_fill += len(text_ids) * len(question_ids)
    counts.copied += len(copies)
    counts.to_fill += len(copies)
    return groups, copies


def _room(selection: Selection, counts: Counts) -> int | None:
    """Return the number of pairs that may still be sent; None without a limit."""
    return None if selection.limit is None else max(0, selection.limit - counts.to_send)


def count(judge: Judge, dataset: Dataset, selection: Selection) -> Counts:
    """Count what a run would plan, without writing anything."""
    counts = Counts()
    for _ in missing(judge, dataset, selection, counts):
        pass
    return counts


def plan(run: JudgeRun, worker: str) -> Counts:
    """Store the shards of a run, and set it running, or finished if nothing is missing.

    Shards are written as they are found, so that memory and the time that a write lock is held stay
    small whatever the size of the run. A process that dies in here leaves the run in planning; the
    next one begins again. Raises PlanningConflictError where another process plans, or somebody cancelled.
    """
    _lock(run, first=True)
    try:
        return _plan_test(run) if run.test else _plan(run, worker)
    except BaseException:
        _unlock(run)
        raise


def _plan(run: JudgeRun, worker: str) -> Counts:
    run.shards.only("pk").delete()
    selection = Selection.from_json(run.selection)
    size = _shard_size(run, selection)
    counts = Counts()
    number = 0
    waiting: list[Group] = []
    for groups, copies in missing(run.judge, run.dataset, selection, counts):
        waiting += groups
        shards = []
        for shard in _cut(waiting, size):
            number += 1
            shards.append(_shard(run, number, shard))
        with _locked(run):
            Shard.objects.bulk_create(shards, batch_size=50)
            store_copies(run, worker, copies)
    with _locked(run):
        if waiting:
            _shard(run, number + 1, waiting).save()
        _end(run, counts)
    run.refresh_from_db()
    return counts


def _plan_test(run: JudgeRun) -> Counts:
    """Store the shards of a test: the pairs of its sample, once for each repeat."""
    selection = Selection.from_json(run.selection)
    sample = draw_sample(run.judge, run.dataset, run.test, selection.limit or 0, selection.seed)
    counts = Counts(texts=len(sample.by_text))
    counts.to_fill = counts.to_send = len(sample.pairs) * run.repeats
    size = min(SHARD, max(SMALLEST_SHARD, counts.to_send // SHARES))
    shards: list[Shard] = []
    for repeat in range(1, run.repeats + 1):
        waiting = [Group((text,), questions) for text, questions in sample.by_text.items()]
        lots = [*_cut(waiting, size), waiting]
        shards += [
            _shard(run, len(shards) + number, lot, repeat)
            for number, lot in enumerate(filter(None, lots), 1)
        ]
    with _locked(run):
        run.shards.only("pk").delete()
        Shard.objects.bulk_create(shards, batch_size=50)
        JudgeRun.objects.filter(pk=run.pk).update(n_unchanged=sample.n_unchanged)
        _end(run, counts, "None of the pairs of this test can be sent any more.")
    run.refresh_from_db()
    return counts


def _shard_size(run: JudgeRun, selection: Selection) -> int:
    pairs = selection.possible(run.dataset)
    if selection.limit is not None:
        pairs = min(pairs, selection.limit)
    return min(SHARD, max(SMALLEST_SHARD, pairs // SHARES))


def _end(run: JudgeRun, counts: Counts, note_of_none: str = NOTHING_LEFT) -> None:
    # Copies of a planning that died are there already for this one, and belong to the run all the same.
    copied_before = run.batches.aggregate(n=Sum("n_attempts", default=0))["n"] - counts.copied
    counts.copied += copied_before
    counts.to_fill += copied_before
    counts.there_before -= copied_before
    JudgeRun.objects.filter(pk=run.pk).update(
        state=JudgeRun.State.RUNNING if counts.to_send else JudgeRun.State.FINISHED,
        note="" if counts.to_send else note_of_none,
        n_planned=counts.to_fill,
        n_there_before=counts.there_before,
        n_without_words=counts.without_words,
        planning_until=None,
        started=Now(),
        ended=None if counts.to_send else Now(),
    )


@contextmanager
def _locked(run: JudgeRun) -> Iterator[None]:
    """Lock the planning of a run: its row is locked until the block's writes are stored."""
    before = run.planning_until
    try:
        with transaction.atomic():
            _lock(run)
            yield
    except BaseException:
        run.planning_until = before
        raise


@transaction.atomic
def _lock(run: JudgeRun, *, first: bool = False) -> None:
    free = Q(planning_until=None) | Q(planning_until__lt=Now())
    mine = free if first else Q(planning_until=run.planning_until)
    lockable = JudgeRun.objects.filter(mine, pk=run.pk, state=JudgeRun.State.PLANNING)
    if not lockable.update(planning_until=lease_expiry()):
        raise PlanningConflictError(f"{run} is planned by another process, or was cancelled.")
    run.refresh_from_db(fields=["planning_until"])


def _unlock(run: JudgeRun) -> None:
    JudgeRun.objects.filter(pk=run.pk, planning_until=run.planning_until).update(
        planning_until=None
    )


def _cut(waiting: list[Group], size: int) -> Iterator[list[Group]]:
    """Yield full shards from the front of `waiting`; what is left there does not fill one."""
    shard: list[Group] = []
    n = 0
    while waiting:
        shard.append(group := waiting.pop(0))
        n += len(group.texts) * len(group.questions)
        if n >= size:
            yield shard
            shard, n = [], 0
    waiting += shard


def _shard(run: JudgeRun, number: int, groups: list[Group], repeat: int | None = None) -> Shard:
    of_repeat = [] if repeat is None else [repeat]
    return Shard(
        run=run,
        number=number,
        groups=[[list(texts), questions, *of_repeat] for texts, questions in groups],
        n_pairs=sum(len(texts) * len(questions) for texts, questions in groups),
    )
