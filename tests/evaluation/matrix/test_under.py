"""datasets/<slug>/matrix/under/<rubric>/: grades of one rater under any rubric."""

import pytest

from evaluation.data.sources import sources
from tests.evaluation.agreement.nominal import make_nominal
from tests.toolbox.responses import text_of_page

URL = "/datasets/ferry/matrix/under/question-type/"


@pytest.fixture
def nominal_study(db):
    return make_nominal()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_cells_display_names_of_grades(rosa, nominal_study):
    response = rosa.get(f"{URL}?rater=cat")
    # cat: oracle 1 2 2, bm25 2 1 and nothing; the filtered question has no grade either.
    names = {
        text.system: [cell.name for cell in cells] for text, cells in response.context["page"].rows
    }
    assert names == {
        "annotated.oracle": ["fact_single", "summary", "summary", ""],
        "annotated.bm25": ["summary", "fact_single", "", ""],
    }
    page_text = text_of_page(response)
    assert "No grade of this rubric means answerable" in page_text
    assert "η" not in page_text


def test_names_alone_are_no_source_of_scores(rosa, nominal_study):
    assert sources(nominal_study) == ()
    page_text = text_of_page(rosa.get("/datasets/ferry/matrix/"))
    assert "under a rubric from which coverage can be computed" in page_text
    assert "Grades under one rubric: Type of question" in page_text
    assert rosa.get("/datasets/ferry/label-next/?rubric=question-type").status_code == 400
    assert rosa.get("/datasets/ferry/label-next/").status_code == 200


def test_matrix_is_for_researchers_and_refuses_invalid_choices(cast, nominal_study):
    for account, status in (
        ("admin", 200),
        ("researcher", 200),
        ("worker", 403),
        ("stranger", 302),
    ):
        assert cast.client(account).get(URL).status_code == status
    rosa = cast.client("researcher")
    assert rosa.post(URL).status_code == 405
    assert rosa.get("/datasets/nowhere/matrix/under/question-type/").status_code == 404
    assert rosa.get("/datasets/ferry/matrix/under/nothing/").status_code == 404
    assert rosa.get(f"{URL}?rater=nobody").status_code == 400
    assert rosa.get(f"{URL}?topic=nowhere").status_code == 400
    assert "This dataset has no ratings" in text_of_page(
        rosa.get("/datasets/ferry/matrix/under/graded/")
    )
