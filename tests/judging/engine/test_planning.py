"""Planning: exactly the pairs that a judge lacks, in shards, by one process at a time."""

import tracemalloc

import pytest

from annotation.models import Rating, Rubric, Text
from evaluation.models import RankedText, RetrievalRun
from judging.engine import planning, runs
from judging.engine.fill import pump
from judging.engine.planning import count, plan
from judging.engine.selection import Selection, SelectionError
from judging.execution import states
from judging.models import Attempt, Batch, JudgeRun
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
    key,
    make_large_study,
    make_study,
    planned,
    planned_pairs,
)


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def judge(study):
    return a_judge()


def test_everything_is_missing_for_a_new_judge(judge, study):
    run = planned(judge, study)
    pairs = planned_pairs(run)
    assert len(pairs) == 24
    assert set(pairs) == all_pairs(study)
    assert (run.state, run.n_planned, run.n_there_before) == ("running", 24, 0)
    assert run.started is not None


def test_pairs_with_an_attempt_or_a_rating_are_not_missing(judge, study):
    pairs = sorted(all_pairs(study))
    settled = {pairs[0], pairs[5], pairs[6]}
    first = planned(judge, study, Selection(limit=7))
    pump(first, Scripted(lambda p: graded(p) if key(p) in settled else failed(p)), WORKER)
    text, question = pairs[-1]
    Rating.objects.create(
        rater=judge.rater, rubric=judge.rubric, text_id=text, question_id=question, grade=2
    )
    run = planned(judge, study)
    assert set(planned_pairs(run)) == all_pairs(study) - counted(judge).keys() - {pairs[-1]}
    assert (run.n_planned, run.n_there_before) == (16, 8)


def test_ratings_of_another_judge_or_rubric_change_nothing(judge, study):
    pump(planned(a_judge("other"), study), Scripted(), WORKER)
    text, question = sorted(all_pairs(study))[0]
    Rating.objects.create(
        rater=judge.rater,
        rubric=Rubric.objects.get(slug="answerable"),
        text_id=text,
        question_id=question,
        grade=1,
    )
    assert count(judge, study, Selection()).to_send == 24


def test_attempt_set_aside_is_missing_again(judge, study):
    pump(planned(judge, study), Scripted(), WORKER)
    Rating.objects.all().delete()
    attempt = Attempt.objects.order_by("pk")[3]
    Attempt.objects.filter(pk=attempt.pk).update(counts=False)
    assert planned_pairs(planned(judge, study)) == [(attempt.text_id, attempt.question_id)]


def test_all_questions_of_a_text_are_consecutive(judge, study):
    texts = [text for text, _ in planned_pairs(planned(judge, study))]
    changes = [text for index, text in enumerate(texts) if index == 0 or texts[index - 1] != text]
    assert len(changes) == len(set(texts)) == 6


def test_same_words_of_a_topic_are_asked_once_and_those_of_another_topic_again(judge, study):
    first, second = study.topics.order_by("position")
    body = Text.objects.filter(topic=first).first().body
    twin = add_text(first, "twin", body)
    add_text(second, "elsewhere", body)
    counts = count(judge, study, Selection())
    assert (counts.to_fill, counts.to_send) == (32, 28)
    run = planned(judge, study)
    grader = Scripted()
    pump(run, grader, WORKER)
    assert len(grader.asked) == 28
    assert counted(judge).keys() == all_pairs(study)
    assert agrees(judge)
    assert set(Attempt.objects.filter(copied=True).values_list("text_id", flat=True)) == {twin.pk}


def test_prior_replies_to_the_same_text_are_copied_while_planning(judge, study):
    pump(planned(judge, study), Scripted(lambda p: graded(p, raw="3!", prompt_tokens=7)), WORKER)
    text = Text.objects.first()
    twin = add_text(text.topic, "twin", text.body)
    run = planned(judge, study)
    assert (run.state, run.n_planned, run.shards.count()) == ("finished", 4, 0)
    copies = Attempt.objects.filter(text=twin)
    assert {(a.raw, a.copied, a.prompt_tokens, a.batch.run_id) for a in copies} == {
        ("3!", True, 0, run.pk)
    }
    [batch] = run.batches.all()
    assert (batch.n_sent, batch.n_attempts, batch.n_graded, batch.shard) == (0, 4, 4, None)
    assert agrees(judge)


def test_texts_without_words_are_counted_and_not_asked(judge, study):
    add_text(study.topics.first(), "silent", None)
    run = planned(judge, study)
    assert (run.n_planned, run.n_without_words) == (24, 4)


def test_limit_plans_the_first_pairs(judge, study):
    everything = planned_pairs(planned(judge, study))
    states.cancel(JudgeRun.objects.get())
    run = planned(judge, study, Selection(limit=6))
    assert planned_pairs(run) == everything[:6]
    assert run.n_planned == 6


def test_limit_counts_what_is_asked_beyond_what_is_there(judge, study):
    pump(planned(judge, study, Selection(limit=6)), Scripted(), WORKER)
    run = planned(judge, study, Selection(limit=5))
    assert len(planned_pairs(run)) == run.n_planned == 5
    assert not counted(judge).keys() & set(planned_pairs(run))


def test_topics_and_kinds_choose(judge, study):
    topic = study.topics.get(name="t-1")
    report = add_text(topic, "t-1", "A report.", kind="report")
    counts = count(judge, study, Selection(topics=("t-1",)))
    assert counts.to_send == 16
    selection = Selection(texts="reports", topics=("t-1",))
    assert {text for text, _ in planned_pairs(planned(judge, study, selection))} == {report.pk}


def test_run_chooses_the_first_ranks_in_their_order(judge, study):
    run = RetrievalRun.objects.create(dataset=study, name="bm25")
    topic = study.topics.first()
    texts = list(topic.texts.order_by("-pk"))
    RankedText.objects.bulk_create(
        RankedText(run=run, topic=topic, text=text, rank=rank)
        for rank, text in enumerate(texts, start=1)
    )
    deep = planned_pairs(planned(judge, study, Selection(run="bm25", depth=2)))
    assert list(dict.fromkeys(text for text, _ in deep)) == [text.pk for text in texts[:2]]
    assert Selection(run="bm25").possible(study) == 12


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(texts="poems"), "Texts are passages, reports, reference, not 'poems'"),
        (Selection(topics=("t-0", "t-9")), "no topic 't-9'"),
        (Selection(run="bm25"), "no run 'bm25'; there are: none"),
        (Selection(depth=3), "A depth needs a run"),
        (Selection(limit=0), "The limit is a number of 1 or more, not 0"),
    ],
)
def test_selection_that_cannot_be_is_refused_before_anything_is_made(
    judge, study, selection, message
):
    with pytest.raises(SelectionError, match=message):
        runs.start(judge, study, selection)
    assert not JudgeRun.objects.exists()


def test_retry_asks_only_what_failed(judge, study):
    bad = {pair for index, pair in enumerate(sorted(all_pairs(study))) if index % 5 == 0}
    grader = Scripted(lambda p: failed(p) if key(p) in bad else graded(p))
    pump(planned(judge, study, Selection(limit=20)), grader, WORKER)
    tried = bad & counted(judge).keys()
    counts = count(judge, study, Selection(retry=True))
    assert (counts.to_send, counts.there_before) == (len(tried), 20 - len(tried))
    assert set(planned_pairs(planned(judge, study, Selection(retry=True)))) == tried


def test_run_that_lacks_nothing_is_finished_at_once_and_says_so(judge, study):
    pump(planned(judge, study), Scripted(), WORKER)
    run = planned(judge, study)
    assert (run.state, run.note) == (
        "finished",
        "This judge has already graded all of these pairs.",
    )
    assert run.ended is not None


def test_texts_that_come_later_are_for_the_next_run(judge, study):
    run = planned(judge, study)
    late = add_text(study.topics.first(), "late", "New words.")
    pump(run, Scripted(), WORKER)
    assert JudgeRun.objects.get(pk=run.pk).state == "finished"
    assert {text for text, _ in planned_pairs(planned(judge, study))} == {late.pk}


def test_shards_are_cut_between_texts_and_a_small_run_is_cut_finely(judge, db):
    study = make_study(topics=4, texts=50, questions=10, slug="large")
    run = planned(judge, study)
    sizes = list(run.shards.order_by("number").values_list("n_pairs", flat=True))
    assert sum(sizes) == 2_000
    assert max(sizes) == 100
    assert len(sizes) == planning.SHARES
    pairs = planned_pairs(run)
    assert len(pairs) == len(set(pairs))


def test_large_run_has_shards_of_two_thousand(judge, db, monkeypatch):
    monkeypatch.setattr(planning, "SHARD", 90)
    run = planned(judge, make_study(topics=4, texts=50, questions=10, slug="large"))
    assert set(run.shards.values_list("n_pairs", flat=True)) == {90, 20}


@pytest.mark.soak
def test_memory_does_not_grow_with_the_run(judge, db, monkeypatch):
    # What is held at once, made a fifth: so is then what shows that no more is held.
    monkeypatch.setattr("judging.engine.selection.TOPICS_AT_ONCE", 10)
    monkeypatch.setattr(planning, "TEXTS_AT_ONCE", 200)
    monkeypatch.setattr(planning, "SHARD", 400)

    def peak(topics: int, slug: str) -> int:
        study = make_large_study(topics, 10, 10, slug)
        run = runs.start(judge, study, Selection())
        tracemalloc.start()
        plan(run, WORKER)
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert run.n_planned == topics * 100
        return peak_bytes

    peak(20, "warm")
    small, large = peak(20, "small"), peak(200, "large")
    assert large < 3 * small


def test_counting_writes_nothing(judge, study):
    assert count(judge, study, Selection()).to_send == 24
    assert not JudgeRun.objects.exists()
    assert not Batch.objects.exists()
