"""Study and judges of bench.judge_server, created in a process with Django set up."""

from typing import Any

from annotation.models import Dataset, Rubric, SubQuestion, Text, Topic
from annotation.models.corpus import digest
from bench.judge_vllm import QUESTIONS, make_pairs
from judging.engine.judges import make_judge

TEXTS = 50  # of a topic


def seed(slug: str, n_pairs: int, judges: dict[str, dict[str, Any]]) -> None:
    """Fill an empty database with the pairs of make_pairs, and with judges by their names."""
    rubric = Rubric.objects.get(slug="graded")
    for name, values in judges.items():
        make_judge(name, **{**values, "rubric": rubric})
    dataset = Dataset.objects.create(slug=slug, title="Bench")
    pairs = make_pairs(n_pairs)
    bodies = [pair.text for pair in pairs[::QUESTIONS]]
    for position, start in enumerate(range(0, len(bodies), TEXTS)):
        topic = Topic.objects.create(
            dataset=dataset, name=f"t-{position}", request="A report.", position=position
        )
        SubQuestion.objects.bulk_create(
            SubQuestion(topic=topic, position=number, body=pairs[number].question)
            for number in range(QUESTIONS)
        )
        Text.objects.bulk_create(
            Text(
                dataset=dataset,
                topic=topic,
                kind="passage",
                name=f"t-{position}:{number}",
                body=body,
                sha256=digest(body),
            )
            for number, body in enumerate(bodies[start : start + TEXTS], start)
        )
