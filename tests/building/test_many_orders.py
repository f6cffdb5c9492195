"""Plan for many documents: its orders, and a constant number of queries."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Dataset, Document, Text, Topic
from building.engine import sources, writings
from building.engine.choosing import make_writer
from building.engine.generation_spec import GenerationSpec
from building.models import Order
from building.writing.tasks import TASKS
from judging.execution.states import RunStateError
from judging.llm.messages import prompt_hash

SERVER = "http://127.0.0.1:9/v1"


@pytest.fixture
def writer(db):
    return make_writer("w", task="passages", backend="openai", model="tiny")


@pytest.fixture
def dataset(db):
    """Two topics, the second one first in their order, with two documents and one."""
    dataset = Dataset.objects.create(slug="d", title="D")
    for position, (name, bodies) in enumerate([("late", ["one", "two {n}"]), ("early", ["three"])]):
        topic = Topic.objects.create(
            dataset=dataset, name=name, request="Which?", position=9 - position
        )
        for number, body in enumerate(bodies):
            Document.objects.create(
                dataset=dataset, topic=topic, name=f"{name}:{number}", body=body
            )
    return dataset


def document(name):
    return Document.objects.get(name=name)


def test_documents_are_orders_in_topic_order(writer, dataset) -> None:
    run = writings.start(writer, dataset, GenerationSpec(n=2, samples=2), endpoint=SERVER)
    orders = list(run.orders.order_by("number"))
    assert [(order.number, order.document.name, order.sample) for order in orders] == [
        *((1, "early:0", 0), (2, "early:0", 1), (3, "late:0", 0)),
        *((4, "late:0", 1), (5, "late:1", 0), (6, "late:1", 1)),
    ]
    for order in orders:
        assert (order.topic, order.writer, order.inputs) == (order.document.topic, writer, {"n": 2})
        assert (order.state, order.owner, order.expires) == ("open", "", None)
        assert (order.failure, order.missing, order.tries_left, order.n_left_out) == ("", 0, 2, 0)
        source = sources.source_of(order.topic, order.document, order.inputs)
        assert order.messages_hash == prompt_hash(writings.messages_of(writer, source))
    assert run.n_planned == 6


def test_documents_of_other_topics_or_with_passages_are_left_out(writer, dataset) -> None:
    first = document("late:1")
    Text.objects.create(
        dataset=dataset,
        topic=first.topic,
        kind=Text.Kind.PASSAGE,
        name="late:1#0",
        body="two",
        document=first,
    )
    plan = writings.plan(writer, dataset, GenerationSpec(topics=("late",)))
    assert [row.document_id for row in plan.orders] == [document("late:0").pk]
    assert dict(plan.left_out) == {"its passages are there": 1}


def test_earlier_orders_are_not_planned_again(writer, dataset) -> None:
    first = writings.start(writer, dataset, GenerationSpec(topics=("early",)), endpoint=SERVER)
    first.orders.update(state="done")
    writings.finish_if_done(first)
    run = writings.start(writer, dataset, GenerationSpec(), endpoint=SERVER)
    assert (run.n_planned, run.n_there_before) == (2, 1)
    assert set(run.orders.values_list("document__name", flat=True)) == {"late:0", "late:1"}


def test_more_documents_are_no_more_queries(writer, dataset) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            writings.plan(writer, dataset, GenerationSpec())
        return len(captured)

    few = queries()
    topic = Topic.objects.get(name="early")
    for number in range(20):
        Document.objects.create(
            dataset=dataset, topic=topic, name=f"more:{number}", body=f"more {number}"
        )
    assert queries() == few


def test_order_that_is_there_already_is_not_passed_over(writer, dataset, monkeypatch) -> None:
    writings.start(writer, dataset, GenerationSpec(), endpoint=SERVER).orders.update(state="done")
    writings.finish_if_done(writer.writings.get())
    # As for a process that looked before the other one had written.
    monkeypatch.setattr(writings, "_ordered_before", lambda writer, dataset: set())
    with pytest.raises(RunStateError, match="try again"):
        writings.start(writer, dataset, GenerationSpec(), endpoint=SERVER)
    assert writer.writings.count() == 1
    assert Order.objects.count() == 3


def test_prompt_of_ours_is_read_once() -> None:
    assert TASKS["passages"].wording is TASKS["passages"].wording
