"""Two rankings of a topic, side by side: /datasets/D/building/side-by-side/."""

import pytest

from annotation.models import SubQuestion, Text, Topic
from evaluation.models import RankedText, RetrievalRun
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import markup
from tests.toolbox.scoring_study import make_study

PAGE = "/datasets/ferry/building/side-by-side/"


def rank(dataset, run, topic, names):
    created, _ = RetrievalRun.objects.get_or_create(dataset=dataset, name=run)
    for position, name in enumerate(names, 1):
        text, _ = Text.objects.get_or_create(
            dataset=dataset, topic=topic, kind="passage", name=name, defaults={"body": "A ferry."}
        )
        RankedText.objects.create(run=created, topic=topic, text=text, rank=position)
    return created


@pytest.fixture
def study(dataset):
    """Topic ranked by two runs: p1 is the same, p2 and p3 swap, p4 and p5 are in one."""
    topic = dataset.topics.get()
    rank(dataset, "lex", topic, ["p1", "p2", "p3", "p4"])
    rank(dataset, "dense/1", topic, ["p1", "p3", "p5", "p2", "<b>"])
    return dataset


def test_access_depends_on_the_role(cast, study):
    for user, status in {"admin": 200, "researcher": 200, "worker": 403, "stranger": 302}.items():
        assert cast.client(user).get(PAGE).status_code == status
    assert cast.client("admin").post(PAGE).status_code == 405
    assert cast.client("admin").get(PAGE.replace("ferry", "nowhere")).status_code == 404


def test_texts_have_their_rank_in_the_other_run(cast, study):
    response = cast.client("researcher").get(PAGE, {"a": "lex", "b": "dense/1"})
    both = response.context["both"]
    positions = [(text.name, text.rank, text.other, text.up) for text in both.first]
    assert positions == [("p1", 1, 1, 0), ("p2", 2, 4, -2), ("p3", 3, 2, 1), ("p4", 4, None, 0)]
    positions = [(text.name, text.rank, text.other, text.up) for text in both.second]
    assert positions[1:4] == [("p3", 2, 3, 1), ("p5", 3, None, 0), ("p2", 4, 2, -2)]
    assert (both.n_both, both.n_first_alone, both.n_second_alone, both.n_top) == (3, 1, 2, 3)
    # 1 2 3 against 1 4 2: of three pairs two in the same order.
    assert both.tau.value == pytest.approx(1 / 3)
    page = markup(response)
    assert "3 in both, 1 only in lex, 2 only in dense/1" in page
    assert "3 texts among the first 10 of both" in page
    assert "&lt;b&gt;" in page
    p2 = study.texts.get(name="p2").pk
    assert f'<span id="a-{p2}">' in page
    assert f'<span id="b-{p2}">' in page
    assert f'page=1#b-{p2}"> down 2</a> to 4' in page
    assert f'page=1#a-{p2}"> down 2</a> from 2' in page
    assert "not in the other" in page


def test_name_opens_the_text_beside_a_question(cast, study):
    client = cast.client("researcher")
    text = study.texts.get(name="p1")
    question = SubQuestion.objects.filter(topic__dataset=study).order_by("position").first()
    address = f"/datasets/ferry/pairs/{text.pk}/{question.pk}/"
    assert f'href="{address}"' in markup(client.get(PAGE))
    assert client.get(address).status_code == 200
    SubQuestion.objects.all().delete()
    assert f"/pairs/{text.pk}/" not in markup(client.get(PAGE))


def test_missing_parameters_get_defaults(cast, study):
    client = cast.client("researcher")
    # Topics that neither run ranks come first; one that is ranked is shown.
    study.topics.update(position=5)
    empty = Topic.objects.create(dataset=study, name="empty", position=0, request="Nothing?")
    pair = client.get(PAGE).context["pair"]
    assert (pair.first.name, pair.second.name) == ("dense/1", "lex")
    assert pair.topic != empty
    assert (bool(pair.to_previous), bool(pair.to_next)) == (True, False)
    assert client.get(f"{PAGE}?{pair.to_previous}").context["pair"].topic == empty
    pair = client.get(PAGE, {"b": "dense/1", "topic": "empty"}).context["pair"]
    assert (pair.first.name, pair.topic) == ("lex", empty)
    same = client.get(PAGE, {"a": "lex", "b": "lex"}).context["both"]
    assert (same.n_both, same.overlap.value) == (4, pytest.approx(1))


def test_topic_that_neither_ranks_and_a_dataset_with_one_run(cast, study):
    client = cast.client("researcher")
    Topic.objects.create(dataset=study, name="empty", position=9)
    page = markup(client.get(PAGE, {"topic": "empty"}))
    assert "Neither run ranks a text" in page
    assert "undefined, because a ranking is empty" in page
    RetrievalRun.objects.get(name="lex").delete()
    assert "A comparison needs two retrieval runs" in markup(client.get(PAGE))


def test_unknown_parameter_is_refused_with_the_choices(cast, study):
    other_dataset = make_dataset("other")
    rank(other_dataset, "theirs", other_dataset.topics.get(), ["q1"])
    Topic.objects.create(dataset=other_dataset, name="of-other", position=7)
    client = cast.client("researcher")
    for query, message in [
        ({"a": "none"}, "no retrieval run “none”. There are: dense/1, lex"),
        ({"b": "theirs"}, "no retrieval run “theirs”"),
        ({"topic": "of-other"}, "There is no topic “of-other”."),
    ]:
        response = client.get(PAGE, query)
        assert response.status_code == 400, query
        assert message in markup(response)


def test_long_rankings_come_in_pages(cast, study):
    names = [f"n{number}" for number in range(120)]
    topic = study.topics.get()
    rank(study, "long", topic, names)
    rank(study, "turned", topic, names[::-1])
    client = cast.client("researcher")
    query = {"a": "long", "b": "turned"}
    page = markup(client.get(PAGE, query | {"page": 2}))
    assert "51 to 100 of 120" in page
    first = markup(client.get(PAGE, query))
    n0 = study.texts.get(name="n0").pk
    assert f'page=3#b-{n0}"> down 119</a> to 120' in first
    assert client.get(PAGE, query | {"page": "x"}).status_code == 200


def test_pages_of_a_run_lead_here(cast, study):
    page = markup(cast.client("researcher").get("/datasets/ferry/building/runs/dense/1/"))
    assert f'href="{PAGE}?a=dense%2F1"' in page


def test_pages_of_scores_lead_here(cast):
    make_study()
    client = cast.client("researcher")
    page = markup(client.get("/datasets/ferry/systems/runs/dense/"))
    assert f'href="{PAGE}?a=dense"' in page
    page = markup(client.get("/datasets/ferry/systems/compare/?a=dense&b=annotated.bm25"))
    assert f'href="{PAGE}?a=dense&amp;b=annotated.bm25"' in page


def test_many_texts_cost_no_more_queries(cast, study, django_assert_max_num_queries):
    client = cast.client("researcher")
    rank(study, "long", study.topics.get(), [f"n{number}" for number in range(200)])
    with django_assert_max_num_queries(14):
        client.get(PAGE, {"a": "long", "b": "lex"})
