"""datasets/<slug>/matrix/under/<rubric>/: grades of one rater under any rubric."""

import pytest

from evaluation.data.sources import sources
from tests.evaluation.agreement.named import make_named
from tests.evaluation.agreement.test_page import words

URL = "/datasets/ferry/matrix/under/question-type/"


@pytest.fixture
def named(db):
    return make_named()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_names_stand_in_cells(rosa, named):
    response = rosa.get(f"{URL}?rater=cat")
    # cat: oracle 1 2 2, bm25 2 1 and nothing; the filtered question has no grade either.
    names = {
        text.system: [cell.name for cell in cells] for text, cells in response.context["page"].rows
    }
    assert names == {
        "annotated.oracle": ["fact_single", "summary", "summary", ""],
        "annotated.bm25": ["summary", "fact_single", "", ""],
    }
    seen = words(response)
    assert "No grade of this rubric says answerable" in seen
    assert "η" not in seen


def test_names_alone_are_no_source_of_scores(rosa, named):
    assert sources(named) == ()
    seen = words(rosa.get("/datasets/ferry/matrix/"))
    assert "under a rubric that coverage is made of" in seen
    assert "Grades as they are, under one rubric: Type of question" in seen
    assert rosa.get("/datasets/ferry/label-next/?rubric=question-type").status_code == 400
    assert rosa.get("/datasets/ferry/label-next/").status_code == 200


def test_who_may_see_it_and_what_is_refused(cast, named):
    for who, status in (("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(who).get(URL).status_code == status
    rosa = cast.client("researcher")
    assert rosa.post(URL).status_code == 405
    assert rosa.get("/datasets/nowhere/matrix/under/question-type/").status_code == 404
    assert rosa.get("/datasets/ferry/matrix/under/nothing/").status_code == 404
    assert rosa.get(f"{URL}?rater=nobody").status_code == 400
    assert rosa.get(f"{URL}?topic=nowhere").status_code == 400
    assert "Nobody has rated" in words(rosa.get("/datasets/ferry/matrix/under/graded/"))
