"""Grade exported pairs on machines that cannot see the database.

    python -m judging.offline.cluster EXPORT --out RESULTS --url http://10.0.0.5:8000/v1

With Ray (the default) this is a Ray Data job: every worker of the cluster holds one grader, and takes
some files at a time. With --no-ray it is one plain process. Both write one file of replies for each
file of pairs, under its name only when it is whole: the same command goes on where it was stopped. All
machines need to see both folders. The key of a server is read from JUDGE_KEY.

No Django and no database: this needs pyarrow, and what the judge's grader needs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.errors import UserError
from annotation.plurals import n_of
from judging.graders.base import MAX_CONSECUTIVE_ERRORS, ErrorStreak, Grader
from judging.graders.chat import OpenAIGrader, VllmGrader
from judging.grading.pairs import Reply, State
from judging.grading.spec import Spec
from judging.llm.errors import BackendError
from judging.llm.server import Address
from judging.offline.job import ExchangeError, Job, results_name

try:
    from judging.offline.parquet import PairRow, read_about, read_pairs, write_results
except ModuleNotFoundError as error:
    sys.exit(
        f"judging.offline.cluster needs {error.name}: pip install {error.name} into an environment of "
        "its own (docs/fleet.md), or make env EXTRAS=cluster for that of the site"
    )

MOST_AT_ONCE = 8  # files that a worker of Ray holds: between two lots of them its grader runs empty
LOTS = 4  # for each worker at least, so that they end at nearly the same time
Key = tuple[int, int]


@dataclass(frozen=True)
class Work:
    """Settings of a worker: the folders, and how to reach or start the model."""

    folder: Path
    results: Path
    urls: tuple[str, ...] = ()
    key: str | None = field(default=None, repr=False)
    concurrency: int = 64
    engine: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """A written file of replies, with counts."""

    name: str
    pairs: int
    graded: int


@dataclass
class _Open:
    """A file with pairs that are still with the grader."""

    rows: list[PairRow]
    replies: dict[Key, Reply] = field(default_factory=dict)


def grader_of(spec: Spec, work: Work) -> Grader:
    """Return the grader of a judge.

    Raises BackendError if this machine lacks what it needs.
    """
    if spec.backend == "vllm":
        return VllmGrader(spec, engine_args=work.engine)
    if spec.backend == "openai":
        if not work.urls:
            raise BackendError("This judge asks a server: name it with --url.")
        first, *more = work.urls
        return OpenAIGrader(
            spec,
            first,
            key=work.key,
            other_addresses=[Address(url, work.key) for url in more],
            concurrency=work.concurrency,
        )
    raise BackendError(f"A judge of the kind {spec.backend!r} cannot work without the database.")


def to_do(job: Job, work: Work) -> list[Path]:
    """Return the files of pairs without a file of replies.

    Raises ExchangeError for another job's replies.
    """
    files = []
    for path in job.pairs_files(work.folder):
        results_path = work.results / results_name(path)
        if not results_path.exists():
            files.append(path)
        elif read_about(results_path) != job.about:
            raise ExchangeError(
                f"{results_path} is of another export: name another folder with --out."
            )
    return files


def grade_files(
    grader: Grader, job: Job, files: Sequence[Path], results: Path
) -> Iterator[Done | None]:
    """Grade the pairs of files as one stream, and write each file when it is complete.

    Yields each file that was written, and None about once a second while nothing comes. Raises what
    the grader raises, and BackendError after errors alone for a long while; files that were written by
    then stay.
    """
    opened: dict[Path, _Open] = {}
    home: dict[Key, Path] = {}
    in_vain = ErrorStreak(MAX_CONSECUTIVE_ERRORS)

    def pairs() -> Iterator[Any]:
        for path in files:
            about, rows = read_pairs(path)
            if about != job.about:
                raise ExchangeError(f"{path} is of another export than {job.about.run}.")
            opened[path] = _Open(rows)
            for row in rows:
                home[row.pair.text_id, row.pair.question_id] = path
            yield from (row.pair for row in rows)

    for reply in grader.replies(pairs()):
        if reply is None:
            yield None
            continue
        in_vain.count(reply)
        key = (reply.pair.text_id, reply.pair.question_id)
        path = home.pop(key)
        file = opened[path]
        file.replies[key] = reply
        if len(file.replies) == len(file.rows):
            yield _written(job, path, opened.pop(path), results)
    if home:
        raise BackendError(f"The grader gave no reply to {n_of(len(home), 'pair', ',')}.")


def _written(job: Job, path: Path, file: _Open, results: Path) -> Done:
    replies = [file.replies[row.pair.text_id, row.pair.question_id] for row in file.rows]
    name = results_name(path)
    write_results(results / name, job.about, zip(file.rows, replies, strict=True))
    return Done(name, len(replies), sum(reply.state is State.GRADED for reply in replies))


def run_here(job: Job, work: Work, files: Sequence[Path]) -> Iterator[Done | None]:
    """Grade all files in this process."""
    return grade_files(grader_of(job.spec, work), job, files, work.results)


class _Worker:
    """Actor of Ray: one grader, kept for one lot of files after another."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.job = Job.read(work.folder)
        self.grader: Grader | None = None

    def __call__(self, batch: dict[str, Any]) -> Iterator[dict[str, list[Any]]]:
        # What stops a grader travels as a row: of an exception Ray makes pages.
        try:
            self.grader = self.grader or grader_of(self.job.spec, self.work)
            # A lot that Ray gives out again, as its worker died, may be done in part.
            files = [path for path in to_do(self.job, self.work) if path.name in set(batch["name"])]
            for done in grade_files(self.grader, self.job, files, self.work.results):
                if done:
                    yield _row(done.name, done.pairs, done.graded)
        except UserError as error:
            yield _row("", 0, 0, str(error))


def _row(name: str, pairs: int, graded: int, error: str = "") -> dict[str, list[Any]]:
    return {"name": [name], "pairs": [pairs], "graded": [graded], "error": [error]}


def run_on_ray(job: Job, work: Work, files: Sequence[Path], workers: int) -> Iterator[Done]:
    """Grade all files on a cluster: that of RAY_ADDRESS, or this machine.

    Raises BackendError.
    """
    import ray  # noqa: PLC0415 - an own environment

    root = Path(__file__).resolve().parents[2]
    # Of annotation the base class of errors is imported alone, which needs no Django.
    ray.init(runtime_env={"py_modules": [str(root / name) for name in ("judging", "annotation")]})
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    lot = max(1, min(MOST_AT_ONCE, len(files) // (workers * LOTS)))
    # Blocks made here, and not by a task of Ray: that would want a processor beside the workers' own.
    names = ray.data.from_items(
        [{"name": path.name} for path in files], override_num_blocks=math.ceil(len(files) / lot)
    )
    gpus = work.engine.get("tensor_parallel_size", 1) if job.spec.backend == "vllm" else 0
    graded = names.map_batches(
        _Worker,
        fn_constructor_args=(work,),
        batch_size=None,
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=1,
        num_gpus=gpus,
    )
    try:
        for row in graded.iter_rows():
            if row["error"]:
                raise BackendError(row["error"])
            yield Done(row["name"], row["pairs"], row["graded"])
    except ray.exceptions.RayError as error:
        raise BackendError(f"The job on Ray has ended: {error}") from error


def main(argv: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(argv)
    work = Work(
        chosen.folder.resolve(),
        chosen.out.resolve(),
        tuple(url for url in chosen.url if url),
        os.environ.get("JUDGE_KEY"),
        chosen.concurrency,
        chosen.engine,
    )
    try:
        job = Job.read(work.folder)
        files = to_do(job, work)
        work.results.mkdir(parents=True, exist_ok=True)
        _log(f"{job.about.judge} ({job.about.fingerprint[:8]}): {n_of(job.pairs, 'pair', ',')}")
        _log(f"{len(files):,} of {n_of(job.files, 'file', ',')} to do")
        if files and chosen.no_ray:
            _report(run_here(job, work, files), len(files))
        elif files:
            _report(run_on_ray(job, work, files, chosen.workers), len(files))
        if remaining := to_do(job, work):
            return _failed(
                f"Still to do: {n_of(len(remaining), 'file', ',')}. Give the same command again."
            )
        _log(f"All replies are there: manage.py judge_import {job.about.dataset} {work.results}")
    except (UserError, OSError) as error:
        return _failed(str(error))
    except ImportError as error:
        return _failed(f"{error}. This needs an environment of its own: see docs/fleet.md.")
    except KeyboardInterrupt:
        return _failed("Stopped. The files that are written stay; the same command goes on.")
    return 0


def _report(files: Iterator[Done | None], n: int) -> None:
    began, pairs, written = time.monotonic(), 0, 0
    for done in files:
        if done is None:
            continue
        written += 1
        pairs += done.pairs
        rate = pairs / max(time.monotonic() - began, 1e-3)
        _log(
            f"{done.name}: {n_of(done.pairs, 'pair', ',')}, {done.graded:,} graded; "
            f"{written:,} of {n_of(n, 'file', ',')}, {rate:,.0f} pairs a second"
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m judging.offline.cluster",
        description="Grade the pairs that judge_export wrote.",
    )
    parser.add_argument("folder", type=Path, help="with judge.json and pairs-*.parquet")
    parser.add_argument("--out", type=Path, required=True, help="folder for results-*.parquet")
    parser.add_argument(
        "--url",
        action="append",
        default=[],
        help="of the server, for judges that ask one; several times for several servers",
    )
    parser.add_argument(
        "--concurrency", type=_count, default=64, help="simultaneous requests of each worker"
    )
    parser.add_argument(
        "--engine", type=_settings, default={}, help="arguments of vLLM in process, as JSON"
    )
    parser.add_argument("--workers", type=_count, default=1, help="graders on the cluster of Ray")
    parser.add_argument("--no-ray", action="store_true", help="in this process alone")
    return parser


def _count(argument: str) -> int:
    if not argument.isdecimal() or int(argument) < 1:
        raise argparse.ArgumentTypeError(f"{argument!r} is not a number of 1 or more")
    return int(argument)


def _settings(argument: str) -> dict[str, Any]:
    try:
        values = json.loads(argument)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise argparse.ArgumentTypeError(f'{argument!r} is no JSON object, such as {{"seed": 0}}')
    return values


def _log(message: str) -> None:
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def _failed(message: str) -> int:
    _log(message)
    return 1


if __name__ == "__main__":
    sys.exit(main())
