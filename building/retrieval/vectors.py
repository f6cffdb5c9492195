"""Passage vectors in a folder, and exact nearest-neighbour search.

    meta.json      which model they are of, their dimension, and of which texts
    vectors.npy    float16, texts x dimension, each of length 1 or all zero, in the order of the texts
    hashes.npy     uint8, texts x 32: the SHA-256 of each text's words; all zero while its vector is not there
    cut.npy        uint8: 1 where the model saw only the beginning of a text, 2 where that is not known
    keys.npy       the database's keys of the texts

While it is made it has another name, and it is renamed last. What was embedded before, for this folder or an
older one, is taken from there by the hash of its words.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from annotation.errors import UserError
from building.retrieval.bm25 import Ranked, best

VERSION = 1  # of the files
AT_ONCE = 16_384  # rows that are widened to float32 together
WHOLE, CUT, UNKNOWN = 0, 1, 2

Rows = NDArray[np.float32]


class BrokenVectorsError(UserError):
    """Files that hold no vectors, or those of another model; the message names the folder."""


@dataclass(frozen=True)
class Embedded:
    """Embeddings of texts, float32 (texts, dimension), with each text's truncation state."""

    vectors: Rows
    cut: NDArray[np.uint8]


class Embedder(Protocol):
    """Embedding model. `fingerprint` is 16 characters that identify it."""

    name: str
    fingerprint: str
    dimension: int

    def passages(self, texts: Sequence[str]) -> Embedded: ...

    def query(self, text: str) -> Rows: ...


@dataclass(frozen=True)
class Meta:
    """Metadata of a folder: `model` is the embedder's fingerprint, `corpus` the texts' hash."""

    version: int
    model: str
    dimension: int
    corpus: str
    n_texts: int


class Vectors:
    """Existing vectors, open for reading."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        """Open the folder.

        Raises BrokenVectorsError if its vectors are missing or of another model.
        """
        try:
            self.meta = Meta(**json.loads((folder / "meta.json").read_text(encoding="utf-8")))
            self._vectors, self.hashes, self.cut, self.keys = (
                np.load(folder / f"{name}.npy", mmap_mode="r")
                for name in ("vectors", "hashes", "cut", "keys")
            )
        except (OSError, TypeError, ValueError) as error:
            raise BrokenVectorsError(
                f"{folder} holds no vectors: {error}. Delete it, and they are made again."
            ) from None
        _check(folder, self.meta, embedder)

    @property
    def n_cut(self) -> int | None:
        """Count the truncated texts; None where the model does not tell."""
        return None if (self.cut == UNKNOWN).any() else int((self.cut == CUT).sum())

    @cached_property
    def row_of(self) -> dict[int, int]:
        return {key: row for row, key in enumerate(self.keys.tolist())}

    def nearest(self, query: Rows, k: int) -> Ranked:
        """Return the `k` texts with the highest cosine to 4 decimals, ties in row order.

        A text or a query whose vector is all zero has no direction, and so none is found. Every text is
        looked at: one product of a matrix and a vector, in parts that fit in a cache.
        """
        direction = unit(query)
        if not direction.any():
            return Ranked(np.zeros(0, dtype=np.int64), np.zeros(0))
        cosines = [rows @ direction for _, rows in self._parts()]
        scores = np.concatenate([np.zeros(0), *cosines])
        return best(scores, self._with_direction, k)

    def of(self, keys: Sequence[int]) -> Rows:
        """Return the vectors of texts by key, as rows; zeros for a missing one."""
        vectors = np.zeros((len(keys), self.meta.dimension), dtype=np.float32)
        pairs = [
            (position, self.row_of[key]) for position, key in enumerate(keys) if key in self.row_of
        ]
        if pairs:
            positions, rows = np.array(pairs).T
            vectors[positions] = self._vectors[rows]
        return vectors

    @cached_property
    def _with_direction(self) -> NDArray[np.int64]:
        parts = [first + np.flatnonzero(rows.any(axis=1)) for first, rows in self._parts()]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def _parts(self) -> Iterator[tuple[int, Rows]]:
        for first in range(0, len(self._vectors), AT_ONCE):
            yield first, self._vectors[first : first + AT_ONCE].astype(np.float32)


def make(
    folder: Path,
    embedder: Embedder,
    texts: Sequence[tuple[int, bytes]],
    embedded: Callable[[Sequence[int]], Iterator[Embedded]],
) -> None:
    """Write the vectors of texts, (key, SHA-256 of the body) each, into a folder.

    `embedded` is asked for those that no earlier folder beside it has, whose names begin as its own up to
    the last "-"; it yields them in the order asked, in parts. Where it raises, what it gave is kept for
    the next time. Raises BrokenVectorsError where an earlier folder holds another dimension.
    """
    corpus = folder.name.rpartition("-")[2]
    meta = Meta(VERSION, embedder.fingerprint, embedder.dimension, corpus, len(texts))
    part = folder.with_name(f".{folder.name}.{uuid4().hex}")
    earlier = [Vectors(path, embedder) for path in _earlier(folder)]
    part.mkdir(parents=True)
    np.save(part / "keys.npy", np.array([key for key, _ in texts], dtype=np.int64))
    vectors = _new(part / "vectors.npy", np.float16, (len(texts), meta.dimension))
    hashes = _new(part / "hashes.npy", np.uint8, (len(texts), 32))
    cut = _new(part / "cut.npy", np.uint8, (len(texts),))
    (part / "meta.json").write_text(json.dumps(asdict(meta)), encoding="utf-8")
    digests = np.array([list(digest) for _, digest in texts], dtype=np.uint8).reshape(-1, 32)
    row_of: dict[bytes, list[int]] = {}
    for row, (_, digest) in enumerate(texts):
        row_of.setdefault(digest, []).append(row)
    for previous in earlier:
        for row, digest in enumerate(map(bytes, previous.hashes)):
            for new in row_of.pop(digest, ()):
                vectors[new], cut[new] = previous._vectors[row], previous.cut[row]
                hashes[new] = digests[new]
    missing = sorted(row for rows in row_of.values() for row in rows)
    first = 0
    for batch in embedded([texts[row][0] for row in missing]):
        rows = missing[first : first + len(batch.cut)]
        vectors[rows], cut[rows] = unit(batch.vectors), batch.cut
        hashes[rows] = digests[rows]
        first += len(rows)
    _rename(part, folder)


def unit(vectors: NDArray[np.floating]) -> Rows:
    """Normalize vectors to length 1, row by row; zero rows stay zero."""
    rows: Rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def _earlier(folder: Path) -> Iterator[Path]:
    """Yield folders of the same dataset and model, complete or interrupted."""
    stem = folder.name.rpartition("-")[0]
    for pattern in (f"{stem}-*", f".{stem}-*"):
        yield from (
            path for path in sorted(folder.parent.glob(pattern)) if (path / "meta.json").exists()
        )


def _check(folder: Path, meta: Meta, embedder: Embedder) -> None:
    if meta.version != VERSION:
        raise BrokenVectorsError(
            f"{folder} is of another version: delete it, and it is made again."
        )
    if meta.model != embedder.fingerprint:
        raise BrokenVectorsError(
            f"The vectors in {folder} are of another model than {embedder.name}."
        )
    if meta.dimension != embedder.dimension:
        raise BrokenVectorsError(
            f"The vectors in {folder} have {meta.dimension:,} numbers each, and those of {embedder.name} have "
            f"{embedder.dimension:,} now: it is another model under the same name. Delete the folder to embed "
            "all passages with this one."
        )


def _new(path: Path, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    if not all(shape):  # no file can be mapped to nothing
        np.save(path, np.zeros(shape, dtype=dtype))
        return np.zeros(shape, dtype=dtype)
    return open_memmap(path, mode="w+", dtype=dtype, shape=shape)


def _rename(part: Path, folder: Path) -> None:
    try:
        part.rename(folder)
    except OSError:
        if not (folder / "meta.json").exists():
            raise
        shutil.rmtree(part, ignore_errors=True)  # another process was first, with the same texts
