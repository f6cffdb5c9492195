"""Ratings are written in one place: annotation/models/rating.py. Everything else asks it to."""

import ast
from pathlib import Path

import pytest

from tests.apps import OUR_APPS

ROOT = Path(__file__).resolve().parents[2]
WRITES = {"create", "bulk_create", "get_or_create", "update_or_create", "bulk_update", "update"}
THE_PLACE = ROOT / "annotation" / "models" / "rating.py"


@pytest.mark.parametrize("app", OUR_APPS)
def test_nothing_else_writes_a_rating(app):
    for file in sorted((ROOT / app).rglob("*.py")):
        if file == THE_PLACE or "migrations" in file.parts:
            continue
        source = file.read_text()
        assert "annotation_rating" not in source, f"{file}: SQL on the table of ratings"
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called != "Rating", f"{file}:{node.lineno}: a rating is made"
                is_write = called.startswith("Rating.objects") and called.split(".")[-1] in WRITES
                into = ast.unparse(node.args[0]) if node.args else ""
                is_write |= called in ("insert_all", "insert_new") and into == "Rating"
                assert not is_write, f"{file}:{node.lineno}: {called}"
