"""Parts of bench.building, each run in a separate process with Django set up."""

import json
import random
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import Model

from annotation.models import Dataset, Document, Text, Topic
from annotation.models.corpus import digest
from bench.writer_client import CONTENT, DOCUMENT_TEXT, timed
from building.engine import writings
from building.engine.choosing import make_writer
from building.engine.fill import pump
from building.engine.generation_spec import GenerationSpec
from building.models import Draft, Order, Product, Writer, Writing
from building.run_creation import _store
from building.steps.recipe_context import Ranking
from building.writers.openai_writer import OpenAIWriter
from evaluation.models import RankedText, RetrievalRun
from judging.llm.server import Address

ROUNDS = 5
DOCUMENTS_OF_A_TOPIC = 100
STORED = 50, 100  # topics, and ranks of each


def storing(rounds: int = ROUNDS) -> dict[str, float]:
    """Return median seconds for storing 50 topics to rank 100, ours and bare, in turn."""
    call_command("migrate", verbosity=0)
    n_topics, n_ranks = STORED
    dataset, topics = _topics(n_topics)
    texts = _texts(dataset, topics, n_ranks)
    timings: dict[str, list[float]] = {"here": [], "bare": []}
    for turn in range(rounds + 1):
        rankings = {
            topic: Ranking([(text, 9.0 - rank / 64) for rank, text in enumerate(texts[topic.pk])])
            for topic in topics
        }
        origin = {"steps": [], "topics": n_topics}
        fields = {"dataset": dataset, "recipe": "bm25 % 100", "origin": origin}
        run = RetrievalRun(name=f"here-{turn}", fingerprint=digest(f"here-{turn}"), **fields)
        timings["here"].append(timed(_store, run, rankings, lambda run: None)[0])
        bare = RetrievalRun(name=f"bare-{turn}", fingerprint=digest(f"bare-{turn}"), **fields)
        timings["bare"].append(timed(_bare_run, bare, rankings)[0])
        rows = [
            list(
                RankedText.objects.filter(run=saved_run).values_list(
                    "topic", "text", "rank", "score"
                )
            )
            for saved_run in (run, bare)
        ]
        assert rows[0] == rows[1]
        assert len(rows[0]) == n_topics * n_ranks
    return {name: median(values[1:]) for name, values in timings.items()}  # the first warms up


@transaction.atomic
def _bare_run(run: RetrievalRun, rankings: dict[Topic, Ranking]) -> None:
    run.save()
    _insert(
        RankedText,
        ("run_id", "topic_id", "text_id", "rank", "score"),
        [
            (run.pk, topic.pk, text, rank, score)
            for topic, ranking in rankings.items()
            for rank, (text, score) in enumerate(ranking.texts, 1)
        ],
    )


def planning(n: int, rounds: int = 3) -> dict[str, float]:
    """Return median seconds for planning a generation run of `n` documents.

    Ours and a bare insert of the same rows, in turn.
    """
    call_command("migrate", verbosity=0)
    dataset, _ = _documents(n)
    timings: dict[str, list[float]] = {"here": [], "bare": []}
    for turn in range(rounds):
        writer = _writer(f"here-{turn}")
        plan = partial(
            writings.start, writer, dataset, GenerationSpec(), endpoint="http://127.0.0.1:9/v1"
        )
        seconds, _, run = timed(plan)
        assert run.n_planned == run.orders.count() == n
        timings["here"].append(seconds)
        columns = [field.attname for field in Order._meta.concrete_fields if not field.primary_key]
        rows = [list(row) for row in run.orders.order_by("number").values_list(*columns)]
        bare, inputs = _writer(f"bare-{turn}"), columns.index("inputs")
        bare_run = Writing.objects.create(writer=bare, dataset=dataset, state="finished")
        for row in rows:
            row[columns.index("run_id")], row[columns.index("writer_id")] = bare_run.pk, bare.pk
            row[inputs] = json.dumps(row[inputs])
        timings["bare"].append(timed(_insert_atomically, Order, columns, rows)[0])
        assert bare_run.orders.count() == n
    return {name: median(values) for name, values in timings.items()}


def writing(url: str, n: int, concurrency: int) -> dict[str, float]:
    """Return documents a second, and CPU seconds a document, of a whole worker.

    The worker leases tasks, sends prompts, reads replies and stores passages.
    """
    call_command("migrate", verbosity=0)
    dataset, _ = _documents(n)
    run = writings.start(_writer("pumped"), dataset, GenerationSpec(), endpoint=url)
    spec = run.writer.spec
    writer = OpenAIWriter(spec, [Address(url, "secret")], concurrency=concurrency)
    seconds, cpu, _ = timed(pump, run, writer, "bench:1")
    run.refresh_from_db()
    assert run.state == "finished", run.note
    assert Draft.objects.filter(failure="").count() == n, Draft.objects.first()
    assert Product.objects.count() == CONTENT.count("<p>") * n
    return {"rate": n / seconds, "cpu": cpu / n}


def _topics(n: int) -> tuple[Dataset, list[Topic]]:
    dataset = Dataset.objects.create(slug="made", title="Made")
    topics = [
        Topic(
            dataset=dataset, name=f"topic-{position}", request="A report on it.", position=position
        )
        for position in range(n)
    ]
    return dataset, Topic.objects.bulk_create(topics)


def _texts(dataset: Dataset, topics: Sequence[Topic], per_topic: int) -> dict[int, list[int]]:
    text_ids: dict[int, list[int]] = {}
    for topic in topics:
        texts = [
            Text(
                dataset=dataset,
                topic=topic,
                kind=Text.Kind.PASSAGE,
                name=f"{topic.name}:{number}",
                body=f"{number}",
                sha256=digest(f"{number}"),
            )
            for number in range(per_topic)
        ]
        text_ids[topic.pk] = [text.pk for text in Text.objects.bulk_create(texts)]
    return text_ids


def _documents(n: int) -> tuple[Dataset, list[Topic]]:
    """Create `n` distinct documents of some 300 words."""
    dataset, topics = _topics(-(-n // DOCUMENTS_OF_A_TOPIC))
    rng, vocabulary = random.Random(7), DOCUMENT_TEXT.split()
    documents = []
    for number in range(n):
        body = f"{number} {' '.join(rng.choices(vocabulary, k=300))}"
        topic = topics[number // DOCUMENTS_OF_A_TOPIC]
        documents.append(
            Document(
                dataset=dataset, topic=topic, name=f"d{number}", body=body, sha256=digest(body)
            )
        )
    Document.objects.bulk_create(documents, batch_size=5_000)
    return dataset, topics


def _writer(slug: str) -> Writer:
    return make_writer(slug, task="passages", backend="openai", model="tiny", revision=slug)


@transaction.atomic
def _insert_atomically(
    model: type[Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    _insert(model, columns, rows)


def _insert(model: type[Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    quote = connection.ops.quote_name
    into = f"{quote(model._meta.db_table)} ({', '.join(map(quote, columns))})"
    placeholders = ", ".join("%s" for _ in columns)
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {into} VALUES ({placeholders})", rows)  # noqa: S608 - our names
