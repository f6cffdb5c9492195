"""Twenty short documents of ten topics, a harbour dataset, and two writers."""

import re
from dataclasses import asdict, replace
from pathlib import Path

from annotation.models import Dataset, Document, Text, Topic
from building.engine.choosing import make_writer
from building.models import Writer
from building.writing.tasks import TASKS
from tests.writer.server import MODEL

SLUG = "facts"
DOCUMENTS = Path(__file__).parent / "documents.txt"
HARBOUR = {
    "quay-0": "The harbour of Port Ellow has two basins. The old one was dug in 1840 and is three metres "
    "deep at low water, so that only fishing boats use it. The new one was opened in 1922.",
    "quay-1": "In 2024 some 310 ships came into the harbour of Port Ellow, most of them with timber and "
    "salt. The harbour office has nine people, and a pilot goes out to each ship of more than 60 metres.",
    "quay-2": "The harbour master of Port Ellow, Edith Crane, keeps the tide table that was begun in 1866. "
    "The highest tide was measured on 31 January 1953, at 6.1 metres.",
}
# Tokens of a reply: enough for what is asked of so short a document, and an end to what goes round in circles.
MOST_WRITTEN = {"passages": 200, "questions": 140}


def documents() -> list[tuple[str, str, str]]:
    """(topic, title, words) of each."""
    parts = re.split(r"^== (\w+): (.*)$", DOCUMENTS.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return [
        (topic, title, body.strip())
        for topic, title, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def seed() -> None:
    """Fill an empty database."""
    dataset = Dataset.objects.create(slug=SLUG, title="Facts of some towns")
    topics: dict[str, Topic] = {}
    for name, title, body in documents():
        if name not in topics:
            topics[name] = Topic.objects.create(dataset=dataset, name=name, position=len(topics))
        Document.objects.create(dataset=dataset, topic=topics[name], name=title, body=body)
    harbour = Topic.objects.create(
        dataset=dataset,
        name="harbour",
        request="Report on the harbour of Port Ellow, its ships and its tides.",
        position=len(topics),
    )
    for name, body in HARBOUR.items():
        Text.objects.create(dataset=dataset, topic=harbour, kind="passage", name=name, body=body)
    for name, max_tokens in MOST_WRITTEN.items():
        make_writer(
            f"{MODEL}-{name}",
            task=name,
            backend=Writer.Backend.OPENAI,
            model=MODEL,
            sampling=asdict(replace(TASKS[name].sampling, max_tokens=max_tokens)),
        )
