"""Reading endpoints: datasets, topics, questions, texts, raters, rubrics and ratings."""

import pytest
from django.core.management import call_command
from drf_spectacular.generators import SchemaGenerator

from annotation.models import NuggetSpan, Rater, Rating, Rubric, SubQuestion, Text, Topic
from crux_site.imports.importing import import_dataset
from evaluation.models import RankedText, RetrievalRun
from tests.toolbox.factories import PASSAGE, QUESTIONS, REPORT, make_dataset

DATASET_URL = "/api/v1/datasets/ferry/"


def test_dataset_has_row_counts(api, dataset):
    client = api("researcher")
    page = client.get("/api/v1/datasets/").json()
    assert (page["count"], page["next"], page["previous"]) == (1, None, None)
    detail = client.get(DATASET_URL).json()
    assert page["results"] == [detail]
    assert {
        name: detail[name] for name in ("slug", "title", "n_topics", "n_questions", "n_texts")
    } == {
        "slug": "ferry",
        "title": "The ferry study",
        "n_topics": 1,
        "n_questions": 4,
        "n_texts": 4,
    }


def test_topics_and_questions_come_in_the_order_of_the_study(api, dataset):
    client = api("researcher")
    (topic,) = client.get(DATASET_URL + "topics/").json()["results"]
    assert topic["name"] == "ferry-1"
    assert topic["request"] == "Write about the ferry."
    assert topic["n_questions"] == 4
    questions = client.get(DATASET_URL + "questions/", {"topic": "ferry-1"}).json()["results"]
    assert [question["body"] for question in questions[:3]] == QUESTIONS
    assert [question["is_filtered"] for question in questions] == [False, False, False, True]
    assert questions[3]["filtered_because"] == "no passage answers it"


def test_texts_are_chosen_by_kind_system_and_topic(api, dataset):
    client = api("researcher")

    def names(**chosen):
        rows = client.get(DATASET_URL + "texts/", chosen).json()["results"]
        return [(row["system"], row["name"]) for row in rows]

    assert len(names()) == 4
    assert names(kind="passage") == [("", "ferry-1:0#0"), ("", "ferry-1:0#1")]
    assert names(system="annotated.bm25", topic="ferry-1") == [("annotated.bm25", "ferry-1")]
    assert names(kind="reference") == []


def test_text_without_words_has_none(api, dataset):
    client = api("researcher")
    with_body, without_body = client.get(DATASET_URL + "texts/", {"kind": "passage"}).json()[
        "results"
    ]
    assert with_body["body"] == PASSAGE
    assert (without_body["body"], without_body["sha256"], without_body["topic"]) == (
        None,
        "",
        "ferry-1",
    )
    assert client.get(f"{DATASET_URL}texts/{with_body['id']}/").json() == with_body


def test_raters_have_the_names_of_their_files(api, dataset, cast, ratings):
    account = Rater.objects.create(name="big-model", kind="human", user=cast.worker)
    report = dataset.texts.filter(kind="report").first()
    rating = ratings[0]
    Rating.objects.create(
        rater=account, rubric=rating.rubric, text=report, question=rating.question, grade=0
    )
    raters = api("researcher").get(DATASET_URL + "raters/").json()["results"]
    assert raters == [
        {"name": "big-model", "kind": "model", "is_of_dataset": True},
        {"name": "big-model-site", "kind": "human", "is_of_dataset": False},
    ]
    (row,) = (
        api("researcher")
        .get(DATASET_URL + "ratings/", {"rater": "big-model-site"})
        .json()["results"]
    )
    assert (row["rater"], row["rater_kind"], row["grade"]) == ("big-model-site", "human", 0)


def test_rubrics_tell_their_grades_in_words(api, cast):
    rubrics = api("researcher").get("/api/v1/rubrics/").json()["results"]
    graded = next(rubric for rubric in rubrics if rubric["slug"] == "graded")
    assert [level["grade"] for level in graded["levels"]] == [5, 4, 3, 2, 1, 0]
    assert graded["eta"] == 3


def test_rating_names_its_text_question_and_words(api, dataset, ratings):
    start = PASSAGE.index("crack")
    NuggetSpan.objects.create(
        rating=ratings[0], position=0, start=start, end=start + 5, quote="crack"
    )
    row = api("researcher").get(DATASET_URL + "ratings/").json()["results"][0]
    text = ratings[0].text
    assert row["text"] == {
        "id": text.pk,
        "kind": "passage",
        "system": "",
        "name": "ferry-1:0#0",
        "sha256": text.sha256,
    }
    assert row["question"] == {"id": ratings[0].question_id, "topic": "ferry-1", "position": 0}
    assert (row["rater"], row["rubric"], row["grade"]) == ("big-model", "graded", 1)
    assert row["spans"] == [
        {"start": start, "end": start + 5, "quote": "crack", "located": "exact"}
    ]


def test_ratings_are_chosen_by_rater_rubric_topic_and_kind(api, dataset, ratings):
    client = api("researcher")

    def n(**chosen):
        return len(client.get(DATASET_URL + "ratings/", chosen).json()["results"])

    assert n() == n(rater="big-model") == n(rubric="graded") == n(topic="ferry-1") == 4
    assert n(kind="passage") == 4
    assert n(kind="report") == n(rubric="answerable") == 0


def test_keyset_pages_have_every_row_once(api, dataset, ratings):
    client = api("researcher")
    ids = []
    url = DATASET_URL + "ratings/?limit=3"
    while url:
        page = client.get(url).json()
        ids += [row["id"] for row in page["results"]]
        url = page["next"]
    assert ids == [rating.pk for rating in ratings]
    assert client.get(DATASET_URL + "ratings/", {"after": 2**63 - 1}).json() == {
        "next": None,
        "results": [],
    }


def test_numbered_pages_lead_on_and_back(api, dataset):
    client = api("researcher")
    first = client.get(DATASET_URL + "questions/", {"limit": 3}).json()
    second = client.get(first["next"]).json()
    assert (first["count"], len(first["results"]), len(second["results"])) == (4, 3, 1)
    assert second["next"] is None
    assert client.get(second["previous"]).json() == first


@pytest.mark.parametrize(
    ("address", "status", "detail"),
    [
        ("datasets/nowhere/", 404, "There is no dataset called nowhere."),
        ("datasets/nowhere/topics/", 404, "There is no dataset called nowhere."),
        ("datasets/ferry/texts/?topic=lost", 404, "There is no topic called lost in ferry."),
        ("datasets/ferry/ratings/?rater=nobody", 404, "There is no rater called nobody in ferry."),
        ("datasets/ferry/ratings/?rubric=none", 404, "There is no rubric called none."),
        ("datasets/ferry/texts/999999/", 404, "There is no text 999999 in ferry."),
        ("datasets/ferry/topics/?page=9", 404, "Invalid page."),
        (
            "datasets/ferry/ratings/?ratr=x",
            400,
            "ratr: is no parameter here; there are: after, limit, topic, kind, system, rater, rubric",
        ),
        (
            "datasets/ferry/texts/?kind=novel",
            400,
            "kind: Select a valid choice. novel is not one of the available choices.",
        ),
        ("datasets/ferry/texts/?topic=+", 400, "topic: is empty"),
        ("datasets/ferry/texts/?kind=", 400, "kind: is empty"),
        (
            "datasets/ferry/texts/?limit=0",
            400,
            "limit: Ensure this value is greater than or equal to 1.",
        ),
        (
            "datasets/ferry/texts/?topic=%00",
            400,
            "topic: Null characters are not allowed.",
        ),
        ("datasets/ferry/texts/?kind=report&kind=passage", 400, "kind: is given more than once"),
        ("nowhere/", 404, "There is no endpoint at this URL. All URLs end with a slash."),
        ("datasets", 404, "There is no endpoint at this URL. All URLs end with a slash."),
    ],
)
def test_refused_request_has_reason(api, dataset, address, status, detail):
    answer = api("researcher").get(f"/api/v1/{address}")
    assert answer["Content-Type"] == "application/json"
    assert answer.json()["detail"] == detail
    assert answer.status_code == status


def test_text_of_another_dataset_is_not_found(api, dataset):
    text = make_dataset("other").texts.first()
    assert api("researcher").get(f"{DATASET_URL}texts/{text.pk}/").status_code == 404


def _grow(dataset, rows):
    """Create `rows` topics, questions, texts, raters and ratings each."""
    rubric = Rubric.objects.get(slug="graded")
    for number in range(rows):
        topic = Topic.objects.create(
            dataset=dataset, name=f"t{number}", request="r", position=number + 1
        )
        question = SubQuestion.objects.create(topic=topic, position=0, body="q")
        text = Text.objects.create(
            dataset=dataset, topic=topic, kind="report", system="s", name=f"x{number}", body=REPORT
        )
        rater = Rater.objects.create(dataset=dataset, name=f"r{number}", kind="model")
        rating = Rating.objects.create(
            rater=rater, rubric=rubric, text=text, question=question, grade=3
        )
        NuggetSpan.objects.create(rating=rating, position=0, start=0, end=3, quote=REPORT[:3])


@pytest.mark.parametrize(
    "path",
    [
        *("", "topics/", "questions/", "texts/", "raters/", "ratings/", "ratings/parquet/"),
        *("runs/", "runs/one/ranking/"),
    ],
)
def test_page_query_count_is_constant(api, dataset, ratings, path, django_assert_max_num_queries):
    run = RetrievalRun.objects.create(dataset=dataset, name="one")
    _grow(dataset, 20)
    RankedText.objects.bulk_create(
        RankedText(run=run, topic=text.topic, text=text, rank=1)
        for text in dataset.texts.filter(system="s")
    )
    client = api("researcher")
    with django_assert_max_num_queries(8):
        answer = client.get(DATASET_URL + path)
    assert answer.status_code == 200


def test_examples_of_the_description_work_on_the_demo(api, settings):
    import_dataset(settings.BASE_DIR / "fixtures" / "demo", "coastal-demo")
    schema = SchemaGenerator().get_schema(request=None, public=True)
    sent = 0
    for address, methods in schema["paths"].items():
        body = methods.get("post", {}).get("requestBody", {}).get("content", {})
        for example in body.get("application/json", {}).get("examples", {}).values():
            url = address.format(dataset="coastal-demo")
            answer = api("admin").post(url, example["value"], format="json")
            assert answer.status_code in (200, 201), answer.json()
            sent += 1
    assert sent == 3


def test_description_is_valid_and_complete(tmp_path):
    """An incomplete description of an endpoint is a warning, and a warning fails."""
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yml"))
