"""Checks of plain words: each yields findings with path, line and the words in question."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.toolbox.paths import ROOT, tracked

CHECKS = (
    *(
        "modules",
        "classes",
        "functions",
        "parameters",
        "variables",
        "docstrings",
        "docstring lengths",
    ),
    *("tests", "headings", "buttons", "template files", "template names", "docs"),
)
FOLDER = Path(__file__).parent
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Names that a template gives to values: of loops, of `with` and `include`, and of tags with `as`.
_LOOP = re.compile(r"{%\s*for\s+([\w\s,]+?)\s+in\s")
_WITH = re.compile(r"{%\s*(?:with|include|blocktranslate)\s(.*?)%}", re.DOTALL)
_ASSIGNED = re.compile(r"(?:^|\s)(\w+)=|\sas\s+(\w+)")
_AS = re.compile(r"{%[^%]*\s(?:as|asvar)\s+(\w+)\s*%}")
_TAG = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}|<[^>]*>", re.DOTALL)
_TRANSLATED = re.compile(r"""{%\s*(?:translate|trans)\s+(["'])(.*?)\1.*?%}""", re.DOTALL)
_HEADING = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1>", re.DOTALL)
_BUTTON = re.compile(r"<button\b[^>]*>(.*?)</button>", re.DOTALL)


@dataclass(frozen=True)
class Finding:
    """Broken rule at a place.

    `check` is one of CHECKS, `package` the first folder of the path.
    """

    check: str
    path: str
    line: int
    text: str

    @property
    def package(self) -> str:
        return self.path.split("/")[0] if "/" in self.path else "."

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.check}: {self.text}"


@dataclass(frozen=True)
class Checked:
    """A unit that was looked at: `finding` is None where it keeps the rule."""

    check: str
    finding: Finding | None = None


@cache
def lists() -> dict[str, Any]:
    """The lists of words.toml."""
    return tomllib.loads((FOLDER / "words.toml").read_text("utf-8"))


@cache
def _listed(table: str, key: str) -> frozenset[str]:
    return frozenset(lists()[table][key].split())


def is_vague(name: str) -> bool:
    """Return True if a name consists of words that say nothing of the field."""
    if name in lists()["names"]["allowed"]:
        return False
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_")
    parts = [part for part in parts if part]
    telling = [part for part in parts if part not in _listed("names", "filler")] or parts
    return bool(telling) and all(part in _listed("names", "vague") for part in telling)


def check_python(path: str, source: str) -> Iterator[Checked]:
    """Check names and docstrings of a module, and names of tests."""

    def checked(check: str, line: int, text: str, is_wrong: bool) -> Checked:
        return Checked(check, Finding(check, path, line, text) if is_wrong else None)

    tree = ast.parse(source)
    stem = Path(path).stem
    if stem != "__init__":
        yield checked("modules", 1, stem, is_vague(stem))
    for node in ast.walk(tree):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            kind = "classes" if isinstance(node, ast.ClassDef) else "functions"
            if not node.name.startswith("__"):
                yield checked(kind, node.lineno, node.name, is_vague(node.name))
            if node.name.startswith("test_") and path.startswith("tests/"):
                subject = node.name.split("_")[1]
                is_wrong = subject in _listed("tests", "first")
                yield checked("tests", node.lineno, node.name, is_wrong)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield checked("variables", node.lineno, node.id, is_vague(node.id))
        elif isinstance(node, ast.arg):
            yield checked("parameters", node.lineno, node.arg, is_vague(node.arg))
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Module)):
            docstring = ast.get_docstring(node)
            if docstring:
                line = docstring.splitlines()[0]
                number = getattr(node, "lineno", 1)
                first = re.match(r"[A-Za-z]*", line)
                is_wrong = first is not None and first[0].lower() in _listed("docstrings", "first")
                yield checked("docstrings", number, line, is_wrong)
                is_long = len(line) > lists()["docstrings"]["length"]
                yield checked("docstring lengths", number, line, is_long)


def check_template(path: str, source: str) -> Iterator[Checked]:
    """Check the first words of headings and buttons, the name of the file, and assigned names."""
    for check, pattern, group in (("headings", _HEADING, 2), ("buttons", _BUTTON, 1)):
        for match in pattern.finditer(source):
            text = " ".join(_TAG.sub(" ", _TRANSLATED.sub(r"\2", match[group])).split())
            first = re.match(r"[A-Za-z]+", text)
            if first is None:
                continue
            is_listed = first[0].lower() in _listed(
                check, "first" if check == "headings" else "verbs"
            )
            is_wrong = is_listed if check == "headings" else not is_listed
            line = source.count("\n", 0, match.start()) + 1
            yield Checked(check, Finding(check, path, line, text) if is_wrong else None)
    stem = Path(path).stem
    file_finding = Finding("template files", path, 1, stem) if is_vague(stem) else None
    yield Checked("template files", file_finding)
    for line, name in _template_names(source):
        finding = Finding("template names", path, line, name) if is_vague(name) else None
        yield Checked("template names", finding)


def _template_names(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of each variable that a template assigns."""
    for match in (*_LOOP.finditer(source), *_WITH.finditer(source), *_AS.finditer(source)):
        line = source.count("\n", 0, match.start()) + 1
        if match.re is _LOOP:
            names = re.split(r"[\s,]+", match[1])
        elif match.re is _WITH:
            names = [a or b for a, b in _ASSIGNED.findall(match[1])]
        else:
            names = [match[1]]
        yield from ((line, name) for name in names)


def check_docs(path: str, source: str) -> Iterator[Checked]:
    """Check each line of a document for banned phrases. What code marks is not looked at."""
    patterns = [re.compile(pattern) for pattern in lists()["docs"]["banned"]]
    for number, line in enumerate(source.splitlines(), 1):
        prose = re.sub(r"`[^`]*`", "", line)
        phrases = [match[0] for pattern in patterns for match in pattern.finditer(prose)]
        finding = Finding("docs", path, number, ", ".join(phrases)) if phrases else None
        yield Checked("docs", finding)


def commit_problem(message: str) -> str:
    """Return why the subject of a commit message is refused, "" where it is not."""
    subject = next((line for line in message.splitlines() if not line.startswith("#")), "")
    if subject.startswith(("Merge ", "Revert ", "fixup! ", "squash! ")):
        return ""
    length = lists()["commits"]["length"]
    if len(subject) > length:
        return f"The subject has {len(subject)} characters, and at most {length} are allowed."
    first = subject.split(" ")[0]
    is_scoped = re.match(r"[\w./-]+: \S", subject) is not None
    if not is_scoped and (
        first in _listed("commits", "not_first") or not re.match(r"[A-Z][a-z]+ ", subject)
    ):
        return 'The subject is to be like "scope: add ..." or to begin with a verb: "Add ...".'
    return ""


def check_all() -> Iterator[Checked]:
    """Check every tracked file of the repository. Migrations are left out."""
    for path in tracked("*.py"):
        if "/migrations/" not in path:
            yield from check_python(path, (ROOT / path).read_text("utf-8"))
    for path in tracked("templates/*.html"):
        yield from check_template(path, (ROOT / path).read_text("utf-8"))
    for path in tracked("docs/*.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        yield from check_docs(path, (ROOT / path).read_text("utf-8"))
