"""The judge that is taken where nobody names one, on every page and in every command.

The room is tests/toolbox/retrieval_study.py: judge and other graded 24 pairs each, judge first.
"""

from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import Rater, Rating
from evaluation.data.columns import JUDGE, Column
from evaluation.data.default_judge import default_judge
from tests.toolbox.responses import text_of_page
from tests.toolbox.retrieval_study import make_retrieval_study

REASON = (
    "Graded by judge, 1 of 3 models: the first to grade, of those with at least half as many pairs as "
    "any other."
)


@pytest.fixture
def room(db):
    return make_retrieval_study()


def grades_like(room, name, source="judge", kind="model", n=None):
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
        for rating in Rating.objects.filter(rater__name=source).order_by("pk")[:n]
    )
    return rater


def default_of(room, *names):
    raters = Rater.objects.filter(name__in=names) if names else Rater.objects.exclude(kind="human")
    default = default_judge(room, [Column(r.pk, r.name, r.kind, JUDGE) for r in raters])
    return default.judge.name, default.why


@pytest.fixture
def newer(room):
    """Add the judge aaa: first by name, with the pairs of `judge` and one report more.

    `judge` graded one as well.
    """
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
    *("systems/", "systems/compare/", "matrix/", "agreement/", "disagreements/"),
    "label-next/?rubric=graded",
)


@pytest.mark.parametrize("page", PAGES)
def test_new_judge_changes_no_page(cast, room, newer, page):
    response = cast.client("researcher").get(f"/datasets/room/{page}")
    assert response.status_code == 200
    page_text = text_of_page(response)
    if page.startswith("label"):  # other has graded no report
        assert REASON.replace("3 models", "2 models") in page_text
    else:
        assert REASON in page_text


def test_matrix_says_it_and_a_choice_needs_no_reason(cast, room, newer):
    client = cast.client("researcher")
    matrix = f"/datasets/room/matrix/{room.topics.first().pk}/"
    assert REASON in text_of_page(client.get(matrix))
    for url in (f"{matrix}?source=judge", "/datasets/room/agreement/?judge=judge"):
        assert "the first to grade" not in text_of_page(client.get(url))


def test_new_judge_changes_no_command(room, newer, tmp_path):
    for command in (["score", "room", "--all"], ["tables", "room", "--out", str(tmp_path)]):
        out = StringIO()
        call_command(*command, stdout=out)
        assert REASON in out.getvalue()


def test_trial_does_not_stay_the_default(room):
    Rating.objects.filter(rater__name="judge").exclude(text__topic__name="t0").delete()
    # Six of the other's twenty-four.
    assert default_of(room)[0] == "other"
    # Where the other cannot be chosen, the trial can.
    grades_like(room, "zeal", source="other", n=4)
    assert default_of(room, "judge", "zeal")[0] == "judge"


def test_default_judge_is_the_same_on_all_pages(room):
    # judge graded 6 pairs, many 12 and other 24: judge is no default where other cannot be chosen.
    grades_like(room, "many", n=12)
    Rating.objects.filter(rater__name="judge").exclude(text__topic__name="t0").delete()
    assert default_of(room)[0] == "other"
    assert default_of(room, "judge", "many")[0] == "many"


def test_models_go_before_baselines(room):
    Rater.objects.filter(name="judge").update(kind="baseline")
    assert default_of(room) == ("other", "Graded by other, the only model of this dataset.")
    Rater.objects.filter(name="other").update(kind="baseline")
    name, reason = default_of(room)
    assert (name, reason) == (
        "judge",
        "Graded by judge (baseline): no model has graded this dataset.",
    )
    assert default_of(room, "other") == ("other", "")
    assert default_judge(room, []) is None
