"""The first page of each role, the datasets, and taking them away as files."""

import csv
import io
import json
from uuid import uuid4

import pytest

from annotation.models import Rating
from tests.toolbox.factories import REPORT
from tests.toolbox.responses import markup


@pytest.fixture
def answered(cast, assignment):
    """Answer of a worker with a span."""
    question = assignment.item.asked.first().question
    span = {"start": REPORT.index("112"), "end": REPORT.index("112") + 3, "quote": "112"}
    data = {"key": uuid4(), "grade": 1, "spans": json.dumps([span])}
    cast.client("worker").post(f"/work/{assignment.pk}/answers/{question.pk}/", data)
    return Rating.objects.get()


@pytest.mark.parametrize(
    ("account", "target"),
    [
        ("worker", "/work/"),
        ("stranger", "/login/?next=/"),
    ],
)
def test_first_page_of_each_role(cast, account, target):
    assert cast.client(account).get("/").url == target


@pytest.mark.parametrize("url", ["/datasets/ferry/", "/datasets/ferry/exports/"])
def test_results_are_for_researchers(cast, dataset, url):
    for account, status in (
        ("admin", 200),
        ("researcher", 200),
        ("worker", 403),
        ("stranger", 302),
    ):
        assert cast.client(account).get(url).status_code == status
    assert cast.client("researcher").post(url).status_code == 405
    page = markup(cast.client("worker").get(url))
    assert "This page is for researchers." in page


def test_dataset_counts_what_is_in_it(cast, dataset, answered):
    client = cast.client("researcher")
    assert "annotated.oracle" in markup(client.get("/datasets/ferry/texts/"))
    assert "wil" in markup(client.get("/datasets/ferry/"))
    assert cast.client("researcher").get("/datasets/nowhere/").status_code == 404


def test_exports(cast, dataset, answered):
    client = cast.client("researcher")
    url = "/datasets/ferry/exports/"
    long = client.get(f"{url}ratings.csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(long.streaming_content).decode())))
    assert [row["grade"] for row in rows] == ["1"]
    assert rows[0]["text_sha256"] == answered.text.sha256
    (line,) = b"".join(client.get(f"{url}ratings.jsonl").streaming_content).splitlines()
    assert json.loads(line)["spans"][0]["quote"] == "112"
    labels = client.get(f"{url}labels/wil.t1-labels.jsonl")
    assert labels["Content-Disposition"] == 'attachment; filename="wil.t1-labels.jsonl"'
    assert json.loads(b"".join(labels.streaming_content))["answerability"] == [1, -1, -1, -2]


def test_log_in_and_out(cast):
    client = cast.client("stranger")
    wrong = client.post("/login/", {"username": "wil", "password": "wrong"})
    assert "do not go together" in wrong.content.decode()
    assert client.post("/login/", {"username": "wil", "password": "pass-word-1"}).url == "/"
    assert client.get("/work/").status_code == 200
    assert client.post("/logout/").url == "/login/"
    assert client.get("/work/").status_code == 302


def test_pages_are_strict_about_where_things_come_from(cast, dataset):
    for url in ("/login/", "/datasets/", "/import/", "/nowhere/"):
        response = cast.client("admin").get(url)
        policy = response["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        page = markup(response)
        assert "<style" not in page
        assert "style=" not in page
        assert "//cdn" not in page


def test_theme_stands_in_the_first_byte(cast):
    client = cast.client("researcher")
    client.cookies["theme"] = "dark"
    assert '<html lang="en-gb" data-theme="dark">' in markup(client.get("/"))
    client.cookies["theme"] = '"><script>'
    assert '<html lang="en-gb">' in markup(client.get("/"))
