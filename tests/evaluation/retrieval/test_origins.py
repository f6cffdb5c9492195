"""Origins of a system on the page of its scores, and the mark on the judge who graded it."""

import pytest

from annotation.models import Dataset, Rater, Text
from annotation.origins import origin
from evaluation.models import RetrievalRun
from tests.toolbox.responses import text_of_page
from tests.toolbox.retrieval_study import RETRIEVAL_URL, make_retrieval_study

RERANKED = origin("reranked", "meta-llama/Llama-3.1-8B")
MARK = "of one family (llama)"


@pytest.fixture(scope="module")
def _room(shared_world) -> Dataset:
    return shared_world(make_retrieval_study)


@pytest.fixture
def rosa(cast, _room):
    return cast.client("researcher")


def rename_judge(client) -> str:
    """Name the judge of the page after a model of llama; return its source parameter."""
    source = client.get(f"{RETRIEVAL_URL}runs/good/").context["choice"].options.source
    Rater.objects.filter(pk=source.rater.pk).update(name="llama33_70b")
    return "?source=llama33_70b"


def page(client, row, query="") -> str:
    response = client.get(f"{RETRIEVAL_URL}runs/{row}/{query}")
    assert response.status_code == 200
    return text_of_page(response)


def test_unknown_origins_are_called_unknown(rosa):
    assert "Origin of the ranking: unknown" in page(rosa, "good")
    assert "Origin of the reports: unknown" in page(rosa, "reports/good")
    assert "Origin of" not in page(rosa, "bounds/required-subset")


def test_judge_of_the_rerankers_family_is_marked(rosa):
    query = rename_judge(rosa)
    assert MARK not in page(rosa, "good", query)
    RetrievalRun.objects.filter(name="good").update(origins=[RERANKED])
    displayed = page(rosa, "good", query)
    assert "reranked by meta-llama/Llama-3.1-8B (family llama)" in displayed
    assert f"llama33_70b: judge and reranker are {MARK}" in displayed
    assert f"judge and reranker are {MARK}" in page(rosa, "reports/good", query)
    assert MARK not in page(rosa, "bounds/required-subset", query)


def test_judge_of_the_writers_family_is_marked(rosa):
    query = rename_judge(rosa)
    reports = Text.objects.filter(kind="report", system="good").order_by("pk")
    n = reports.count()
    Text.objects.filter(pk=reports.first().pk).update(origins=[origin("wrote", "llama-3")])
    displayed = page(rosa, "reports/good", query)
    assert f"llama33_70b: judge and writer are {MARK}" in displayed
    assert "Origin of the reports: written by llama-3 (family llama)" in displayed
    assert (f"unknown for {n - 1} of {n}" in displayed) == (n > 1)
    assert MARK not in page(rosa, "good", query)
