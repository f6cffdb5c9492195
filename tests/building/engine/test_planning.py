"""Plan of a generation run: existing items, impossible ones, and the reasons."""

import json

import pytest

from annotation.errors import UserError
from annotation.models import Document, SubQuestion, Text, Topic
from building.engine import writings
from building.engine.choosing import baseline_of
from building.engine.generation_spec import GenerationSpec, SpecError
from building.models import Order, Writing
from evaluation.models import RankedText
from tests.toolbox.generation_runs import (
    a_writer,
    add_document,
    add_run,
    make_collection,
    started,
)

pytestmark = pytest.mark.django_db


def planned(task, dataset, **spec):
    return writings.plan(a_writer(task), dataset, GenerationSpec(**spec))


def topics(plan):
    return [Topic.objects.get(pk=order.topic_id).name for order in plan.orders]


def inputs(plan):
    return [json.loads(order.inputs) for order in plan.orders]


def test_plan_writes_nothing_and_says_what_it_takes():
    plan = planned("questions", make_collection())
    assert topics(plan) == ["a", "b"]
    assert not Writing.objects.exists()
    assert not Order.objects.exists()
    # Two messages of some 790 characters, and at most 1,000 tokens to each.
    assert plan.prompt_tokens == 2 * (len(plan.first[0]["content"]) // 4)
    assert plan.completion_tokens == 2_000
    assert plan.in_words().startswith("2 tasks. About ")
    assert plan.first[0]["content"].startswith("a\nDocument 0.")


def test_baseline_takes_no_tokens():
    plan = writings.plan(baseline_of("questions"), make_collection(), GenerationSpec())
    assert plan.in_words() == "2 tasks."


def test_passages_are_of_each_document_that_has_none():
    dataset = make_collection(n=2)
    of_a = dataset.topics.get(name="a").documents.first()
    Text.objects.create(dataset=dataset, kind="passage", name="p", body="x", document=of_a)
    plan = planned("passages", dataset)
    assert [Document.objects.get(pk=order.document_id).name for order in plan.orders] == [
        "a:1",
        "b:0",
        "b:1",
    ]
    assert plan.left_out == {"its passages are there": 1}


def test_documents_of_the_same_words_are_written_about_once():
    dataset = make_collection("a")
    topic = dataset.topics.get()
    add_document(topic, 1, topic.documents.get().body)
    writer = a_writer("passages")
    run = started(writer, dataset)
    assert run.n_planned == 1
    plan = writings.plan(a_writer("passages", "other", revision="2"), dataset, GenerationSpec())
    assert plan.left_out == {"an identical task exists": 1}


@pytest.mark.parametrize("task", ["passages", "request", "questions"])
@pytest.mark.parametrize("body", [" \n\t ", "\u2028\u3000"])
def test_document_without_words_is_left_out(task, body):
    dataset = make_collection("a", n=0)
    add_document(dataset.topics.get(), 0, body)
    plan = planned(task, dataset)
    assert not plan.orders
    assert sum(plan.left_out.values()) == 1
    assert "words" in plan.in_words()


@pytest.mark.parametrize("task", ["request", "questions"])
def test_topic_without_summary_and_document_is_left_out(task):
    plan = planned(task, make_collection(n=0))
    assert plan.left_out == {"it has neither a reference summary nor a document with words": 2}


def test_topic_without_documents_has_no_passages_to_write():
    assert planned("passages", make_collection(n=0)).in_words() == "No tasks."


def test_summary_comes_before_documents_and_a_request_that_is_there_is_kept():
    dataset = make_collection("a", "b")
    for name, body in (("a:report", "a\nThe summary."), ("a:more", "Another.")):
        Text.objects.create(
            dataset=dataset,
            topic=dataset.topics.get(name="a"),
            kind="reference",
            name=name,
            body=body,
        )
    dataset.topics.filter(name="b").update(request="What?")
    plan = planned("request", dataset)
    assert topics(plan) == ["a"]
    assert plan.first[0]["content"].startswith("a\nThe summary.\n\nWrite")
    assert plan.left_out == {"it has a request": 1}


def test_as_many_questions_as_are_wanting():
    dataset = make_collection("a", "b")
    for position in range(3):
        SubQuestion.objects.create(
            topic=dataset.topics.get(name="a"), position=position, body=f"Q{position}?"
        )
    plan = planned("questions", dataset, n=3)
    assert topics(plan) == ["b"]
    assert plan.left_out == {"it has 3 questions": 1}
    four = writings.plan(a_writer(slug="x", revision="x"), dataset, GenerationSpec(n=4))
    assert four.first[0]["content"].endswith("There are:\n1. Q0?\n2. Q1?\n3. Q2?\n\nWrite 1.")


def test_reports_are_from_the_top_of_a_ranking_as_far_as_it_fits():
    dataset = make_collection("a", request="What happened?")
    add_run(dataset)
    # A passage is "[n]" and 26 words: 27 words, 36 tokens by the estimate.
    for tokens, fits in ((35, 0), (36, 1), (71, 1), (72, 2), (2_500, 3)):
        plan = writings.plan(
            a_writer("report", f"w-{tokens}", revision=str(tokens)),
            dataset,
            GenerationSpec(run="bm25", context_tokens=tokens),
        )
        assert [len(entry["passages"]) for entry in inputs(plan)] == [fits][:fits]
        assert plan.left_out == ({} if fits else {"no passage of bm25 fits its context": 1})
        assert [entry.n_left_out for entry in plan.orders] == [3 - fits][:fits]


def test_topic_is_as_long_as_what_it_is_matched_to_and_left_out_without():
    dataset = make_collection("a", "b", request="What happened?")
    add_run(dataset)
    needed = add_run(dataset, "required", 2)
    RankedText.objects.filter(run=needed, topic__name="b").delete()
    spec = {"run": "bm25", "required": "required"}
    plan = planned("report", dataset, length="match:required", **spec)
    assert topics(plan) == ["a"]
    assert inputs(plan)[0]["words"] == 52
    assert plan.first[0]["content"].endswith("About 52 words.")
    assert list(plan.left_out) == [
        "match:required takes the length of the topic's required texts, and there is no word of them"
    ]
    by_k = writings.plan(
        a_writer("report", "k", revision="k"), dataset, GenerationSpec(k="required", **spec)
    )
    assert [len(order_inputs["passages"]) for order_inputs in inputs(by_k)] == [2]


def test_topic_without_a_request_gets_no_report():
    dataset = make_collection()
    assert planned("direct", dataset).left_out == {"it has no request yet": 2}


@pytest.mark.parametrize(
    ("task", "spec", "message"),
    [
        ("questions", {"samples": 0}, "The number of samples must be from 1 to 100"),
        ("questions", {"samples": 101}, "The number of samples must be from 1 to 100"),
        ("questions", {"n": -1}, "At most 100"),
        ("questions", {"n": 101}, "At most 100"),
        ("questions", {"length": "words:100"}, "Only reports have a length"),
        ("report", {}, "choose one"),
        ("report", {"run": "bm25", "length": "300"}, '"300" is no length'),
        ("report", {"run": "bm25", "length": "match:required"}, "needs the run with"),
        ("report", {"run": "bm25", "context_tokens": 0}, "at least 1 token"),
        ("report", {"run": "bm25", "k": "required"}, "Choose the run with"),
        ("report", {"run": "bm25", "k": "0"}, "a number from 1"),
        ("report", {"run": "bm25", "k": "²"}, "a number from 1"),
        ("report", {"run": "bm25", "k": "9" * 5_000}, "a number from 1"),
        ("report", {"run": "b" * 10}, "There is no run"),
        ("report", {"run": "bm25", "required": "x"}, "There is no run"),
        ("questions", {"topics": ("a", "z")}, "There is no topic “z”. There are: a, b."),
    ],
)
def test_invalid_spec_is_reported(task, spec, message):
    dataset = make_collection(request="What?")
    add_run(dataset)
    with pytest.raises(UserError) as refused:
        planned(task, dataset, **spec)
    assert message in str(refused.value)


def test_names_of_systems_fit_their_column():
    """A report's system is its writer and its run: 120 characters at most."""
    dataset = make_collection("a", request="What?")
    add_run(dataset, "r" * 80)
    with pytest.raises(SpecError, match="longer than 120 characters"):
        writings.plan(a_writer("report", "w" * 40), dataset, GenerationSpec(run="r" * 80))
