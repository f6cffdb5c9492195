"""topics.jsonl: {"id", "request", "group"}, in the order that pages show them in.

A topic without a request or a group gets it; what a line leaves empty says nothing against what is there.
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
_FIELDS = ("request", "group")


def read(target: Target, source: Source) -> None:
    summary = target.summary.file(source.name)
    first_new = len(target.topics)
    new: dict[str, KnownTopic] = {}
    filled: dict[str, KnownTopic] = {}
    for line, row in rows(target, source, TopicRow):
        known = target.topics.get(row.id) or new.get(row.id)
        if known is None:
            new[row.id] = KnownTopic(0, row.id, row.request, row.group)
        elif (other := _other(known, row)) is not None:
            message = (
                f"topic {row.id} is there already with the {other} {shown(getattr(known, other))}"
            )
            target.problem(source, line, other, message)
        elif _fill(known, row) and known.pk:
            filled[known.name] = known
        else:
            summary.unchanged += 1
    _store_filled(filled)
    summary.filled += len(filled)
    last = Topic.objects.filter(dataset=target.dataset).order_by("-position").first()
    start = last.position + 1 if last else 0
    for batch in batches(enumerate(new.values(), start), _BATCH):
        made = Topic.objects.bulk_create(
            Topic(
                dataset=target.dataset,
                name=topic.name,
                request=topic.request,
                group=topic.group,
                position=position,
            )
            for position, topic in batch
        )
        for topic in made:
            target.topics[topic.name] = new[topic.name]
            new[topic.name].pk = topic.pk
        summary.created += len(made)
        target.summary.created["topics"] += len(made)
    if len(target.topics) > first_new:
        _adopt_passages(target)


def _other(known: KnownTopic, row: TopicRow) -> str | None:
    """The field that the line says otherwise than it is known; what either leaves empty is none."""
    return next(
        (
            field
            for field in _FIELDS
            if getattr(row, field) and getattr(known, field) not in ("", getattr(row, field))
        ),
        None,
    )


def _fill(known: KnownTopic, row: TopicRow) -> bool:
    """Take from the line what the topic lacks; whether there was anything."""
    lacking = [field for field in _FIELDS if getattr(row, field) and not getattr(known, field)]
    for field in lacking:
        setattr(known, field, getattr(row, field))
    return bool(lacking)


def _store_filled(filled: dict[str, KnownTopic]) -> None:
    topics = [Topic(pk=each.pk, request=each.request, group=each.group) for each in filled.values()]
    Topic.objects.bulk_update(topics, _FIELDS, batch_size=_BATCH)


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
    """Every topic; its group where it has one, so that files without are as they were."""
    topics = Topic.objects.filter(dataset=dataset).order_by("position", by_code_point("name"))
    for name, request, group in topics.values_list("name", "request", "group"):
        yield json_line({"id": name, "request": request} | ({"group": group} if group else {}))
