"""Detection of TREC runs and qrels by content, for uninformative names. No Django here."""

import gzip
import re
import zlib
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import IO

_LINES = 20
_LONGEST = 2**16  # bytes of a line
_ENDINGS = (".gz", ".txt", ".res", ".trec", ".run", ".tsv", ".dat", ".out", ".qrels")
_RUN = re.compile(rb"\S+\s+Q0\s+\S+\s+-?\d+(?:\.0+)?\s+[-+.\deE]+\s+\S+\s*", re.IGNORECASE)
_QRELS = re.compile(rb"\S+\s+(?:0|Q0)\s+\S+\s+-?\d+\s*", re.IGNORECASE)


class Content(Enum):
    """The kind of lines at the beginning of a file."""

    RUN = "run"
    QRELS = "qrels"
    OTHER = "other"


def content_of(path: Path) -> Content:
    """Return the kind that all of the first 20 lines match.

    A file that cannot be read matches no kind.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            head = list(islice(iter(lambda: file.readline(_LONGEST), b""), _LINES))
    except (OSError, EOFError, zlib.error):
        return Content.OTHER
    lines = [line.removeprefix(b"\xef\xbb\xbf") for line in head if line.strip()]
    for pattern, content in ((_RUN, Content.RUN), (_QRELS, Content.QRELS)):
        if lines and all(pattern.fullmatch(line) for line in lines):
            return content
    return Content.OTHER


def run_name(name: str) -> str:
    """Return a run's name from its file name: without the prefix "run." and endings."""
    while name.lower().endswith(_ENDINGS) and name.rpartition(".")[0]:
        name = name.rpartition(".")[0]
    return name[4:] if name.lower().startswith("run.") and name[4:] else name


def opened(path: Path) -> IO[bytes]:
    """Open a file for reading bytes, decompressed if its name ends in .gz."""
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]
