"""Judges of all questions at once or of several samples: creation, pages, copies."""

import pytest

from judging.engine.storing import store
from judging.grading import prompts
from judging.grading.prompt import hashes
from judging.models import Judge
from tests.judging.judges.judge_form import NEW_JUDGE_URL, judge_form_data
from tests.toolbox.reply_study import make_model, reply, start
from tests.toolbox.responses import markup


def all_questions(**change):
    file = prompts.load("all-questions")
    fields = {"system": file.system, "prompt": file.prompt, "parser": file.parser}
    sent = judge_form_data(**fields, max_tokens="1000", save="1") | change
    if not sent["logprobs"] or "logprobs" not in change:
        del sent["logprobs"]
    return sent


def test_our_prompt_for_all_questions_brings_all_that_it_needs(cast, dataset):
    page = cast.client("admin").post(
        NEW_JUDGE_URL, judge_form_data(prompt_file="all-questions", load="1")
    )
    typed = page.context["form"].initial
    assert (typed["parser"], typed["max_tokens"], typed["logprobs"]) == ("numbered-1", 1000, False)
    html = markup(page)
    assert "so a text is read once" in html
    assert "1. What failed on the Halden?" in html
    assert "2. " in html.split("1. What failed on the Halden?")[1]
    assert cast.client("admin").post(NEW_JUDGE_URL, all_questions()).status_code == 302
    judge = Judge.objects.get()
    assert (judge.prompt_name, judge.spec.sampling.logprobs) == ("all-questions", False)


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (
            {"parser": "integer-1"},
            "parser",
            "Choose one of these parsers: numbered-1, numbered-json-2",
        ),
        ({"prompt": "{text} {question}"}, "parser", "but the prompt asks about one question"),
        ({"logprobs": "on"}, "logprobs", "is not a grade"),
        ({"max_tokens": "1"}, "max_tokens", "is longer than one token"),
        ({"prompt": "{text} {questions} {question}"}, "prompt", "the one or the others"),
        ({"samples": "3"}, "samples", "At temperature 0 all samples are equal"),
        ({"samples": "0"}, "samples", "greater than or equal to 1"),
        ({"samples": "101"}, "samples", "less than or equal to 100"),
        ({"extra": '{"n": 3}'}, "extra", "in its own field"),
        (
            {"prompt": "{question}", "rubric": "graded", "parser": "evidence-1"},
            "parser",
            "the prompt does not contain the text",
        ),
    ],
)
def test_conflicting_fields_have_an_error(cast, db, change, field, message):
    response = cast.client("admin").post(NEW_JUDGE_URL, all_questions(**change))
    assert response.status_code == 422
    page = markup(response)
    assert message in page
    assert f'id="id_{field}_error"' in page
    assert not Judge.objects.exists()


def test_several_samples_are_kept_as_the_n_of_a_request_and_copied(cast, db):
    sent = judge_form_data(samples="5", temperature="0.7", save="1")
    refused = cast.client("admin").post(NEW_JUDGE_URL, sent)
    assert "the shares of the grades are the probabilities" in markup(refused)
    del sent["logprobs"]
    assert cast.client("admin").post(NEW_JUDGE_URL, sent).status_code == 302
    judge = Judge.objects.get()
    assert judge.sampling["extra"] == {"n": 5}
    assert judge.spec.sampling.samples == 5
    copy = cast.client("admin").get(f"{NEW_JUDGE_URL}?from={judge.pk}").context["form"].initial
    assert (copy["samples"], copy["extra"]) == (5, "")
    copied = cast.client("admin").post(NEW_JUDGE_URL, sent | {"slug": "again"})
    assert "The judge mine has exactly the same settings." in markup(copied)


def test_kind_of_server_leaves_the_number_of_samples_as_it_is(cast, db):
    page = cast.client("admin").post(
        NEW_JUDGE_URL, judge_form_data(samples="5", preset="openai", family="1")
    )
    assert page.context["form"].initial["samples"] == "5"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"parser": "numbered-1"}, "Each reply is about all questions of a text"),
        ({"sampling": {"extra": {"n": 3}}}, "Each reply consists of several samples"),
    ],
)
def test_parser_trial_is_refused_for_unreadable_replies(cast, dataset, changes, reason):
    judge = make_model("several", **changes)
    url = f"/judges/{judge.pk}/parser/"
    for address in (url, f"{url}?parser=integer-1"):
        response = cast.client("admin").get(address)
        assert response.status_code == 200
        assert reason in markup(response)
        assert "tried" not in response.context


def test_parsers_of_several_questions_are_not_offered_for_one(cast, reply_study):
    url = f"/judges/{reply_study.first.pk}/parser/"
    assert "numbered-1" not in markup(cast.client("researcher").get(url))
    assert "tried" not in cast.client("researcher").get(f"{url}?parser=numbered-1").context


@pytest.fixture
def joint_judge(reply_study):
    return make_model("several", "all-questions")


@pytest.mark.parametrize(
    ("way", "message"), [(0, "the prompt that was sent"), (1, "This question was sent alone")]
)
def test_page_of_a_reply_shows_the_message_that_was_sent(
    cast, reply_study, joint_judge, way, message
):
    questions = tuple(question.body for question in reply_study.questions)
    pair = reply_study.pair("passage", 2)
    sent_pair = type(pair)(
        pair.text_id, pair.question_id, pair.text, pair.question, questions=questions, number=2
    )
    digest = hashes(joint_judge.spec, sent_pair)[way]
    attempt = reply(joint_judge, pair, 4, raw="2: 4", prompt_hash=digest)
    store(start(reply_study, joint_judge), None, "here:1", [attempt], {})
    response = cast.client("researcher").get(reply_study.url(joint_judge, "passage", 2))
    prompt = response.context["prompt"]
    assert prompt.is_sent is True
    assert message in prompt.says
    content = prompt.messages[-1]["content"]
    assert (questions[0] in content) == (way == 0)
    assert questions[1] in content


def test_question_that_was_added_since_is_another_message(cast, reply_study, joint_judge):
    attempt = reply(joint_judge, reply_study.pair("passage", 2), 4, prompt_hash="0" * 16)
    store(start(reply_study, joint_judge), None, "here:1", [attempt], {})
    prompt = (
        cast.client("researcher").get(reply_study.url(joint_judge, "passage", 2)).context["prompt"]
    )
    assert prompt.is_sent is False
    assert "a question" in prompt.says


@pytest.fixture
def shown_no_text(reply_study):
    judge = make_model("typed", prompt="question-first", system="", parser="integer-1")
    Judge.objects.filter(pk=judge.pk).update(prompt="{request} {question}")
    return Judge.objects.get(pk=judge.pk)


def test_copy_names_the_text_whose_reply_it_is_where_several_were_asked_about(
    cast, reply_study, shown_no_text
):
    judge = shown_no_text
    run = start(reply_study, judge)
    store(run, None, "here:1", [reply(judge, reply_study.pair("oracle", 1), 4)], {})
    attempt = reply(judge, reply_study.pair("bm25", 1), 2)
    duplicates = {
        (attempt.pair.text_id, attempt.pair.question_id): [reply_study.texts["passage"].pk]
    }
    store(run, None, "here:1", [attempt], duplicates)
    page = cast.client("researcher").get(reply_study.url(judge, "passage", 1))
    assert page.context["source"] == reply_study.texts["bm25"]


def test_reply_to_a_question_alone_names_the_text_that_it_was_asked_about(
    cast, reply_study, shown_no_text
):
    judge = shown_no_text
    oracle, passage = reply_study.texts["oracle"].pk, reply_study.texts["passage"].pk
    attempt = reply(judge, reply_study.pair("oracle", 1), 4)
    duplicates = {(oracle, attempt.pair.question_id): [passage]}
    store(start(reply_study, judge), None, "here:1", [attempt], duplicates)
    html = markup(cast.client("researcher").get(reply_study.url(judge, "passage", 1)))
    assert "for which the request would be the same. No request was sent." in " ".join(html.split())
