"""The client against the site's own API: frames, errors, and waiting on a busy site."""

import json
from dataclasses import dataclass

import httpx
import pandas as pd
import pytest
from django.core.cache import caches
from django.core.management import call_command
from django.test import Client

from annotation.models import ApiToken, Dataset, NuggetSpan, Rating, SubQuestion, Text
from annotation.origins import origin
from crux_client import Site, SiteError, connection, site
from crux_site.exports import page as page_of_exports
from evaluation.models import RetrievalRun
from tests.toolbox.agreement_study import Study, make_study
from tests.toolbox.certificate_study import make_certificate_study

NUMBERS = ["scope", "name", "measure", "value", "low", "high", "n", "missing", "reason"]


@pytest.fixture(scope="module")
def kept_study(shared_world) -> Study:
    return shared_world(make_study)


@pytest.fixture
def rosa(cast, kept_study) -> Site:
    """The client of the researcher, whose requests come to the site in this process."""
    caches["api"].clear()
    key = ApiToken.objects.make(cast.researcher, "notebook")
    return Site("http://testserver/", key, transport=httpx.MockTransport(answered_here))


def answered_here(request: httpx.Request) -> httpx.Response:
    token = {"Authorization": request.headers["Authorization"]}
    answer = Client().get(request.url.raw_path.decode(), headers=token)
    return httpx.Response(answer.status_code, headers=answer.headers, content=answer.getvalue())


@pytest.fixture
def ferry(rosa):
    return rosa.dataset("ferry")


def test_site_lists_its_datasets(rosa):
    frame = rosa.datasets()
    (row,) = frame.to_dict("records")
    assert (row["slug"], row["title"], row["n_questions"]) == ("ferry", "The ferry study", 4)
    assert str(frame["created"].dtype).endswith(", UTC]")
    assert repr(rosa.dataset("ferry")) == "<Dataset ferry>"


def test_dataset_has_a_frame_for_each_list(ferry, kept_study):
    RetrievalRun.objects.create(dataset=kept_study.dataset, name="bm25")
    assert list(ferry.topics()["name"]) == ["ferry-1"]
    assert list(ferry.questions(topic="ferry-1")["is_filtered"]) == [False, False, False, True]
    assert list(ferry.texts(kind="report")["system"]) == ["annotated.oracle", "annotated.bm25"]
    assert list(ferry.texts(kind="passage")["body"].isna()) == [False, True]
    assert list(ferry.runs()["name"]) == ["bm25"]
    assert dict(ferry.raters()[["name", "kind"]].to_numpy()) == {
        "ann": "human",
        "ben": "human",
        "judge": "model",
    }


def test_origins_are_lists_of_models(ferry, kept_study):
    wrote, reranked = origin("wrote", "gpt-4o", "1", is_edited=True), origin("reranked", "llama-3")
    Text.objects.filter(system="annotated.oracle").update(origins=[wrote, reranked])
    SubQuestion.objects.filter(position=0).update(origins=[origin("asked", "gpt-4o")])
    RetrievalRun.objects.create(dataset=kept_study.dataset, name="bm25", origins=[reranked])
    assert list(ferry.texts(kind="report")["origins"]) == [[wrote, reranked], []]
    assert list(ferry.questions()["origins"])[:2] == [[origin("asked", "gpt-4o")], []]
    assert list(ferry.runs()["origins"]) == [[reranked]]


def test_ratings_come_with_their_text_question_and_spans(ferry, kept_study):
    frame = ferry.ratings(rater="ann", system="annotated.oracle")
    assert list(frame["grade"]) == [1, 1, 0]
    assert list(frame["question_position"]) == [0, 1, 2]
    assert set(frame["text_id"]) == {kept_study.oracle.pk}
    (span,) = frame["spans"][0]
    assert span["quote"] == "Halden lost steering"
    assert len(ferry.ratings()) == Rating.objects.count()


def test_list_with_several_pages_is_complete(ferry, without_pyarrow, monkeypatch):
    whole, numbers = ferry.ratings(), ferry.agreement()
    monkeypatch.setattr(site, "ROWS", 4)
    monkeypatch.setattr(site, "NUMBERS", 40)
    pd.testing.assert_frame_equal(ferry.ratings(), whole)
    pd.testing.assert_frame_equal(ferry.agreement(), numbers)
    assert len(whole) == 17
    assert len(numbers) > 80


FILTERS = [
    {},
    {"rater": "ann", "system": "annotated.oracle"},
    {"rubric": "graded"},
    {"topic": "ferry-1", "kind": "report"},
    {"kind": "passage"},  # no rows
]


@pytest.fixture
def requested(monkeypatch):
    """Return a list that gets the path of each request of the client."""
    paths = []
    send = connection.Connection._send

    def record(self, path, query):
        paths.append(path)
        return send(self, path, query)

    monkeypatch.setattr(connection.Connection, "_send", record)
    return paths


@pytest.fixture
def without_pyarrow(monkeypatch):
    monkeypatch.setattr(site.frames, "find_spec", lambda name: None)


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_ratings_of_parquet_equal_those_of_json(ferry, kept_study, requested, monkeypatch, filters):
    """Same columns, types, order and values, also with a missing offset and a copied grade."""
    pytest.importorskip("pyarrow")
    Rating.objects.filter(rater=kept_study.ben).update(copied_from=kept_study.oracle)
    of_parquet = ferry.ratings(**filters)
    assert requested == ["datasets/ferry/ratings/parquet/"]
    monkeypatch.setattr(site.frames, "find_spec", lambda name: None)
    of_json = ferry.ratings(**filters)
    assert requested[1:] == ["datasets/ferry/ratings/"]
    pd.testing.assert_frame_equal(of_parquet, of_json, check_exact=True)
    assert of_parquet["created"].dtype == "datetime64[us, UTC]"
    assert of_parquet["copied_from"].dtype == "Int64"
    assert {type(spans) for spans in of_parquet["spans"]} <= {list}


def test_ratings_of_a_site_without_parquet_are_pages(ferry, requested, monkeypatch):
    """A site without pyarrow, or older than the file, answers 404."""
    of_parquet = ferry.ratings(rater="ann")
    monkeypatch.setattr(page_of_exports, "find_spec", lambda name: None)
    pd.testing.assert_frame_equal(ferry.ratings(rater="ann"), of_parquet)
    assert requested[1:] == ["datasets/ferry/ratings/parquet/", "datasets/ferry/ratings/"]


@pytest.mark.parametrize(
    ("filters", "sentence"),
    [
        ({"rater": "nobody"}, r"^There is no rater called nobody in ferry\.$"),
        ({"kind": "novel"}, "^kind: Select a valid choice"),
        ({"topic": " "}, "^topic: is empty$"),
    ],
)
@pytest.mark.parametrize("reads", ["parquet", "json"])
def test_wrong_filter_of_ratings_raises_the_sites_sentence(
    ferry, request, filters, sentence, reads
):
    if reads == "json":
        request.getfixturevalue("without_pyarrow")
    with pytest.raises(SiteError, match=sentence):
        ferry.ratings(**filters)


def test_ratings_of_a_missing_dataset_raise(ferry):
    Dataset.objects.update(slug="renamed")
    with pytest.raises(SiteError, match=r"^There is no dataset called ferry\.$") as refused:
        ferry.ratings()
    assert refused.value.status == 404


def test_empty_list_has_same_columns(ferry):
    NuggetSpan.objects.all().delete()
    Rating.objects.all().delete()
    for nothing, columns in (
        (ferry.ratings(), site.frames.RATINGS),
        (ferry.runs(), site.frames.RUNS),
        (ferry.texts(kind="reference"), site.frames.TEXTS),
    ):
        assert nothing.empty
        assert list(nothing.columns) == list(columns)


def test_agreement_is_the_long_frame(ferry):
    frame = ferry.agreement(judge="", raters=["ann", "ben"])
    assert list(frame.columns) == NUMBERS
    assert frame.attrs["selection"]["raters"] == "ann,ben"
    assert frame.attrs["selection"]["judge"] == ""
    share = frame.query("scope == 'all' and measure == 'percent_agreement'").iloc[0]
    assert (share["value"], share["n"], share["missing"]) == (pytest.approx(5 / 6), 6, 0)
    count = frame.query("measure == 'items' and scope == 'all'").iloc[0]
    assert count["value"] == 6
    assert count["n"] is pd.NA
    pair = ferry.agreement(judge="", raters="ann,ben", scope="pair")
    assert set(pair["name"]) == {"ann, ben"}


def test_undefined_value_is_nan_with_reason(ferry):
    frame = ferry.scores(source="judge")
    assert list(frame.columns) == NUMBERS
    assert frame.attrs["selection"]["source"] == "judge"
    row = frame.query("name == 'reports/annotated.oracle' and measure == 'recall'").iloc[0]
    assert pd.isna(row["value"])
    assert row["reason"] == "undefined, because it is one text and not a ranking of passages"
    assert frame["value"].dtype == frame["low"].dtype == "float64"
    assert frame["n"].dtype == frame["missing"].dtype == "Int64"


def test_refusal_is_one_exception_with_the_sites_sentence(rosa, ferry):
    with pytest.raises(SiteError, match=r"^There is no dataset called nowhere\.$") as refused:
        rosa.dataset("nowhere")
    assert refused.value.status == 404
    with pytest.raises(SiteError, match=r"^There is no endpoint at this URL\."):
        rosa.dataset("../judges")
    with pytest.raises(SiteError, match=r"There are: 1, 2, 3, 4, 5\.$"):
        ferry.agreement(eta=9)
    with pytest.raises(SiteError, match="scope: ") as refused:
        ferry.scores(scope="topics")
    assert refused.value.status == 400
    (error,) = refused.value.errors
    assert error["field"] == "scope"


@dataclass
class Answers:
    """A site that answers with what is laid out, and a clock that nobody waits for."""

    answers: list[httpx.Response]
    requests: list[httpx.Request]
    slept: list[float]

    def site(self, **more) -> Site:
        transport = httpx.MockTransport(self.answer)
        return Site("https://crux.example.org", "secret", transport=transport, **more)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self.answers.pop(0)


@pytest.fixture
def laid_out(monkeypatch):
    slept = []
    monkeypatch.setattr(connection.time, "sleep", slept.append)
    return lambda *answers: Answers([*answers], [], slept)


def busy(status=429, **headers):
    return httpx.Response(status, json={"detail": "Request was throttled."}, headers=headers)


def page(*slugs, to=None):
    return httpx.Response(200, json={"next": to, "results": [{"slug": slug} for slug in slugs]})


def test_busy_site_is_asked_again_after_as_long_as_it_says(laid_out):
    answers = laid_out(busy(**{"Retry-After": "7"}), busy(503, **{"Retry-After": "0"}), page("a"))
    assert list(answers.site().datasets()["slug"]) == ["a"]
    assert answers.slept == [7, 1]


@pytest.mark.parametrize("busy_headers", [{"Retry-After": "30"}, {}, {"Retry-After": "tomorrow"}])
def test_busy_site_raises_after_patience(laid_out, busy_headers):
    answers = laid_out(busy(**busy_headers), busy(**busy_headers), busy(**busy_headers))
    with pytest.raises(SiteError, match="throttled") as refused:
        answers.site(patience=45).datasets()
    assert refused.value.status == 429
    assert answers.slept == ([30] if busy_headers.get("Retry-After") == "30" else [])


def test_token_goes_to_no_other_host(laid_out):
    answers = laid_out(page("a", to="http://elsewhere.example/api/v1/datasets/?page=2"), page("b"))
    assert list(answers.site().datasets()["slug"]) == ["a", "b"]
    first, second = answers.requests
    assert str(second.url) == "https://crux.example.org/api/v1/datasets/?page=2"
    assert first.headers["Authorization"] == second.headers["Authorization"] == "Token secret"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (httpx.Response(200, text="<html>"), "answered with 200 and not as the API of a site does"),
        (httpx.Response(301, headers={"Location": "/x"}), "answered with 301"),
        (httpx.Response(200, text=json.dumps([1])), "is this its address"),
        (httpx.Response(500, json={}), "The site answered with 500"),
    ],
)
def test_foreign_answer_raises_site_error(laid_out, answer, sentence):
    with pytest.raises(SiteError, match=sentence):
        laid_out(answer).site().datasets()


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "crux.example.org", ""])
def test_site_that_is_not_there_is_named(url):
    with pytest.raises(SiteError, match="does not answer"):
        Site(url, "secret").datasets()


@pytest.mark.parametrize("token", ["", "secret\n", "secret ", "sécret"])
def test_broken_token_is_refused_without_being_printed(token):
    with pytest.raises(SiteError, match=r"^The token is empty, or has a character") as refused:
        Site("https://crux.example.org", token)
    assert "cret" not in str(refused.value)


def test_certificates_are_a_frame_and_one_is_a_dict(rosa, db):
    make_certificate_study()
    bay = rosa.dataset("bay")
    call_command("certificate", "bay", rubric="graded", judge="near")
    frame = bay.certificates().set_index("judge")
    assert dict(frame["state"]) == {"near": "holds", "far": "not tested"}
    assert frame.loc["near", "winning_rate"] == 1
    certificate = bay.certificate("near", "graded")
    assert [person["name"] for person in certificate["result"]["people"]] == ["ann", "ben", "cat"]
    with pytest.raises(SiteError, match="was tested"):
        bay.certificate("far", "graded")
