"""Where the files come from: what computed them, from which data, under which options."""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

# The libraries whose code a number or a line of a figure passes through.
LIBRARIES = ("django", "matplotlib", "numpy", "scipy")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries that compute and draw."""
    return {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


def command_line(dataset: str | None, options: Mapping[str, str | int | bool | None]) -> str:
    """The command with every option written out, in order of name; without where it wrote to.

    An option of None or False is left out, one of True stands without a value.
    """
    words = ["manage.py", "tables", *([dataset] if dataset else [])]
    for name, value in sorted(options.items()):
        if value is not None and value is not False:
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return shlex.join(words)


def provenance(
    files: Mapping[str, bytes], skipped: Mapping[str, str], about: Mapping[str, Any]
) -> bytes:
    """The provenance file: JSON with sorted keys, and nothing in it that differs between runs.

    `files` are all others by name, `skipped` says of each table that was not made why, and `about`
    holds the command, the options and the data.
    """
    found = {
        **about,
        "versions": versions(),
        "files": {name: {"sha256": sha256(content)} for name, content in files.items()},
        "skipped": dict(skipped),
    }
    text = json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()
