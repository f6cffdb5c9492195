"""/replies/<rater>/<text>/<question>/: what made one cell, and nothing of anybody else's."""

import pytest

from annotation.models import Rater, Rating, SubQuestion, Text
from judging.engine.storing import store
from judging.grading.pairs import State
from judging.models import Attempt
from tests.evaluation.agreement.test_page import words
from tests.factories import PASSAGE, make_dataset
from tests.judging.replies.material import FIRST, fill, make_model, reply, start


def test_who_may_see_a_reply(cast, looked):
    url = looked.url(looked.first, "passage", 1)
    for who, status in (("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(who).get(url).status_code == status
    assert cast.client("admin").put(url).status_code == 405


def test_all_that_made_the_cell(rosa, looked):
    response = rosa.get(looked.url(looked.first, "passage", 1))
    seen = words(response)
    assert "What failed on the Halden?" in seen
    assert "first gave this pair 5, on a scale of 0 to 5." in seen
    assert looked.first.short in seen
    assert "Expected grade 4.100" in seen
    assert "Mass on the grades 0.851" in seen  # 0.8505, rounded half up
    assert "321 read, 1 written" in seen
    assert f"batch {looked.run.batches.get().pk}, by host-1:77" in seen
    assert PASSAGE.split(". ")[0] in seen
    assert "not stored" not in seen  # that is for those who may ask again


def test_probabilities_say_what_was_not_told(rosa, looked):
    told = rosa.get(looked.url(looked.first, "passage", 1)).context["told"]
    assert [level.shown for level in told.levels] == [
        "0.100",
        "< 0.001",
        "0.000",
        "not told",
        "0.250",
        "0.500",
    ]
    assert [level.grade for level in told.levels if level.is_chosen] == [5]


def test_a_reply_without_a_grade_is_shown_as_it_came_and_escaped(rosa, looked):
    response = rosa.get(looked.url(looked.first, "passage", 3))
    assert "I cannot  help\nwith &lt;b&gt;that&lt;/b&gt;.</pre>" in response.content.decode()
    assert "gave no grade: refused by the model." in words(response)
    assert "Expected grade not told" in words(response)


def test_the_prompt_is_the_one_that_was_sent(rosa, looked):
    response = rosa.get(looked.url(looked.first, "passage", 1))
    prompt = response.context["prompt"]
    assert prompt.is_sent is True
    assert "The prompt is the one that was sent" in words(response)
    assert "What failed on the Halden?" in prompt.messages[-1]["content"]


def test_a_prompt_that_would_be_another_one_now_says_so(rosa, looked):
    stored = Attempt.objects.get(judge=looked.first, text=looked.texts["passage"], grade=5)
    SubQuestion.objects.filter(pk=stored.question_id).update(body="What broke?")
    response = rosa.get(looked.url(looked.first, "passage", 1))
    assert response.context["prompt"].is_sent is False
    assert f"whose hash is {stored.prompt_hash}" in words(response)
    Attempt.objects.filter(pk=stored.pk).update(prompt_hash="")
    response = rosa.get(looked.url(looked.first, "passage", 1))
    assert response.context["prompt"].is_sent is None
    assert "nobody can tell" in words(response)


def test_a_copy_names_the_text_that_was_asked_about(rosa, looked):
    response = rosa.get(looked.url(looked.first, "bm25", 1))
    assert "it was copied, not asked again" in words(response)
    assert looked.url(looked.first, "oracle", 1) in response.content.decode()
    assert "none, as nothing was sent" in words(response)
    assert response.context["prompt"].is_sent is True


def test_superseded_attempts_stand_below_the_one_that_counts(rosa, looked):
    retry = start(looked, looked.first, selection={"retry": True})
    again = reply(looked.first, looked.pair("passage", 3), 4, raw="4 then")
    store(retry, None, "host-2:5", [again], {})
    response = rosa.get(looked.url(looked.first, "passage", 3))
    assert response.context["told"].attempt.grade == 4
    (other,) = response.context["others"]
    assert (other.attempt.counts, other.attempt.state) == (False, State.REFUSED)
    assert f'id="attempt-{other.attempt.pk}"' in response.content.decode()
    assert "Earlier attempts at this pair" in words(response)


def test_quoted_evidence_is_marked_where_it_stands(rosa, looked):
    judge = make_model("quoter", "evidence-question-first")
    run = start(looked, judge)
    quoted = ("divers found a crack", "nowhere said")
    judge_reply = reply(judge, looked.pair("passage", 1), 5, evidence=quoted)
    store(run, None, "host-1:77", [judge_reply], {})
    response = rosa.get(looked.url(judge, "passage", 1))
    assert 'data-label="1">divers found a crack</mark>' in response.content.decode()
    assert "Not in the text: “nowhere said”" in words(response)
    assert "quotes 1 place of the text, numbered below, and 1 that the text does not hold" in words(
        response
    )


def test_evidence_of_a_copy_is_that_of_the_text_of_the_same_words(rosa, looked):
    judge = make_model("quoter", "evidence-question-first")
    run = start(looked, judge)
    judge_reply = reply(judge, looked.pair("oracle", 1), 5, evidence=("lost steering",))
    oracle, bm25 = looked.texts["oracle"], looked.texts["bm25"]
    twins = {(oracle.pk, looked.questions[0].pk): [bm25.pk]}
    store(run, None, "host-1:77", [judge_reply], twins)
    response = rosa.get(looked.url(judge, "bm25", 1))
    assert ">lost steering</mark>" in response.content.decode()


def test_a_cell_without_an_attempt_says_so(rosa, looked):
    response = rosa.get(looked.url(looked.first, "oracle", 3))
    assert response.status_code == 404
    assert "first has not been asked about this pair here" in words(response)


def test_a_rater_from_a_file_has_no_replies(rosa, looked):
    rater = Rater.objects.create(dataset=looked.dataset, name="filed", kind="model")
    Rating.objects.create(
        rater=rater,
        rubric=looked.first.rubric,
        text=looked.texts["passage"],
        question=looked.questions[0],
        grade=4,
    )
    url = looked.url(looked.first, "passage", 1).replace(
        f"/replies/{looked.first.rater_id}/", f"/replies/{rater.pk}/"
    )
    response = rosa.get(url)
    assert response.status_code == 404
    assert "The grades of filed came in a file" in words(response)
    assert "Its grade is 4" in words(response)


def test_a_person_has_no_replies(rosa, looked):
    rater = Rater.objects.create(name="wil", kind="human")
    Rating.objects.create(
        rater=rater,
        rubric=looked.first.rubric,
        text=looked.texts["oracle"],
        question=looked.questions[1],
        grade=1,
    )
    text, question = looked.texts["passage"].pk, looked.questions[0].pk
    response = rosa.get(f"/replies/{rater.pk}/{text}/{question}/")
    assert response.status_code == 404
    assert "wil is a person" in words(response)


def test_what_is_not_there(rosa, looked):
    rater, text = looked.first.rater_id, looked.texts["passage"].pk
    question = looked.questions[0].pk
    elsewhere = make_dataset("train")
    stray = SubQuestion.objects.filter(topic__dataset=elsewhere).first().pk
    for path in (
        f"/replies/999999/{text}/{question}/",
        f"/replies/{rater}/999999/{question}/",
        f"/replies/{rater}/{text}/999999/",
        f"/replies/{rater}/{text}/{stray}/",
    ):
        assert rosa.get(path).status_code == 404, path


def test_the_number_of_queries_does_not_grow_with_other_cells(
    rosa, looked, django_assert_max_num_queries
):
    fill(looked, make_model("third", model="another"), FIRST)
    with django_assert_max_num_queries(12):
        rosa.get(looked.url(looked.first, "passage", 1))


def test_a_text_whose_words_are_gone(rosa, looked):
    text = looked.texts["passage"]
    Text.objects.filter(pk=text.pk).update(body=None, sha256="")
    response = rosa.get(looked.url(looked.first, "passage", 1))
    assert "The words of this text are not in the dataset" in words(response)


@pytest.mark.parametrize("name", ["first", "second"])
def test_the_page_names_its_judge(rosa, looked, name):
    judge = getattr(looked, name)
    assert f"Reply of {name}" in rosa.get(looked.url(judge, "passage", 1)).content.decode()


def test_what_a_model_thought_is_shown_beside_its_reply(rosa, looked):
    attempt = Attempt.objects.get(
        judge=looked.first, text=looked.texts["passage"], question=looked.questions[0]
    )
    assert "thought before it replied" not in rosa.get(looked.url(looked.first, "passage", 1)).text
    for change in (
        {"reasoning": "It names <b>it</b>."},
        {"raw": "<think>It names <b>it</b>.</think>5"},
    ):
        Attempt.objects.filter(pk=attempt.pk).update(**{"reasoning": "", **change})
        page = rosa.get(looked.url(looked.first, "passage", 1)).text
        assert "What the model thought before it replied" in page
        assert "It names &lt;b&gt;it&lt;/b&gt;." in page
