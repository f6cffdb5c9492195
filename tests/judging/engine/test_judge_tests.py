"""Tests of a judge: their sample, their requests, and replies that are stored once."""

from collections import Counter

import pytest

from annotation.models import Rating, SubQuestion, Text
from judging.engine import judge_test_pairs, runs
from judging.engine.budget import Prices
from judging.engine.fill import pump
from judging.engine.judge_tests import JudgeTestError, JudgeTestRequest, estimate_test, start_test
from judging.engine.planning import plan
from judging.engine.progress import by_dataset, by_judge, failures_of, last_replies, progress_of
from judging.engine.selection import Selection
from judging.engine.storing import store_test_replies
from judging.execution.states import RunStateError
from judging.grading.pairs import group_by_message
from judging.models import Attempt, Batch, JudgeTestReply
from tests.judging.engine.fill_material import fresh, interrupting, nothing_is_lent
from tests.toolbox.judge_test_study import as_sent, graded_study, planned_test, prompted_judge
from tests.toolbox.judging_study import (
    WORKER,
    Scripted,
    a_judge,
    add_text,
    counted,
    failed,
    graded,
    make_study,
    planned,
    rated,
)


@pytest.fixture
def judge(db):
    return prompted_judge()


@pytest.fixture
def dataset(judge):
    return graded_study(judge)  # 24 pairs of 2 topics, all of grade 3


def stored(run) -> Counter:
    rows = run.test_replies.values_list("attempt__text", "attempt__question", "repeat")
    return Counter(rows)


def test_pairs_are_asked_as_often_as_requested_and_stored_once(judge, dataset):
    before = counted(judge), rated(judge), Rating.objects.count()
    run = planned_test(judge, dataset, pairs=10, repeats=3)
    assert (run.state, run.n_planned, run.n_unchanged) == ("running", 30, 0)
    grader = Scripted()
    done = pump(run, grader, WORKER)
    assert (done.sent, done.graded, fresh(run).state) == (30, 30, "finished")
    assert len(stored(run)) == 30
    assert set(stored(run).values()) == {1}
    by_pair = Counter((pair.text_id, pair.question_id) for pair in grader.asked)
    assert len(by_pair) == 10
    assert set(by_pair.values()) == {3}
    assert (counted(judge), rated(judge), Rating.objects.count()) == before
    assert Attempt.objects.count() == 24


def test_sample_is_the_same_for_a_seed_and_another_for_another(judge, dataset):
    def sample(seed):
        run = planned_test(judge, dataset, pairs=5, repeats=2, seed=seed)
        pairs = {
            (text, question)
            for groups in run.shards.values_list("groups", flat=True)
            for texts, questions, _ in groups
            for text in texts
            for question in questions
        }
        run.delete()
        return pairs

    assert sample(1) == sample(1) != sample(2)
    assert len(sample(1)) == 5


def test_fewer_graded_pairs_than_requested_are_all_asked(judge, dataset):
    assert planned_test(judge, dataset, pairs=50, repeats=2).n_planned == 48


def test_copied_failed_and_edited_pairs_are_not_drawn(judge):
    dataset = make_study(topics=1, texts=2, questions=1)
    topic = dataset.topics.get()
    first = dataset.texts.order_by("pk").first()
    add_text(topic, "copy", first.body)
    pump(planned(judge, dataset), Scripted(as_sent(judge, 2)), WORKER)
    assert Attempt.objects.filter(copied=True).count() == 1
    Text.objects.filter(pk=first.pk).update(body="Other words.")
    run = planned_test(judge, dataset, repeats=2)
    assert run.n_planned == 2  # the second text alone
    assert {text for text, _, _ in stored(run)} == set()


def test_interrupted_test_goes_on_without_a_reply_twice(judge, dataset):
    run = planned_test(judge, dataset, pairs=24, repeats=3)
    with pytest.raises(KeyboardInterrupt):
        pump(run, Scripted(interrupting(20), at_once=4), WORKER, batch=8)
    assert 0 < sum(stored(run).values()) <= 20
    assert nothing_is_lent(run)
    later = Scripted()
    pump(fresh(run), later, "later:1")
    assert len(stored(run)) == sum(stored(run).values()) == 72
    assert fresh(run).state == "finished"
    assert sum(run.batches.values_list("n_attempts", flat=True)) == 72


def test_second_reply_to_a_pair_changes_nothing_but_is_charged(judge, dataset):
    run = planned_test(judge, dataset, pairs=4, repeats=2)
    grader = Scripted(lambda pair: graded(pair, 3, prompt_tokens=7))
    pump(run, grader, WORKER)
    shard = run.shards.first()
    second_replies = [graded(pair, 5, prompt_tokens=7) for pair in grader.asked[:3]]
    batch = store_test_replies(run, shard, "late:1", second_replies)
    assert (batch.n_attempts, batch.n_graded, batch.n_sent, batch.prompt_tokens) == (0, 0, 3, 21)
    assert set(run.test_replies.values_list("grade", flat=True)) == {3}
    assert progress_of(run).n_done == 8


def test_pair_whose_attempt_no_longer_counts_is_not_asked(judge, dataset):
    run = planned_test(judge, dataset, pairs=24, repeats=2)
    Attempt.objects.filter(text=dataset.texts.first()).stop_counting()
    pump(run, Scripted(), WORKER)
    assert len(stored(run)) == 40
    assert (fresh(run).state, fresh(run).n_planned, fresh(run).n_there_before) == (
        "finished",
        40,
        0,
    )
    assert fresh(run).note == "8 of its pairs were edited since, or are gone."


def test_test_and_ordinary_run_are_open_together_but_not_two_of_one_kind(judge, dataset):
    planned_test(judge, dataset, repeats=2)
    add_text(dataset.topics.first(), "new", "New words.")
    runs.start(judge, dataset, Selection())
    with pytest.raises(RunStateError, match="it is the test “Repeat”"):
        start_test(judge, dataset, JudgeTestRequest("repeat"))
    with pytest.raises(RunStateError, match="it grades all texts"):
        runs.start(judge, dataset, Selection())
    assert start_test(judge, dataset, JudgeTestRequest("injection")).repeats == 1


def test_counts_of_a_judge_leave_out_its_tests(judge, dataset, cast):
    before = by_judge(cast.admin), by_dataset(judge, cast.admin)
    run = planned_test(judge, dataset, repeats=2)
    pump(run, Scripted(failed), WORKER)
    assert (by_judge(cast.admin), by_dataset(judge, cast.admin)) == before
    [kind] = failures_of(run)
    assert (kind.n, kind.example.raw) == (48, "Well.")
    assert last_replies(run)[0].text.dataset == dataset


def test_numbers_that_cannot_be_are_refused_by_name(judge, dataset):
    for request, field in (
        (JudgeTestRequest("repeat", pairs=0), "pairs"),
        (JudgeTestRequest("repeat", pairs=5_001), "pairs"),
        (JudgeTestRequest("repeat", repeats=1), "repeats"),
        (JudgeTestRequest("repeat", repeats=11), "repeats"),
        (JudgeTestRequest("repeat", seed=-1), "seed"),
        (JudgeTestRequest("other"), "test"),
        (JudgeTestRequest("question_order"), "test"),
    ):
        with pytest.raises(JudgeTestError, match=f"^{field}: "):
            start_test(judge, dataset, request)
    assert judge.runs.count() == 1


def test_judge_without_a_graded_pair_is_refused(judge):
    with pytest.raises(JudgeTestError, match="has graded no pair of study"):
        start_test(judge, make_study(), JudgeTestRequest("repeat"))


def test_test_that_changes_no_prompt_is_refused(judge, dataset):
    with pytest.raises(JudgeTestError, match="none of the 24 pairs"):
        start_test(judge, dataset, JudgeTestRequest("citations"))


def test_pairs_that_a_test_looks_at_are_limited(judge, dataset, monkeypatch):
    monkeypatch.setattr(judge_test_pairs, "MAX_RENDERED", 7)
    with pytest.raises(JudgeTestError, match="none of the 7 pairs"):
        start_test(judge, dataset, JudgeTestRequest("citations"))
    assert planned_test(judge, dataset, repeats=2).n_planned == 14


def test_judge_without_a_prompt_is_refused(db):
    with pytest.raises(JudgeTestError, match="A baseline is a fixed rule"):
        start_test(a_judge(), make_study(), JudgeTestRequest("repeat"))


def test_variant_changes_the_text_and_leaves_out_pairs_without_a_change(judge):
    dataset = make_study(topics=1, texts=2, questions=2)
    add_text(dataset.topics.get(), "cited", "It rose by a third [1], then fell [2, 3].")
    pump(planned(judge, dataset), Scripted(as_sent(judge, 2)), WORKER)
    run = planned_test(judge, dataset, "citations")
    assert (run.n_planned, run.n_unchanged, run.repeats) == (2, 4, 1)
    grader = Scripted()
    pump(run, grader, WORKER)
    assert {pair.text for pair in grader.asked} == {"It rose by a third, then fell."}


def test_estimate_counts_requests_and_writes_nothing(judge, dataset):
    n_batches = Batch.objects.count()
    estimate = estimate_test(
        judge, dataset, JudgeTestRequest("repeat", pairs=10, repeats=3), Prices(1_000_000, 0, "EUR")
    )
    assert (estimate.pairs, estimate.repeats, estimate.requests) == (10, 3, 30)
    assert estimate.money == estimate.prompt_tokens > 30 * len("Question") / 4
    assert "30 requests: 10 pairs, 3 times each." in estimate.summary()
    assert (judge.runs.count(), Batch.objects.count()) == (1, n_batches)


def test_test_stops_at_its_budget_and_resumes(judge, dataset):
    run = start_test(judge, dataset, JudgeTestRequest("repeat", pairs=10, repeats=2), max_pairs=5)
    plan(run, WORKER)
    pump(run, Scripted(), WORKER, batch=1)
    assert (fresh(run).state, len(stored(run))) == ("stopped", 5)
    runs.resume(run, max_pairs=None)
    pump(fresh(run), Scripted(), "later:1")
    assert len(stored(run)) == JudgeTestReply.objects.count() == 20


def all_questions_judge():
    return prompted_judge("together", prompt="{rubric}\n{text}\n{questions}", parser="numbered-1")


def test_order_of_questions_is_reversed_in_the_message(db):
    judge = all_questions_judge()
    dataset = graded_study(judge, topics=2, texts=2, questions=3)
    run = planned_test(judge, dataset, "question_order", pairs=12)
    grader = Scripted()
    pump(run, grader, WORKER)
    for pair in grader.asked:
        bodies = SubQuestion.objects.get(pk=pair.question_id).topic.questions.order_by("-position")
        assert pair.questions == tuple(bodies.values_list("body", flat=True))
        assert pair.questions[pair.number - 1] == pair.question
    assert run.test_replies.filter(state="graded").count() == 12


def test_question_that_was_asked_alone_has_no_order(db):
    judge = all_questions_judge()
    run = planned_test(judge, graded_study(judge, topics=1, texts=1), "question_order")
    pump(run, Scripted(lambda pair: graded(pair.alone(), 4)), WORKER)
    states = set(run.test_replies.values_list("state", "failure", "grade"))
    assert states == {("unparseable", "no_grade", None)}
    assert set(run.batches.values_list("n_graded", flat=True)) == {0}


def test_repeats_of_one_text_are_messages_of_their_own(db):
    judge = all_questions_judge()
    run = planned_test(judge, graded_study(judge, topics=1, texts=1), repeats=3)
    grader = Scripted()
    pump(run, grader, WORKER)
    messages = list(group_by_message(iter(grader.asked)))
    assert [len(pairs) for pairs in messages] == [4, 4, 4]
    assert [pairs[0].repeat for pairs in messages] == [1, 2, 3]


def test_edited_text_leaves_the_result_as_it_was(judge, dataset):
    run = planned_test(judge, dataset, pairs=24, repeats=2)
    pump(run, Scripted(lambda pair: graded(pair, 4)), WORKER)
    Attempt.objects.filter(text=dataset.texts.first()).stop_counting()
    grades = run.test_replies.values_list("attempt__grade", "grade")
    assert Counter(grades) == {(3, 4): 48}
