"""`manage.py filter_questions`: a proposal, and with --apply what becomes of it."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rating, SubQuestion, Text
from tests.toolbox.scoring_study import make_study


@pytest.fixture
def study(db):
    """All passages with a body are graded; q1, q2 and ferry-2's question have no grade of 3."""
    study = make_study()
    names = ("ferry-1:0#1", "ferry-1:10#10", "ferry-1:11#11")
    Rating.objects.filter(text__name__in=names).delete()
    Rating.objects.filter(rater__kind="human").delete()
    Text.objects.filter(name__in=names).delete()
    return study


def run_command(*arguments, dataset="ferry", judge="judge"):
    out = StringIO()
    call_command("filter_questions", dataset, "--judge", judge, *arguments, stdout=out)
    return out.getvalue()


def n_left_out():
    return SubQuestion.objects.filter(filtered_eta=3).count()


def test_command_proposes_and_applies_the_filter(study):
    assert "Questions proposed: 3. --apply leaves them out." in run_command()
    assert n_left_out() == 0
    assert "Questions filtered: 3." in run_command("--apply")
    assert n_left_out() == 3
    assert "Questions filtered: 0." in run_command("--apply")


def test_questions_graded_by_people_stay(study):
    question = next(q for q in SubQuestion.objects.filter(filtered_because="") if q.position == 1)
    study.rate("ann", study.passages["ferry-1:0#0"], (None, 0, None, None))
    report = json.loads(run_command("--apply", "--json"))
    assert (report["left_out"], report["proposed"], report["unrated"]) == (2, 2, 0)
    [stays] = [
        row for topic in report["topics"] for row in topic["questions"] if row["graded_by_people"]
    ]
    assert (stays["question"], stays["proposed"]) == (question.body, False)
    question.refresh_from_db()
    assert question.filtered_because == ""


def test_filter_is_refused_while_grades_are_missing(study):
    Rating.objects.filter(text__name="ferry-1:2#2").first().delete()
    assert "No grade of judge for 1 pair of a passage and a question" in run_command()
    with pytest.raises(CommandError, match="No grade of judge for 1 pair of a passage"):
        run_command("--apply")
    assert n_left_out() == 0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ([], {"dataset": "nowhere"}, "There is no dataset “nowhere”"),
        ([], {"judge": "ann"}, "There is no judge “ann”"),
        (["--eta", "9"], {}, "There is no eta “9”"),
        (["--eta", "x"], {}, "There is no eta “x”"),
    ],
)
def test_invalid_choice_is_reported(study, arguments, options, message):
    with pytest.raises(CommandError, match=message):
        run_command("--apply", *arguments, **options)
    assert n_left_out() == 0
