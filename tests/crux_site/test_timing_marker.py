"""Tests that kill processes or sleep are marked `timing`, and so run separately."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ELSEWHERE
from tests.toolbox.paths import ROOT

MARKER = "pytest.mark.timing"
CALLS = ("time.sleep", "os.kill", "os.killpg", ".wait_for_timeout", ".kill", ".send_signal")
FILES = [
    path
    for path in sorted((ROOT / "tests").rglob("test_*.py"))
    if not path.relative_to(ROOT).as_posix().startswith((*ELSEWHERE, "tests/finetune/"))
]


def calls(node: ast.AST) -> Iterator[str]:
    """Yield what a test calls, without its clean-up and without the body of a loop that polls."""
    if isinstance(node, ast.Call):
        yield ast.unparse(node.func)
    parts = [
        value
        for name, value in ast.iter_fields(node)
        if name != "finalbody" and not (isinstance(node, ast.While) and name == "body")
    ]
    for part in parts:
        for child in part if isinstance(part, list) else [part]:
            if isinstance(child, ast.AST):
                yield from calls(child)


def unmarked_tests(path: Path) -> list[str]:
    tree = ast.parse(path.read_text())
    module_marks = [
        ast.unparse(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]
    if any(MARKER in marks for marks in module_marks):
        return []
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and MARKER not in map(ast.unparse, node.decorator_list)
        and any(name.endswith(CALLS) for name in calls(node))
    ]


def test_tests_that_kill_or_sleep_are_marked():
    unmarked = {str(path): names for path in FILES if (names := unmarked_tests(path))}
    assert unmarked == {}
