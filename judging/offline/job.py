"""Export folder: the judge, and the size of the export. No Django.

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

from annotation.errors import UserError
from judging.grading.spec import Spec

FORMAT = 1
JUDGE = "judge.json"


class ExchangeError(UserError):
    """Unusable file or folder; the message names it and can be shown to a person."""


@dataclass(frozen=True)
class About:
    """Header of an exchange file: the dataset, run and judge that it belongs to."""

    format: int
    dataset: str
    run: int
    judge: str
    fingerprint: str


@dataclass(frozen=True)
class Job:
    """Export with its header, the judge's spec, and its size."""

    about: About
    spec: Spec
    files: int
    pairs: int

    def write(self, folder: Path) -> None:
        """Write judge.json.

        Written last, it says that the export is complete.
        """
        values = {
            **asdict(self.about),
            "files": self.files,
            "pairs": self.pairs,
            "spec": self.spec.as_json(),
        }
        content = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        write_atomically(folder / JUDGE, lambda path: path.write_text(content, encoding="utf-8"))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the export in a folder.

        Raises ExchangeError if it is none, is incomplete, or is of a judge whose fingerprint does not
        match its spec.
        """
        path = folder / JUDGE
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ExchangeError(
                f"{folder} holds no {JUDGE}: it is no export, or one that was not finished."
            ) from None
        except (OSError, ValueError) as error:
            raise ExchangeError(f"{path} cannot be read: {error}.") from None
        try:
            check_format(path, values["format"])
            about = About(**{name: values[name] for name in About.__dataclass_fields__})
            job = cls(
                about, Spec.from_json(values["spec"]), int(values["files"]), int(values["pairs"])
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ExchangeError(f"{path} is not the description of a judge: {error!r}.") from None
        if job.spec.fingerprint != about.fingerprint:
            raise ExchangeError(
                f"{path} says that the judge {about.judge} is {about.fingerprint[:8]}, but what it "
                f"describes is {job.spec.fingerprint[:8]}: something in it was changed."
            )
        return job

    def pairs_files(self, folder: Path) -> list[Path]:
        """Return the files of pairs, in order. Raises ExchangeError if one is missing."""
        paths = [folder / pairs_name(number) for number in range(1, self.files + 1)]
        for path in paths:
            if not path.is_file():
                raise ExchangeError(f"{path} is missing: the export has {self.files} such files.")
        return paths


def pairs_name(number: int) -> str:
    return f"pairs-{number:05}.parquet"


def results_name(pairs: Path) -> str:
    """Return the file name of the replies about a file of pairs."""
    return pairs.name.replace("pairs-", "results-", 1)


def check_format(path: Path, version: object) -> None:
    if version != FORMAT:
        raise ExchangeError(
            f"{path.name} has the format {version}, and this code reads the format {FORMAT}: "
            "both machines need the same version of it."
        )


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file atomically: under another name first, then renamed."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(temporary)
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
