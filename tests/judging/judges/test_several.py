"""Judges that are asked about all questions at once, or for several samples: made, looked at, copied."""

import pytest

from judging.engine.storing import store
from judging.grading import prompts
from judging.grading.prompt import hashes
from judging.models import Judge
from tests.judging.judges.test_new import NEW, form
from tests.judging.replies.material import make_model, reply, start
from tests.markup import markup


def all_questions(**change):
    file = prompts.load("all-questions")
    asked = {"system": file.system, "prompt": file.prompt, "parser": file.parser}
    sent = form(**asked, max_tokens="1000", save="1") | change
    if not sent["logprobs"] or "logprobs" not in change:
        del sent["logprobs"]
    return sent


def test_our_prompt_for_all_questions_brings_all_that_it_needs(cast, dataset):
    page = cast.client("admin").post(NEW, form(prompt_file="all-questions", load="1"))
    typed = page.context["form"].initial
    assert (typed["parser"], typed["max_tokens"], typed["logprobs"]) == ("numbered-1", 1000, False)
    seen = markup(page)
    assert "so a text is read once" in seen
    assert "1. What failed on the Halden?" in seen
    assert "2. " in seen.split("1. What failed on the Halden?")[1]
    assert cast.client("admin").post(NEW, all_questions()).status_code == 302
    judge = Judge.objects.get()
    assert (judge.prompt_name, judge.spec.sampling.logprobs) == ("all-questions", False)


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        ({"parser": "integer-1"}, "parser", "such replies are read by numbered-1, numbered-json-2"),
        ({"prompt": "{text} {question}"}, "parser", "and the prompt asks about one"),
        ({"logprobs": "on"}, "logprobs", "is the grade of none"),
        ({"max_tokens": "1"}, "max_tokens", "is longer than one token"),
        ({"prompt": "{text} {questions} {question}"}, "prompt", "the one or the others"),
        ({"samples": "3"}, "samples", "At temperature 0 all samples are the same"),
        ({"samples": "0"}, "samples", "greater than or equal to 1"),
        ({"samples": "101"}, "samples", "less than or equal to 100"),
        ({"extra": '{"n": 3}'}, "extra", "has a field of its own"),
        (
            {"prompt": "{question}", "rubric": "graded", "parser": "evidence-1"},
            "parser",
            "which the prompt does not show",
        ),
    ],
)
def test_what_does_not_go_together_is_said_at_its_field(cast, db, change, field, says):
    response = cast.client("admin").post(NEW, all_questions(**change))
    assert response.status_code == 422
    page = markup(response)
    assert says in page
    assert f'id="id_{field}_error"' in page
    assert not Judge.objects.exists()


def test_several_samples_are_kept_as_the_n_of_a_request_and_copied(cast, db):
    sent = form(samples="5", temperature="0.7", save="1")
    refused = cast.client("admin").post(NEW, sent)
    assert "the shares of their grades are the probabilities" in markup(refused)
    del sent["logprobs"]
    assert cast.client("admin").post(NEW, sent).status_code == 302
    judge = Judge.objects.get()
    assert judge.sampling["extra"] == {"n": 5}
    assert judge.spec.sampling.samples == 5
    copy = cast.client("admin").get(f"{NEW}?from={judge.pk}").context["form"].initial
    assert (copy["samples"], copy["extra"]) == (5, "")
    again = cast.client("admin").post(NEW, sent | {"slug": "again"})
    assert "This is the judge mine: nothing in it is different." in markup(again)


def test_a_kind_of_server_leaves_the_number_of_samples_as_it_is(cast, db):
    page = cast.client("admin").post(NEW, form(samples="5", preset="openai", family="1"))
    assert page.context["form"].initial["samples"] == "5"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"parser": "numbered-1"}, "A reply is about all questions of a text"),
        ({"sampling": {"extra": {"n": 3}}}, "A reply is made of several samples"),
    ],
)
def test_no_other_parser_is_tried_on_replies_that_it_could_not_read(cast, dataset, changes, why):
    judge = make_model("several", **changes)
    url = f"/judges/{judge.pk}/parser/"
    for address in (url, f"{url}?parser=integer-1"):
        response = cast.client("admin").get(address)
        assert response.status_code == 200
        assert why in markup(response)
        assert "tried" not in response.context


def test_parsers_of_several_questions_are_not_offered_for_one(cast, looked):
    url = f"/judges/{looked.first.pk}/parser/"
    assert "numbered-1" not in markup(cast.client("researcher").get(url))
    assert "tried" not in cast.client("researcher").get(f"{url}?parser=numbered-1").context


@pytest.fixture
def several(looked):
    return make_model("several", "all-questions")


@pytest.mark.parametrize(("way", "says"), [(0, "the one that was sent"), (1, "It was asked alone")])
def test_the_page_of_a_reply_shows_the_message_that_was_sent(cast, looked, several, way, says):
    questions = tuple(question.body for question in looked.questions)
    pair = looked.pair("passage", 2)
    asked = type(pair)(
        pair.text_id, pair.question_id, pair.text, pair.question, questions=questions, number=2
    )
    digest = hashes(several.spec, asked)[way]
    said = reply(several, pair, 4, raw="2: 4", prompt_hash=digest)
    store(start(looked, several), None, "here:1", [said], {})
    response = cast.client("researcher").get(looked.url(several, "passage", 2))
    prompt = response.context["prompt"]
    assert prompt.is_sent is True
    assert says in prompt.says
    shown = prompt.messages[-1]["content"]
    assert (questions[0] in shown) == (way == 0)
    assert questions[1] in shown


def test_a_question_that_was_added_since_is_another_message(cast, looked, several):
    said = reply(several, looked.pair("passage", 2), 4, prompt_hash="0" * 16)
    store(start(looked, several), None, "here:1", [said], {})
    prompt = cast.client("researcher").get(looked.url(several, "passage", 2)).context["prompt"]
    assert prompt.is_sent is False
    assert "a question" in prompt.says


@pytest.fixture
def shown_no_text(looked):
    judge = make_model("typed", prompt="question-first", system="", parser="integer-1")
    Judge.objects.filter(pk=judge.pk).update(prompt="{request} {question}")
    return Judge.objects.get(pk=judge.pk)


def test_a_copy_names_the_text_whose_reply_it_is_where_several_were_asked_about(
    cast, looked, shown_no_text
):
    judge = shown_no_text
    run = start(looked, judge)
    store(run, None, "here:1", [reply(judge, looked.pair("oracle", 1), 4)], {})
    said = reply(judge, looked.pair("bm25", 1), 2)
    twins = {(said.pair.text_id, said.pair.question_id): [looked.texts["passage"].pk]}
    store(run, None, "here:1", [said], twins)
    page = cast.client("researcher").get(looked.url(judge, "passage", 1))
    assert page.context["source"] == looked.texts["bm25"]


def test_a_reply_to_a_question_alone_names_the_text_that_it_was_asked_about(
    cast, looked, shown_no_text
):
    judge = shown_no_text
    oracle, passage = looked.texts["oracle"].pk, looked.texts["passage"].pk
    said = reply(judge, looked.pair("oracle", 1), 4)
    twins = {(oracle, said.pair.question_id): [passage]}
    store(start(looked, judge), None, "here:1", [said], twins)
    seen = markup(cast.client("researcher").get(looked.url(judge, "passage", 1)))
    assert "about which it would be asked the same; it was copied" in " ".join(seen.split())
