"""Searching the passages of a dataset."""

import pytest

from annotation.models import Text
from building import indexes
from tests.toolbox.factories import make_dataset
from tests.toolbox.generation_pages import check_access
from tests.toolbox.responses import markup

SEARCH = "/datasets/ferry/search/"


@pytest.mark.parametrize("address", [SEARCH, f"{SEARCH}?q=harbour"])
def test_researchers_search_and_others_do_not(cast, passages, address):
    check_access(cast, address, researcher=200)


def test_passage_says_why_it_is_there(cast, passages):
    response = cast.client("researcher").get(SEARCH, {"q": "harbours and ferries"})
    first, second = response.context["search"].hits[:2]
    assert first.text.name == "p1"
    assert {share.term for share in first.shares} == {"harbour", "ferri"}
    assert sum(share.score for share in first.shares) == pytest.approx(first.score, abs=1e-4)
    assert [share.term for share in second.shares] == ["harbour"] or second.text.name != "p0"
    page = markup(response)
    assert "the &lt;b&gt;ferry&lt;/b&gt;" in page
    assert 'style="' not in page


def test_twenty_are_shown_and_it_is_said_that_there_are_more(cast, passages):
    topic = passages.topics.get()
    for number in range(20):
        Text.objects.create(
            dataset=passages, topic=topic, kind="passage", name=f"m{number}", body="harbour"
        )
    client = cast.client("researcher")
    response = client.get(SEARCH, {"q": "harbour"})
    assert len(response.context["search"].hits) == 20
    assert "more passages contain one of these words" in markup(response)
    assert "more passages contain" not in markup(client.get(SEARCH, {"q": "ferry"}))


def test_script_gets_the_list_alone(cast, passages):
    client = cast.client("researcher")
    part = client.get(SEARCH, {"q": "harbour"}, headers={"HX-Target": "found"}).content.decode()
    assert "<html" not in part
    assert "p0" in part


@pytest.mark.parametrize("query", ["", "   ", "the of", "zzzz", "x" * 5_000, "<script>", "💩"])
def test_any_words_are_answered(cast, passages, query):
    response = cast.client("researcher").get(SEARCH, {"q": query})
    assert response.status_code == 200
    assert "<script>" not in response.content.decode().split("<main")[1]


def test_only_passages_of_the_dataset_are_found(cast, passages):
    other_dataset = make_dataset("other")
    Text.objects.create(
        dataset=other_dataset,
        topic=other_dataset.topics.get(),
        kind="passage",
        name="q",
        body="harbour harbour",
    )
    hits = cast.client("researcher").get(SEARCH, {"q": "harbour"}).context["search"].hits
    assert {hit.text.dataset_id for hit in hits} == {passages.pk}


def test_many_passages_are_indexed_by_command(cast, passages, monkeypatch):
    monkeypatch.setattr("building.search.page.PAGE_LIMIT", 1)
    page = markup(cast.client("researcher").get(SEARCH, {"q": "harbour"}))
    assert "manage.py build_index ferry" in page
    indexes.index_of(passages)
    assert cast.client("researcher").get(SEARCH, {"q": "harbour"}).context["search"].hits
