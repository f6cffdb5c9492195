"""Imports among tests: no test module is imported; folders share helpers by the toolbox."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import toolbox
from tests.toolbox.installed_apps import OUR_APPS
from tests.toolbox.paths import ROOT

# Run as a program by make, and read by the test of the docs.
PROGRAMS = {"tests.browser.pictures"}


def imported_modules(path: Path) -> Iterator[str]:
    """Yield the modules of tests that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("tests."):
                path = ROOT / name.replace(".", "/")
                is_module = path.is_dir() or path.with_suffix(".py").exists()
                yield name if is_module else name.rpartition(".")[0]


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """Return the modules of tests that each file imports, by the path of the file."""
    return {
        path.relative_to(ROOT).as_posix(): set(imported_modules(path))
        for folder in (*OUR_APPS, "bench", "client", "tests")
        for path in (ROOT / folder).rglob("*.py")
    }


def area_of(module: str) -> str:
    """Return the folder of a module, as `tests.annotation`; "" for a module of no folder."""
    area = module.split(".")[:2]
    return ".".join(area) if ROOT.joinpath(*area).is_dir() else ""


def test_modules_of_tests_are_not_imported(imports):
    wrong = {
        (path, module)
        for path, modules in imports.items()
        for module in modules
        if module.rpartition(".")[2].startswith("test_")
    }
    assert wrong == set()


def test_helpers_of_a_folder_stay_in_it(imports):
    wrong = {
        (path, module)
        for path, modules in imports.items()
        if path.startswith("tests/")
        for module in modules - PROGRAMS
        if area_of(module) not in ("", "tests.toolbox", area_of(path[:-3].replace("/", ".")))
    }
    assert wrong == set()


def test_docstring_of_the_toolbox_lists_its_modules():
    modules = {
        path.stem
        for path in (ROOT / "tests" / "toolbox").glob("*.py")
        if not path.stem.startswith(("test_", "__"))
    }
    listed = {line.split("`")[1] for line in toolbox.__doc__.splitlines() if line.startswith("- `")}
    assert listed == modules
