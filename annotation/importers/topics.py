"""topics.jsonl: {"id", "request"}, in the order that pages show them in."""

from annotation.importers.layout import Source
from annotation.importers.problems import shown
from annotation.importers.reading import batches, rows
from annotation.importers.records import TopicRow
from annotation.importers.target import KnownTopic, Target
from annotation.models import Text, Topic

_BATCH = 1000


def read(target: Target, source: Source) -> None:
    summary = target.summary.file(source.name)
    first_new = len(target.topics)
    new: dict[str, tuple[int, str]] = {}
    for line, row in rows(target, source, TopicRow):
        known = target.topics.get(row.id)
        request = known.request if known else new.get(row.id, (0, row.request))[1]
        if request != row.request:
            message = f"topic {row.id} is there already with the request {shown(request)}"
            target.problem(source, line, "request", message)
        elif known or row.id in new:
            summary.unchanged += 1
        else:
            new[row.id] = (line, row.request)
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
    orphans = Text.objects.filter(dataset=target.dataset, kind=Text.Kind.PASSAGE, topic=None)
    for batch in batches(orphans.only("pk", "name").iterator(), _BATCH):
        found = [(text, target.topic_of_passage(text.name)) for text in batch]
        for text, topic in found:
            text.topic_id = topic.pk if topic else None
        Text.objects.bulk_update([text for text, topic in found if topic], ["topic"])
