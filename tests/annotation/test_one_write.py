"""Ratings are written in annotation/models/rating.py alone."""

import ast
from pathlib import Path

import pytest

from tests.toolbox.installed_apps import OUR_APPS

ROOT = Path(__file__).resolve().parents[2]
WRITES = {"create", "bulk_create", "get_or_create", "update_or_create", "bulk_update", "update"}
RATING_MODULE = ROOT / "annotation" / "models" / "rating.py"
TRIGGERS = ROOT / "annotation" / "rating_versions.py"  # they name the table, and write no rating


@pytest.mark.parametrize("app", OUR_APPS)
def test_ratings_are_written_in_one_module(app):
    for file in sorted((ROOT / app).rglob("*.py")):
        if file in (RATING_MODULE, TRIGGERS) or "migrations" in file.parts:
            continue
        source = file.read_text()
        assert "annotation_rating" not in source, f"{file}: SQL on the table of ratings"
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call):
                callee = ast.unparse(node.func)
                assert callee != "Rating", f"{file}:{node.lineno}: a rating is made"
                is_write = callee.startswith("Rating.objects") and callee.split(".")[-1] in WRITES
                into = ast.unparse(node.args[0]) if node.args else ""
                is_write |= callee in ("insert_all", "insert_new") and into == "Rating"
                assert not is_write, f"{file}:{node.lineno}: {callee}"
