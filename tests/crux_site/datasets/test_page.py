"""datasets/<slug>/: what is in it, how full its matrix is, and what to look at."""

import csv
import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Dataset, Rater, Rating, Rubric, Topic
from crux_site.datasets.page import overview
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import text_of_page
from tests.toolbox.scoring_study import make_study

LINKS = ("agreement", "pairs", "retrieval", "seen", "matrix", "label-next")


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def study(db):
    return make_study()


def linked(response, slug: str = "ferry") -> list[str]:
    page = response.content.decode()
    return [name for name in LINKS if f'href="/datasets/{slug}/{name}/' in page]


def fills(dataset) -> dict[tuple[str, str], tuple[int, int, int, int, int]]:
    return {
        (f.rater.name, f.kind): (f.n, f.possible, f.n_filtered, f.n_texts, f.of_texts)
        for f in overview(dataset).fills
    }


@pytest.mark.parametrize("url", ["/datasets/ferry/", "/datasets/ferry/filled.csv"])
def test_dataset_pages_permissions(cast, study, url):
    for account, status in (
        ("admin", 200),
        ("researcher", 200),
        ("worker", 403),
        ("stranger", 302),
    ):
        assert cast.client(account).get(url).status_code == status
    assert cast.client("researcher").post(url).status_code == 405
    assert cast.client("researcher").get(url.replace("ferry", "nowhere")).status_code == 404


def test_dataset_page_counts(rosa, study):
    page = text_of_page(rosa.get("/datasets/ferry/"))
    assert "2 topics with 5 sub-questions, 1 of them filtered." in page
    assert "7 passages, 2 reports; 2 retrieval runs." in page
    # ferry-1 has four questions, one filtered, five passages and two reports.
    assert "ferry-1 Write about the ferry. 4 1 5 2" in page


def test_rating_coverage_of_matrix(study):
    # Passages: five of ferry-1 and one visitor, four questions each; one of ferry-2, one question.
    # Reports: two, on the three questions that are not filtered.
    assert fills(study.dataset) == {
        ("judge", "passage"): (20, 25, 0, 6, 7),
        ("strict", "passage"): (12, 25, 0, 3, 7),
        ("ann", "passage"): (2, 25, 0, 2, 7),
        ("ben", "passage"): (1, 25, 0, 1, 7),
        ("ann", "report"): (6, 6, 0, 2, 2),
        ("ben", "report"): (6, 6, 0, 2, 2),
        ("cay", "report"): (2, 6, 0, 1, 2),
    }


def test_label_of_a_filtered_question_is_counted_apart(rosa, study):
    report = study.reports["annotated.bm25"]
    Rating.objects.create(
        rater=study.raters["cay"],
        rubric=Rubric.objects.get(slug="answerable"),
        text=report,
        question=study.questions[3],
        grade=1,
    )
    assert fills(study.dataset)["cay", "report"] == (2, 6, 1, 1, 2)
    assert "2 and 1 of filtered questions" in text_of_page(rosa.get("/datasets/ferry/"))


def test_text_that_only_a_rating_brings_into_a_topic_makes_pairs_possible(study):
    study.dataset.runs.all().delete()
    assert fills(study.dataset)["judge", "passage"] == (20, 25, 0, 6, 7)
    Rating.objects.filter(text__name="far-9:0#0").delete()
    assert fills(study.dataset)["judge", "passage"] == (16, 21, 0, 5, 7)


def test_baseline_is_called_one(rosa, study):
    Rater.objects.filter(name="strict").update(kind="baseline")
    assert "strict (baseline)" in text_of_page(rosa.get("/datasets/ferry/"))


def test_only_what_has_something_to_see_is_linked(rosa, study):
    assert linked(rosa.get("/datasets/ferry/")) == list(LINKS)
    Rating.objects.filter(text__kind="report").delete()
    Rating.objects.exclude(rater__name="judge").delete()
    assert linked(rosa.get("/datasets/ferry/")) == ["retrieval", "seen", "matrix"]
    study.dataset.runs.all().delete()
    assert linked(rosa.get("/datasets/ferry/")) == ["matrix"]
    Rating.objects.all().delete()
    response = rosa.get("/datasets/ferry/")
    assert linked(response) == ["matrix"]  # of each topic, which says that nobody has rated
    assert "There are no grades yet" in text_of_page(response)


def test_rooms_that_only_some_may_enter_are_shown_to_them(cast, study):
    theirs = [
        "Rename, replace, remove",
        "New campaign",
        "New retrieval run",
        "New judge run",
    ]
    for account, offered in (("researcher", []), ("admin", theirs)):
        page = text_of_page(cast.client(account).get("/datasets/ferry/"))
        assert [name for name in theirs if name in page] == offered, account
        assert "Text history" in page


def test_empty_dataset(rosa, db):
    Dataset.objects.create(slug="empty", title="Empty")
    page = text_of_page(rosa.get("/datasets/empty/"))
    assert "0 topics with 0 sub-questions. No texts; 0 retrieval runs." in page


def test_counts_exclude_other_datasets(study):
    before = fills(study.dataset)
    second_dataset = make_dataset("train")
    Rating.objects.create(
        rater=Rater.objects.create(dataset=second_dataset, name="zoe", kind="human"),
        rubric=Rubric.objects.get(slug="graded"),
        text=second_dataset.texts.first(),
        question=second_dataset.topics.get().questions.first(),
        grade=1,
    )
    assert fills(study.dataset) == before


def test_topics_are_on_pages(rosa, study):
    Topic.objects.bulk_create(
        Topic(dataset=study.dataset, name=f"more-{n}", request="More.", position=2 + n)
        for n in range(60)
    )
    assert "more-50" not in text_of_page(rosa.get("/datasets/ferry/"))
    last = text_of_page(rosa.get("/datasets/ferry/?page=2"))
    assert "more-59" in last
    assert "51 to 62 of 62" in last
    assert rosa.get("/datasets/ferry/?page=x").status_code == 200


def test_queries_do_not_grow_with_the_dataset(rosa, study):
    with CaptureQueriesContext(
        connection,
    ) as before:
        rosa.get("/datasets/ferry/")
    for n in range(9):
        topic = Topic.objects.create(
            dataset=study.dataset, name=f"more-{n}", request="More.", position=2 + n
        )
        question = topic.questions.create(position=0, body="And?")
        Rating.objects.create(
            rater=Rater.objects.create(dataset=study.dataset, name=f"more-{n}", kind="human"),
            rubric=Rubric.objects.get(slug="graded"),
            text=study.passages["far-9:0#0"],
            question=question,
            grade=1,
        )
        study.dataset.runs.create(name=f"more-{n}")
    with CaptureQueriesContext(connection) as more_queries:
        rosa.get("/datasets/ferry/")
    assert len(more_queries) == len(before)


def test_file(rosa, study):
    response = rosa.get("/datasets/ferry/filled.csv")
    assert response["Content-Disposition"] == 'attachment; filename="ferry.filled.csv"'
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert rows[0] == {
        "rubric": "answerable",
        "rater": "ann",
        "kind": "human",
        "texts": "report",
        "n_texts": "2",
        "of_texts": "2",
        "n_rated": "6",
        "n_possible": "6",
        "n_filtered": "0",
    }
    assert len(rows) == 7
