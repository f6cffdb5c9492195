"""Where answers that came too late are shown: the export, quality, the overview, where raters differ."""

import csv

import pytest

from annotation.adjudication.decisions import voices
from annotation.adjudication.differences import differences
from annotation.models import Campaign
from annotation.monitoring.export import files
from evaluation.data.answers import load
from tests.labels import hand_in, label, row
from tests.markup import markup

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
    """Two raters of one report: one was through in time, one changed an answer and gave one late."""
    row(campaign, cast.other_worker, "oracle", 1, 1, 0)
    hand_in(campaign, cast.other_worker, "oracle")
    row(campaign, cast.worker, "oracle", 1, 0)
    close()
    label(campaign, cast.worker, "oracle", 1, 0)
    label(campaign, cast.worker, "oracle", 3, 1, "The car ferry")
    return campaign


def test_the_export_tells_late_answers_and_keeps_labels_as_they_counted(half_late):
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
    assert "1 of them came too late and is no rating" in page
    cells = markup(cast.client("researcher").get(f"{HOME}quality/raters/wil/"))
    assert "3 answers that stand" in cells


def test_the_overview_says_how_many_came_late(cast, half_late):
    page = markup(cast.client("researcher").get(HOME))
    assert "answers are kept, and become no ratings" in page
    assert "no ratings: 2 after the study was closed." in page


def test_where_raters_differ_the_answer_that_counted_is_shown(half_late):
    grades = {difference.question: difference.grades for difference in differences(half_late)}
    item = half_late.items.first()
    asked = [item_question.question for item_question in item.asked.order_by("position")]
    assert grades == {asked[1].pk: (0, 1), asked[2].pk: (0, 1)}
    grades_by_name = {voice.name: voice.grade for voice in voices(item, asked[0])}
    assert grades_by_name == {"wil": 1, "uma": 1}
