"""Eta of a graded rubric where no judge is chosen, or none is there."""

import pytest

from annotation.models import Rating, Rubric
from evaluation.data.selection import select
from tests.toolbox.responses import markup, text_of_page

PAGE = "/datasets/ferry/agreement/"


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def graded(study):
    """Grades of people alone under the graded rubric: ann 4, ben 2, for each of their pairs."""
    rubric = Rubric.objects.get(slug="graded")
    Rating.objects.filter(rater=study.judge).delete()
    for rater, grade in ((study.ann, 4), (study.ben, 2)):
        Rating.objects.filter(rater=rater).update(rubric=rubric, grade=grade)
    return study


def test_people_alone_can_choose_eta_and_links_keep_it(rosa, graded):
    page = rosa.get(f"{PAGE}?rubric=graded&eta=5")
    assert "answerable from grade 5" in text_of_page(page)
    assert "Share of grades of 5 or more" in text_of_page(page)
    assert '<select name="eta">' in markup(page)
    assert "A grade counts as answered from η = 5" in text_of_page(page)
    query = page.context["selection"].query(kind="answerable")
    assert query == "rubric=graded&eta=5&kind=answerable"
    assert len(rosa.get(f"/datasets/ferry/disagreements/?{query}").context["listed"]) == 0
    query = page.context["selection"].query(kind="answerable", eta=3)
    assert len(rosa.get(f"/datasets/ferry/disagreements/?{query}").context["listed"]) == 6


def test_line_states_eta_where_no_judge_is_chosen(rosa, graded, study):
    Rating.objects.filter(rater=study.ben).update(rater=study.judge)
    page = rosa.get(f"{PAGE}?rubric=graded&judge=&eta=2")
    assert "no judge" in text_of_page(page)
    assert "answerable from grade 2" in text_of_page(page)


def test_yes_and_no_of_people_alone_have_no_eta(rosa, study):
    Rating.objects.filter(rater=study.judge).delete()
    selection = select(study.dataset, eta=5)
    assert "eta" not in selection.params()
    assert not [text for text, *_ in selection.filter_phrases() if "grade" in text]
    assert '<select name="eta">' not in markup(rosa.get(PAGE))
