"""/replies/<rater>/<text>/<question>/: what made one cell, and nothing of anybody else's."""

import pytest

from annotation.models import Rater, Rating, SubQuestion, Text
from judging.engine.storing import store
from judging.grading.pairs import State
from judging.models import Attempt
from tests.toolbox.factories import PASSAGE, make_dataset
from tests.toolbox.reply_study import FIRST, fill, make_model, reply, start
from tests.toolbox.responses import text_of_page


def test_reply_is_for_researchers(cast, reply_study):
    url = reply_study.url(reply_study.first, "passage", 1)
    for role, status in (("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(role).get(url).status_code == status
    assert cast.client("admin").put(url).status_code == 405


def test_all_that_made_the_cell(rosa, reply_study):
    response = rosa.get(reply_study.url(reply_study.first, "passage", 1))
    text = text_of_page(response)
    assert "What failed on the Halden?" in text
    assert "first gave this pair 5, on a scale of 0 to 5." in text
    assert reply_study.first.short in text
    assert "Expected grade 4.100" in text
    assert "Probability of all grades together 0.851" in text  # 0.8505, rounded half up
    assert "321 prompt, 1 reply" in text
    assert f"batch {reply_study.run.batches.get().pk}, by host-1:77" in text
    assert PASSAGE.split(". ")[0] in text
    assert "not stored" not in text  # that is for those who may ask again


def test_probabilities_say_what_was_not_told(rosa, reply_study):
    details = rosa.get(reply_study.url(reply_study.first, "passage", 1)).context["details"]
    assert [level.shown for level in details.levels] == [
        "0.100",
        "< 0.001",
        "0.000",
        "not reported",
        "0.250",
        "0.500",
    ]
    assert [level.grade for level in details.levels if level.is_chosen] == [5]


def test_reply_without_a_grade_is_shown_as_it_came_and_escaped(rosa, reply_study):
    response = rosa.get(reply_study.url(reply_study.first, "passage", 3))
    assert "I cannot  help\nwith &lt;b&gt;that&lt;/b&gt;.</pre>" in response.content.decode()
    assert "gave no grade: refused by the model." in text_of_page(response)
    assert "Expected grade not reported" in text_of_page(response)


def test_prompt_is_the_one_that_was_sent(rosa, reply_study):
    response = rosa.get(reply_study.url(reply_study.first, "passage", 1))
    prompt = response.context["prompt"]
    assert prompt.is_sent is True
    assert "This is the prompt that was sent" in text_of_page(response)
    assert "What failed on the Halden?" in prompt.messages[-1]["content"]


def test_prompt_that_would_be_another_one_now_says_so(rosa, reply_study):
    stored = Attempt.objects.get(
        judge=reply_study.first, text=reply_study.texts["passage"], grade=5
    )
    SubQuestion.objects.filter(pk=stored.question_id).update(body="What broke?")
    response = rosa.get(reply_study.url(reply_study.first, "passage", 1))
    assert response.context["prompt"].is_sent is False
    assert f"The sent prompt had hash {stored.prompt_hash}" in text_of_page(response)
    Attempt.objects.filter(pk=stored.pk).update(prompt_hash="")
    response = rosa.get(reply_study.url(reply_study.first, "passage", 1))
    assert response.context["prompt"].is_sent is None
    assert "this prompt cannot be compared with the sent one" in text_of_page(response)


def test_copy_names_the_text_that_was_asked_about(rosa, reply_study):
    response = rosa.get(reply_study.url(reply_study.first, "bm25", 1))
    assert "No request was sent" in text_of_page(response)
    assert reply_study.url(reply_study.first, "oracle", 1) in response.content.decode()
    assert "none: no request was sent" in text_of_page(response)
    assert response.context["prompt"].is_sent is True


def test_superseded_attempts_stand_below_the_one_that_counts(rosa, reply_study):
    retry = start(reply_study, reply_study.first, selection={"retry": True})
    second_attempt = reply(reply_study.first, reply_study.pair("passage", 3), 4, raw="4 then")
    store(retry, None, "host-2:5", [second_attempt], {})
    response = rosa.get(reply_study.url(reply_study.first, "passage", 3))
    assert response.context["details"].attempt.grade == 4
    (earlier,) = response.context["others"]
    assert (earlier.attempt.counts, earlier.attempt.state) == (False, State.REFUSED)
    assert f'id="attempt-{earlier.attempt.pk}"' in response.content.decode()
    assert "Earlier attempts at this pair" in text_of_page(response)


def test_quoted_evidence_is_marked_where_it_stands(rosa, reply_study):
    judge = make_model("quoter", "evidence-question-first")
    run = start(reply_study, judge)
    quoted = ("divers found a crack", "nowhere said")
    judge_reply = reply(judge, reply_study.pair("passage", 1), 5, evidence=quoted)
    store(run, None, "host-1:77", [judge_reply], {})
    response = rosa.get(reply_study.url(judge, "passage", 1))
    assert 'data-label="1">divers found a crack</mark>' in response.content.decode()
    assert "Not in the text: “nowhere said”" in text_of_page(response)
    assert (
        "has 1 quotation from the text, numbered below, and 1 that is not in the text"
        in text_of_page(response)
    )


def test_evidence_of_a_copy_is_that_of_the_text_of_the_same_words(rosa, reply_study):
    judge = make_model("quoter", "evidence-question-first")
    run = start(reply_study, judge)
    judge_reply = reply(judge, reply_study.pair("oracle", 1), 5, evidence=("lost steering",))
    oracle, bm25 = reply_study.texts["oracle"], reply_study.texts["bm25"]
    duplicates = {(oracle.pk, reply_study.questions[0].pk): [bm25.pk]}
    store(run, None, "host-1:77", [judge_reply], duplicates)
    response = rosa.get(reply_study.url(judge, "bm25", 1))
    assert ">lost steering</mark>" in response.content.decode()


def test_cell_without_an_attempt_says_so(rosa, reply_study):
    response = rosa.get(reply_study.url(reply_study.first, "oracle", 3))
    assert response.status_code == 404
    assert "first has not graded this pair on this site" in text_of_page(response)


def test_rater_from_a_file_has_no_replies(rosa, reply_study):
    rater = Rater.objects.create(dataset=reply_study.dataset, name="filed", kind="model")
    Rating.objects.create(
        rater=rater,
        rubric=reply_study.first.rubric,
        text=reply_study.texts["passage"],
        question=reply_study.questions[0],
        grade=4,
    )
    url = reply_study.url(reply_study.first, "passage", 1).replace(
        f"/replies/{reply_study.first.rater_id}/", f"/replies/{rater.pk}/"
    )
    response = rosa.get(url)
    assert response.status_code == 404
    assert "The grades of filed were imported without replies" in text_of_page(response)
    assert "The grade is 4" in text_of_page(response)


def test_person_has_no_replies(rosa, reply_study):
    rater = Rater.objects.create(name="wil", kind="human")
    Rating.objects.create(
        rater=rater,
        rubric=reply_study.first.rubric,
        text=reply_study.texts["oracle"],
        question=reply_study.questions[1],
        grade=1,
    )
    text, question = reply_study.texts["passage"].pk, reply_study.questions[0].pk
    response = rosa.get(f"/replies/{rater.pk}/{text}/{question}/")
    assert response.status_code == 404
    assert "wil is a person" in text_of_page(response)


def test_missing_objects_give_404(rosa, reply_study):
    rater, text = reply_study.first.rater_id, reply_study.texts["passage"].pk
    question = reply_study.questions[0].pk
    elsewhere = make_dataset("train")
    stray = SubQuestion.objects.filter(topic__dataset=elsewhere).first().pk
    for path in (
        f"/replies/999999/{text}/{question}/",
        f"/replies/{rater}/999999/{question}/",
        f"/replies/{rater}/{text}/999999/",
        f"/replies/{rater}/{text}/{stray}/",
    ):
        assert rosa.get(path).status_code == 404, path


def test_number_of_queries_does_not_grow_with_other_cells(
    rosa, reply_study, django_assert_max_num_queries
):
    fill(reply_study, make_model("third", model="another"), FIRST)
    with django_assert_max_num_queries(13):
        rosa.get(reply_study.url(reply_study.first, "passage", 1))


def test_text_whose_words_are_gone(rosa, reply_study):
    text = reply_study.texts["passage"]
    Text.objects.filter(pk=text.pk).update(body=None, sha256="")
    response = rosa.get(reply_study.url(reply_study.first, "passage", 1))
    assert "The dataset does not contain this text" in text_of_page(response)


@pytest.mark.parametrize("name", ["first", "second"])
def test_page_names_its_judge(rosa, reply_study, name):
    judge = getattr(reply_study, name)
    assert f"Reply of {name}" in rosa.get(reply_study.url(judge, "passage", 1)).content.decode()


def test_reasoning_is_displayed_next_to_its_reply(rosa, reply_study):
    attempt = Attempt.objects.get(
        judge=reply_study.first,
        text=reply_study.texts["passage"],
        question=reply_study.questions[0],
    )
    assert (
        "Reasoning of the model"
        not in rosa.get(reply_study.url(reply_study.first, "passage", 1)).text
    )
    for change in (
        {"reasoning": "It names <b>it</b>."},
        {"raw": "<think>It names <b>it</b>.</think>5"},
    ):
        Attempt.objects.filter(pk=attempt.pk).update(**{"reasoning": "", **change})
        page = rosa.get(reply_study.url(reply_study.first, "passage", 1)).text
        assert "Reasoning of the model" in page
        assert "It names &lt;b&gt;it&lt;/b&gt;." in page
