"""From the pages of results to the reply of a judge."""

import re

import pytest

from annotation.models import Rater, Rating
from judging.engine.foreground import fill_lexical
from tests.toolbox.responses import markup

MATRIX = "/datasets/ferry/matrix"


@pytest.fixture
def matrix(reply_study) -> str:
    return f"{MATRIX}/{reply_study.dataset.topics.get().pk}/"


def links(response) -> list[str]:
    """Return the links of the cells of the matrix."""
    assert response.status_code == 200
    return re.findall(r'<td[^>]*><a href="([^"]+)"', response.content.decode())


def test_cell_of_the_matrix_opens_the_pair_or_the_reply(rosa, reply_study, matrix):
    pairs = links(rosa.get(f"{matrix}?source=first&all=1"))
    assert pairs
    assert all(link.startswith("/datasets/ferry/pairs/") for link in pairs)
    replies = links(rosa.get(f"{matrix}?source=first&all=1&opens=reply"))
    assert reply_study.url(reply_study.first, "passage", 1) in replies
    # It refused the third: there is no grade in that cell, which opens its pair.
    assert reply_study.url(reply_study.first, "passage", 3) not in replies
    for link in replies:
        assert rosa.get(link.replace("&amp;", "&")).status_code == 200


def test_cell_link_keeps_the_filters(rosa, reply_study, matrix):
    page = markup(rosa.get(f"{matrix}?source=first&opens=reply"))
    assert '<input type="hidden" name="opens" value="reply">' in page
    assert "source=first&amp;opens=reply" in page
    assert "Enter opens the judge’s reply" in page


def test_model_from_a_file_has_no_replies_to_open(rosa, reply_study, matrix):
    filed = Rater.objects.create(dataset=reply_study.dataset, name="filed", kind="model")
    first = Rating.objects.filter(rater=reply_study.first.rater)
    Rating.objects.bulk_create(
        Rating(rater=filed, rubric=r.rubric, text=r.text, question=r.question, grade=r.grade)
        for r in first
    )
    response = rosa.get(f"{matrix}?source=filed&opens=reply&all=1")
    assert "/replies/" not in response.content.decode()
    assert "Link of a cell" not in response.content.decode()


def test_cells_that_people_decided_open_their_pair(rosa, reply_study, matrix, cast):
    person = Rater.objects.create(name="wil", kind="human", user=cast.worker)
    Rating.objects.create(
        rater=person,
        rubric=reply_study.first.rubric,
        text=reply_study.texts["passage"],
        question=reply_study.questions[0],
        grade=4,
    )
    urls = links(rosa.get(f"{matrix}?source=people:first&opens=reply&all=1"))
    assert reply_study.url(reply_study.first, "passage", 1) not in urls
    assert reply_study.url(reply_study.first, "passage", 2) in urls


def test_page_of_a_pair_leads_to_the_replies_of_its_judges(rosa, reply_study):
    fill_lexical(reply_study.dataset)
    text, question = reply_study.texts["passage"].pk, reply_study.questions[0].pk
    page = markup(rosa.get(f"/datasets/ferry/pairs/{text}/{question}/?rubric=graded"))
    assert reply_study.url(reply_study.first, "passage", 1) in page
    assert reply_study.url(reply_study.second, "passage", 1) in page
    assert 'aria-label="The reply of lexical (baseline)"' in page
