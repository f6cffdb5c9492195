"""manage.py export_dataset: folders, files, and what it refuses."""

import shutil
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.formats import long_table, qlabels
from annotation.formats.summary import DatasetImportError
from annotation.models import Dataset, Rater, SubQuestion
from crux_site.datasets import export
from crux_site.imports.importing import import_dataset
from tests.toolbox.import_study import contents, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(tmp_path) -> Dataset:
    import_dataset(write(tmp_path / "small"), "small")
    return Dataset.objects.get(slug="small")


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("export_dataset", "small", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_folder(tmp_path, small):
    out = run("--format", "crux", "--out", tmp_path / "new" / "folder")
    assert "3  annotations/ann.qlabels.jsonl" in out
    assert "topics.jsonl" in contents(tmp_path / "new" / "folder")


def test_folder_that_holds_something_is_refused(tmp_path, small):
    before = contents(tmp_path)
    with pytest.raises(CommandError, match="not an empty folder"):
        run("--out", tmp_path / "small")
    assert contents(tmp_path) == before


def test_empty_folder_will_do(tmp_path, small):
    (tmp_path / "empty").mkdir()
    run("--out", tmp_path / "empty")
    assert contents(tmp_path / "empty")


def test_killed_export_cannot_be_imported(tmp_path, small, monkeypatch):
    write_file = export.write

    def write_and_copy(path, lines):
        n = write_file(path, lines)
        if path.name == "subquestions.jsonl":
            shutil.copytree(tmp_path / "out", tmp_path / "killed")
        return n

    monkeypatch.setattr(export, "write", write_and_copy)
    run("--out", tmp_path / "out")
    assert "topics.jsonl" in contents(tmp_path / "killed")
    with pytest.raises(DatasetImportError, match="the export of this folder was stopped"):
        import_dataset(tmp_path / "killed", "copy")
    assert import_dataset(tmp_path / "out", "copy")


def test_failed_export_leaves_an_empty_folder(tmp_path, small):
    small.runs.filter(name="first_stage.lsr").update(name="a/b")
    with pytest.raises(CommandError, match="rename the run first"):
        run("--out", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_long_table(tmp_path, small):
    for name, lines in (("a.csv", long_table.csv_lines), ("a.jsonl", long_table.jsonl_lines)):
        run("--format", "long", "--out", tmp_path / name)
        assert (tmp_path / name).read_bytes().decode() == "".join(lines(small))


def test_labels_of_a_rater(tmp_path, small, capsys):
    expected = "".join(qlabels.lines(small, Rater.objects.get(name="ann")))
    run("--format", "qlabels", "--rater", "ann", "--out", tmp_path / "ann.qlabels.jsonl")
    assert (tmp_path / "ann.qlabels.jsonl").read_text(encoding="utf-8") == expected
    run("--format", "qlabels", "--rater", "ann", "--out", "-")
    assert capsys.readouterr().out == expected


def test_run(tmp_path, small):
    run("--format", "run", "--run", "first_stage.lsr", "--out", tmp_path / "x.run")
    assert len((tmp_path / "x.run").read_text().splitlines()) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "nuggets", "--rater", "ann"], "Nobody has rated nuggets under importance"),
        (["--format", "qlabels", "--rater", "nobody"], "ann, bob, judge"),
        (["--format", "qrels"], "ann, bob, judge"),
        (["--format", "run", "--run", "x"], "annotated.bm25, annotated.oracle"),
        (["--format", "long"], ".csv or .jsonl"),
    ],
)
def test_unknown_option_value_is_refused(tmp_path, small, arguments, message):
    with pytest.raises(CommandError, match=message):
        run(*arguments, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_unknown_dataset(tmp_path, db):
    with pytest.raises(CommandError, match="no dataset small"):
        run("--out", tmp_path / "out")


def test_file_that_cannot_be_finished_is_not_begun(tmp_path, small):
    path = tmp_path / "ann.qlabels.jsonl"
    path.write_text("as it was")
    SubQuestion.objects.filter(topic__name="t-2").update(body="The same?")
    with pytest.raises(CommandError, match="two questions"):
        run("--format", "qlabels", "--rater", "ann", "--out", path)
    assert path.read_text() == "as it was"
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == [path.name]
