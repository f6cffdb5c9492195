"""Export and import of judge runs: pairs out to a cluster that cannot see the database, replies back in.

An export is a judge run whose shards are lent to it without end, so that nobody here asks for the same
pairs. Cancelling that run gives them back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.models import Dataset, Text
from judging.engine import leases, runs, states
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.engine.shown import Shown
from judging.engine.storing import store
from judging.grading.pairs import Pair, Reply, State
from judging.grading.prompt import hashes
from judging.grading.spec import Spec
from judging.models import Attempt, Judge, JudgeRun, Shard
from judging.offline.job import FORMAT, About, ExchangeRefused, Job, pairs_name
from judging.offline.parquet import Asked, read_results, reply_of, write_pairs

ROWS = 2_000  # pairs of a file: what a worker of a cluster that dies does again
Key = tuple[int, int]
Texts = dict[int, Text]


@dataclass
class Imported:
    """What a file of replies came to, in pairs that were asked."""

    run: JudgeRun
    new: int = 0
    graded: int = 0
    there_before: int = 0


def export_run(
    judge: Judge, dataset: Dataset, selection: Selection, folder: Path, rows: int = ROWS
) -> tuple[JudgeRun, Job | None]:
    """Plan a run of the pairs that a judge lacks, and write them into a new or empty folder.

    A file holds `rows` pairs at most, or all questions of one text. The job is None where the judge
    lacks nothing. Whatever goes wrong leaves neither files nor an open run. Raises ExchangeRefused for
    a folder that holds something and for a baseline, and what `runs.start` raises.
    """
    if judge.backend == Judge.Backend.LEXICAL:
        raise ExchangeRefused(
            f"{judge} is the baseline: it needs no cluster, and grades by the passages of this "
            f"database. Use: manage.py judge {dataset.slug} --judge {judge}"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExchangeRefused(f"{folder} is not an empty folder: name a new one.")
    run = runs.start(judge, dataset, selection)
    owner = f"export:{folder}"[:120]
    written: list[Path] = []
    try:
        plan(run, owner)
        if not run.is_running:
            return run, None
        # At once, before anybody who looks for work finds these shards.
        run.shards.filter(leases.free()).update(
            state=Shard.State.LEASED, owner=owner, expires=leases.NEVER
        )
        folder.mkdir(parents=True, exist_ok=True)
        about = About(FORMAT, dataset.slug, run.pk, judge.slug, judge.fingerprint)
        n_pairs = 0
        for some in _files(_asked(run, owner), rows):
            written.append(folder / pairs_name(len(written) + 1))
            write_pairs(written[-1], about, some)
            n_pairs += len(some)
        job = Job(about, judge.spec, files=len(written), pairs=n_pairs)
        job.write(folder)
    except BaseException:
        _undo(run, owner, written)
        raise
    JudgeRun.objects.filter(pk=run.pk).update(
        note=f"Exported to {folder}: waits for judge_import, or to be cancelled."[:500]
    )
    run.refresh_from_db()
    return run, job


def _undo(run: JudgeRun, owner: str, written: list[Path]) -> None:
    run.refresh_from_db()
    with suppress(states.RunRefused):  # somebody else has ended it
        states.cancel(run)
    run.shards.filter(owner=owner, state=Shard.State.LEASED).update(
        state=Shard.State.OPEN, owner="", expires=None
    )
    for path in written:
        path.unlink(missing_ok=True)


def _asked(run: JudgeRun, owner: str) -> Iterator[Asked]:
    """The pairs of the shards that are lent to this export, one shard in memory at a time."""
    numbers = run.shards.filter(owner=owner).order_by("number").values_list("number", flat=True)
    for number in list(numbers):
        shard = run.shards.get(number=number)
        texts, shown = _named_in(run.judge, [shard])
        for keys, asked in shard.groups:
            for question in asked:
                if keys[0] in texts and question in shown.questions:  # not deleted since
                    yield Asked(number, texts[keys[0]].sha256, shown.pair(keys[0], question))


def _named_in(judge: Judge, shards: list[Shard]) -> tuple[Texts, Shown]:
    """The texts of some shards without their words, and with them what is shown of the texts."""
    groups = [group for shard in shards for group in shard.groups]
    texts = Text.objects.only("name", "sha256").in_bulk(
        {text for texts, _ in groups for text in texts}
    )
    questions = {question for _, asked in groups for question in asked}
    return texts, Shown(judge.spec, texts.keys(), questions)


def _files(asked: Iterator[Asked], rows: int) -> Iterator[list[Asked]]:
    """Cut between two texts, so that what a server has read of one serves all its questions."""
    some: list[Asked] = []
    for _, of_text in groupby(asked, key=lambda row: row.pair.text_id):
        more = list(of_text)
        if some and len(some) + len(more) > rows:
            yield some
            some = []
        some += more
    if some:
        yield some


@transaction.atomic
def import_file(dataset: Dataset, path: Path) -> Imported:
    """Store the replies of one file, all of them or none, and mark the shards that are whole.

    A pair that has an attempt keeps it, so that a file imported again changes nothing. Raises
    ExchangeRefused with the file and the row for what does not belong to a run of this dataset, is of
    another judge or another text, or is no reply.
    """
    about, rows = read_results(path)
    run = _run_of(dataset, about, path)
    numbers = {row["shard"] for row in rows}
    # Two imports of one file wait for each other here, and the second finds nothing new.
    shards = {
        shard.number: shard
        for shard in run.shards.select_for_update().filter(number__in=numbers).order_by("number")
    }
    texts, shown = _named_in(run.judge, list(shards.values()))
    asked = {number: _keys(shard, shown) for number, shard in shards.items()}
    spec = run.judge.spec
    replies = defaultdict[int, list[Reply]](list)
    seen: dict[Key, int] = {}
    for row_number, row in enumerate(rows, 1):
        key = (row["text_id"], row["question_id"])
        try:
            if key in seen:
                raise ValueError(f"the same pair as in row {seen[key]}")
            seen[key] = row_number
            if row["fingerprint"] != run.judge.fingerprint:
                raise ValueError(f"a reply of the judge {row['fingerprint'][:8]}, {_not_of(run)}")
            if key not in asked.get(row["shard"], ()):
                raise ValueError(
                    f"text {key[0]} and question {key[1]} are no pair of shard {row['shard']} of "
                    f"judge run {run.pk}, or were deleted"
                )
            replies[row["shard"]].append(_checked(spec, row, texts[key[0]], shown.pair(*key)))
        except ValueError as error:
            raise ExchangeRefused(f"{path.name}, row {row_number}: {error}.") from None
    done = Imported(run)
    worker = f"import:{path.name}"[:120]
    for number, shard in shards.items():
        there, twins = _replied(run, shard), _twins(shard, texts)
        # Another run may have asked about one of the texts that are asked alike, and not about others.
        new = [reply for reply in replies[number] if not _held_for(reply, twins) <= there]
        done.there_before += len(replies[number]) - len(new)
        if new:
            store(run, shard, worker, new, twins)
            done.new += len(new)
            done.graded += sum(reply.state is State.GRADED for reply in new)
        is_whole = asked[number] <= there | {_key(reply) for reply in new}
        if is_whole and shard.state != Shard.State.DONE:
            leases.finish(run, shard.pk, worker)
    runs.finish_if_done(run)
    return done


def _run_of(dataset: Dataset, about: About, path: Path) -> JudgeRun:
    judge_runs = JudgeRun.objects.select_related("judge__rater", "judge__rubric")
    run = judge_runs.filter(pk=about.run, dataset=dataset).first()
    if about.dataset != dataset.slug or run is None:
        raise ExchangeRefused(
            f"{path.name} holds replies for judge run {about.run} of {about.dataset}, which is no run "
            f"of {dataset.slug} here."
        )
    if about.fingerprint != run.judge.fingerprint:
        raise ExchangeRefused(
            f"{path.name} holds replies of the judge {about.judge} ({about.fingerprint[:8]}), "
            f"{_not_of(run)}."
        )
    return run


def _not_of(run: JudgeRun) -> str:
    return f"and judge run {run.pk} is one of {run.judge} ({run.judge.short})"


def _keys(shard: Shard, shown: Shown) -> set[Key]:
    """The pairs of a shard that are asked, but those deleted since."""
    return {
        (group[0], question)
        for group, asked in shard.groups
        for question in asked
        if group[0] in shown.texts and question in shown.questions
    }


def _twins(shard: Shard, texts: Texts) -> dict[Key, list[int]]:
    """The other texts that are asked alike, for each pair that is asked."""
    return {
        (group[0], question): [text for text in group[1:] if text in texts]
        for group, asked in shard.groups
        for question in asked
    }


def _key(reply: Reply) -> Key:
    return reply.pair.text_id, reply.pair.question_id


def _held_for(reply: Reply, twins: dict[Key, list[int]]) -> set[Key]:
    """The pairs that a reply is about: its own, and those of the other texts asked alike."""
    text, question = _key(reply)
    return {(text_id, question) for text_id in (text, *twins[text, question])}


def _checked(spec: Spec, row: dict[str, Any], text: Text, pair: Pair) -> Reply:
    """The reply of a row. Raises ValueError where it is about other words, or is no reply."""
    if text.sha256 != row["sha256"]:
        raise ValueError(f"the text {text.name} has other words now than those that were graded")
    reply = reply_of(row, pair, spec.grades)
    if reply.prompt_hash and reply.prompt_hash not in hashes(spec, pair):
        raise ValueError(
            "the model was sent another prompt than this site would send: a question, the request or the "
            "answer has changed, or the other machine has another version of this code"
        )
    return reply


def _replied(run: JudgeRun, shard: Shard) -> set[Key]:
    """Pairs of a shard that have the attempt that the run wants."""
    named = {text for texts, _ in shard.groups for text in texts}
    attempts = Attempt.objects.settled_for(run).filter(text_id__in=named)
    return set(attempts.values_list("text_id", "question_id").order_by())
