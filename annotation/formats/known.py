"""The topics of a dataset with their questions, in memory: what every line of a file refers to."""

from dataclasses import dataclass, field

from annotation.models import Dataset, SubQuestion, Topic


@dataclass(slots=True)
class KnownQuestion:
    pk: int
    position: int
    body: str
    filtered_because: str
    source_body: str = ""

    @property
    def filtered(self) -> bool:
        return bool(self.filtered_because)

    @property
    def is_null(self) -> bool:
        """Whether annotated reports have a null in its place; a question without words may stay "" there."""
        return self.filtered_because not in ("", SubQuestion.NO_WORDS)

    @property
    def as_written(self) -> str:
        """The words as their file had them, with the white space at their ends."""
        return self.source_body or self.body


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
    for topic, pk, position, body, because, source_body in questions.values_list(
        "topic_id", "pk", "position", "body", "filtered_because", "source_body"
    ):
        topics[topic].questions.append(KnownQuestion(pk, position, body, because, source_body))
    return {topic.name: topic for topic in topics.values()}
