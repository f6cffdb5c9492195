"""Display of late answers: export, quality, overview and adjudication."""

import csv

import pytest

from annotation.adjudication.decisions import rater_answers
from annotation.adjudication.differences import differences
from annotation.models import Campaign
from annotation.monitoring.export import files
from evaluation.data.answers import load
from tests.toolbox.answers import label, label_item, submit_item
from tests.toolbox.responses import markup

HOME = "/campaigns/ferry-answerable/"


def close(state: str = "closed") -> None:
    Campaign.objects.update(state=state)


def tables(campaign) -> dict[str, list[dict[str, str]]]:
    exported = {}
    for name, lines in files(campaign, anonymous=False):
        text = b"".join(lines).decode()
        if name in ("answers.csv", "labels.csv"):
            exported[name] = list(csv.DictReader(text.splitlines()))
    return exported


@pytest.fixture
def half_late(cast, campaign):
    """A report with two raters: one in time, one with a late change and a late answer."""
    label_item(campaign, cast.other_worker, "oracle", 1, 1, 0)
    submit_item(campaign, cast.other_worker, "oracle")
    label_item(campaign, cast.worker, "oracle", 1, 0)
    close()
    label(campaign, cast.worker, "oracle", 1, 0)
    label(campaign, cast.worker, "oracle", 3, 1, "The car ferry")
    return campaign


def test_export_tells_late_answers_and_keeps_labels_as_they_counted(half_late):
    exported = tables(half_late)
    mine = [row for row in exported["answers.csv"] if row["worker"] == "wil"]
    assert [(row["grade"], row["late"]) for row in mine] == [
        *(("1", ""), ("0", "")),
        *(("0", "closed"), ("1", "closed")),
    ]
    mine = [row for row in exported["labels.csv"] if row["worker"] == "wil"]
    assert [(row["grade"], row["late"]) for row in mine] == [("1", ""), ("0", ""), ("1", "closed")]


def test_quality_counts_late_answers_where_no_other_stands(cast, half_late):
    answers = load(half_late)
    assert answers.n_late == 1
    wil = next(pk for pk, name in answers.names.items() if name == "wil")
    assert sorted(answers.grade[answers.rater == wil].tolist()) == [0, 1, 1]
    page = markup(cast.client("researcher").get(f"{HOME}quality/"))
    assert "1 of them came too late and is not counted as a rating" in page
    cells = markup(cast.client("researcher").get(f"{HOME}quality/raters/wil/"))
    assert "3 current answers" in cells


def test_overview_counts_late_answers(cast, half_late):
    page = markup(cast.client("researcher").get(HOME))
    assert "late answers are stored, but do not become ratings" in page
    assert "do not become ratings: 2 after the study was closed." in page


def test_differences_show_the_answer_that_counted(half_late):
    grades = {difference.question: difference.grades for difference in differences(half_late)}
    item = half_late.items.first()
    questions = [item_question.question for item_question in item.asked.order_by("position")]
    assert grades == {questions[1].pk: (0, 1), questions[2].pk: (0, 1)}
    grades_by_name = {voice.name: voice.grade for voice in rater_answers(item, questions[0])}
    assert grades_by_name == {"wil": 1, "uma": 1}
