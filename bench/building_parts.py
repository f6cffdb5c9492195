"""What bench.building measures, each in a process of its own: it needs Django set up."""

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
from bench.writer_client import CONTENT, WORDS, timed
from building.engine import writings
from building.engine.choosing import make_writer
from building.engine.fill import pump
from building.engine.wanted import Wanted
from building.making import _store
from building.models import Draft, Order, Product, Writer, Writing
from building.steps.kitchen import Ranking
from building.writers.openai_writer import OpenAIWriter
from evaluation.models import RankedText, RetrievalRun
from judging.graders.openai_server import Address

ROUNDS = 5
DOCUMENTS_OF_A_TOPIC = 100
STORED = 50, 100  # topics, and ranks of each


def storing(rounds: int = ROUNDS) -> dict[str, float]:
    """Runs of 50 topics to rank 100 a second, ours and bare, in turn."""
    call_command("migrate", verbosity=0)
    n_topics, n_ranks = STORED
    dataset, topics = _topics(n_topics)
    texts = _texts(dataset, topics, n_ranks)
    taken: dict[str, list[float]] = {"here": [], "bare": []}
    for turn in range(rounds + 1):
        rankings = {
            topic: Ranking([(text, 9.0 - rank / 64) for rank, text in enumerate(texts[topic.pk])])
            for topic in topics
        }
        origin = {"steps": [], "topics": n_topics}
        fields = {"dataset": dataset, "recipe": "bm25 % 100", "origin": origin}
        run = RetrievalRun(name=f"here-{turn}", fingerprint=digest(f"here-{turn}"), **fields)
        taken["here"].append(timed(_store, run, rankings, lambda run: None)[0])
        bare = RetrievalRun(name=f"bare-{turn}", fingerprint=digest(f"bare-{turn}"), **fields)
        taken["bare"].append(timed(_bare_run, bare, rankings)[0])
        rows = [
            list(RankedText.objects.filter(run=each).values_list("topic", "text", "rank", "score"))
            for each in (run, bare)
        ]
        assert rows[0] == rows[1]
        assert len(rows[0]) == n_topics * n_ranks
    return {name: median(values[1:]) for name, values in taken.items()}  # the first warms up


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
    """Seconds for a writing of as many documents, planned by us and its rows inserted bare, in turn."""
    call_command("migrate", verbosity=0)
    dataset, _ = _documents(n)
    taken: dict[str, list[float]] = {"here": [], "bare": []}
    for turn in range(rounds):
        writer = _writer(f"here-{turn}")
        plan = partial(writings.start, writer, dataset, Wanted(), endpoint="http://127.0.0.1:9/v1")
        seconds, _, run = timed(plan)
        assert run.n_planned == run.orders.count() == n
        taken["here"].append(seconds)
        columns = [field.attname for field in Order._meta.concrete_fields if not field.primary_key]
        rows = [list(row) for row in run.orders.order_by("number").values_list(*columns)]
        bare, inputs = _writer(f"bare-{turn}"), columns.index("inputs")
        other = Writing.objects.create(writer=bare, dataset=dataset, state="finished")
        for row in rows:
            row[columns.index("run_id")], row[columns.index("writer_id")] = other.pk, bare.pk
            row[inputs] = json.dumps(row[inputs])
        taken["bare"].append(timed(_together, Order, columns, rows)[0])
        assert other.orders.count() == n
    return {name: median(values) for name, values in taken.items()}


def writing(url: str, n: int, concurrency: int) -> dict[str, float]:
    """Documents a second of a whole worker at a writing: leases, asks, reads, stores."""
    call_command("migrate", verbosity=0)
    dataset, _ = _documents(n)
    run = writings.start(_writer("pumped"), dataset, Wanted(), endpoint=url)
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
        Topic(dataset=dataset, name=f"topic-{place}", request="A report on it.", position=place)
        for place in range(n)
    ]
    return dataset, Topic.objects.bulk_create(topics)


def _texts(dataset: Dataset, topics: Sequence[Topic], of_each: int) -> dict[int, list[int]]:
    made: dict[int, list[int]] = {}
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
            for number in range(of_each)
        ]
        made[topic.pk] = [text.pk for text in Text.objects.bulk_create(texts)]
    return made


def _documents(n: int) -> tuple[Dataset, list[Topic]]:
    """Documents of some 300 words, each another."""
    dataset, topics = _topics(-(-n // DOCUMENTS_OF_A_TOPIC))
    drawn, words = random.Random(7), WORDS.split()
    made = []
    for number in range(n):
        body = f"{number} {' '.join(drawn.choices(words, k=300))}"
        topic = topics[number // DOCUMENTS_OF_A_TOPIC]
        made.append(
            Document(
                dataset=dataset, topic=topic, name=f"d{number}", body=body, sha256=digest(body)
            )
        )
    Document.objects.bulk_create(made, batch_size=5_000)
    return dataset, topics


def _writer(slug: str) -> Writer:
    return make_writer(slug, task="passages", backend="openai", model="tiny", revision=slug)


@transaction.atomic
def _together(model: type[Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    _insert(model, columns, rows)


def _insert(model: type[Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    quote = connection.ops.quote_name
    into = f"{quote(model._meta.db_table)} ({', '.join(map(quote, columns))})"
    places = ", ".join("%s" for _ in columns)
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {into} VALUES ({places})", rows)  # noqa: S608 - our names
