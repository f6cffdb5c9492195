"""The topics of a dataset with their questions, in memory: what every line of a file refers to."""

from dataclasses import dataclass, field

from annotation.models import Dataset, SubQuestion, Topic


@dataclass(slots=True)
class KnownQuestion:
    pk: int
    position: int
    body: str
    filtered: bool


@dataclass(slots=True)
class KnownTopic:
    pk: int
    name: str
    request: str
    questions: list[KnownQuestion] = field(default_factory=list)


def topics_of(dataset: Dataset) -> dict[str, KnownTopic]:
    """The topics by their names, in their order."""
    topics = {
        pk: KnownTopic(pk, name, request)
        for pk, name, request in Topic.objects.filter(dataset=dataset)
        .order_by("position", "pk")
        .values_list("pk", "name", "request")
    }
    questions = SubQuestion.objects.filter(topic__dataset=dataset).order_by("position")
    for topic, pk, position, body, because in questions.values_list(
        "topic_id", "pk", "position", "body", "filtered_because"
    ):
        topics[topic].questions.append(KnownQuestion(pk, position, body, bool(because)))
    return {topic.name: topic for topic in topics.values()}
