"""A Lucene index of passages in a folder, which is there whole or not at all.

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
from building.retrieval.index import IndexBroken

INPUT, LUCENE, META = "input", "lucene", "meta.json"
BUFFER = 512  # MB of the index in memory before it is written: far below what Java may use
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
    """An index that is there."""

    folder: Path
    meta: LuceneMeta

    @classmethod
    def at(cls, folder: Path) -> LuceneIndex:
        """Raises IndexBroken for a folder that holds none."""
        try:
            meta = LuceneMeta(**json.loads((folder / META).read_text(encoding="utf-8")))
        except (OSError, TypeError, ValueError) as error:
            raise broken(folder, str(error)) from None
        return cls(folder, meta)


def broken(folder: Path, why: str) -> IndexBroken:
    return IndexBroken(
        f"{folder} holds no whole index: {why}. Delete this folder, and it is made anew."
    )


def build(
    folder: Path, passages: Iterable[tuple[int, str, str]], corpus: str, jar: Jar, language: str
) -> None:
    """Index passages, (key, name, words) each. Raises AnseriniError where not all of them came into it."""
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
    for left in folder.parent.glob(f".{folder.name}.*"):  # by who was killed, or comes too late
        shutil.rmtree(left, ignore_errors=True)


def write(path: Path, passages: Iterable[tuple[int, str, str]]) -> int:
    """The passages as JsonCollection reads them, a line each; how many. The name is there for a person."""
    n = 0
    with path.open("w", encoding="ascii") as file:
        for n, (key, name, words) in enumerate(passages, 1):
            line = {"id": f"{n:09d}-{key}", "name": name, "contents": words}
            file.write(json.dumps(line) + "\n")
    return n


def indexed(part: Path, n_written: int, corpus: str, jar: Jar, language: str) -> LuceneMeta:
    """Let Lucene index what lies in the folder's `input`, and count in the index what came of it."""
    wanted = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"]
    wanted += ["-input", INPUT, "-index", LUCENE, "-language", language, "-optimize"]
    wanted += ["-threads", "1", "-memoryBuffer", str(BUFFER)]
    log = jar.told("index.IndexCollection", wanted, part)
    counts = {name: _number(words) for name, words in _COUNT.findall(log)}
    if trouble := complaint(log):
        raise _refused(counts.get("indexed", 0), n_written, f"{_place(part, trouble)}{trouble}")
    there = _statistics(jar, part)
    if there["documents"] + counts.get("empty", 0) != n_written:
        raise _refused(there["documents"], n_written, "it does not say why")
    n_texts = there["documents (non-empty)"]
    n_empty = n_written - n_texts
    numbers = n_texts, n_empty, there["total terms"], there["unique terms"]
    return LuceneMeta(jar.version, language, corpus, *numbers)


def _refused(n: int, n_written: int, why: str) -> AnseriniError:
    return AnseriniError(
        f"Lucene took {n:,} of the {n_written:,} passages that it was given: {why}. No index was made."
    )


def _statistics(jar: Jar, part: Path) -> dict[str, int]:
    told = jar.told("index.IndexReaderUtils", ["-index", LUCENE, "-stats"], part)
    found = {name: _number(words) for name, words in _STATISTIC.findall(told)}
    if len(found) < 4:
        raise AnseriniError(
            f"Lucene's index cannot be read: {complaint(told) or 'it has no statistics'}."
        )
    return found


def _number(words: str) -> int:
    """With commas, or `null` where there is nothing to count."""
    return int(words.replace(",", "")) if words != "null" else 0


def _place(part: Path, trouble: str) -> str:
    """The line that it stumbled over, with the name of its passage, where it says which."""
    match = _LINE.search(trouble)
    if not match:
        return ""
    with (part / INPUT / "passages.jsonl").open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if number == int(match[1]):
                return f"it stumbled over line {number}, {line[:120].strip()}: "
    return ""
