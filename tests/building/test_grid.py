"""The grid end to end: CRUD-RAG's files, recipes, the writing baseline, the page."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dataset, Rating, Text
from crux_site.imports.importing import import_dataset
from evaluation.models import ReportValue, System
from tests.building.model_server import in_turn, vectors
from tests.toolbox.grid_study import QUESTIONS, answer, make_grid
from tests.toolbox.import_study import write

pytestmark = pytest.mark.django_db

COLLECTION = Path(__file__).resolve().parents[2] / "fixtures" / "grid"


def run(*arguments, **options):
    out = StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue()


def written(k: int) -> None:
    arguments = [
        "report",
        "--run",
        "bm25",
        "--k",
        str(k),
        "--system",
        f"extractive-report.bm25.k{k}",
    ]
    output = run("write", "small", "--task", *arguments, "--length", "words:30", "--accept-all")
    assert "12 outputs, 0 of them to review" in output


def answers_by_match() -> list[dict]:
    """A mock judge: a report answers a question if it contains the reference's answer."""
    meant = {
        rating.question_id: [span.source_quote or span.quote for span in rating.spans.all()]
        for rating in Rating.objects.prefetch_related("spans")
    }
    rows = []
    for text in Text.objects.filter(kind="report").select_related("topic"):
        for question in text.topic.questions.all():
            [expected] = meant[question.pk] or [None]
            answered = expected if expected and expected in text.body else None
            line = answer(text.system, text.name, question.position, answered, rater="questeval")
            rows.append(line)
    return rows


def test_from_recipes_and_writers_to_the_page(cast, tmp_path):
    import_dataset(COLLECTION, "small", form="crud")
    run("retrieve", "small", name="bm25", recipe="bm25 % 5")
    for k in (1, 3):
        written(k)
    assert list(System.objects.values_list("settings", flat=True)) == [
        {"llm": "extractive-report", "retriever": "bm25", "k": k} for k in (1, 3)
    ]
    import_dataset(write(tmp_path / "more", {"ratings.jsonl": answers_by_match()}), "small")
    grid = json.loads(run("grid", "small", "--json"))
    assert (grid["vary"], grid["tokens"]["name"]) == ("k", "jieba")
    assert grid["alike"] == {"llm": "extractive-report", "retriever": "bm25"}
    rows = {(row["group"], row["value"]): row["measures"] for row in grid["rows"]}
    assert set(rows) == {(g, k) for g in ("create", "read-1", "update", "delete") for k in (1, 3)}
    # What is asked for is in the first passage: the others make reports longer, and no better.
    for group in ("create", "read-1", "delete"):
        assert rows[group, 1]["rouge_l"]["value"] > rows[group, 3]["rouge_l"]["value"]
        assert rows[group, 1]["rouge_l"]["best"]
    assert rows["read-1", 1]["qa_recall"]["value"] == 1
    assert rows["update", 1]["qa_recall"]["missing"] == 1  # an item without questions
    page = cast.client("researcher").get("/datasets/small/reports-against-references/")
    assert page.status_code == 200
    report = Text.objects.get(kind="report", system__endswith="k1", topic__name="create.school")
    report_page = cast.client("researcher").get(f"/datasets/small/building/reports/{report.pk}/")
    questions = report_page.context["answered"].questions
    assert [(question.reference, question.report, question.f1) for question in questions] == [
        ("白兰", "白兰", 1.0),
        ("音乐", "Cannot be answered.", None),
        ("Cannot be answered.", "Cannot be answered.", None),
    ]
    assert [question.why_not for question in questions[1:]] == [
        "not answered",
        "the reference does not say",
    ]


@pytest.fixture
def reports(tmp_path):
    """Two reports of a system, and the references of their topics; see the words of `vectors`."""
    bodies = {"t-1": "ferry boat", "t-2": "ferry", "t-3": "?"}
    files = {
        "topics.jsonl": [{"id": topic, "request": "Why?"} for topic in bodies],
        "references.jsonl": [{"id": topic, "contents": "ferry"} for topic in bodies],
        "reports_cited.jsonl": [
            {"topic": topic, "system": "s", "name": topic, "body": body, "statements": []}
            for topic, body in bodies.items()
        ],
    }
    import_dataset(write(tmp_path / "in", files), "small")
    return Dataset.objects.get()


LOCAL = ("--server", "local", "--model", "tiny")


def test_similarity_is_a_cosine_of_two_vectors(reports, server):
    replies = server.answers["/v1/embeddings"] = in_turn(vectors())
    assert run("similarity", "small", *LOCAL) == "similarity (tiny): 2 values. Texts cut: 0.\n"
    # (1, 1, 0) and (1, 0, 0): 1 / sqrt 2. A text without direction has no value.
    values = ReportValue.objects.order_by("report__name").values_list("report__name", "value")
    assert dict(values) == {"t-1": pytest.approx(0.5**0.5), "t-2": pytest.approx(1)}
    n = len(replies.asked)
    assert "0 values" in run("similarity", "small", *LOCAL, "--system", "other")
    assert len(replies.asked) == n + 1  # how long a vector is
    grid = json.loads(run("grid", "small", "--json"))
    assert grid["measures"]["similarity (tiny)"] == "similarity (tiny)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["other", *LOCAL], "There is no dataset “other”"),
        (["small", "--server", "far", "--model", "tiny"], "far"),
        (["small", "--server", "local", "--model", "huge"], "huge"),
    ],
)
def test_invalid_similarity_options_are_reported(reports, server, arguments, message):
    with pytest.raises(CommandError, match=message):
        run("similarity", *arguments)


def test_second_report_of_a_system_has_numbers_of_its_own(cast, tmp_path):
    """The grid counts k2's first report by name; the second's page is independent."""
    make_grid(tmp_path / "first")
    second = {"topic": "t-1", "system": "k2", "name": "t-1.b", "body": "one two", "statements": []}
    value = {"topic": "t-1", "system": "k2", "name": "t-1.b", "measure": "m", "value": 9}
    answers = [answer("k2", "t-1.b", 0, "one"), answer("k2", "t-1.b", 1, None)]
    files = {"reports_cited.jsonl": [second], "ratings.jsonl": answers, "values.jsonl": [value]}
    import_dataset(write(tmp_path / "second", files), "grid")
    answered = {}
    for name in ("t-1", "t-1.b"):
        report = Text.objects.get(kind="report", system="k2", name=name)
        page = cast.client("researcher").get(f"/datasets/grid/building/reports/{report.pk}/")
        answered[name] = page.context["answered"]
    # ROUGE-L of "one two" beside "one two three four five": 2 x 2 / 7.
    assert [entry.measures["ROUGE-L"] for entry in answered.values()] == [1, pytest.approx(4 / 7)]
    assert [entry.f1 for entry in answered["t-1"].questions] == [pytest.approx(2 / 3), 1]
    assert [entry.f1 for entry in answered["t-1.b"].questions] == [1, None]
    assert len(QUESTIONS) == 2
    [row] = [
        row
        for row in json.loads(run("grid", "grid", "--json"))["rows"]
        if (row["group"], row["system"]) == ("read-1", "k2")
    ]
    assert row["measures"]["rouge_l"]["value"] == 1
    assert "m" not in row["measures"]
