"""The judge that is taken where nobody names one, on every page and in every command.

The room is tests/evaluation/retrieval/material.py: judge and other graded 24 pairs each, judge first.
"""

from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import Rater, Rating
from evaluation.data.columns import JUDGE, Column
from evaluation.data.default_judge import default_judge
from tests.evaluation.agreement.test_page import words
from tests.evaluation.retrieval.material import make_room

WHY = (
    "By default the grades of judge: of the 3 models here, the first to grade of those that graded "
    "at least half as many pairs as any other."
)


@pytest.fixture
def room(db):
    return make_room()


def grades_like(room, name, like="judge", kind="model", n=None):
    """A rater with the grades of another, or the first n of them."""
    rater = Rater.objects.create(dataset=room, name=name, kind=kind)
    Rating.objects.bulk_create(
        Rating(
            rater=rater,
            rubric=rating.rubric,
            text=rating.text,
            question=rating.question,
            grade=rating.grade,
        )
        for rating in Rating.objects.filter(rater__name=like).order_by("pk")[:n]
    )
    return rater


def taken(room, *names):
    raters = Rater.objects.filter(name__in=names) if names else Rater.objects.exclude(kind="human")
    default = default_judge(room, [Column(r.pk, r.name, r.kind, JUDGE) for r in raters])
    return default.judge.name, default.why


@pytest.fixture
def newer(room):
    """aaa: first by name, with the same pairs as judge and a report more; judge graded one as well."""
    reports = room.texts.filter(kind="report").order_by("pk")
    judge, rating = Rater.objects.get(name="judge"), Rating.objects.filter(rater__name="judge")[0]

    def grade(rater, *of):
        Rating.objects.bulk_create(
            Rating(rater=rater, rubric=rating.rubric, text=text, question=question, grade=4)
            for text in of
            for question in text.topic.questions.all()
        )

    grade(judge, reports[0])
    rater = grades_like(room, "aaa")
    grade(rater, reports[1])
    return rater


PAGES = (
    *("retrieval/", "retrieval/compare/", "matrix/", "agreement/", "pairs/"),
    "label-next/?rubric=graded",
)


@pytest.mark.parametrize("page", PAGES)
def test_a_new_judge_changes_no_page(cast, room, newer, page):
    response = cast.client("researcher").get(f"/datasets/room/{page}")
    assert response.status_code == 200
    seen = words(response)
    if page.startswith("label"):  # other has graded no report
        assert WHY.replace("3 models", "2 models") in seen
    else:
        assert WHY in seen


def test_a_matrix_says_it_and_a_choice_needs_no_reason(cast, room, newer):
    client = cast.client("researcher")
    matrix = f"/datasets/room/matrix/{room.topics.first().pk}/"
    assert WHY in words(client.get(matrix))
    for url in (f"{matrix}?source=judge", "/datasets/room/agreement/?judge=judge"):
        assert "By default" not in words(client.get(url))


def test_a_new_judge_changes_no_command(room, newer, tmp_path):
    for command in (["score", "room", "--all"], ["tables", "room", "--out", str(tmp_path)]):
        out = StringIO()
        call_command(*command, stdout=out)
        assert WHY in out.getvalue()


def test_a_trial_does_not_stay_the_default(room):
    Rating.objects.filter(rater__name="judge").exclude(text__topic__name="t0").delete()
    # Six of the other's twenty-four.
    assert taken(room)[0] == "other"
    # Where the other cannot be chosen, the trial can.
    grades_like(room, "zeal", like="other", n=4)
    assert taken(room, "judge", "zeal")[0] == "judge"


def test_what_is_first_on_one_page_is_first_on_another(room):
    # judge graded 6 pairs, many 12 and other 24: judge is no default where other cannot be chosen.
    grades_like(room, "many", n=12)
    Rating.objects.filter(rater__name="judge").exclude(text__topic__name="t0").delete()
    assert taken(room)[0] == "other"
    assert taken(room, "judge", "many")[0] == "many"


def test_models_go_before_baselines(room):
    Rater.objects.filter(name="judge").update(kind="baseline")
    assert taken(room) == ("other", "By default the grades of other, the only model here.")
    Rater.objects.filter(name="other").update(kind="baseline")
    name, why = taken(room)
    assert (name, why) == (
        "judge",
        "By default the grades of judge (baseline): no model has graded this.",
    )
    assert taken(room, "other") == ("other", "")
    assert default_judge(room, []) is None
