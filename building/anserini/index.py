"""Lucene index of passages in a folder, written atomically.

    meta.json     what it holds, counted in the index and not in what we believe to have written
    lucene/       the index

Passages are known to Lucene by their row and the database's key, `000000012-4711`: among equal scores the order
in which they were given decides, and no name with odd signs comes near a file of columns.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from building.anserini.jar import AnseriniError, Jar, complaint
from building.retrieval.index import BrokenIndexError

INPUT, LUCENE, META = "input", "lucene", "meta.json"
BUFFER = 512  # MB of the index in memory before a flush: far below Java's heap
# As Anserini's AnalyzerMap has them; another code would silently be taken for English.
LANGUAGES = (
    *(
        "ar",
        "bn",
        "da",
        "de",
        "en",
        "es",
        "fa",
        "fi",
        "fr",
        "hi",
        "hu",
        "id",
        "it",
        "ja",
        "ko",
        "nl",
    ),
    *("no", "pl", "pt", "ru", "sv", "te", "th", "tr", "uk", "zh"),
)
_COUNT = re.compile(r"- (indexed|unindexable|empty|skipped|errors): +([\d,]+)")
_STATISTIC = re.compile(
    r"^(documents|documents \(non-empty\)|unique terms|total terms): +(\S+)", re.M
)
_LINE = re.compile(r"\bline: (\d+)")


@dataclass(frozen=True)
class LuceneMeta:
    """`n_empty` passages have no term: Lucene leaves them out, or never finds them."""

    anserini: str
    language: str
    corpus: str
    n_texts: int
    n_empty: int
    n_tokens: int
    n_terms: int


@dataclass(frozen=True)
class LuceneIndex:
    """An existing Lucene index on disk."""

    folder: Path
    meta: LuceneMeta

    @classmethod
    def at(cls, folder: Path) -> LuceneIndex:
        """Open the index in a folder. Raises BrokenIndexError if there is none."""
        try:
            meta = LuceneMeta(**json.loads((folder / META).read_text(encoding="utf-8")))
        except (OSError, TypeError, ValueError) as error:
            raise broken(folder, str(error)) from None
        return cls(folder, meta)


def broken(folder: Path, reason: str) -> BrokenIndexError:
    return BrokenIndexError(
        f"{folder} holds no whole index: {reason}. Delete this folder, and it is made again."
    )


def build(
    folder: Path, passages: Iterable[tuple[int, str, str]], corpus: str, jar: Jar, language: str
) -> None:
    """Index passages, (key, name, body) each.

    Raises AnseriniError where not all of them were indexed.
    """
    part = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    (part / INPUT).mkdir(parents=True)
    try:
        n_written = write(part / INPUT / "passages.jsonl", passages)
        meta = indexed(part, n_written, corpus, jar, language)
        shutil.rmtree(part / INPUT)
        (part / META).write_text(json.dumps(asdict(meta)), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    except (OSError, AnseriniError):
        if not (folder / META).exists():  # else another process was first, with the same passages
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
    for leftover in folder.parent.glob(f".{folder.name}.*"):  # of a killed or slower process
        shutil.rmtree(leftover, ignore_errors=True)


def write(path: Path, passages: Iterable[tuple[int, str, str]]) -> int:
    """Write passages as JsonCollection lines and return their number.

    The name is there for a person who reads the file.
    """
    n = 0
    with path.open("w", encoding="ascii") as file:
        for n, (key, name, body) in enumerate(passages, 1):
            line = {"id": f"{n:09d}-{key}", "name": name, "contents": body}
            file.write(json.dumps(line) + "\n")
    return n


def indexed(part: Path, n_written: int, corpus: str, jar: Jar, language: str) -> LuceneMeta:
    """Run Lucene's indexer on the folder's `input` and verify the document counts."""
    arguments = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"]
    arguments += ["-input", INPUT, "-index", LUCENE, "-language", language, "-optimize"]
    arguments += ["-threads", "1", "-memoryBuffer", str(BUFFER)]
    log = jar.told("index.IndexCollection", arguments, part)
    counts = {name: _number(digits) for name, digits in _COUNT.findall(log)}
    if trouble := complaint(log):
        raise _refused(
            counts.get("indexed", 0), n_written, f"{_failed_line(part, trouble)}{trouble}"
        )
    statistics = _statistics(jar, part)
    if statistics["documents"] + counts.get("empty", 0) != n_written:
        raise _refused(statistics["documents"], n_written, "it does not say why")
    n_texts = statistics["documents (non-empty)"]
    n_empty = n_written - n_texts
    numbers = n_texts, n_empty, statistics["total terms"], statistics["unique terms"]
    return LuceneMeta(jar.version, language, corpus, *numbers)


def _refused(n: int, n_written: int, reason: str) -> AnseriniError:
    return AnseriniError(
        f"Lucene took {n:,} of the {n_written:,} passages that it was given: {reason}. No index was made."
    )


def _statistics(jar: Jar, part: Path) -> dict[str, int]:
    output = jar.told("index.IndexReaderUtils", ["-index", LUCENE, "-stats"], part)
    statistics = {name: _number(digits) for name, digits in _STATISTIC.findall(output)}
    if len(statistics) < 4:
        raise AnseriniError(
            f"Lucene's index cannot be read: {complaint(output) or 'it has no statistics'}."
        )
    return statistics


def _number(digits: str) -> int:
    """Parse a count with thousands separators; `null` is 0."""
    return int(digits.replace(",", "")) if digits != "null" else 0


def _failed_line(part: Path, trouble: str) -> str:
    """Return the input line that Lucene failed on, with its passage's name, if it says so."""
    match = _LINE.search(trouble)
    if not match:
        return ""
    with (part / INPUT / "passages.jsonl").open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if number == int(match[1]):
                return f"it stumbled over line {number}, {line[:120].strip()}: "
    return ""
