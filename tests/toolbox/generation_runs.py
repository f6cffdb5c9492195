"""Topics with documents, writers at a scripted server, and realistic replies."""

from dataclasses import asdict

from annotation.models import Dataset, Document, Text, Topic
from building.engine import writings
from building.engine.choosing import make_writer
from building.engine.generation_spec import GenerationSpec
from building.engine.sources import source_of
from building.engine.storing import store
from building.engine.writings import messages_of
from building.models import Draft, Product, Writer, Writing
from building.writers.base import Ask, Outcome
from building.writing.tasks import TASKS
from evaluation.models import RankedText, RetrievalRun
from tests.toolbox.document_texts import DOCUMENT, sample_text
from tests.toolbox.scripted_server import MODEL

# The scripted server knows what it is asked about by the first line: the name of the topic.
PROMPTS = {
    "passages": "{document}\n\nAt most {n} passages.",
    "request": "{document}\n\nWrite the request.",
    "questions": "{document}\n\nThere are:\n{have}\n\nWrite {n}.",
    "nuggets": "{document}\n\n{request}\n\nThere are:\n{have}\n\nWrite {n}.",
    "report": "{request}\n\n{context}\n\nAbout {words} words.",
    "direct": "{request}\n\nAbout {words} words.",
}
REQUEST = (
    "Write what happened on the ferry, who was on board, and what came of it in the end for all."
)


def make_collection(*names: str, slug: str = "built", request: str = "", n: int = 1) -> Dataset:
    """Create topics, two by default, each with `n` documents; `request` follows the name."""
    dataset = Dataset.objects.create(slug=slug, title=f"The {slug} collection")
    for position, name in enumerate(names or ("a", "b")):
        topic = Topic.objects.create(
            dataset=dataset,
            name=name,
            position=position,
            request=f"{name}\n{request}" if request else "",
        )
        for number in range(n):
            add_document(topic, number, f"{name}\nDocument {number}. {DOCUMENT}")
    return dataset


def add_document(topic: Topic, number: int, body: str) -> Document:
    name = f"{topic.name}:{number}"
    return Document.objects.create(dataset=topic.dataset, topic=topic, name=name, body=body)


def add_run(dataset: Dataset, name: str = "bm25", n: int = 3) -> RetrievalRun:
    """A run of `n` passages of 26 words for each topic, a:0#0 and so on."""
    run = RetrievalRun.objects.create(dataset=dataset, name=name)
    for topic in dataset.topics.all():
        for rank in range(1, n + 1):
            text, _ = Text.objects.get_or_create(
                dataset=dataset,
                topic=topic,
                kind="passage",
                name=f"{topic.name}:0#{rank - 1}",
                defaults={"body": sample_text(26, 100 * rank)},
            )
            RankedText.objects.create(run=run, topic=topic, text=text, rank=rank)
    return run


def a_writer(task: str = "questions", slug: str = "writer", **fields) -> Writer:
    options = {
        "backend": "openai",
        "model": MODEL,
        "prompt": PROMPTS[task],
        "sampling": asdict(TASKS[task].sampling),
        **fields,
    }
    return make_writer(slug, task=task, **options)


def started(writer: Writer, dataset: Dataset, server=None, spec=None, **options) -> Writing:
    if server:
        options["endpoint"] = server.url
    return writings.start(writer, dataset, GenerationSpec(**spec or {}), **options)


def in_tags(tag: str, *items: str) -> str:
    return "\n".join(f"<{tag}>{item}</{tag}>" for item in items)


def questions(*numbers: int) -> str:
    return in_tags("q", *(f"What did ship{n} do to harbour{n}?" for n in numbers))


def passages(n: int = 2, start: int = 0) -> str:
    return in_tags("p", *(sample_text(60, 1_000 * number + start) for number in range(n)))


def drafts(run: Writing) -> list[tuple[str, int, str]]:
    """(topic, number, failure) of each draft."""
    rows = Draft.objects.filter(order__run=run).order_by("order__number", "number")
    return list(rows.values_list("order__topic__name", "number", "failure"))


def products(run: Writing) -> list[Product]:
    rows = Product.objects.filter(draft__order__run=run)
    return list(rows.order_by("draft__order__number", "draft__number", "position"))


def prompts(server, topic: str) -> list[str]:
    """Return the prompts about a topic that the server received, in order."""
    return [body["messages"][-1]["content"] for body in server.bodies[topic]]


def store_replies(run, *replies):
    """Store these replies to the orders of a writing, one to each, without any server."""
    task = TASKS[run.writer.task]
    for order, raw in zip(run.orders.order_by("number"), replies, strict=False):
        source = source_of(order.topic, order.document, order.inputs)
        ask = Ask(order.pk, 1, task, source, messages_of(run.writer, source), 0, 1)
        store(Outcome(ask, raw=raw, finish_reason="stop"), "here:1")
    return products(run)


def run_with_replies(task, *replies, dataset=None, spec=None, slug="writer"):
    dataset = dataset or make_collection("a")
    writer = a_writer(task, slug, revision=slug)
    return store_replies(started(writer, dataset, spec=spec), *replies)
