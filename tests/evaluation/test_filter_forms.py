"""Filter form of each results page: Apply without a change keeps the line above it."""

import pytest

from annotation.models import Rating, Rubric
from tests.evaluation.agreement.nominal import make_nominal
from tests.toolbox.filter_forms import filter_line, filter_query


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def graded(study):
    """All grades under the graded rubric, and a rubric of names beside it."""
    Rating.objects.filter(rater=study.judge).exclude(text=study.oracle).delete()
    Rating.objects.update(rubric=Rubric.objects.get(slug="graded"))
    make_nominal()
    return study


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("agreement", "majority=plurality&by=question-type:ann&exposed=included&eta=4&judge="),
        ("agreement", "majority=plurality&raters=ann"),
        ("disagreements", "majority=plurality&gave=most:ann:1&by=question-type:ann&called=1"),
        ("disagreements", "majority=plurality&exposed=included&kind=answerable&eta=2"),
        ("calibration", "majority=plurality&exposed=included&eta=4&raters=ann"),
        ("judges", "majority=plurality&exposed=included&eta=4&raters=ann"),
        ("mixed-model", "majority=plurality&base=annotated.oracle&margin=0.2&outcome=grade"),
        ("label-next", "raters=ann&eta=4&size=3&judge=judge"),
        ("sequences", "raters=ann&eta=4&target=0.2&people=2&judge=judge"),
    ],
)
def test_apply_without_a_change_keeps_the_line(rosa, graded, page, query):
    first = rosa.get(graded.url(page, f"rubric=graded&{query}"))
    assert first.status_code == 200
    reply = rosa.get(graded.url(page, filter_query(first)))
    assert filter_line(reply) == filter_line(first)
    if "majority" in query:
        assert "majority: more than for any other grade" in filter_line(first)


@pytest.mark.parametrize("page", ["mixed-model", "label-next", "sequences"])
def test_other_rubric_in_the_form_drops_raters_and_systems(rosa, graded, page):
    Rating.objects.filter(rater=graded.ben, rubric__slug="graded").update(
        rubric=Rubric.objects.get(slug="answerable"), grade=1
    )
    first = rosa.get(graded.url(page, "rubric=graded&raters=ann&judge=judge"))
    assert first.status_code == 200
    reply = rosa.get(graded.url(page, filter_query(first, rubric="answerable")))
    assert reply.status_code == 200
    assert "ben" in filter_line(reply) or "1 rater" in filter_line(reply)
