"""topics.jsonl: {"id", "request"}, in the order that pages show them in. A topic without a request gets it.

A file of another format that has no requests, as one of nuggets, says nothing of those that are there.
"""

from collections.abc import Iterator

from annotation.formats.batches import batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import TopicRow
from annotation.formats.summary import shown
from annotation.formats.target import KnownTopic, Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Text, Topic

_BATCH = 1000


def read(target: Target, source: Source) -> None:
    summary = target.summary.file(source.name)
    first_new = len(target.topics)
    new: dict[str, tuple[int, str]] = {}
    filled: list[Topic] = []
    for line, row in rows(target, source, TopicRow):
        known = target.topics.get(row.id)
        if known and row.request and not known.request:  # made by its documents
            known.request = row.request
            filled.append(Topic(pk=known.pk, request=row.request))
            continue
        request = known.request if known else new.get(row.id, (0, row.request))[1]
        if request != row.request and (row.request or not source.again):
            message = f"topic {row.id} is there already with the request {shown(request)}"
            target.problem(source, line, "request", message)
        elif known or row.id in new:
            summary.unchanged += 1
        else:
            new[row.id] = (line, row.request)
    Topic.objects.bulk_update(filled, ["request"], batch_size=_BATCH)
    summary.filled += len(filled)
    last = Topic.objects.filter(dataset=target.dataset).order_by("-position").first()
    start = last.position + 1 if last else 0
    for batch in batches(enumerate(new.items(), start), _BATCH):
        made = Topic.objects.bulk_create(
            Topic(dataset=target.dataset, name=name, request=request, position=position)
            for position, (name, (_, request)) in batch
        )
        for topic in made:
            target.topics[topic.name] = KnownTopic(topic.pk, topic.name, topic.request)
        summary.created += len(made)
        target.summary.created["topics"] += len(made)
    if len(target.topics) > first_new:
        _adopt_passages(target)


def _adopt_passages(target: Target) -> None:
    """Give passages that came before their topic to it, as if they had come after."""
    orphans = Text.objects.filter(
        dataset=target.dataset, kind=Text.Kind.PASSAGE, topic=None, name__contains=":"
    )
    last = 0  # a piece at a time: there may be millions
    while batch := list(
        orphans.filter(pk__gt=last).order_by("pk").values_list("pk", "name")[:_BATCH]
    ):
        last = batch[-1][0]
        passages = [Text(pk=pk, topic_id=target.topic_key_of_passage(name)) for pk, name in batch]
        Text.objects.bulk_update([text for text in passages if text.topic_id], ["topic"])


def lines(dataset: Dataset) -> Iterator[str]:
    topics = Topic.objects.filter(dataset=dataset).order_by("position", by_code_point("name"))
    for name, request in topics.values_list("name", "request"):
        yield json_line({"id": name, "request": request})
