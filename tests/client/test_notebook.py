"""The notebook and the recipes of docs/client.md, line by line against a served site."""

import ast
import json
import textwrap

import pandas as pd
import pytest

from tests.toolbox.api_seed import ADMIN
from tests.toolbox.documentation import CODE_LINE
from tests.toolbox.paths import ROOT

NOTEBOOK = json.loads((ROOT / "client" / "notebooks" / "first_look.ipynb").read_text())
RECIPES = (
    (ROOT / "docs" / "client.md").read_text().partition("## In pandas")[2].partition("\n## ")[0]
)
CELLS = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def run_cell(cell, names):
    """Run a cell, and what a notebook shows below it: the value of its last line."""
    *before, last = ast.parse(cell).body
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(before, []), "cell", "exec"), names)  # noqa: S102 # our own cells
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


@pytest.mark.soak
@pytest.mark.any_database
def test_cells_and_recipes_print_output(served, monkeypatch):
    monkeypatch.setenv("CRUX_URL", served)
    monkeypatch.setenv("CRUX_TOKEN", ADMIN)
    names = {}
    for cell in CELLS:
        outcome = run_cell(cell, names)
        assert not outcome.empty if isinstance(outcome, pd.DataFrame) else outcome, cell
    names = {}
    exec(textwrap.dedent("".join(CODE_LINE.findall(RECIPES))), names)  # noqa: S102
    for recipe in ("matrix", "by_topic", "f1", "table", "difference", "words"):
        assert not names[recipe].empty, recipe


def test_notebook_has_no_outputs():
    for cell in NOTEBOOK["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
