"""Effect of placeholders on planning: all questions at once, answers, or no text."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import NuggetSpan, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.standard import ANSWERED, STANDARD, add_standard
from judging.engine import budget, planning
from judging.engine.budget import Prices
from judging.engine.fill import pump
from judging.engine.pair_loader import PairLoader, omits_text
from judging.engine.selection import Selection
from judging.models import Attempt
from tests.judging.engine.fill_material import fresh
from tests.toolbox.judging_study import (
    WORKER,
    Scripted,
    a_judge,
    add_text,
    agrees,
    all_pairs,
    counted,
    failed,
    graded,
    make_study,
    planned,
    rated,
)


@pytest.fixture
def study(db):
    """Two topics of two passages and three questions."""
    return make_study(topics=2, texts=2, questions=3)


def answered(text: str, position: int, *answer: str, by: str = "ben") -> None:
    """Words marked as the answer to a question in a text."""
    rater, _ = Rater.objects.get_or_create(name=by, dataset=None)
    row = Text.objects.get(name=text)
    question = SubQuestion.objects.get(topic=row.topic, position=position)
    rubric = Rubric.objects.get(slug=ANSWERED.slug)
    rating = Rating.objects.create(
        rater=rater, rubric=rubric, text=row, question=question, grade=rubric.grades()[-1]
    )
    for number, quote in enumerate(answer):
        NuggetSpan.objects.create(
            rating=rating, position=number, source_quote=quote, located="unlocated"
        )


# All questions at once


def all_questions_judge(study):
    judge = a_judge(prompt="{questions}\n{text}", parser="numbered-1")
    assert planned(judge, study).n_planned == 12
    return judge


def test_pairs_carry_all_questions_of_their_topic_in_order(study):
    judge = all_questions_judge(study)
    grader = Scripted()
    pump(judge.runs.get(), grader, WORKER)
    assert len(grader.asked) == 12
    for pair in grader.asked:
        topic = Text.objects.get(pk=pair.text_id).topic
        assert pair.questions == tuple(f"Question {n} of {topic.position}?" for n in range(3))
        assert pair.questions[pair.number - 1] == pair.question
    texts = [pair.text_id for pair in grader.asked]
    assert texts == sorted(texts)  # all questions of a text follow each other
    assert agrees(judge)


def test_question_without_words_is_not_in_the_list(study):
    SubQuestion.objects.filter(position=1).update(body="", filtered_because="no words")
    judge = a_judge(prompt="{questions}\n{text}", parser="numbered-1")
    grader = Scripted()
    pump(planned(judge, study), grader, WORKER)
    assert {pair.questions for pair in grader.asked} == {
        ("Question 0 of 0?", "Question 2 of 0?"),
        ("Question 0 of 1?", "Question 2 of 1?"),
    }
    assert {pair.number for pair in grader.asked} == {1, 2}


def test_repeated_pair_is_asked_with_the_same_list(study):
    judge = all_questions_judge(study)
    grader = Scripted(lambda pair: failed(pair) if pair.number == 2 else graded(pair))
    pump(judge.runs.get(), grader, WORKER)
    second_grader = Scripted()
    pump(planned(judge, study, Selection(retry=True)), second_grader, WORKER)
    assert {pair.number for pair in second_grader.asked} == {2}
    assert {len(pair.questions) for pair in second_grader.asked} == {3}
    assert {state for state, _ in counted(judge).values()} == {"graded"}


def test_estimate_counts_a_message_once(study):
    judge = a_judge(prompt="{questions}\n{text}", parser="numbered-1", sampling={"max_tokens": 9})
    estimate = budget.estimate_of(judge, study, Selection(), Prices())
    assert (estimate.counts.to_send, estimate.completion_tokens) == (12, 4 * 9)
    # One question of each text failed: each message is sent again, and not a third of it.
    pump(
        planned(judge, study),
        Scripted(lambda pair: failed(pair) if pair.number == 2 else graded(pair)),
        WORKER,
    )
    retry_estimate = budget.estimate_of(judge, study, Selection(retry=True), Prices())
    assert (retry_estimate.counts.to_send, retry_estimate.completion_tokens) == (4, 4 * 9)
    three = a_judge(
        "three", prompt="{question}{text}", sampling={"max_tokens": 2, "extra": {"n": 3}}
    )
    assert budget.estimate_of(three, study, Selection(), Prices()).completion_tokens == 12 * 2 * 3


def test_other_judges_are_shown_their_question_alone(study):
    judge = a_judge(prompt="{question}\n{text}")
    text, question = next(iter(all_pairs(study)))
    pair = PairLoader(judge.spec, [text], [question]).pair(text, question)
    assert (pair.questions, pair.number, pair.answer) == ((), 1, "")
    assert pair.request == "Why?"


# Answers


def test_pair_is_asked_with_its_answer_and_not_asked_without(study):
    add_standard(ANSWERED)
    answered("t-0:0", 0, "the ferry", "in March")
    answered("t-1:1", 2, "nobody")
    judge = a_judge(prompt="{question} {answer}")
    estimate = budget.estimate_of(judge, study, Selection(), Prices())
    assert (estimate.counts.to_send, estimate.counts.without_words) == (2, 10)
    run = planned(judge, study)
    grader = Scripted()
    pump(run, grader, WORKER)
    assert {pair.answer for pair in grader.asked} == {"the ferry [...] in March", "nobody"}
    assert (fresh(run).state, fresh(run).n_without_words) == ("finished", 10)
    assert len(rated(judge)) == 2


def test_answers_are_read_as_far_as_they_are_asked_about(study, monkeypatch):
    add_standard(ANSWERED)
    answered("t-0:0", 0, "the ferry")
    answered("t-0:1", 0, "nobody")
    monkeypatch.setattr(planning, "TEXTS_AT_ONCE", 1)
    judge = a_judge(prompt="{question} {answer}")
    with CaptureQueriesContext(connection) as queries:
        counts = planning.count(judge, study, Selection(limit=1))
    assert counts.to_send == 1
    [read] = [query["sql"] for query in queries if 'FROM "annotation_nuggetspan"' in query["sql"]]
    assert f'"text_id" IN ({Text.objects.get(name="t-0:0").pk})' in read


def test_texts_of_the_same_words_are_asked_with_their_own_answers(study):
    add_standard(ANSWERED)
    first = Text.objects.get(name="t-0:0")
    add_text(first.topic, "copy", first.body, kind="report")
    answered("t-0:0", 0, "the ferry")
    answered("copy", 0, "a boat")
    grader = Scripted()
    pump(planned(a_judge(prompt="{text} {question} {answer}"), study), grader, WORKER)
    assert [pair.answer for pair in grader.asked] == ["the ferry", "a boat"]


def test_of_two_answers_the_first_raters_is_shown(study):
    add_standard(ANSWERED)
    answered("t-0:0", 0, "second", by="zoe")
    answered("t-0:0", 0, "first", by="amy")
    grader = Scripted()
    pump(planned(a_judge(prompt="{question} {answer}"), study), grader, WORKER)
    assert [pair.answer for pair in grader.asked] == ["first"]


def test_without_any_answer_there_is_nothing_to_ask(study):
    run = planned(a_judge(prompt="{question} {answer}"), study)
    assert (run.state, run.n_planned, run.n_without_words) == ("finished", 0, 12)


# No text


def test_prompt_without_text_is_asked_once_for_all_texts(study):
    add_standard(STANDARD["question-type"])
    judge = a_judge(prompt="{request} {question}")
    assert omits_text(judge.spec)
    estimate = budget.estimate_of(judge, study, Selection(), Prices())
    assert (estimate.counts.to_send, estimate.counts.copies) == (6, 6)
    grader = Scripted()
    run = planned(judge, study)
    pump(run, grader, WORKER)
    assert len(grader.asked) == len({pair.question_id for pair in grader.asked}) == 6
    assert counted(judge).keys() == all_pairs(study)
    assert Attempt.objects.filter(copied=True).count() == 6
    assert agrees(judge)
    topic = study.topics.first()
    add_text(topic, "late", "A passage that came later.")
    late = planned(judge, study)
    assert (late.state, late.n_planned) == ("finished", 3)  # copied while planning
    assert counted(judge).keys() == all_pairs(study)


def test_judge_without_a_prompt_reads_each_text(study):
    assert not omits_text(a_judge().spec)
    assert planned(a_judge("other"), study).n_planned == 12
