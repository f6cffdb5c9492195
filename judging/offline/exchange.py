"""Export of judge runs to a cluster without the database, and import of replies.

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
from judging.engine import runs
from judging.engine.pair_loader import PairLoader
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.engine.storing import store
from judging.execution import leases, states
from judging.grading.pairs import Pair, Reply, State
from judging.grading.prompt import hashes
from judging.grading.spec import Spec
from judging.models import Attempt, Judge, JudgeRun, Shard
from judging.offline.job import FORMAT, About, ExchangeError, Job, pairs_name
from judging.offline.parquet import PairRow, read_results, reply_of, write_pairs

ROWS = 2_000  # pairs of a file: what a worker of a cluster that dies does again
Key = tuple[int, int]
Texts = dict[int, Text]


@dataclass
class ImportCounts:
    """Counts of an imported file of replies, in pairs that were asked."""

    run: JudgeRun
    new: int = 0
    graded: int = 0
    there_before: int = 0


def export_run(
    judge: Judge, dataset: Dataset, selection: Selection, folder: Path, rows: int = ROWS
) -> tuple[JudgeRun, Job | None]:
    """Plan a run of the pairs that a judge lacks, and write them to an empty folder.

    A file holds `rows` pairs at most, or all questions of one text. The job is None where the judge
    lacks nothing. Whatever goes wrong leaves neither files nor an open run. Raises ExchangeError for
    a folder that holds something and for a baseline, and what `runs.start` raises.
    """
    if judge.backend == Judge.Backend.LEXICAL:
        raise ExchangeError(
            f"{judge} is the baseline: it needs no cluster, and grades by the passages of this "
            f"database. Use: manage.py judge {dataset.slug} --judge {judge}"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExchangeError(f"{folder} is not an empty folder: name a new one.")
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
        for rows_of_file in _files(_pairs(run, owner), rows):
            written.append(folder / pairs_name(len(written) + 1))
            write_pairs(written[-1], about, rows_of_file)
            n_pairs += len(rows_of_file)
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
    with suppress(states.RunStateError):  # somebody else has ended it
        states.cancel(run)
    run.shards.filter(owner=owner, state=Shard.State.LEASED).update(
        state=Shard.State.OPEN, owner="", expires=None
    )
    for path in written:
        path.unlink(missing_ok=True)


def _pairs(run: JudgeRun, owner: str) -> Iterator[PairRow]:
    """Yield the pairs of the shards leased to this export, one shard in memory at a time."""
    numbers = run.shards.filter(owner=owner).order_by("number").values_list("number", flat=True)
    for number in list(numbers):
        shard = run.shards.get(number=number)
        texts, loader = _load(run.judge, [shard])
        for keys, question_ids in shard.groups:
            for question in question_ids:
                if keys[0] in texts and question in loader.questions:  # not deleted since
                    yield PairRow(number, texts[keys[0]].sha256, loader.pair(keys[0], question))


def _load(judge: Judge, shards: list[Shard]) -> tuple[Texts, PairLoader]:
    """Return the texts of some shards without bodies, and the loaded pairs."""
    groups = [group for shard in shards for group in shard.groups]
    texts = Text.objects.only("name", "sha256").in_bulk(
        {text for texts, _ in groups for text in texts}
    )
    questions = {question for _, question_ids in groups for question in question_ids}
    return texts, PairLoader(judge.spec, texts.keys(), questions)


def _files(pairs: Iterator[PairRow], rows: int) -> Iterator[list[PairRow]]:
    """Cut rows into files, between two texts.

    What a server has read of a text then serves all its questions.
    """
    lot: list[PairRow] = []
    for _, of_text in groupby(pairs, key=lambda row: row.pair.text_id):
        more = list(of_text)
        if lot and len(lot) + len(more) > rows:
            yield lot
            lot = []
        lot += more
    if lot:
        yield lot


@transaction.atomic
def import_file(dataset: Dataset, path: Path) -> ImportCounts:
    """Store the replies of a file, all or none, and finish shards that are complete.

    A pair that has an attempt keeps it, so that a file imported again changes nothing. Raises
    ExchangeError with the file and the row for what does not belong to a run of this dataset, is of
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
    texts, loader = _load(run.judge, list(shards.values()))
    pairs_of_shard = {number: _keys(shard, loader) for number, shard in shards.items()}
    spec = run.judge.spec
    replies = defaultdict[int, list[Reply]](list)
    row_of: dict[Key, int] = {}
    for row_number, row in enumerate(rows, 1):
        key = (row["text_id"], row["question_id"])
        try:
            if key in row_of:
                raise ValueError(f"the same pair as in row {row_of[key]}")
            row_of[key] = row_number
            if row["fingerprint"] != run.judge.fingerprint:
                raise ValueError(f"a reply of the judge {row['fingerprint'][:8]}, {_not_of(run)}")
            if key not in pairs_of_shard.get(row["shard"], ()):
                raise ValueError(
                    f"text {key[0]} and question {key[1]} are no pair of shard {row['shard']} of "
                    f"judge run {run.pk}, or were deleted"
                )
            replies[row["shard"]].append(_checked(spec, row, texts[key[0]], loader.pair(*key)))
        except ValueError as error:
            raise ExchangeError(f"{path.name}, row {row_number}: {error}.") from None
    done = ImportCounts(run)
    worker = f"import:{path.name}"[:120]
    for number, shard in shards.items():
        replied, duplicates = _replied(run, shard), _duplicates(shard, texts)
        # Another run may have asked about one of the texts that are asked alike, and not about others.
        new = [
            reply for reply in replies[number] if not _pairs_of_reply(reply, duplicates) <= replied
        ]
        done.there_before += len(replies[number]) - len(new)
        if new:
            store(run, shard, worker, new, duplicates)
            done.new += len(new)
            done.graded += sum(reply.state is State.GRADED for reply in new)
        is_whole = pairs_of_shard[number] <= replied | {_key(reply) for reply in new}
        if is_whole and shard.state != Shard.State.DONE:
            leases.finish(run, shard.pk, worker)
    runs.finish_if_done(run)
    return done


def _run_of(dataset: Dataset, about: About, path: Path) -> JudgeRun:
    judge_runs = JudgeRun.objects.select_related("judge__rater", "judge__rubric")
    run = judge_runs.filter(pk=about.run, dataset=dataset, test="").first()
    if about.dataset != dataset.slug or run is None:
        raise ExchangeError(
            f"{path.name} holds replies for judge run {about.run} of {about.dataset}, which is no run "
            f"of {dataset.slug} here."
        )
    if about.fingerprint != run.judge.fingerprint:
        raise ExchangeError(
            f"{path.name} holds replies of the judge {about.judge} ({about.fingerprint[:8]}), "
            f"{_not_of(run)}."
        )
    return run


def _not_of(run: JudgeRun) -> str:
    return f"and judge run {run.pk} is one of {run.judge} ({run.judge.short})"


def _keys(shard: Shard, loader: PairLoader) -> set[Key]:
    """Return the pairs of a shard that are asked, except those deleted since."""
    return {
        (group[0], question)
        for group, question_ids in shard.groups
        for question in question_ids
        if group[0] in loader.texts and question in loader.questions
    }


def _duplicates(shard: Shard, texts: Texts) -> dict[Key, list[int]]:
    """Return the other texts with the same prompt, for each pair that is asked."""
    return {
        (group[0], question): [text for text in group[1:] if text in texts]
        for group, question_ids in shard.groups
        for question in question_ids
    }


def _key(reply: Reply) -> Key:
    return reply.pair.text_id, reply.pair.question_id


def _pairs_of_reply(reply: Reply, duplicates: dict[Key, list[int]]) -> set[Key]:
    """Return the pairs that a reply holds for: its own, and those with the same prompt."""
    text, question = _key(reply)
    return {(text_id, question) for text_id in (text, *duplicates[text, question])}


def _checked(spec: Spec, row: dict[str, Any], text: Text, pair: Pair) -> Reply:
    """Return the reply of a row.

    Raises ValueError if it is about another text body, or is no reply.
    """
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
    """Return the pairs of a shard that have the attempt that the run needs."""
    text_ids = {text for texts, _ in shard.groups for text in texts}
    attempts = Attempt.objects.settled_for(run).filter(text_id__in=text_ids)
    return set(attempts.values_list("text_id", "question_id").order_by())
