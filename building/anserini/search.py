"""Lucene rankings for many requests in one child process."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from building.anserini.index import LUCENE, LuceneIndex, broken
from building.anserini.jar import AnseriniError, Jar, complaint
from building.retrieval.bm25 import DECIMALS

MOST_TERMS = 1_024  # different terms of a request, to Lucene
TAKEN_OFF = 1e-6  # Anserini takes that off a score for each that ties with it before
_NO_INDEX = re.compile(r"(?:CorruptIndex|IndexFormat\w+|IndexNotFound|NoSuchFile|EOF)Exception")
_PROCESSED = re.compile(r": (\d+) queries processed")

Hits = list[tuple[int, float]]


def rank_requests(
    index: LuceneIndex, jar: Jar, requests: Mapping[str, str], k1: float, b: float, hits: int
) -> dict[str, Hits]:
    """Rank passages for each request: (key, score) by topic name, scores to 4 decimals.

    A topic for which nothing is found has an empty list: Anserini itself leaves such out. One without words is
    not sent. Raises AnseriniError, and BrokenIndexError where the index is no longer whole.
    """
    names = [name for name, request in requests.items() if request.strip()]
    rankings: dict[str, Hits] = {name: [] for name in requests}
    if not names:
        return rankings
    with TemporaryDirectory(prefix="anserini-") as folder:
        topics, run = Path(folder) / "topics.jsonl", Path(folder) / "out.run"
        with topics.open("w", encoding="ascii") as file:
            for number, name in enumerate(names):
                file.write(json.dumps({"qid": str(number), "title": requests[name]}) + "\n")
        arguments: list[str | Path] = [
            "-index",
            (index.folder / LUCENE).absolute(),
            "-topics",
            topics,
            "-output",
            run,
        ]
        arguments += ["-topicReader", "JsonString", "-language", index.meta.language]
        arguments += ["-hits", str(hits), "-bm25", "-bm25.k1", str(k1), "-bm25.b", str(b)]
        output = _search(index, jar, arguments, Path(folder))
        _check(output, [requests[name] for name in names], names)
        if not run.exists():
            raise AnseriniError("Lucene wrote no ranking, and does not say why.")
        for number, rows in _read(run).items():
            rankings[names[number]] = rows
    return rankings


def _search(index: LuceneIndex, jar: Jar, arguments: list[str | Path], folder: Path) -> str:
    try:
        output = jar.told("search.SearchCollection", arguments, folder)
    except AnseriniError as error:
        if _NO_INDEX.search(str(error)):
            raise broken(index.folder, str(error)) from None
        raise
    if "not appear to be a valid index" in output:
        raise broken(index.folder, "Lucene finds none there")
    return output


def _check(output: str, requests: list[str], names: list[str]) -> None:
    """Raise AnseriniError unless every request was processed.

    Anserini ends with 0, and with rankings of the others, where a request is too much for it.
    """
    trouble = complaint(output)
    if "TooManyClauses" in trouble:
        longest = max(range(len(names)), key=lambda index: len(requests[index].split()))
        raise AnseriniError(
            f"Lucene takes {MOST_TERMS:,} different terms in a request at most. The longest is that of "
            f"the topic {names[longest]}."
        )
    match = _PROCESSED.search(output)
    n_done = int(match[1]) if match else 0
    if trouble or n_done != len(names):
        raise AnseriniError(
            f"Lucene answered {n_done:,} of {len(names):,} requests: {trouble or 'it does not say why'}."
        )


def _read(run: Path) -> dict[int, Hits]:
    """Parse a run file into rankings by topic number, best first, ties in passage order."""
    printed: dict[int, list[tuple[str, float]]] = {}
    with run.open(encoding="ascii") as file:
        for line in file:
            number, _, document, _, score, _ = line.split()
            printed.setdefault(int(number), []).append((document, float(score)))
    return {number: _as_scored(rows) for number, rows in printed.items()}


def _as_scored(printed: list[tuple[str, float]]) -> Hits:
    """Restore the scores that Anserini lowered to break ties."""
    rows: list[tuple[float, str]] = []
    score, n_equal = 0.0, 0
    for document, value in printed:
        near = max(2 * TAKEN_OFF, float(np.spacing(np.float32(value))))
        if n_equal and abs(score - n_equal * TAKEN_OFF - value) <= near:
            n_equal += 1
        else:
            score, n_equal = round(value, DECIMALS), 1
        rows.append((-score, document))
    return [(int(document.partition("-")[2]), -minus) for minus, document in sorted(rows)]
