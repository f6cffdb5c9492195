"""topics.jsonl: {"id", "request", "group"}, in display order.

A topic without a request or a group gets it; an empty value in a line contradicts nothing.
"""

from collections.abc import Iterator

from annotation.formats.batches import batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import TopicRow
from annotation.formats.summary import quoted_value
from annotation.formats.target import KnownTopic, Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Text, Topic

_BATCH = 1000
_FIELDS = ("request", "group")


def read(target: Target, source: Source) -> None:
    summary = target.summary.file(source.name)
    first_new = len(target.topics)
    new: dict[str, KnownTopic] = {}
    filled: dict[str, KnownTopic] = {}
    for line, row in rows(target, source, TopicRow):
        known_topic = target.topics.get(row.id) or new.get(row.id)
        if known_topic is None:
            new[row.id] = KnownTopic(0, row.id, row.request, row.group)
        elif (field := _contradicted_field(known_topic, row)) is not None:
            stored = quoted_value(getattr(known_topic, field))
            message = f"topic {row.id} is there already with the {field} {stored}"
            refuses = row.id not in target.described_topics
            target.problem(source, line, field, message, refuses=refuses)
            continue
        elif _fill(known_topic, row) and known_topic.pk:
            filled[known_topic.name] = known_topic
        else:
            summary.unchanged += 1
        target.described_topics.add(row.id)
    _store_filled(filled)
    summary.filled += len(filled)
    last = Topic.objects.filter(dataset=target.dataset).order_by("-position").first()
    start = last.position + 1 if last else 0
    for batch in batches(enumerate(new.values(), start), _BATCH):
        created = Topic.objects.bulk_create(
            Topic(
                dataset=target.dataset,
                name=new_topic.name,
                request=new_topic.request,
                group=new_topic.group,
                position=position,
            )
            for position, new_topic in batch
        )
        for new_topic in created:
            target.topics[new_topic.name] = new[new_topic.name]
            new[new_topic.name].pk = new_topic.pk
        summary.created += len(created)
        target.summary.created["topics"] += len(created)
    if len(target.topics) > first_new:
        _adopt_passages(target)


def _contradicted_field(topic: KnownTopic, row: TopicRow) -> str | None:
    """Return the field in which the line contradicts the topic; an empty value never does."""
    return next(
        (
            field
            for field in _FIELDS
            if getattr(row, field) and getattr(topic, field) not in ("", getattr(row, field))
        ),
        None,
    )


def _fill(topic: KnownTopic, row: TopicRow) -> bool:
    """Fill the topic's empty fields from the line; return whether there were any."""
    lacking = [field for field in _FIELDS if getattr(row, field) and not getattr(topic, field)]
    for field in lacking:
        setattr(topic, field, getattr(row, field))
    return bool(lacking)


def _store_filled(filled: dict[str, KnownTopic]) -> None:
    topics = [
        Topic(pk=topic.pk, request=topic.request, group=topic.group) for topic in filled.values()
    ]
    Topic.objects.bulk_update(topics, _FIELDS, batch_size=_BATCH)


def _adopt_passages(target: Target) -> None:
    """Assign passages that came before their topic to it, as if they had come after."""
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
    """Yield all topics; the group only where there is one, as in files without groups."""
    topics = Topic.objects.filter(dataset=dataset).order_by("position", by_code_point("name"))
    for name, request, group in topics.values_list("name", "request", "group"):
        yield json_line({"id": name, "request": request} | ({"group": group} if group else {}))
