"""manage.py import_dataset: what it prints, and how it ends."""

import json

import pytest

from annotation.models import Dataset
from crux_site.imports.importing import import_dataset
from tests.crux_site.imports.import_runs import run_import
from tests.toolbox.import_study import study, write

pytestmark = pytest.mark.django_db


def test_summary_is_a_table(tmp_path):
    status, out, err = run_import(write(tmp_path), "--format", "crux", "--dataset", "small")
    assert (status, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "file lines created unchanged filled conflicts" in lines
    assert "annotations/ann.qlabels.jsonl 3 7 0 0 0" in lines
    assert "annotations/ann.qlabels.jsonl answerable 2 1 1 1" in lines
    assert "2 -2, filtered: no row" in lines
    assert Dataset.objects.get().title == "small"


def test_second_time_it_says_that_nothing_was_created(tmp_path):
    run_import(write(tmp_path), "--dataset", "small")
    _, out, _ = run_import(tmp_path, "--dataset", "small")
    assert "Created: nothing" in out


def test_dry_run_says_so(tmp_path):
    status, out, _ = run_import(write(tmp_path), "--dataset", "small", "--dry-run")
    assert status == 0
    assert "Dry run: nothing was changed." in out
    assert not Dataset.objects.exists()


def test_json(tmp_path):
    _, out, _ = run_import(write(tmp_path), "--dataset", "small", "--title", "Small", "--json")
    summary = json.loads(out)
    assert summary["created"]["topics"] == 2
    assert summary["mapped"]["-2, filtered: no row"] == 2
    assert summary["totals"]["human raters"] == 2
    assert summary["errors"] == []


def test_problems_are_listed_and_the_status_is_1(tmp_path):
    files = study()
    files["passages.jsonl"][1]["contents"] = 7
    files["passages.jsonl"].append("{")
    status, out, err = run_import(write(tmp_path, files), "--dataset", "small")
    assert (status, out) == (1, "")
    first, second, last = err.splitlines()
    assert first.startswith("passages.jsonl:2: contents: ")
    assert second.startswith("passages.jsonl:4: broken JSON")
    assert last == "Nothing was imported."
    assert not Dataset.objects.exists()


def test_first_twenty_problems_say_that_there_may_be_more(tmp_path):
    files = study()
    files["passages.jsonl"] = ["{"] * 30
    _, _, err = run_import(write(tmp_path, files), "--dataset", "small")
    lines = err.splitlines()
    assert len(lines) == 22
    assert lines[20] == "There may be more: reading stopped after 20 errors."


def test_problems_as_json(tmp_path):
    files = study()
    files["topics.jsonl"].append("{")
    status, out, _ = run_import(write(tmp_path, files), "--dataset", "small", "--json")
    assert status == 1
    (error,) = json.loads(out)["errors"]
    assert (error["file"], error["line"]) == ("topics.jsonl", 3)


def test_progress_is_told(tmp_path):
    reported = []
    import_dataset(
        write(tmp_path), "small", progress=lambda file, lines: reported.append((file, lines))
    )
    assert ("passages.jsonl", 3) in reported
