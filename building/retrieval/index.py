"""An inverted index in a folder: which text holds which term how often, and how long each text is.

    meta.json          what it holds, and whose words
    terms.txt          the terms, sorted, a line each; ends.npy: where each line ends
    starts.npy         where the postings of each term begin; one more at the end
    rows.npy, tf.npy   the postings: the text's row, and how often the term stands there
    kinds.npy          of each posting again: how often, up to 255, and the text's length in a byte
    lengths.npy        terms of each text, exact; keys.npy: the database's keys of the texts

Rows are in the order in which texts were given. Arrays are read from the files as they are needed. Scores
are made when somebody asks, so one index serves every k1 and b and every statistics: postings of one kind
weigh the same, so that a weight is looked up and not worked out.
"""

from __future__ import annotations

import json
import os
import shutil
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from building.analysis.lucene_en import LONGEST, terms
from building.analysis.norms import bytes_of

VERSION = 2  # of the files, and of the analyser: another one makes another index
MOST_OFTEN = 65_535  # how often a term is counted in one text
OFTEN = 255  # as often or more: one kind, which does not say how often
PIECES = 1_000_000  # what stands between two spaces, of which the terms are kept
BLOCK = 1_000_000


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


class _Numbers(dict[str, tuple[int, ...]]):
    """The numbers of the terms in what stands between two spaces, counted from 0 as terms are met.

    No word goes across a space, so a text is cut there first: most of what comes then was seen before.
    """

    def __init__(self) -> None:
        self.of_term: dict[str, int] = {}

    def __missing__(self, piece: str) -> tuple[int, ...]:
        of_term = self.of_term
        found = tuple(of_term.setdefault(term, len(of_term)) for term in terms(piece))
        if len(self) >= PIECES:
            self.clear()
        if len(piece) <= LONGEST:
            self[piece] = found
        return found


def build(folder: Path, texts: Iterable[tuple[int, str]], corpus: str) -> Meta:
    """Index texts, (key, words) each, in a folder that is there whole or not at all.

    While it works it holds some 20 bytes for each term of each text, and each different term.
    """
    numbers = _Numbers()
    tokens, ends, keys = array("i"), array("q"), array("q")
    n_empty = 0
    for key, body in texts:
        before = len(tokens)
        tokens.extend(chain.from_iterable(map(numbers.__getitem__, body.split(" "))))
        if len(tokens) == before:
            n_empty += 1
            continue
        keys.append(key)
        ends.append(len(tokens))
    sorted_terms, at = _in_order(numbers.of_term, tokens)
    numbers.clear()
    meta = Meta(VERSION, corpus, len(keys), n_empty, len(tokens), len(sorted_terms))
    part = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    starts = np.concatenate([[0], np.frombuffer(ends, dtype=np.int64)])
    _write_terms(part, sorted_terms)
    lengths = np.diff(starts).astype(np.int32)
    _write_postings(part, at, starts, len(sorted_terms), bytes_of(lengths))
    np.save(part / "lengths.npy", lengths)
    np.save(part / "keys.npy", np.frombuffer(keys, dtype=np.int64))
    (part / "meta.json").write_text(json.dumps(asdict(meta)), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        part.rename(folder)
    except OSError:  # another process was first, with the same texts
        shutil.rmtree(part)
    return meta


def _in_order(number_of: dict[str, int], tokens: array[int]) -> tuple[list[str], NDArray[np.int32]]:
    """The terms, sorted, and for each token the place of its term there, put over its number."""
    # By code points, which is also the order of their bytes.
    sorted_terms = sorted(number_of)
    place = np.empty(len(number_of), dtype=np.int32)
    place[[number_of[term] for term in sorted_terms]] = np.arange(len(number_of), dtype=np.int32)
    at = np.frombuffer(tokens, dtype=np.int32)
    for start in range(0, len(at), BLOCK):
        some = slice(start, start + BLOCK)
        at[some] = place[at[some]]
    return sorted_terms, at


def _write_terms(folder: Path, sorted_terms: list[str]) -> None:
    lines = [term.encode() + b"\n" for term in sorted_terms]
    (folder / "terms.txt").write_bytes(b"".join(lines))
    np.save(folder / "ends.npy", np.cumsum([len(line) for line in lines], dtype=np.int64))


def _write_postings(
    folder: Path,
    at: NDArray[np.int32],
    starts: NDArray[np.int64],
    n_terms: int,
    length_of: NDArray[np.uint8],
) -> None:
    """From texts with their terms, (`at`, from `starts` on), to terms with their texts."""
    of_term, rows = _turned(at, starts, n_terms)
    # A text is there as often as it holds the term, one after the other.
    is_first = np.empty(len(rows), dtype=bool)
    is_first[:1] = True
    np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
    is_first[of_term[:-1]] = True
    first = np.flatnonzero(is_first)
    np.save(folder / "starts.npy", np.searchsorted(first, of_term).astype(np.int64))
    often = np.diff(first.astype(rows.dtype), append=rows.dtype.type(len(rows)))
    rows = rows[first].astype(np.int32, copy=False)
    del first, is_first
    np.save(folder / "rows.npy", rows)
    np.save(folder / "tf.npy", np.minimum(often, MOST_OFTEN).astype(np.uint16))
    kinds = np.minimum(often, OFTEN).astype(np.uint16) << 8
    np.save(folder / "kinds.npy", kinds | length_of[rows])


def _turned(
    at: NDArray[np.int32], starts: NDArray[np.integer], n_terms: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """(where each term begins, the rows of each term), rows ascending: a sort that takes one pass."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - when something is indexed

    ones = np.ones(len(at), dtype=np.int8)
    if len(at) < 2**31:
        starts = starts.astype(np.int32)  # else rows take twice the room
    by_term = csr_array((ones, at, starts), shape=(len(starts) - 1, n_terms)).tocsc()
    return by_term.indptr, by_term.indices


class Index:
    """An index that is there, open for reading."""

    def __init__(self, folder: Path) -> None:
        """Raises IndexBroken for a folder that holds none, or one of another version."""
        try:
            self.meta = Meta(**json.loads((folder / "meta.json").read_text(encoding="utf-8")))
            if self.meta.version != VERSION:
                raise IndexBroken(f"{folder} is an index of another version: build it again.")
            # Plain arrays over the files: those of np.memmap make each slice ten times as dear.
            arrays = {
                name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))
                for name in ("ends", "starts", "rows", "tf", "kinds", "lengths", "keys")
            }
            terms_file = folder / "terms.txt"
            self._terms = (
                np.memmap(terms_file, dtype=np.uint8, mode="r").data
                if arrays["ends"].size
                else memoryview(b"")
            )
        except (OSError, TypeError, ValueError) as error:
            if isinstance(error, IndexBroken):
                raise
            raise IndexBroken(f"{folder} holds no whole index: {error}. Build it again.") from None
        self._ends, self._starts = arrays["ends"], arrays["starts"]
        self.rows: NDArray[np.int32] = arrays["rows"]
        self.tf: NDArray[np.uint16] = arrays["tf"]
        self.kinds: NDArray[np.uint16] = arrays["kinds"]
        self.lengths: NDArray[np.int32] = arrays["lengths"]
        self.keys: NDArray[np.int64] = arrays["keys"]

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """(rows, how often) of the texts with a term, rows ascending; empty where none has it."""
        where = self.where(term)
        return self.rows[where], self.tf[where]

    def where(self, term: str) -> slice:
        """Where the postings of a term are in `rows`, `tf` and `kinds`; empty where no text has it."""
        sought, places = term.encode(), range(len(self._ends))
        place = bisect_left(places, sought, key=self._term)
        if place == len(places) or self._term(place) != sought:
            return slice(0, 0)
        return slice(*self._starts[place : place + 2].tolist())

    def _term(self, place: int) -> bytes:
        start = int(self._ends[place - 1]) if place else 0
        return bytes(self._terms[start : int(self._ends[place]) - 1])
