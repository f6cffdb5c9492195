"""The real study, exported: a stable round trip, and the same labels as the authors'.

What differs from the authors' own files, and why:
- lines stand in the order of systems, topics and names, and not in that of a working day;
- `coverage` leaves filtered questions out, as the paper does; the authors' divide by all,
  but for one line;
- `type` of an annotated report is its context; the authors' says "oracle" in every line;
- `answerable_at_3` and the files that are left out are not there.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from annotation.formats import gradings, long_table
from annotation.models import Dataset, Rater, Rating
from crux_site.datasets.export import ExportSummary, export_folder, write
from crux_site.imports.importing import import_dataset
from tests.toolbox.import_study import contents, fingerprint
from tests.toolbox.real_study import FOLDER, SLUG, connected_to

pytestmark = pytest.mark.soak

# The only line of the authors' files whose coverage leaves filtered questions out, as ours do.
THE_ONE_OF_THE_PAPER = ("annotator1", ("bm25_duc04-testb-7",))


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by(path: Path, *keys: str) -> dict[tuple, dict]:
    by_key = {tuple(row[key] for key in keys): row for row in rows(path)}
    assert len(by_key) == len(rows(path))
    return by_key


def without_times(dataset: Dataset) -> list[tuple]:
    """The long table but for when grades were stored, which another import cannot repeat."""
    rows = []
    for row in long_table.rows(dataset):
        del row["created"]
        rows.append(tuple(row.values()))
    return rows


@dataclass
class Written:
    """The folder that an export of the study wrote, what it told, and the study's long table."""

    folder: Path
    summary: ExportSummary
    table: list[tuple]


@pytest.fixture(scope="module")
def export(real_study_import, django_db_blocker, tmp_path_factory) -> Written:
    name, _ = real_study_import
    folder = tmp_path_factory.mktemp("export") / "first"
    with django_db_blocker.unblock(), connected_to(name):
        dataset = Dataset.objects.get(slug=SLUG)
        return Written(folder, export_folder(dataset, folder), without_times(dataset))


@pytest.fixture
def out(export) -> Path:
    return export.folder


def test_reading_an_export_back_changes_nothing(real_study, out):
    before = fingerprint()
    assert not import_dataset(out, SLUG).changed
    assert fingerprint() == before


def test_read_into_an_empty_database_an_export_gives_the_same_bytes_and_rows(export, tmp_path, db):
    assert not Dataset.objects.exists()
    import_dataset(export.folder, SLUG)
    dataset = Dataset.objects.get(slug=SLUG)
    second_export = tmp_path / "again"
    export_folder(dataset, second_export)
    assert contents(second_export) == contents(export.folder)
    assert without_times(dataset) == export.table


def test_export_leaves_nothing_out(export):
    assert export.summary.left_out == {}


def test_t1_labels(out):
    for rater in ("annotator1", "annotator2", "annotator3"):
        name = f"annotations/{rater}.qlabels.jsonl"
        theirs, ours = by(FOLDER / name, "id"), by(out / name, "id")
        assert ours.keys() == theirs.keys()
        for key, line in theirs.items():
            assert set(ours[key]) == set(line)  # no offsets: the words tell the place
            assert ours[key]["answerability"] == line["answerability"]
            assert ours[key]["question_based_nugget"] == line["question_based_nugget"]
            n_questions = sum(label != -2 for label in line["answerability"])
            theirs_by = n_questions if (rater, key) == THE_ONE_OF_THE_PAPER else 15
            answered = round(line["coverage"] * theirs_by, 9)
            assert ours[key]["coverage"] == answered / n_questions


def test_t2_labels(out):
    for rater in ("annotator1", "annotator2", "annotator3"):
        name = f"annotations/{rater}.qrels.jsonl"
        assert by(out / name, "id", "document") == by(FOLDER / name, "id", "document")


def test_judgements(out):
    for name in ("llama33_70b.judgements", "crux_prejudge.judgements"):
        path = f"judgements/{name}.jsonl"
        keys = ("example_id", "pid")
        assert by(out / path, *keys) == by(FOLDER / path, *keys)
    path = "judgements/crux_prejudge.reference.jsonl"
    theirs = by(FOLDER / path, "example_id", "pid")
    for row in theirs.values():
        del row["answerable_at_3"]
    assert by(out / path, "example_id", "pid") == theirs


def test_runs(out):
    for path in sorted((FOLDER / "runs").iterdir()):
        assert (out / "runs" / path.name).read_text() == path.read_text()


def test_texts(out):
    assert (out / "topics.jsonl").read_bytes() == (FOLDER / "topics.jsonl").read_bytes()
    assert (out / "subquestions.jsonl").read_bytes() == (FOLDER / "subquestions.jsonl").read_bytes()
    for name in ("passages.jsonl", "passages_referenced.jsonl"):
        assert by(out / name, "id") == by(FOLDER / name, "id")
    for name in ("oracle", "bm25", "dr_rankfirst"):
        _same_reports(out, f"reports_all.{name}.jsonl")
    _same_reports(out, "reports_annotated.jsonl")


def _same_reports(out: Path, name: str) -> None:
    theirs, ours = by(FOLDER / name, "qid"), by(out / name, "qid")
    assert ours.keys() == theirs.keys()
    for key, row in theirs.items():
        row["type"] = ours[key]["type"]
        assert ours[key] == row


def test_all_grades_and_spans_come_back_from_an_annotation_tool(tmp_path, real_study):
    # Of the 98,000 grades of a model nothing else is to be seen. They have no spans.
    Rating.objects.filter(rater__name="llama33_70b").remove()
    path = tmp_path / "out.json"
    write(path, gradings.TOOLS["argilla"](real_study))
    before = without_times(real_study)
    Rating.objects.of_dataset(real_study).delete()
    Rater.objects.filter(dataset=real_study).delete()
    import_dataset(path, SLUG, form="argilla")
    assert without_times(real_study) == before
