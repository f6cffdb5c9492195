"""Our writers.jsonl: full definitions of the writers in written.jsonl."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

from pydantic import Field

from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import NonEmptyText, Row, StoredText
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset
from building.models import Writer
from building.writing.tasks import TASKS
from judging.formats.judges import SamplingRow
from judging.llm.sampling import Sampling

_CAME_LATER = ("template_hash", "adapter", "adapter_hash")


class WriterRow(Row):
    writer: Annotated[StoredText, Field(pattern=r"^[-a-zA-Z0-9_]{1,120}$")]
    task: StoredText
    backend: StoredText
    model: Annotated[NonEmptyText, Field(max_length=250)]
    revision: Annotated[StoredText, Field(max_length=250)]
    system: StoredText
    prompt: StoredText
    template_hash: Annotated[StoredText, Field(max_length=64)] = ""
    adapter: Annotated[StoredText, Field(max_length=250)] = ""
    adapter_hash: Annotated[StoredText, Field(max_length=64)] = ""
    sampling: SamplingRow
    fingerprint: StoredText


def read(target: Target, source: Source) -> None:
    """Import writers; an identical writer is unchanged, another one of the same name an error."""
    summary = target.summary.file(source.name)
    for line, row in rows(target, source, WriterRow):
        fields = row.model_dump(exclude={"writer", "fingerprint"})
        writer = Writer(slug=row.writer, **fields)
        existing = Writer.objects.filter(slug=row.writer).first()
        if row.task not in TASKS:
            target.problem(source, line, "task", f"is none of {', '.join(TASKS)}")
        elif row.backend not in Writer.Backend.values:
            backends = ", ".join(Writer.Backend.values)
            target.problem(source, line, "backend", f"is none of {backends}")
        elif writer.spec.fingerprint != row.fingerprint:
            target.problem(source, line, "fingerprint", "is not that of this writer")
        elif existing and existing.fingerprint != row.fingerprint:
            target.problem(source, line, "writer", f"{row.writer} is another writer here")
        elif existing:
            summary.unchanged += 1
        elif twin := Writer.objects.filter(fingerprint=row.fingerprint).first():
            target.problem(source, line, "writer", f"this writer is called {twin} here")
        else:
            writer.save()
            summary.created += 1
            target.summary.created["writers"] += 1


def lines(dataset: Dataset) -> Iterator[str]:
    """Yield the writers with reviewed outputs, by name."""
    wrote = Writer.objects.filter(
        writings__orders__drafts__products__decided__isnull=False, writings__dataset=dataset
    )
    for writer in wrote.order_by(by_code_point("slug")).distinct():
        sampling = asdict(Sampling(**writer.sampling))
        yield json_line(
            {
                "writer": writer.slug,
                "task": writer.task,
                "backend": writer.backend,
                "model": writer.model,
                "revision": writer.revision,
                "system": writer.system,
                "prompt": writer.prompt,
                # Only where there is one: files were written before there were these.
                **{name: value for name in _CAME_LATER if (value := getattr(writer, name))},
                "sampling": json.loads(json.dumps(sampling, sort_keys=True)),
                "fingerprint": writer.fingerprint,
            }
        )
