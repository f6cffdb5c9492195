"""Recognized files: folders, parts of folders, single files, and files left out."""

import json
import zipfile

import pytest

from annotation.formats.layout import Kind, recognise
from annotation.models import Text
from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.toolbox.import_study import PASSAGES, study, write


def kinds(path, **options) -> dict[str, Kind]:
    return {source.name: source.kind for source in recognise(path, **options).sources}


def test_layout_files_are_recognized(tmp_path):
    write(tmp_path)
    layout = recognise(tmp_path)
    assert {source.name for source in layout.sources} == set(study())
    assert layout.left_out == []
    names = {source.name: (source.rater, source.system) for source in layout.sources}
    assert names["annotations/ann.qlabels.jsonl"] == ("ann", "")
    assert names["judgements/judge.reference.jsonl"] == ("judge", "")
    assert names["runs/first_stage.lsr.run"] == ("", "first_stage.lsr")
    assert names["reports_all.bm25.jsonl"] == ("", "bm25")


def test_left_out_files_are_reported(tmp_path):
    write(tmp_path)
    for name in (
        "README.md",
        "expected_values.json",
        "raw/documents_sample/t-1:0#0",
        "raw/other.run",
        "later_formats/x.jsonl",
        "judgements/judge.conflicts.jsonl",
        "annotations/history/ann.qlabels.export1.jsonl",
        "annotations/qlabels (18).jsonl",
        "notes.txt",
    ):
        write(tmp_path, {name: []})
    layout = recognise(tmp_path)
    assert {source.name for source in layout.sources} == set(study())
    assert {(file.name, file.files) for file in layout.left_out} == {
        ("README.md", 1),
        ("expected_values.json", 1),
        ("raw/", 2),
        ("later_formats/", 1),
        ("judgements/judge.conflicts.jsonl", 1),
        ("annotations/history/", 1),
        ("annotations/qlabels (18).jsonl", 1),
        ("notes.txt", 1),
    }
    assert all(file.why for file in layout.left_out)


def test_history_is_read_on_request(tmp_path):
    name = "annotations/history/ann.qlabels.export1-revised.jsonl"
    write(tmp_path, {name: [], "topics.jsonl": []})
    assert name not in kinds(tmp_path)
    assert kinds(tmp_path, with_history=True)[name] == Kind.HISTORY_QLABELS


@pytest.mark.parametrize(
    ("name", "kind", "rater", "system"),
    [
        ("topics.jsonl", Kind.TOPICS, "", ""),
        ("passages_more.jsonl", Kind.PASSAGES, "", ""),
        ("first_stage.qwen3-embed-8b.run", Kind.RUN, "", "first_stage.qwen3-embed-8b"),
        ("annotator1.qlabels.jsonl", Kind.QLABELS, "annotator1", ""),
        ("annotator1.qlabels.export1.jsonl", Kind.HISTORY_QLABELS, "annotator1", ""),
        ("annotator1.qrels.export2.jsonl", Kind.HISTORY_QRELS, "annotator1", ""),
        ("ann.human_eval.bm25.qlabels.jsonl", Kind.QLABELS, "ann", "human_eval.bm25"),
        ("llama33_70b.judgements.jsonl", Kind.JUDGEMENTS, "llama33_70b", ""),
        ("llama33_70b.reference.jsonl", Kind.REFERENCE, "llama33_70b", ""),
    ],
)
def test_single_file_is_known_by_its_name_wherever_it_lies(tmp_path, name, kind, rater, system):
    (tmp_path / name).touch()
    (source,) = recognise(tmp_path / name).sources
    assert (source.kind, source.rater, source.system) == (kind, rater, system)


def test_single_files_side_by_side_are_known_too(tmp_path):
    """As they are uploaded: without the folders of the layout."""
    write(tmp_path, {name.rpartition("/")[2]: rows for name, rows in study().items()})
    assert sorted(kind.name for kind in kinds(tmp_path).values()) == sorted(
        [
            *("TOPICS", "SUBQUESTIONS", "PASSAGES", "PASSAGES", "REPORTS_ANNOTATED"),
            *("REPORTS_ALL", "RUN", "RUN", "QLABELS", "QLABELS", "QRELS", "JUDGEMENTS"),
            "REFERENCE",
        ]
    )


@pytest.mark.parametrize("name", ["runs", "annotations", "judgements"])
def test_folder_of_the_layout_may_be_given_by_itself(tmp_path, name):
    write(tmp_path)
    expected = {file.rpartition("/")[2] for file in study() if file.startswith(f"{name}/")}
    assert set(kinds(tmp_path / name)) == expected


def test_folder_round_a_folder_is_looked_through(tmp_path):
    write(tmp_path / "archive" / "small-study")
    assert set(kinds(tmp_path / "archive")) == set(study())


@pytest.mark.parametrize("name", ["qlabels (18).jsonl", "data.bin", "x.conflicts.jsonl"])
def test_unknown_file_is_answered_with_the_names_that_are_known(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(DatasetImportError) as raised:
        recognise(tmp_path / name)
    (problem,) = raised.value.problems
    assert problem.file == name
    no_files = (Kind.CITED, Kind.GRADES, Kind.ADDED_QUESTIONS)
    assert all(kind.value in problem.message for kind in Kind if kind not in no_files)


@pytest.mark.parametrize(
    ("name", "content", "advice"),
    [
        ("data.csv", "question,grade\n", "manage.py import_table"),
        ("tables/data.csv", "question,grade\n", "manage.py import_table"),
        ("dl.qrels", "q1 0 d1 1\n", "in the format trec-rag"),
        ("qrels/dl.txt", "q1 0 d1 1\n", "in the format trec-rag"),
        ("project.json", "{}", "manage.py import_project"),
        ("site/project.json", "{}", "manage.py import_project"),
    ],
)
def test_file_for_another_command_is_answered_with_that_command(tmp_path, name, content, advice):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    with pytest.raises(DatasetImportError, match=advice):
        recognise(path if path.parent == tmp_path and name != "project.json" else tmp_path)


def test_broken_archive_is_no_file_that_can_be_read(tmp_path):
    path = tmp_path / "broken.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.json", "{}")
    content = path.read_bytes()
    path.write_bytes(content.replace(b"PK\x01\x02", b"PK\x01\x09"))
    with pytest.raises(DatasetImportError, match="no file that can be read"):
        recognise(path)


@pytest.mark.parametrize(
    ("name", "advice"),
    [("main/project.json", "manage.py import_project"), ("topics.jsonl", "unpack this archive")],
)
def test_archive_is_answered_with_a_remedy(tmp_path, name, advice):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, "{}")
    with pytest.raises(DatasetImportError, match=advice):
        recognise(tmp_path / "a.zip")


def test_folder_without_a_known_file(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(DatasetImportError, match="files are known by their names"):
        recognise(tmp_path)


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(DatasetImportError, match="No such file"):
        recognise(tmp_path / "nowhere")


@pytest.mark.django_db
@pytest.mark.parametrize("inside", [True, False])
def test_passages_in_separate_files_are_read(tmp_path, inside):
    """Names hold `:` and `#`; the folder lies in the study or is given by itself."""
    files = study()
    del files["passages.jsonl"]
    del files["passages_referenced.jsonl"]
    write(tmp_path / "study", files)
    folder = tmp_path / ("study" if inside else "other") / "documents_all"
    folder.mkdir(parents=True)
    for name, body in PASSAGES.items():
        (folder / name).write_text(json.dumps({"id": name, "contents": body}))
    summary = import_dataset(tmp_path / "study", "small")
    if not inside:
        summary = import_dataset(folder, "small")
        assert summary.files[0].filled == len(PASSAGES) - 1  # one is in no run and no rating
    assert {f.name: f.read for f in summary.files}["documents_all"] == len(PASSAGES)
    assert {
        text.name: text.body for text in Text.objects.filter(kind="passage").with_body()
    } == PASSAGES
    before = import_dataset(folder, "small")
    assert not before.changed


@pytest.mark.django_db
def test_broken_passage_among_many_files_is_named(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, body in PASSAGES.items():
        (folder / name).write_text(json.dumps({"id": name, "contents": body}))
    (folder / "t-1:0#1").write_text('{"id": "t-1:0#1", "contents": 7}')
    (folder / "t-2:0#0").write_text('{"id": "t-9:0#0", "contents": "of another name"}')
    with pytest.raises(DatasetImportError) as raised:
        import_dataset(folder, "small")
    assert [(problem.file, problem.field) for problem in raised.value.problems] == [
        ("documents/t-1:0#1", "contents"),
        ("documents/t-2:0#0", "id"),
    ]
    assert not Text.objects.exists()
