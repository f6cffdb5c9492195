"""Pages of a crowd: more raters than tables have columns for, few of them on each pair."""

import csv
import io
import re

import pytest

from annotation.models import Rater, Rating, Rubric, SubQuestion
from evaluation.data.selection import CROWD, select
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import markup

GRADES = {"annotated.oracle": ((1, 1, 0), (1, 0, 0)), "annotated.bm25": ((0, 1, 1), (0, 0, 0))}


@pytest.fixture
def crowd(cast, client):
    """Two people on each report, who rated nothing else, and others who rated one question."""
    dataset, rubric = make_dataset(), Rubric.objects.get(slug="answerable")
    questions = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    people = iter(
        Rater.objects.bulk_create(
            Rater(dataset=dataset, name=f"p{n:02}", kind="human") for n in range(CROWD + 1)
        )
    )

    def rate(text, grades):
        rater = next(people)
        for question, grade in zip(questions, grades, strict=False):
            Rating.objects.create(
                rater=rater, rubric=rubric, text=text, question=question, grade=grade
            )

    for text in dataset.texts.filter(kind="report").order_by("pk"):
        for grades in GRADES[text.system]:
            rate(text, grades)
    for _ in range(CROWD + 1 - 4):
        rate(text, (1,))
    client.force_login(cast.researcher)
    return dataset


def test_list_and_pair_name_those_who_rated(crowd, client):
    listed = markup(client.get("/datasets/ferry/disagreements/"))
    assert f"by the names of those of the {CROWD + 1} raters who rated the pair" in listed
    assert f" · {CROWD + 1} raters · " in listed
    rows = re.findall(r'<span class="cells">(.*?)</a>', listed)
    names_by_row = [re.findall(r"p\d\d", row) for row in rows if "p01" in row]
    assert names_by_row == [["p00", "p01"]] * 3
    pair = re.search(
        r'href="(/datasets/ferry/pairs/\d+/\d+/\?[^"]*)"[^>]*>(?:(?!href).)*p01', listed
    )
    page = markup(client.get(pair[1].replace("&amp;", "&")))
    grades = page.split('aria-label="Grades"')[1].split("</ul>")[0]
    assert re.findall(r"p\d\d", grades) == ["p00", "p01"]
    assert f"Only those of the {CROWD + 1} raters who rated this pair are listed." in page


def test_tables_have_one_mean_and_files_each_rater(crowd, client):
    page = markup(client.get("/datasets/ferry/agreement/"))
    means = page.split('id="means"')[1].split("</table>")[0]
    # oracle: (2/3 + 1/3) / 2; bm25: (2/3 + 0) / 2 of the two who finished it.
    assert re.findall(r"\b0\.\d\d\b", means) == ["0.33", "0.50"]
    assert "p00" not in means
    coverage = page.split('id="coverage-table"')[1].split("</table>")[0]
    assert "n = 2" in coverage
    assert f"n = {CROWD + 1 - 2}" in coverage
    assert "p00" not in coverage
    text = client.get("/datasets/ferry/agreement/means.csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len({row["rater"] for row in rows}) == CROWD + 1


def test_few_raters_have_a_column_each(crowd, client):
    names = [f"p{n:02}" for n in range(CROWD)]
    assert not select(crowd, raters=names).is_crowd
    page = markup(client.get(f"/datasets/ferry/agreement/?raters={','.join(names)}"))
    means = page.split('id="means"')[1].split("</table>")[0]
    head = re.sub(r"<[^>]*>", " ", means.split("</thead>")[0].split("<thead>")[1])
    # Columns without a value are left out.
    assert re.findall(r"p\d\d", head) == names[:4]
