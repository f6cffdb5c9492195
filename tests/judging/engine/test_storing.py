"""Storage: an attempt counts once, its rating equals it, and its evidence is located."""

import json
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import IntegrityError, connection

from annotation.models import NuggetSpan, Rating, Text
from annotation.models.rating import Exposure
from judging.engine.selection import Selection
from judging.engine.storing import store, store_copies
from judging.grading.pairs import Pair, Reply, State
from judging.llm.completion import RAW_LIMIT
from judging.llm.errors import Failure
from judging.models import Attempt
from tests.toolbox.judging_study import (
    WORKER,
    a_judge,
    add_text,
    agrees,
    all_pairs,
    counted,
    failed,
    graded,
    make_study,
    planned,
)
from tests.toolbox.threads import in_threads


@pytest.fixture
def run(db):
    return planned(a_judge(), make_study())


def pairs_of(run):
    texts = Text.objects.in_bulk()
    return [Pair(t, q, texts[t].body, "?") for t, q in sorted(all_pairs(run.dataset))]


def test_reply_is_kept_as_it_came(run):
    pair = pairs_of(run)[0]
    reply = Reply(
        pair,
        State.GRADED,
        4,
        raw=" 4 \n\\ \"'{}, ”",
        detail="as {it} was, \\N",
        prompt_hash="0123456789abcdef",
        probabilities=(0.1, None, 0.0, 0.2, 0.6, 1e-9),
        expected_grade=3.5,
        label_mass=0.9,
        prompt_tokens=350,
        completion_tokens=1,
    )
    batch = store(run, None, WORKER, [reply], {})
    attempt = Attempt.objects.get()
    assert (attempt.judge_id, attempt.text_id, attempt.question_id, attempt.batch_id) == (
        run.judge_id,
        pair.text_id,
        pair.question_id,
        batch.pk,
    )
    assert (attempt.counts, attempt.copied, attempt.state, attempt.failure, attempt.grade) == (
        True,
        False,
        "graded",
        "",
        4,
    )
    assert (attempt.raw, attempt.detail, attempt.prompt_hash) == (
        reply.raw,
        reply.detail,
        reply.prompt_hash,
    )
    assert attempt.probabilities == [0.1, None, 0.0, 0.2, 0.6, 1e-9]
    assert (attempt.expected_grade, attempt.label_mass) == (3.5, 0.9)
    assert (attempt.prompt_tokens, attempt.completion_tokens) == (350, 1)
    rating = Rating.objects.get()
    assert (rating.grade, rating.rater, rating.rubric) == (4, run.judge.rater, run.judge.rubric)


def test_whole_numbers_and_floats_and_nothing_stand_in_one_batch(run):
    values = [(3, 1), (3.5, 0.75), (None, None), (0, 0)]
    replies = [
        graded(pair, expected_grade=expected, label_mass=mass)
        for pair, (expected, mass) in zip(pairs_of(run), values, strict=False)
    ]
    store(run, None, WORKER, replies, {})
    rows = Attempt.objects.order_by("text_id", "question_id")
    assert list(rows.values_list("expected_grade", "label_mass")) == values


def test_unknown_probabilities_stay_unknown(run):
    store(run, None, WORKER, [failed(pairs_of(run)[0])], {})
    attempt = Attempt.objects.get()
    assert (attempt.grade, attempt.probabilities, attempt.expected_grade) == (None, None, None)
    assert (attempt.state, attempt.failure) == ("unparseable", "no_grade")
    assert Attempt.objects.filter(probabilities__isnull=True).exists()
    assert not Rating.objects.exists()


def test_batch_counts_what_was_new(run):
    pairs = pairs_of(run)
    twin = Text.objects.exclude(pk=pairs[0].text_id).last().pk
    first = store(
        run,
        None,
        WORKER,
        [
            graded(pairs[0], 4, expected_grade=3.5, prompt_tokens=10, completion_tokens=2),
            graded(pairs[1], 2, expected_grade=3.0, prompt_tokens=10),
            graded(pairs[2], 1),
            failed(pairs[3], expected_grade=1.0, prompt_tokens=5),
        ],
        {(pairs[0].text_id, pairs[0].question_id): [twin]},
    )
    first.refresh_from_db()
    assert (first.n_sent, first.n_attempts, first.n_graded) == (4, 5, 4)
    assert (first.prompt_tokens, first.completion_tokens) == (25, 2)
    assert (first.n_expected, first.sum_drift) == (3, 0.0)
    second_batch = [
        graded(pairs[0], 1, expected_grade=5.0),
        graded(pairs[4], 3, expected_grade=2.75),
    ]
    second = store(run, None, "there:2", second_batch, {})
    second.refresh_from_db()
    assert (second.n_sent, second.n_attempts, second.n_graded) == (2, 1, 1)
    assert (second.n_expected, second.sum_drift) == (1, -0.25)
    assert Attempt.objects.filter(copied=True).get().prompt_tokens == 0
    assert agrees(run.judge)


@pytest.mark.parametrize(
    ("first", "second"), [(graded, failed), (failed, graded), (graded, lambda p: graded(p, 5))]
)
def test_first_reply_to_a_pair_counts_and_the_second_changes_nothing(run, first, second):
    pair = pairs_of(run)[0]
    store(run, None, WORKER, [first(pair)], {})
    before = counted(run.judge)
    late = store(run, None, "there:2", [second(pair)], {})
    assert (late.n_sent, late.n_attempts, late.n_graded) == (1, 0, 0)
    assert counted(run.judge) == before
    assert Attempt.objects.count() == 1
    assert agrees(run.judge)


def test_pair_twice_in_one_batch_is_one_attempt(run):
    pair = pairs_of(run)[0]
    batch = store(run, None, WORKER, [graded(pair, 3), graded(pair, 5)], {})
    batch.refresh_from_db()
    assert (batch.n_sent, batch.n_attempts, batch.n_graded) == (2, 1, 1)
    assert agrees(run.judge)


@pytest.mark.django_db(transaction=True)
def test_workers_with_the_same_pairs_at_once_store_each_once():
    run = planned(a_judge(), make_study(topics=3, texts=5, questions=10))
    pairs = pairs_of(run)

    def store_once(n):
        replies = [
            failed(pair) if (index + n) % 3 == 0 else graded(pair, (index + n) % 6)
            for index, pair in enumerate(pairs)
        ]
        return store(run, None, f"w:{n}", replies if n % 2 else replies[::-1], {}).n_attempts

    assert sum(in_threads(store_once, range(6), threads=6)) == len(pairs)
    assert len(counted(run.judge)) == len(pairs)
    assert agrees(run.judge)


@pytest.mark.django_db(transaction=True)
def test_workers_that_ask_failures_again_at_once_store_each_once():
    judge, study = a_judge(), make_study(topics=3, texts=5, questions=10)
    first = planned(judge, study)
    pairs = pairs_of(first)
    store(first, None, WORKER, [failed(pair) for pair in pairs], {})
    type(first).objects.update(state="finished")
    retry = planned(judge, study, Selection(retry=True))

    def store_once(n):
        replies = [graded(pair, n) for pair in pairs]
        return store(retry, None, f"w:{n}", replies if n % 2 else replies[::-1], {}).n_attempts

    assert sum(in_threads(store_once, range(6), threads=6)) == len(pairs)
    assert Attempt.objects.filter(counts=False).count() == len(pairs)
    assert {state for state, _ in counted(judge).values()} == {"graded"}
    assert agrees(judge)


def test_retry_sets_the_failure_aside_and_keeps_it(run):
    first, second, third = pairs_of(run)[:3]
    store(run, None, WORKER, [failed(first), failed(second), graded(third, 1)], {})
    type(run).objects.update(state="finished")
    retry = planned(run.judge, run.dataset, Selection(retry=True))
    batch = store(retry, None, WORKER, [graded(first, 5), failed(second), graded(third, 5)], {})
    assert (batch.n_sent, batch.n_attempts, batch.n_graded) == (3, 2, 1)
    by_pair = counted(run.judge)
    assert by_pair[first.text_id, first.question_id] == ("graded", 5)
    assert by_pair[second.text_id, second.question_id] == ("unparseable", None)
    assert by_pair[third.text_id, third.question_id] == ("graded", 1)
    old = Attempt.objects.filter(counts=False)
    assert {(a.text_id, a.question_id, a.state) for a in old} == {
        (first.text_id, first.question_id, "unparseable"),
        (second.text_id, second.question_id, "unparseable"),
    }
    assert agrees(run.judge)


def test_evidence_becomes_spans_where_the_text_holds_it(run):
    pair = pairs_of(run)[0]
    text = Text.objects.get(pk=pair.text_id)
    assert text.body == "Passage 0 of topic 0 has words."
    quotes = ("has words", "topic  0\nhas", "never said \x00 \ud800")
    store(run, None, WORKER, [graded(pair, evidence=quotes)], {})
    spans = list(NuggetSpan.objects.order_by("position"))
    assert [span.located for span in spans] == ["exact", "normalised", "unlocated"]
    assert [text.body[span.start : span.end] for span in spans[:2]] == ["has words", "topic 0 has"]
    assert spans[1].source_quote == "topic  0\nhas"
    assert (spans[2].start, spans[2].quote, spans[2].source_quote) == (
        None,
        "",
        "never said \N{REPLACEMENT CHARACTER} ?",
    )
    store(run, None, "there:2", [graded(pair, 0, evidence=("Passage",))], {})
    assert NuggetSpan.objects.count() == 3


def test_texts_of_the_same_words_have_the_same_spans(run):
    pair = pairs_of(run)[0]
    text = Text.objects.get(pk=pair.text_id)
    twin = add_text(text.topic, "twin", f" \n {text.body}")
    reply = graded(pair, evidence=("has words", "made up"))
    store(run, None, WORKER, [reply], {(pair.text_id, pair.question_id): [twin.pk]})
    later = add_text(text.topic, "later", f"\t{text.body} ")
    store_copies(run, WORKER, [(Attempt.objects.get(text=text).pk, later.pk)])
    for each_text in (text, twin, later):
        spans = NuggetSpan.objects.filter(rating__text=each_text).order_by("position")
        assert [(s.located, s.quote, s.source_quote) for s in spans] == [
            ("exact", "has words", ""),
            ("unlocated", "", "made up"),
        ]
        assert each_text.body[spans[0].start : spans[0].end] == "has words"
    store_copies(run, WORKER, [(Attempt.objects.get(text=text).pk, later.pk)])
    assert NuggetSpan.objects.count() == 6


def test_evidence_of_a_failure_is_no_span(run):
    pair = pairs_of(run)[0]
    store(run, None, WORKER, [failed(pair, evidence=("words",))], {})
    assert not NuggetSpan.objects.exists()


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "x" * 2 * RAW_LIMIT, "\U0001f600", ""])
def test_any_words_of_a_reply_can_be_kept(run, text):
    pair = pairs_of(run)[0]
    store(run, None, WORKER, [graded(pair, raw=text, detail=text)], {})
    attempt = Attempt.objects.get()
    assert len(attempt.raw) == min(len(text), RAW_LIMIT)
    assert len(attempt.detail) == min(len(text), 500)


def test_grade_that_cannot_be_is_refused_loudly_and_nothing_is_stored(run):
    pairs = pairs_of(run)
    with pytest.raises(IntegrityError):
        store(run, None, WORKER, [graded(pairs[0]), graded(pairs[1], -1)], {})


def test_all_kinds_of_failure_can_be_stored(run):
    replies = [
        Reply(pair, State.ERROR, failure=failure)
        for pair, failure in zip(pairs_of(run), Failure, strict=False)
    ]
    assert len(replies) == len(Failure)
    store(run, None, WORKER, replies, {})
    failures = set(Attempt.objects.values_list("failure", flat=True))
    assert failures == {failure.value for failure in Failure}


def test_probabilities_are_json_of_numbers(run):
    pair = pairs_of(run)[0]
    store(run, None, WORKER, [graded(pair, probabilities=(1.0, None))], {})
    assert json.dumps(Attempt.objects.get().probabilities) == "[1.0, null]"


def test_migration_marks_the_ratings_of_judges_of_this_site(run):
    first, second = pairs_of(run)[:2]
    store(run, None, WORKER, [graded(first)], {})
    of_file = Rating.objects.create(
        rater=run.judge.rater,
        rubric=run.judge.rubric,
        text_id=second.text_id,
        question_id=second.question_id,
        grade=1,
    )
    Rating.objects.update(exposure=Exposure.UNKNOWN)
    migration = import_module("judging.migrations.0005_judge_family")
    migration.expose_ratings(apps, SimpleNamespace(connection=connection))
    exposures = dict(Rating.objects.values_list("question", "exposure"))
    assert exposures[first.question_id] == Exposure.NONE
    assert exposures[of_file.question_id] == Exposure.UNKNOWN
