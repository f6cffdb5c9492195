"""An export of pairs: a folder that says what judge it is for, and how much it holds. No Django.

The folder has `judge.json` and `pairs-00001.parquet` and so on. Each of these becomes
`results-00001.parquet`, in the same folder or in another.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from judging.grading.spec import Spec

FORMAT = 1
JUDGE = "judge.json"


class ExchangeRefused(ValueError):
    """A file or folder that cannot be used; the message names it and can be shown to a person."""


@dataclass(frozen=True)
class About:
    """Whose pairs or replies a file holds: what every file says of itself."""

    format: int
    dataset: str
    run: int
    judge: str
    fingerprint: str


@dataclass(frozen=True)
class Job:
    """An export: whose it is, the judge with everything that shapes its replies, and how much it is."""

    about: About
    spec: Spec
    files: int
    pairs: int

    def write(self, folder: Path) -> None:
        """Store as judge.json. Written last, it says that the export is whole."""
        values = {
            **asdict(self.about),
            "files": self.files,
            "pairs": self.pairs,
            "spec": self.spec.as_json(),
        }
        words = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        written_whole(folder / JUDGE, lambda path: path.write_text(words, encoding="utf-8"))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The export in a folder. Raises ExchangeRefused if it is none, is not whole, or is of a judge
        whose fingerprint is not that of what it says."""
        path = folder / JUDGE
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ExchangeRefused(
                f"{folder} holds no {JUDGE}: it is no export, or one that was not finished."
            ) from None
        except (OSError, ValueError) as error:
            raise ExchangeRefused(f"{path} cannot be read: {error}.") from None
        try:
            check_format(path, values["format"])
            about = About(**{name: values[name] for name in About.__dataclass_fields__})
            job = cls(
                about, Spec.from_json(values["spec"]), int(values["files"]), int(values["pairs"])
            )
        except ExchangeRefused:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ExchangeRefused(f"{path} is not the description of a judge: {error!r}.") from None
        if job.spec.fingerprint != about.fingerprint:
            raise ExchangeRefused(
                f"{path} says that the judge {about.judge} is {about.fingerprint[:8]}, but what it "
                f"describes is {job.spec.fingerprint[:8]}: something in it was changed."
            )
        return job

    def pairs_files(self, folder: Path) -> list[Path]:
        """The files of pairs, in order. Raises ExchangeRefused if one is not there."""
        paths = [folder / pairs_name(number) for number in range(1, self.files + 1)]
        for path in paths:
            if not path.is_file():
                raise ExchangeRefused(f"{path} is missing: the export has {self.files} such files.")
        return paths


def pairs_name(number: int) -> str:
    return f"pairs-{number:05}.parquet"


def results_name(pairs: Path) -> str:
    """What the replies about a file of pairs are called."""
    return pairs.name.replace("pairs-", "results-", 1)


def check_format(path: Path, version: object) -> None:
    if version != FORMAT:
        raise ExchangeRefused(
            f"{path.name} has the format {version}, and this code reads the format {FORMAT}: "
            "both machines need the same version of it."
        )


def written_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write under another name first, so that a file under its own name is always whole."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(beside)
        beside.replace(path)
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()
