"""Seed data of the benchmarks, with invented words; needs Django set up."""

import json
import random
import re
from pathlib import Path

from annotation.builder import drafts, sampling
from annotation.models import Campaign, Dataset, Rubric, SubQuestion, Text, Topic, User
from annotation.models.corpus import digest
from annotation.models.projects import join_main
from annotation.participation import assigning

SYSTEMS = ("alder", "birch", "cedar")
PASSWORD = "pass-word-1"  # noqa: S105 - of everybody on the benches' own servers
# Signs that take one code point, two UTF-16 units, or belong to the sign before them.
VOCABULARY = re.findall(
    r"\S+",
    "harbour ferry slip quay timber crane ledger inspector tide café naïve 12,000 🚂 שלום weld bolt "
    "March report nobody engineers replaced cost storm night crew valve pump cleared closed",
)


def seed_campaign(slug: str, items: int, questions: int, raters_per_item: int, part: int) -> None:
    """Create an open Prolific study of reports of three systems, graded 0 to 5."""
    rng = random.Random(f"{slug} words")
    dataset = Dataset.objects.create(slug=slug, title=f"The {slug} study")
    topics = Topic.objects.bulk_create(
        Topic(
            dataset=dataset,
            name=f"topic-{position}",
            request=sentence(rng, 12),
            position=position,
        )
        for position in range(-(-items // len(SYSTEMS)))
    )
    SubQuestion.objects.bulk_create(
        SubQuestion(topic=topic, position=position, body=f"{sentence(rng, 8)}?")
        for topic in topics
        for position in range(questions)
    )
    bodies = [(topic, system) for topic in topics for system in SYSTEMS][:items]
    Text.objects.bulk_create(
        Text(
            dataset=dataset,
            topic=topic,
            kind=Text.Kind.REPORT,
            system=system,
            name=topic.name,
            body=(body := "\n\n".join(sentence(rng, 40) for _ in range(3))),
            sha256=digest(body),
        )
        for topic, system in bodies
    )
    campaign = Campaign.objects.create(
        dataset=dataset,
        rubric=Rubric.objects.get(slug="graded"),
        slug=slug,
        title=f"Study {slug}",
        platform=Campaign.Platform.PROLIFIC,
        selection={"kind": Text.Kind.REPORT},
        raters_per_item=raters_per_item,
        items_per_part=part,
        code_done="DONE1234",
    )
    texts = sampling.choose_texts(campaign)
    sampling.sample(campaign, texts)
    sampling.publish(campaign)


def sentence(rng: random.Random, length: int) -> str:
    return " ".join(rng.choices(VOCABULARY, k=length)).capitalize()


def make_people(number: int) -> None:
    """Create accounts worker0, worker1, ... and a researcher, all with one password."""
    for name, role in [
        *((f"worker{index}", User.Role.WORKER) for index in range(number)),
        ("rosa", User.Role.RESEARCHER),
    ]:
        join_main(User.objects.create_user(name, password=PASSWORD, role=role))


def import_pairs(tasks: Path, output: Path) -> None:
    """Create a study of passages with one question each, assigned to all workers.

    tasks: a JSON list of {"passage", "question"}. `output` gets a JSON object: by worker, for
    each task in order, the primary keys of assignment and question.
    """
    pairs = json.loads(tasks.read_text())
    number = Dataset.objects.count() + 1
    dataset = Dataset.objects.create(slug=f"pairs-{number}", title="Pairs")
    topics = Topic.objects.bulk_create(
        Topic(dataset=dataset, name=f"topic-{position}", request="", position=position)
        for position in range(len(pairs))
    )
    SubQuestion.objects.bulk_create(
        SubQuestion(topic=topic, position=0, body=pair["question"])
        for topic, pair in zip(topics, pairs, strict=True)
    )
    Text.objects.bulk_create(
        Text(
            dataset=dataset,
            topic=topic,
            kind=Text.Kind.PASSAGE,
            name=f"passage-{position}",
            body=pair["passage"],
            sha256=digest(pair["passage"]),
        )
        for position, (topic, pair) in enumerate(zip(topics, pairs, strict=True))
    )
    campaign = Campaign(
        dataset=dataset,
        rubric=Rubric.objects.get(slug="graded"),
        slug=dataset.slug,
        title="Pairs",
    )
    workers = User.objects.filter(role=User.Role.WORKER).order_by("id")
    raters = [assigning.rater_of(worker) for worker in workers]
    drafts.open_campaign(campaign, list(dataset.texts.order_by("topic__position")), raters)
    question_ids = dict(campaign.items.values_list("pk", "asked__question"))
    order = list(campaign.items.order_by("text__topic__position").values_list("pk", flat=True))
    lent = {
        worker.username: dict(
            worker.rater.participations.get(campaign=campaign).assignments.values_list("item", "pk")
        )
        for worker in workers
    }
    output.write_text(
        json.dumps(
            {
                username: [[mine[i], question_ids[i]] for i in order]
                for username, mine in lent.items()
            }
        )
    )
