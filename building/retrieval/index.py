"""Inverted index in a folder: postings with term frequencies, and text lengths.

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
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray

from annotation.errors import UserError
from building.analysis.norms import bytes_of
from building.retrieval.term_counts import Counts

VERSION = 3  # of the files, and of the analyser: another one makes another index
STEP = 64  # terms of which the first is kept in memory to find the others
OFTEN = 255  # as often or more: one kind, which does not say how often


class BrokenIndexError(UserError):
    """A folder that holds no whole index; the message names it."""


@dataclass(frozen=True)
class Meta:
    """Statistics of an index; the `n_empty` texts without a term are not in `n_texts`.

    Lucene does not know the empty ones either.

    `corpus` is the hash of what was indexed.
    """

    version: int
    corpus: str
    n_texts: int
    n_empty: int
    n_tokens: int
    n_terms: int


def build(folder: Path, texts: Iterable[tuple[int, str]], corpus: str) -> Meta:
    """Index texts, (key, body) each, into a folder that is written atomically.

    While it works it holds each different word as it stands there, and some 20 bytes for each posting.
    """
    counts = Counts()
    for key, body in texts:
        counts.add(key, body)
    counts.finish()
    lengths = counts.lengths
    n_tokens = int(lengths.sum(dtype=np.int64))
    part = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    np.save(part / "lengths.npy", lengths)
    np.save(part / "keys.npy", counts.keys)
    sorted_terms, by_term = counts.by_term()
    meta = Meta(VERSION, corpus, len(lengths), counts.n_empty, n_tokens, len(sorted_terms))
    del counts
    _write_terms(part, sorted_terms)
    _write_postings(part, by_term, bytes_of(lengths))
    (part / "meta.json").write_text(json.dumps(asdict(meta)), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        part.rename(folder)
    except OSError:  # another process was first, with the same texts
        shutil.rmtree(part)
    return meta


def _write_terms(folder: Path, sorted_terms: list[str]) -> None:
    lines = [term.encode() + b"\n" for term in sorted_terms]
    (folder / "terms.txt").write_bytes(b"".join(lines))
    np.save(folder / "ends.npy", np.cumsum([len(line) for line in lines], dtype=np.int64))


def _write_postings(
    folder: Path, by_term: scipy.sparse.csc_array, length_of: NDArray[np.uint8]
) -> None:
    np.save(folder / "starts.npy", by_term.indptr.astype(np.int64))
    np.save(folder / "rows.npy", by_term.indices.astype(np.int32, copy=False))
    np.save(folder / "tf.npy", by_term.data)
    kinds = np.minimum(by_term.data, OFTEN) << 8
    kinds |= length_of[by_term.indices]
    np.save(folder / "kinds.npy", kinds)


class Index:
    """An existing index, open for reading."""

    def __init__(self, folder: Path) -> None:
        """Open the folder. Raises BrokenIndexError if it has no index, or one of another version."""
        try:
            self.meta = Meta(**json.loads((folder / "meta.json").read_text(encoding="utf-8")))
            if self.meta.version != VERSION:
                raise BrokenIndexError(f"{folder} is an index of another version: build it again.")
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
            raise BrokenIndexError(
                f"{folder} holds no whole index: {error}. Build it again."
            ) from None
        self._ends, self._starts = arrays["ends"], arrays["starts"]
        self.rows: NDArray[np.int32] = arrays["rows"]
        self.tf: NDArray[np.uint16] = arrays["tf"]
        self.kinds: NDArray[np.uint16] = arrays["kinds"]
        self.lengths: NDArray[np.int32] = arrays["lengths"]
        self.keys: NDArray[np.int64] = arrays["keys"]

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """Return (rows, term frequencies) of a term, rows ascending; empty if unknown."""
        span = self.where(term)
        return self.rows[span], self.tf[span]

    def where(self, term: str) -> slice:
        """Return the slice of a term's postings in `rows`, `tf` and `kinds`.

        It is empty where no text has the term.
        """
        encoded = term.encode()
        block = bisect_right(self._heads, encoded) - 1
        if block < 0:
            return slice(0, 0)
        first, stop = block * STEP, min((block + 1) * STEP, len(self._ends))
        lines = b"\n" + self._lines(first, stop)
        offset = lines.find(b"\n" + encoded + b"\n")
        if offset < 0:
            return slice(0, 0)
        index = first + lines.count(b"\n", 0, offset)
        return slice(*self._starts[index : index + 2].tolist())

    @cached_property
    def _heads(self) -> list[bytes]:
        """Return each `STEP`-th term."""
        return [self._lines(n, n + 1)[:-1] for n in range(0, len(self._ends), STEP)]

    def _lines(self, first: int, stop: int) -> bytes:
        """Return the bytes of some terms, a line each."""
        start = int(self._ends[first - 1]) if first else 0
        return bytes(self._terms[start : int(self._ends[stop - 1])])
