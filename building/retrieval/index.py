"""An inverted index in a folder: which text holds which term how often, and how long each text is.

    meta.json          what it holds, and whose words
    terms.txt          the terms, sorted, a line each; ends.npy: where each line ends
    starts.npy         where the postings of each term begin; one more at the end
    rows.npy, tf.npy   the postings: the text's row, and how often the term stands there
    lengths.npy        terms of each text, exact; keys.npy: the database's keys of the texts

Rows are in the order in which texts were given. Arrays are read from the files as they are needed. Scores
are made when somebody asks, so one index serves every k1 and b and every statistics.
"""

from __future__ import annotations

import json
import os
import shutil
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from building.analysis.lucene_en import term_of, words

VERSION = 1  # of the files, and of the analyser: another one makes another index
MOST_OFTEN = 65_535  # how often a term is counted in one text
NO_TERM = -1


class IndexBroken(ValueError):
    """A folder that holds no whole index; the message names it."""


@dataclass(frozen=True)
class Meta:
    """`n_empty` texts have no term; Lucene does not know them, and they are not among the `n_texts`.

    `corpus` is the hash of what was indexed.
    """

    version: int
    corpus: str
    n_texts: int
    n_empty: int
    n_tokens: int
    n_terms: int


class _Numbers(dict[str, int]):
    """The number of a word's term, counted from 0 as terms are met; NO_TERM for a stop word."""

    def __init__(self) -> None:
        self.of_term: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        term = term_of(word)
        number = self.of_term.setdefault(term, len(self.of_term)) if term else NO_TERM
        self[word] = number
        return number


def build(folder: Path, texts: Iterable[tuple[int, str]], corpus: str) -> Meta:
    """Index texts, (key, words) each, in a folder that is there whole or not at all.

    While it works it holds some 12 bytes for each different term of each text, and each different word.
    """
    numbers = _Numbers()
    term_at, row_at, tf_at = array("i"), array("i"), array("i")
    keys, lengths = array("q"), array("i")
    n_empty = 0
    for key, body in texts:
        counts = Counter(map(numbers.__getitem__, words(body)))
        counts.pop(NO_TERM, None)
        if not counts:
            n_empty += 1
            continue
        term_at.extend(counts.keys())
        tf_at.extend(counts.values())
        row_at.extend(repeat(len(keys), len(counts)))
        keys.append(key)
        lengths.append(counts.total())
    meta = Meta(VERSION, corpus, len(keys), n_empty, sum(lengths), len(numbers.of_term))
    part = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    _write_postings(part, numbers.of_term, term_at, row_at, tf_at)
    np.save(part / "lengths.npy", np.frombuffer(lengths, dtype=np.int32))
    np.save(part / "keys.npy", np.frombuffer(keys, dtype=np.int64))
    (part / "meta.json").write_text(json.dumps(asdict(meta)), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        part.rename(folder)
    except OSError:  # another process was first, with the same texts
        shutil.rmtree(part)
    return meta


def _write_postings(
    folder: Path,
    number_of: dict[str, int],
    term_at: array[int],
    row_at: array[int],
    tf_at: array[int],
) -> None:
    sorted_terms = sorted(number_of, key=lambda term: term.encode())
    # From the number that a term got to its place in the sorted list.
    place = np.empty(len(number_of), dtype=np.int32)
    place[[number_of[term] for term in sorted_terms]] = np.arange(len(number_of), dtype=np.int32)
    at = place[np.frombuffer(term_at, dtype=np.int32)]
    order = np.argsort(at, kind="stable")  # rows of a term stay ascending
    n = np.bincount(at, minlength=len(number_of))
    tf = np.minimum(np.frombuffer(tf_at, dtype=np.int32), MOST_OFTEN).astype(np.uint16)
    np.save(folder / "starts.npy", np.concatenate([[0], np.cumsum(n)]).astype(np.int64))
    np.save(folder / "rows.npy", np.frombuffer(row_at, dtype=np.int32)[order])
    np.save(folder / "tf.npy", tf[order])
    lines = [term.encode() + b"\n" for term in sorted_terms]
    (folder / "terms.txt").write_bytes(b"".join(lines))
    np.save(folder / "ends.npy", np.cumsum([len(line) for line in lines], dtype=np.int64))


class Index:
    """An index that is there, open for reading."""

    def __init__(self, folder: Path) -> None:
        """Raises IndexBroken for a folder that holds none, or one of another version."""
        try:
            self.meta = Meta(**json.loads((folder / "meta.json").read_text(encoding="utf-8")))
            if self.meta.version != VERSION:
                raise IndexBroken(f"{folder} is an index of another version: build it again.")
            arrays = {
                name: np.load(folder / f"{name}.npy", mmap_mode="r")
                for name in ("ends", "starts", "rows", "tf", "lengths", "keys")
            }
            self._terms = (
                np.memmap(folder / "terms.txt", dtype=np.uint8, mode="r")
                if arrays["ends"].size
                else b""
            )
        except (OSError, TypeError, ValueError) as error:
            if isinstance(error, IndexBroken):
                raise
            raise IndexBroken(f"{folder} holds no whole index: {error}. Build it again.") from None
        self._ends, self._starts = arrays["ends"], arrays["starts"]
        self._rows, self._tf = arrays["rows"], arrays["tf"]
        self.lengths: NDArray[np.int32] = arrays["lengths"]
        self.keys: NDArray[np.int64] = arrays["keys"]

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """(rows, how often) of the texts with a term, rows ascending; empty where none has it."""
        place = self._place(term.encode())
        start, end = (0, 0) if place is None else self._starts[place : place + 2].tolist()
        return self._rows[start:end], self._tf[start:end]

    def _place(self, term: bytes) -> int | None:
        low, high = 0, len(self._ends)
        while low < high:
            middle = (low + high) // 2
            there = self._term(middle)
            if there == term:
                return middle
            low, high = (middle + 1, high) if there < term else (low, middle)
        return None

    def _term(self, place: int) -> bytes:
        start = int(self._ends[place - 1]) if place else 0
        return bytes(self._terms[start : int(self._ends[place]) - 1])
