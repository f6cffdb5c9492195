"""Searching passages, making a run and how it was made, in the browser's terms."""

import pytest

from annotation.models import Text
from building import indexes
from evaluation.models import RetrievalRun
from tests.factories import make_dataset
from tests.markup import markup


@pytest.fixture
def study(dataset):
    topic = dataset.topics.get()
    for number, body in enumerate(["A harbour.", "The harbour & the <b>ferry</b>.", None]):
        Text.objects.create(
            dataset=dataset, topic=topic, kind="passage", name=f"p{number}", body=body
        )
    return dataset


SEARCH, NEW = "/datasets/ferry/search/", "/datasets/ferry/building/new-run/"


@pytest.mark.parametrize(
    ("address", "researcher"), [(SEARCH, 200), (f"{SEARCH}?q=harbour", 200), (NEW, 403)]
)
def test_who_may(cast, study, address, researcher):
    wanted = {"admin": 200, "researcher": researcher, "worker": 403, "stranger": 302}
    for who, status in wanted.items():
        assert cast.client(who).get(address).status_code == status
    assert cast.client("admin").put(address).status_code == 405
    elsewhere = address.replace("ferry", "nowhere")
    assert cast.client("admin").get(elsewhere).status_code == 404


def test_a_passage_says_why_it_is_there(cast, study):
    response = cast.client("researcher").get(SEARCH, {"q": "harbours and ferries"})
    first, second = response.context["search"].found[:2]
    assert first.text.name == "p1"
    assert {share.term for share in first.shares} == {"harbour", "ferri"}
    assert sum(share.score for share in first.shares) == pytest.approx(first.score, abs=1e-4)
    assert [share.term for share in second.shares] == ["harbour"] or second.text.name != "p0"
    page = markup(response)
    assert "the &lt;b&gt;ferry&lt;/b&gt;" in page
    assert 'style="' not in page


def test_twenty_are_shown_and_it_is_said_that_there_are_more(cast, study):
    topic = study.topics.get()
    for number in range(20):
        Text.objects.create(
            dataset=study, topic=topic, kind="passage", name=f"m{number}", body="harbour"
        )
    client = cast.client("researcher")
    response = client.get(SEARCH, {"q": "harbour"})
    assert len(response.context["search"].found) == 20
    assert "more hold one of these words" in markup(response)
    assert "more hold" not in markup(client.get(SEARCH, {"q": "ferry"}))


def test_a_script_gets_the_list_alone(cast, study):
    client = cast.client("researcher")
    part = client.get(SEARCH, {"q": "harbour"}, headers={"HX-Target": "found"}).content.decode()
    assert "<html" not in part
    assert "p0" in part


@pytest.mark.parametrize("words", ["", "   ", "the of", "zzzz", "x" * 5_000, "<script>", "💩"])
def test_any_words_are_answered(cast, study, words):
    response = cast.client("researcher").get(SEARCH, {"q": words})
    assert response.status_code == 200
    assert "<script>" not in response.content.decode().split("<main")[1]


def test_only_passages_of_the_dataset_are_found(cast, study):
    other = make_dataset("other")
    Text.objects.create(
        dataset=other, topic=other.topics.get(), kind="passage", name="q", body="harbour harbour"
    )
    found = cast.client("researcher").get(SEARCH, {"q": "harbour"}).context["search"].found
    assert {one.text.dataset_id for one in found} == {study.pk}


def test_many_passages_are_indexed_by_command(cast, study, monkeypatch):
    monkeypatch.setattr("building.search.page.AT_A_LOOK", 1)
    page = markup(cast.client("researcher").get(SEARCH, {"q": "harbour"}))
    assert "manage.py build_index ferry" in page
    indexes.index_of(study)
    assert cast.client("researcher").get(SEARCH, {"q": "harbour"}).context["search"].found


def test_a_run_is_made_and_shown(cast, study):
    response = cast.client("admin").post(NEW, {"name": "mine", "recipe": "bm25 % 2"}, follow=True)
    run = RetrievalRun.objects.get(name="mine")
    assert response.redirect_chain[-1][0] == "/datasets/ferry/building/runs/mine/"
    page = markup(response)
    assert "The run mine is made." in page
    assert "bm25 % 2" in page
    assert run.fingerprint in page
    again = cast.client("admin").post(NEW, {"name": "x", "recipe": "bm25 % 2"}, follow=True)
    assert "This is the run mine, which is there" in markup(again)
    assert RetrievalRun.objects.count() == 1


@pytest.mark.parametrize(
    ("sent", "field", "says"),
    [
        ({"name": "", "recipe": "bm25"}, "name", "required"),
        ({"name": "a b", "recipe": "bm25"}, "name", "has letters, digits"),
        ({"name": "mine", "recipe": ""}, "recipe", "required"),
        ({"name": "mine", "recipe": "bm25 %"}, "recipe", "there comes a whole number from 1"),
        (
            {"name": "mine", "recipe": "bm25(background=/etc/passwd)"},
            "recipe",
            "in a command alone",
        ),
        ({"name": "mine", "recipe": "bm25\x00"}, "recipe", "Null characters"),
        ({"name": "mine", "recipe": "x" * 3_000}, "recipe", "at most 2000"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(cast, study, sent, field, says):
    response = cast.client("admin").post(NEW, sent)
    assert response.status_code == 422
    page = markup(response)
    assert says in page
    assert f'id="id_{field}_error"' in page
    assert not RetrievalRun.objects.exists()


def test_a_run_from_a_file_says_that_it_came_in_one(cast, study):
    RetrievalRun.objects.create(dataset=study, name="from/file")
    page = markup(cast.client("researcher").get("/datasets/ferry/building/runs/from/file/"))
    assert "It came in a file" in page
    assert cast.client("worker").get("/datasets/ferry/building/runs/from/file/").status_code == 403
    assert cast.client("researcher").get("/datasets/ferry/building/runs/none/").status_code == 404
    make_dataset("other")
    assert (
        cast.client("researcher").get("/datasets/other/building/runs/from/file/").status_code == 404
    )
