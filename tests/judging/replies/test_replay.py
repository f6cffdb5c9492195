"""POST /replies/<rater>/<text>/<question>/: the judge is asked again, and nothing is stored."""

import pytest

from annotation.models import Rating, Text
from judging.engine.foreground import fill_lexical
from judging.models import Attempt, Batch, Judge, JudgeRun
from judging.replies import page
from tests.evaluation.agreement.test_page import words
from tests.judging.graders.scripted_server import ScriptedServer, said, status
from tests.judging.replies.material import make_model
from tests.markup import markup


@pytest.fixture
def server(settings, looked):
    """What the endpoint "local" stands for; it says how often it was asked."""
    with ScriptedServer() as server:
        settings.JUDGE_ENDPOINTS = {"local": server.url, "other": "http://127.0.0.1:9/v1"}
        yield server


def stored() -> list:
    rows = (Judge, JudgeRun, Batch, Attempt, Rating)
    return [list(model.objects.order_by("pk").values()) for model in rows]


def ask(client, looked, text="passage", number=1, **data):
    return client.post(looked.url(looked.first, text, number), {"endpoint": "local"} | data)


def all_answers(server, answer):
    """The scripted server tells questions apart by the first line, and our prompts begin alike."""
    server.answers["/v1/chat/completions"] = answer


def test_who_may_ask_again(cast, looked, server):
    for who, answer in (("researcher", 403), ("worker", 403), ("stranger", 302)):
        assert ask(cast.client(who), looked).status_code == answer
    assert not server.asked
    assert ask(cast.client("admin"), looked).status_code == 200


def test_the_new_reply_stands_beside_the_stored_one_and_nothing_is_stored(ada, looked, server):
    all_answers(server, said("5"))
    before = stored()
    response = ask(ada, looked)
    assert "Asked again: same grade" in words(response)
    assert "same grade, in the same words" in words(response)
    assert "shown and not stored" in words(response)
    assert response.context["now"]["told"].attempt.grade == 5
    assert stored() == before


def test_another_grade(ada, looked, server):
    all_answers(server, said("2"))
    response = ask(ada, looked)
    assert "Asked again: another grade" in words(response)
    assert "in other words" in words(response)
    assert response.context["told"].attempt.grade == 5


def test_a_grade_where_there_was_none_and_none_where_there_was_one(ada, looked, server):
    all_answers(server, said("2"))
    assert "a grade now, where there was none" in words(ask(ada, looked, number=3))
    all_answers(server, said("I think so."))
    response = ask(ada, looked)
    assert "no grade now, where there was one" in words(response)
    assert "unreadable, text instead of a grade" in words(response)
    assert "no grade, as before, for another reason" in words(ask(ada, looked, number=3))


def test_an_endpoint_that_is_not_there(ada, looked, server):
    for endpoint in ("nowhere", "", "http://169.254.169.254/v1"):
        response = ask(ada, looked, endpoint=endpoint)
        assert response.status_code == 400
        assert f"There is no endpoint “{endpoint}” to choose." in words(response)
    assert not server.asked


def test_a_server_that_is_down_is_told_in_a_sentence(ada, looked, server, monkeypatch):
    monkeypatch.setattr(page, "PATIENCE", 0)
    response = ask(ada, looked, endpoint="other")
    assert response.status_code == 200
    assert "has not answered any question" in words(response)
    assert "now" not in response.context


def test_a_server_that_fails_is_told_in_a_sentence(ada, looked, server, monkeypatch):
    monkeypatch.setattr(page, "PATIENCE", 0)
    all_answers(server, status(500))
    assert "has not answered any question" in words(ask(ada, looked))


def test_the_form_offers_the_endpoints_and_chooses_that_of_the_run(ada, rosa, looked, server):
    url = looked.url(looked.first, "passage", 1)
    page = markup(ada.get(url))
    assert '<option value="local" selected>local (from the environment)</option>' in page
    assert '<option value="other">other (from the environment)</option>' in page
    assert "Ask again" not in rosa.get(url).content.decode()


def test_without_endpoints_there_is_nothing_to_choose(ada, looked, settings):
    settings.JUDGE_ENDPOINTS = {}
    assert "No server is known here" in words(ada.get(looked.url(looked.first, "passage", 1)))


def test_the_baseline_is_asked_without_an_endpoint(ada, looked):
    fill_lexical(looked.dataset)
    judge = Judge.objects.get(backend="lexical")
    url = looked.url(judge, "passage", 1)
    assert "lexical (baseline)" in words(ada.get(url))
    assert "This baseline is no model" in words(ada.get(url))
    before = stored()
    response = ada.post(url)
    assert "Asked again: same grade" in words(response)
    assert stored() == before


def test_a_baseline_whose_passages_have_changed_cannot_be_asked(ada, looked):
    fill_lexical(looked.dataset)
    judge = Judge.objects.get(backend="lexical")
    topic = looked.dataset.topics.get()
    Text.objects.create(
        dataset=looked.dataset, topic=topic, kind="passage", name="new", body="Other words."
    )
    before = stored()
    response = ada.post(looked.url(judge, "passage", 1))
    assert "The passages have changed since lexical was made" in words(response)
    assert stored() == before


def test_a_judge_in_a_process_of_its_own_cannot_be_asked_from_a_page(looked):
    judge = make_model("inside", backend=Judge.Backend.VLLM)
    with pytest.raises(page.GraderError, match="cannot be asked from a page"):
        page.replay(judge, looked.dataset, looked.pair("passage", 1))


def test_a_cell_without_an_attempt_cannot_be_asked_again(ada, looked, server):
    assert ask(ada, looked, text="oracle", number=3).status_code == 404
    assert not server.asked
