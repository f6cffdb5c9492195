"""Trying a draft judge on some pairs: beside people and another judge, and nothing stored."""

import pytest

from annotation.models import NuggetSpan, Rater, Rating, Rubric
from annotation.models.standard import ANSWERED, STANDARD, add_standard
from judging.judges import trial
from judging.models import Attempt, Judge, JudgeRun
from tests.judging.judges.judge_form import NEW_JUDGE_URL, judge_form_data
from tests.toolbox.factories import QUESTIONS, make_campaign
from tests.toolbox.html_tables import tables
from tests.toolbox.scripted_server import (
    ScriptedServer,
    as_json,
    completion,
    reply_with,
)

TABLE = "Grades of the trial"


@pytest.fixture
def people(reply_study):
    """Rate the passage: ann 5 1 3, ben 0 1 -.

    dee decided the fourth pair and had seen these grades.
    """
    graded = Rubric.objects.get(slug="graded")
    make_campaign(reply_study.dataset, rubric="graded", kind="passage")
    for name, grades in {"ann": (5, 1, 3), "ben": (0, 1), "dee": (None, None, None, 5)}.items():
        rater = Rater.objects.create(dataset=reply_study.dataset, name=name, kind="human")
        for question, grade in zip(reply_study.questions, grades, strict=False):
            if grade is not None:
                Rating.objects.create(
                    rater=rater,
                    rubric=graded,
                    text=reply_study.texts["passage"],
                    question=question,
                    grade=grade,
                )
    rater.is_adjudicator = True
    rater.save(update_fields=["is_adjudicator"])
    return reply_study


@pytest.fixture
def server(settings):
    with ScriptedServer() as server:
        settings.JUDGE_ENDPOINTS = {"local": server.url}
        yield server


def tried(client, **change):
    sent = judge_form_data(
        slug="", prompt="{question}\n{text}", system="", endpoint="local", dataset="ferry"
    )
    return client.post(NEW_JUDGE_URL, sent | {"try": "1"} | change)


def test_beside_people_and_another_judge_by_hand(ada, people, server, settings):
    settings.JUDGE_PRICES = {"local": "100000/50000/EUR"}
    server.script(QUESTIONS[0], reply_with("4"))
    server.script(QUESTIONS[1], reply_with("no <b>idea</b>"))
    counts = [model.objects.count() for model in (Judge, JudgeRun, Attempt, Rating)]
    response = tried(ada, other=str(people.first.pk))
    assert response.status_code == 200
    # Most apart first; then two people before one. first was refused at the third question.
    none = "none: unreadable, text instead of a grade"
    assert [row[2:] for row in tables(response)[TABLE]] == [
        ["5, 0", "5", "4", "4"],
        ["1, 1", "0", none, "no <b>idea</b>"],
        ["3", "none", "3", "3"],
    ]
    assert [row[1] for row in tables(response)[TABLE]] == QUESTIONS
    passage, question = people.texts["passage"], people.questions[0]
    assert f"/datasets/ferry/pairs/{passage.pk}/{question.pk}/?rubric=graded" in response.text
    # 4 is one off 5 and four off 0; 3 is 3. Of the other judge's 5 it is one off.
    result = response.context["trial"]
    assert result.agreement_with_people == trial.Agreement(3, 1, 2)
    assert result.agreement_with_other == trial.Agreement(1, 0, 1)
    # 40 tokens read and 1 written each; two texts that differ, of four questions each.
    assert (result.prompt_tokens, result.completion_tokens) == (120, 3)
    all_pairs = result.projection
    assert (all_pairs.n, all_pairs.prompt_tokens, all_pairs.completion_tokens) == (8, 320, 8)
    assert "reply tokens, 32.40 EUR" in " ".join(response.text.split())
    assert counts == [model.objects.count() for model in (Judge, JudgeRun, Attempt, Rating)]
    assert 'id="id_slug_error"' not in response.text


def test_pairs_of_a_topic_need_no_people(ada, reply_study, server):
    response = tried(ada, pairs="topic", text="3")
    # From the third text, the passage, on: the fourth has no words.
    assert [row[1:4] for row in tables(response)[TABLE]] == [
        [question, "none", "3"] for question in [*QUESTIONS, "What did it cost?"]
    ]
    assert "0 of 0 grades by people" in " ".join(response.text.split())
    assert "this server has no price" in response.text


def test_all_pairs_of_a_judge_that_is_shown_no_text_are_a_question_of_a_topic_each(
    ada, people, server
):
    add_standard(STANDARD["importance"])
    response = tried(ada, rubric="importance", prompt="{request} {question}", pairs="topic")
    trial = response.context["trial"]
    assert (trial.projection.n, trial.projection.prompt_tokens) == (4, 160)


def test_all_pairs_of_a_judge_of_all_questions_are_a_message_for_each_text(ada, people, server):
    prompt_fields = {"prompt": "{questions}\n{text}", "parser": "numbered-1", "max_tokens": "100"}
    server.script(f"1. {QUESTIONS[0]}", reply_with("1: 4\n2: 3\n3: 2\n4: 1"))
    sent = judge_form_data(slug="", system="", endpoint="local", dataset="ferry", **prompt_fields)
    del sent["logprobs"]
    trial = ada.post(NEW_JUDGE_URL, sent | {"try": "1"}).context["trial"]
    # Three questions of one text were tried, with one message of 40 tokens; two texts differ.
    assert [row.reply.grade for row in trial.rows] == [4, 3, 2]
    assert (trial.prompt_tokens, trial.projection.n, trial.projection.prompt_tokens) == (40, 8, 80)


def test_pairs_without_an_answer_are_not_tried_where_it_is_shown(ada, people, server):
    answered = add_standard(ANSWERED)
    prompt = "{question}\n{text} {answer}"
    response = tried(ada, prompt=prompt)
    assert "The prompt needs an answer, but none of these pairs has one." in response.text
    assert not server.asked
    rating = Rating.objects.create(
        rater=Rater.objects.get(name="ann"),
        rubric=answered,
        text=people.texts["passage"],
        question=people.questions[1],
        grade=answered.grades()[-1],
    )
    NuggetSpan.objects.create(rating=rating, position=0, source_quote="a boat", located="unlocated")
    for pairs in ("differ", "topic"):
        trial = tried(ada, prompt=prompt, pairs=pairs, text="3").context["trial"]
        assert [row.question for row in trial.rows] == [people.questions[1]]
        assert trial.projection.n == 1


def test_price_that_cannot_be_read_is_said(ada, people, server, settings):
    settings.JUDGE_PRICES = {"local": "cheap"}
    assert "JUDGE_PRICES: local=cheap is not like" in tried(ada).text


def test_name_in_the_replies_is_put_into_the_form_and_then_it_can_be_tried(ada, people, server):
    for question in QUESTIONS:
        server.script(question, as_json(completion("4") | {"model": "gpt-4o-2024-08-06"}))
    response = tried(ada, model="judge-prod")
    message = "If this is the intended model, try again"
    assert message in response.context["trial"].stopped
    assert response.context["form"].initial["reply_model"] == "gpt-4o-2024-08-06"
    assert 'value="gpt-4o-2024-08-06"' in response.text
    assert server.asked.total() == 1
    response = tried(ada, model="judge-prod", reply_model="gpt-4o-2024-08-06")
    assert [row[4] for row in tables(response)[TABLE]] == ["4"] * 3
    assert response.context["trial"].stopped == ""


def test_server_that_is_away_says_so(ada, people, server, settings, monkeypatch):
    monkeypatch.setattr(trial, "RETRY_SECONDS", 0)
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1"}
    response = tried(ada)
    assert response.status_code == 200
    assert "has not answered any question" in response.context["trial"].stopped
    assert [row[3] for row in tables(response)[TABLE]] == ["none: no answer in time"] * 3
    assert "The server reported no tokens" in response.text


@pytest.mark.timing
def test_reply_out_of_time_is_reported(ada, people, server, monkeypatch):
    monkeypatch.setattr(trial, "SECONDS", 0.5)
    for question in QUESTIONS[1:]:
        server.script(question, reply_with("3", delay=30))
    response = tried(ada)
    assert [row[3] for row in tables(response)[TABLE]] == [
        "3",
        *["none: no answer in time"] * 2,
    ]
    assert "Some pairs have no reply after 0.5 seconds." in response.text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"endpoint": ""}, "Choose a server under Model."),
        ({"backend": "vllm"}, "Only a model on a server can be tried on a page."),
        ({"rubric": "answerable"}, "The ferry study has no grades by people under"),
    ],
)
def test_failed_trial_has_a_message_and_keeps_the_form(ada, reply_study, server, change, message):
    response = tried(ada, slug="kept", **change)
    assert response.status_code == 200
    assert message in response.text
    assert 'value="kept"' in response.text
    assert not server.asked


@pytest.mark.parametrize(
    "change", [{"endpoint": "elsewhere"}, {"prompt": "nothing"}, {"extra": "{"}]
)
def test_form_with_something_wrong_asks_nobody(ada, people, server, change):
    response = tried(ada, **change)
    assert response.status_code == 422
    (name,) = change
    assert f'id="id_{name}_error"' in response.text
    assert not server.asked


@pytest.mark.parametrize("other_key", ["999", "x", "-1"])
def test_judge_that_is_not_there_stands_beside_nobody(ada, people, server, other_key):
    assert tried(ada, other=other_key).context["trial"].other is None


def test_admins_alone_and_by_post_alone(ada, rosa, people, server):
    assert tried(rosa).status_code == 403
    assert ada.put(NEW_JUDGE_URL).status_code == 405
    assert not server.asked


def test_without_a_dataset_there_is_nothing_to_try(ada, db, server):
    assert "There is no dataset yet" in tried(ada).text
