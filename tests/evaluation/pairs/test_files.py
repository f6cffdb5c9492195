"""datasets/<slug>/pairs.csv"""

import pytest

from tests.toolbox.agreement_study import file_url
from tests.toolbox.responses import csv_rows


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_all_pairs_of_the_list_as_a_file(rosa, study):
    study.rating(study.ben, study.oracle, 3).delete()
    study.questions[0].body = "=What failed?"
    study.questions[0].save()
    pairs = csv_rows(rosa.get(file_url(study, "pairs.csv", "kind=compared&judge=judge")))
    page = rosa.get(study.url("disagreements", "kind=compared&judge=judge"))
    assert len(pairs) == 5
    assert [float(row["grades_apart"]) for row in pairs] == pytest.approx(
        [row.weight for row, _ in page.context["rows"]]
    )
    first = pairs[0]
    assert (first["system"], first["number"]) == ("annotated.bm25", "1")
    assert (first["ann"], first["ben"], first["judge"]) == ("1", "1", "2")
    assert float(first["evidence_apart"]) == 1
    # A spreadsheet would run it.
    assert first["question"] == "'=What failed?"
    assert rosa.get(first["page"]).status_code == 200
    assert "kind=compared" in first["page"]
    # The file is opened far from the site.
    assert first["page"].startswith("http://testserver/datasets/ferry/pairs/")


def test_missing_grade_is_an_empty_cell(rosa, study):
    study.rating(study.ben, study.oracle, 3).delete()
    (row,) = csv_rows(rosa.get(file_url(study, "pairs.csv", "kind=missing&judge=")))
    assert (row["ann"], row["ben"], row["grades_apart"]) == ("0", "", "")
