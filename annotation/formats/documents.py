"""documents*.jsonl: {"id", "contents"}, sources of passages; and references.jsonl."""

from collections.abc import Iterator, Sequence

from django.db.models import Exists, OuterRef, Subquery, Value
from django.db.models.functions import Left, StrIndex

from annotation.formats.batches import batches
from annotation.formats.layout import Kind, Source
from annotation.formats.reading import rows
from annotation.formats.records import DocumentRow
from annotation.formats.storing import ImportedText, store_texts
from annotation.formats.summary import quoted_value
from annotation.formats.target import KnownTopic, Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Document, Text, Topic, digest

_BATCH = 200


def read(target: Target, source: Source) -> None:
    """Read documents, or reference summaries of topics.

    A document's topic is the part of its name before the first colon; a new topic has no request
    yet.
    """
    if source.kind is Kind.REFERENCES:
        store_texts(target, source, Text.Kind.REFERENCE, list(_references(target, source)))
        return
    for batch in batches(rows(target, source, DocumentRow), _BATCH):
        _store(target, source, batch)
    adopt_passages(target.dataset)


def adopt_passages(dataset: Dataset) -> None:
    """Link passages to documents by name: a:0#2 is from a:0.

    Passages that have a document keep it.
    """
    if not dataset.documents.exists():
        return
    before_number = Left("name", StrIndex("name", Value("#")) - 1)
    documents = Document.objects.filter(dataset=dataset, name=OuterRef("of"))
    orphans = dataset.texts.filter(kind=Text.Kind.PASSAGE, document=None, name__contains="#")
    orphans.annotate(of=before_number).filter(Exists(documents)).update(
        document=Subquery(documents.values("pk")[:1])
    )


def _references(target: Target, source: Source) -> Iterator[ImportedText]:
    for line, row in rows(target, source, DocumentRow):
        if topic := _topic(target, source, line, row.id):
            yield ImportedText(line, "contents", f"{topic.name}:report", row.contents, topic.pk)


def _store(target: Target, source: Source, batch: list[tuple[int, DocumentRow]]) -> None:
    summary = target.summary.file(source.name)
    names = {row.id for _, row in batch}
    stored = Document.objects.filter(dataset=target.dataset, name__in=names)
    hashes = dict(stored.values_list("name", "sha256"))
    new = []
    for line, row in batch:
        sha256 = digest(row.contents)
        if (stored_sha256 := hashes.setdefault(row.id, "")) == sha256:
            summary.unchanged += 1
        elif stored_sha256:
            message = f"the document {quoted_value(row.id)} is there already with other words"
            target.problem(source, line, "contents", message)
        elif topic := _topic(target, source, line, row.id.partition(":")[0]):
            hashes[row.id] = sha256
            new.append(
                Document(
                    dataset=target.dataset,
                    topic_id=topic.pk,
                    name=row.id,
                    body=row.contents,
                    sha256=sha256,
                )
            )
    Document.objects.bulk_create(new)
    summary.created += len(new)
    target.summary.created["documents"] += len(new)


def _topic(target: Target, source: Source, line: int, name: str) -> KnownTopic | None:
    """Return the topic of this name, created if missing; None, with an error, if invalid."""
    max_length = Topic._meta.get_field("name").max_length or 0
    if not 0 < len(name) <= max_length:
        message = (
            f"the name of its topic, {quoted_value(name)}, must have 1 to {max_length} characters"
        )
        target.problem(source, line, "id", message)
        return None
    if name not in target.topics:
        topic = Topic.objects.create(
            dataset=target.dataset, name=name, request="", position=len(target.topics)
        )
        target.topics[name] = KnownTopic(topic.pk, name, "")
        target.summary.created["topics"] += 1
    return target.topics[name]


def lines(dataset: Dataset) -> Iterator[str]:
    """Yield all documents, by name."""
    documents = Document.objects.filter(dataset=dataset).order_by(by_code_point("name"))
    for name, body in documents.values_list("name", "body").iterator(chunk_size=_BATCH):
        yield json_line({"id": name, "contents": body})


def references(dataset: Dataset, systems: Sequence[str]) -> Iterator[str]:
    """Yield the reference summaries that no report of these systems brings along.

    A report's line contains the summary of its topic.
    """
    reports = Text.objects.filter(
        kind=Text.Kind.REPORT, system__in=systems, topic=OuterRef("topic")
    )
    summaries = dataset.texts.filter(
        ~Exists(reports.with_body()), kind=Text.Kind.REFERENCE, topic__isnull=False
    )
    ordered = summaries.with_body().exclude(body="").order_by(by_code_point("name"))
    for topic, body in ordered.values_list("topic__name", "body").iterator(chunk_size=_BATCH):
        yield json_line({"id": topic, "contents": body})
