"""POST /replies/<rater>/<text>/<question>/: asking the judge again without storing."""

import pytest

from annotation.models import Rating, Text
from judging.engine.foreground import fill_lexical
from judging.models import Attempt, Batch, Judge, JudgeRun
from judging.replies import page
from tests.toolbox.reply_study import make_model
from tests.toolbox.responses import markup, text_of_page
from tests.toolbox.scripted_server import ScriptedServer, reply_with, status


@pytest.fixture
def server(settings, reply_study):
    """Return the server of the endpoint "local", which counts its requests."""
    with ScriptedServer() as server:
        settings.JUDGE_ENDPOINTS = {"local": server.url, "other": "http://127.0.0.1:9/v1"}
        yield server


def stored() -> list:
    rows = (Judge, JudgeRun, Batch, Attempt, Rating)
    return [list(model.objects.order_by("pk").values()) for model in rows]


def ask(client, reply_study, text="passage", number=1, **data):
    return client.post(
        reply_study.url(reply_study.first, text, number), {"endpoint": "local"} | data
    )


def all_answers(server, answer):
    """Answer by the first line: the scripted server tells questions apart by it."""
    server.answers["/v1/chat/completions"] = answer


def test_replay_is_for_owners(cast, reply_study, server):
    for role, answer in (("researcher", 403), ("worker", 403), ("stranger", 302)):
        assert ask(cast.client(role), reply_study).status_code == answer
    assert not server.asked
    assert ask(cast.client("admin"), reply_study).status_code == 200


def test_new_reply_stands_beside_the_stored_one_and_nothing_is_stored(ada, reply_study, server):
    all_answers(server, reply_with("5"))
    before = stored()
    response = ask(ada, reply_study)
    assert "Repeated request: same grade" in text_of_page(response)
    assert "same grade, with the same text" in text_of_page(response)
    assert "The new reply is not stored" in text_of_page(response)
    assert response.context["now"]["details"].attempt.grade == 5
    assert stored() == before


def test_replay_with_another_grade(ada, reply_study, server):
    all_answers(server, reply_with("2"))
    response = ask(ada, reply_study)
    assert "Repeated request: another grade" in text_of_page(response)
    assert "with a different text" in text_of_page(response)
    assert response.context["details"].attempt.grade == 5


def test_grade_where_there_was_none_and_none_where_there_was_one(ada, reply_study, server):
    all_answers(server, reply_with("2"))
    assert "a grade now, but none before" in text_of_page(ask(ada, reply_study, number=3))
    all_answers(server, reply_with("I think so."))
    response = ask(ada, reply_study)
    assert "no grade now, but a grade before" in text_of_page(response)
    assert "unreadable, text instead of a grade" in text_of_page(response)
    assert "no grade, as before, for another reason" in text_of_page(
        ask(ada, reply_study, number=3)
    )


def test_endpoint_that_is_not_there(ada, reply_study, server):
    for endpoint in ("nowhere", "", "http://169.254.169.254/v1"):
        response = ask(ada, reply_study, endpoint=endpoint)
        assert response.status_code == 400
        assert f"There is no endpoint “{endpoint}”." in text_of_page(response)
    assert not server.asked


def test_server_that_is_down_is_told_in_a_sentence(ada, reply_study, server, monkeypatch):
    monkeypatch.setattr(page, "RETRY_SECONDS", 0)
    response = ask(ada, reply_study, endpoint="other")
    assert response.status_code == 200
    assert "has not answered any question" in text_of_page(response)
    assert "now" not in response.context


def test_server_that_fails_is_told_in_a_sentence(ada, reply_study, server, monkeypatch):
    monkeypatch.setattr(page, "RETRY_SECONDS", 0)
    all_answers(server, status(500))
    assert "has not answered any question" in text_of_page(ask(ada, reply_study))


def test_form_offers_the_endpoints_and_chooses_that_of_the_run(ada, rosa, reply_study, server):
    url = reply_study.url(reply_study.first, "passage", 1)
    page = markup(ada.get(url))
    assert '<option value="local" selected>local (from the environment)</option>' in page
    assert '<option value="other">other (from the environment)</option>' in page
    assert "Repeat request" not in rosa.get(url).content.decode()


def test_without_endpoints_there_is_nothing_to_choose(ada, reply_study, settings):
    settings.JUDGE_ENDPOINTS = {}
    assert "There is no server" in text_of_page(
        ada.get(reply_study.url(reply_study.first, "passage", 1))
    )


def test_baseline_is_asked_without_an_endpoint(ada, reply_study):
    fill_lexical(reply_study.dataset)
    judge = Judge.objects.get(backend="lexical")
    url = reply_study.url(judge, "passage", 1)
    assert "lexical (baseline)" in text_of_page(ada.get(url))
    assert "A baseline has no prompt" in text_of_page(ada.get(url))
    before = stored()
    response = ada.post(url)
    assert "Repeated request: same grade" in text_of_page(response)
    assert stored() == before


def test_baseline_whose_passages_have_changed_cannot_be_asked(ada, reply_study):
    fill_lexical(reply_study.dataset)
    judge = Judge.objects.get(backend="lexical")
    topic = reply_study.dataset.topics.get()
    Text.objects.create(
        dataset=reply_study.dataset, topic=topic, kind="passage", name="new", body="Other words."
    )
    before = stored()
    response = ada.post(reply_study.url(judge, "passage", 1))
    assert "the passages, and so the weights of lexical, have changed" in text_of_page(response)
    assert stored() == before


def test_judge_in_a_process_of_its_own_cannot_be_asked_from_a_page(reply_study):
    judge = make_model("inside", backend=Judge.Backend.VLLM)
    with pytest.raises(page.BackendError, match="cannot be repeated on a page"):
        page.replay(judge, reply_study.dataset, reply_study.pair("passage", 1))


def test_cell_without_an_attempt_cannot_be_asked_again(ada, reply_study, server):
    assert ask(ada, reply_study, text="oracle", number=3).status_code == 404
    assert not server.asked
