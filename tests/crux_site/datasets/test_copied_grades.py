"""Copied grades in exports and imports, in the API, and on pages."""

import csv
import json
from io import StringIO

import pytest
from django.core.management import call_command
from openpyxl import Workbook

from annotation.formats import copied_grades, long_table
from annotation.formats.summary import DatasetImportError
from annotation.models import Rating
from annotation.models.standard import STANDARD, add_standard
from crux_site.aggregates import create_aggregate
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from crux_site.versions.text_edits import edit_text
from evaluation.agreement.report import agreement_report
from evaluation.data.selection import select
from tests.toolbox.answers import label
from tests.toolbox.equal_texts import COPIES, WHEEL, grades_of, make_copying, make_mill, text_named
from tests.toolbox.reimport import import_elsewhere
from tests.toolbox.responses import markup


@pytest.fixture(params=["graded", "answerable", "nugget-support"])
def campaign(request, cast):
    """A campaign with grades in T2 files, and in ratings.jsonl."""
    add_standard(STANDARD[request.param])
    campaign = make_copying(make_mill(), cast.worker, cast.other_worker, rubric=request.param)
    for user, grades in ((cast.worker, (1, 0)), (cast.other_worker, (0, 0))):
        for number, grade in enumerate(grades, start=1):
            label(campaign, user, "m1:0", number, grade, *(["wheel"] if grade else []))
        label(campaign, user, "m1:3", 1, 1, "words")
    return campaign


def numbers(dataset, rubric):
    report = agreement_report(select(dataset, rubric=rubric))
    return (report.n_items, report.n_missing, report.all.kappa.value, report.all.kappa.n)


def test_import_of_an_export_gives_the_same_copies_and_numbers(campaign, tmp_path):
    rubric = campaign.rubric.slug
    grades, before = grades_of("wil"), numbers(campaign.dataset, rubric)
    assert before[0] == 3
    dataset = import_elsewhere(campaign.dataset, tmp_path / "first")
    assert grades_of("wil") == grades
    assert {name for name, (_, read, _) in grades.items() if read} == set(COPIES)
    assert numbers(dataset, rubric) == before
    export_folder(dataset, tmp_path / "second")
    for path in sorted((tmp_path / "first").rglob("*.jsonl")):
        second = tmp_path / "second" / path.relative_to(tmp_path / "first")
        assert path.read_bytes() == second.read_bytes(), path.name
    summary = import_dataset(tmp_path / "first", dataset.slug)
    assert not summary.changed
    assert numbers(dataset, rubric) == before


def test_long_table_carries_the_mark(campaign, tmp_path):
    dataset = campaign.dataset
    rows = [json.loads(line) for line in long_table.jsonl_lines(dataset)]
    marks = {row["text"]: row["copied_from"] for row in rows if row["rater"] == "wil"}
    assert marks == {"m1:0": "", "m1:1": "m1:0", "m1:2": "m1:0", "m1:3": ""}
    file = tmp_path / "ratings.jsonl"
    for row in rows:
        row["rater"] = f"file-{row['rater']}"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    before = grades_of("wil")
    import_dataset(file, dataset.slug)
    assert grades_of("file-wil") == before


def test_long_table_that_a_spreadsheet_program_saved_carries_the_mark(campaign, tmp_path):
    """`crux-long` reads it, into the dataset and into an empty one."""
    before = grades_of("wil")
    workbook = Workbook()
    for row in csv.reader(long_table.csv_lines(campaign.dataset)):
        workbook.active.append(
            [f"file-{cell}" if cell in ("wil", "wanda") else cell for cell in row]
        )
    path = tmp_path / "saved.xlsx"
    workbook.save(path)
    options = {"preset": "crux-long", "stdout": StringIO()}
    call_command("import_table", path, dataset="mill", **options)
    assert grades_of("file-wil") == before
    call_command("import_table", path, dataset="elsewhere", **options)
    copies = Rating.objects.filter(text__dataset__slug="elsewhere", copied_from__isnull=False)
    assert {copy.copied_from.dataset.slug for copy in copies} == {"elsewhere"}
    assert {copy.text.name for copy in copies} == set(COPIES)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"copied_from": "m1:9"}, "copied_from"),
        ({"copied_from": "m1:1"}, "copied_from"),
        ({"text": "m1:9"}, "text"),
        ({"rater": "nobody"}, "rater"),
        ({"rubric": "none-such"}, "rubric"),
        ({"topic": "m9"}, "topic"),
        ({"question_index": 7}, "question_index"),
        ({"copied_from": ""}, "copied_from"),
    ],
)
def test_wrong_line_is_refused_and_changes_nothing(cast, tmp_path, change, field):
    campaign = make_copying(make_mill(), cast.worker)
    label(campaign, cast.worker, "m1:0", 1, 3)
    line = json.loads(next(iter(copied_grades.lines(campaign.dataset))))
    path = tmp_path / "copied_grades.jsonl"
    path.write_text(json.dumps(line | change) + "\n")
    with pytest.raises(DatasetImportError) as refused:
        import_dataset(path, "mill")
    [problem] = refused.value.problems
    assert (problem.line, problem.field) == (1, field)
    assert [read for _, read, _ in grades_of("wil").values()] == ["", "m1:0", "m1:0"]


def test_copied_grade_of_a_long_table_names_another_text(cast, tmp_path):
    campaign = make_copying(make_mill(), cast.worker)
    label(campaign, cast.worker, "m1:0", 1, 3)
    [row, *_] = [json.loads(line) for line in long_table.jsonl_lines(campaign.dataset)]
    path = tmp_path / "ratings.jsonl"
    path.write_text(json.dumps(row | {"rater": "eve", "copied_from": row["text"]}) + "\n")
    with pytest.raises(DatasetImportError, match="is no other text of the dataset"):
        import_dataset(path, "mill")


def test_superseded_copy_keeps_its_mark_elsewhere(cast, tmp_path):
    campaign = make_copying(make_mill(), cast.worker)
    label(campaign, cast.worker, "m1:0", 1, 3, "wheel")
    before = grades_of("wil")
    campaign.state = "closed"
    campaign.save(update_fields=["state"])
    edit_text(text_named("m1:1"), f"Old: {WHEEL}", by=None, why="", counts=False)
    dataset = import_elsewhere(campaign.dataset, tmp_path / "out")
    assert list(grades_of("wil")) == ["m1:0", "m1:2"]
    [version] = dataset.versions.all()
    Rating.objects.restore(version.set_aside)
    assert grades_of("wil")["m1:1"] == before["m1:1"]


def test_aggregate_is_computed_once_and_copied(cast):
    campaign = make_copying(make_mill(), cast.worker, cast.other_worker)
    for user, grade in ((cast.worker, 3), (cast.other_worker, 5)):
        label(campaign, user, "m1:0", 1, grade)
        label(campaign, user, "m1:3", 1, grade - 2)
    stored = create_aggregate(select(campaign.dataset, rubric="graded"), "median")
    assert stored.n == 2
    assert "n = 2 pairs" in stored.rater.made_from
    assert grades_of(stored.rater.name) == {
        "m1:0": (4, "", []),
        "m1:1": (4, "m1:0", []),
        "m1:2": (4, "m1:0", []),
        "m1:3": (2, "", []),
    }


def test_api_shows_the_text_that_was_read(cast):
    campaign = make_copying(make_mill(), cast.worker)
    label(campaign, cast.worker, "m1:0", 1, 3)
    rows = cast.client("researcher").get("/api/v1/datasets/mill/ratings/").json()["results"]
    read_text = text_named("m1:0").pk
    assert {row["text"]["name"]: row["copied_from"] for row in rows} == {
        "m1:0": None,
        "m1:1": read_text,
        "m1:2": read_text,
    }


def test_pages_say_from_which_text_a_grade_was_copied(cast):
    campaign = make_copying(make_mill(), cast.worker)
    label(campaign, cast.worker, "m1:0", 1, 3)
    client = cast.client("researcher")
    question = campaign.items.first().asked.first().question
    copy = f"/datasets/mill/pairs/{text_named('m1:1').pk}/{question.pk}/?rubric=graded"
    page = markup(client.get(copy))
    assert "copied from" in page
    assert f"/pairs/{text_named('m1:0').pk}/{question.pk}/" in page
    original = f"/datasets/mill/pairs/{text_named('m1:0').pk}/{question.pk}/?rubric=graded"
    assert "copied from" not in markup(client.get(original))
    assert len(client.get("/datasets/mill/disagreements/?rubric=graded").context["rows"]) == 1
    matrix = markup(client.get("/datasets/mill/matrix/under/graded/?rater=wil"))
    assert matrix.count(", copied from m1:0") == 2
