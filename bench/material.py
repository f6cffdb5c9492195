"""What the benches put into a database, by Django and in a process of its own: invented words."""

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
WORDS = re.findall(
    r"\S+",
    "harbour ferry slip quay timber crane ledger inspector tide café naïve 12,000 🚂 שלום weld bolt "
    "March report nobody engineers replaced cost storm night crew valve pump cleared closed",
)


def seed_campaign(slug: str, items: int, questions: int, raters_per_item: int, part: int) -> None:
    """An open study for a crowd from Prolific: reports of three systems, graded 0 to 5."""
    words = random.Random(f"{slug} words")
    dataset = Dataset.objects.create(slug=slug, title=f"The {slug} study")
    topics = Topic.objects.bulk_create(
        Topic(
            dataset=dataset,
            name=f"topic-{position}",
            request=sentence(words, 12),
            position=position,
        )
        for position in range(-(-items // len(SYSTEMS)))
    )
    SubQuestion.objects.bulk_create(
        SubQuestion(topic=topic, position=position, body=f"{sentence(words, 8)}?")
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
            body=(body := "\n\n".join(sentence(words, 40) for _ in range(3))),
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
    texts = sampling.choose_texts(dataset, campaign.selection, campaign.seed)
    sampling.sample(campaign, texts)
    sampling.publish(campaign)


def sentence(words: random.Random, length: int) -> str:
    return " ".join(words.choices(WORDS, k=length)).capitalize()


def make_people(number: int) -> None:
    """Accounts worker0, worker1, ... and a researcher, all with one password."""
    for name, role in [
        *((f"worker{index}", User.Role.WORKER) for index in range(number)),
        ("rosa", User.Role.RESEARCHER),
    ]:
        join_main(User.objects.create_user(name, password=PASSWORD, role=role))


def import_pairs(tasks: Path, places: Path) -> None:
    """A study of passages with a question each, lent whole to every worker, in place of the last.

    tasks: a JSON list of {"passage", "question"}. Into `places` goes a JSON object: by worker, for
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
    asked = dict(campaign.items.values_list("pk", "asked__question"))
    order = list(campaign.items.order_by("text__topic__position").values_list("pk", flat=True))
    lent = {
        worker.username: dict(
            worker.rater.participations.get(campaign=campaign).assignments.values_list("item", "pk")
        )
        for worker in workers
    }
    places.write_text(
        json.dumps({who: [[mine[i], asked[i]] for i in order] for who, mine in lent.items()})
    )
