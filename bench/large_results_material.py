"""Seed of bench.large_results: a study of random texts and grades."""

import json
import random
import time
from collections.abc import Iterator
from itertools import count

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max, Min
from django.test import Client

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic, User
from annotation.models.corpus import digest
from annotation.models.projects import join_main
from bench.material import sentence
from evaluation.models import RankedText, RetrievalRun

SLUG = "large"
QUESTIONS, PASSAGES, RANKED = 8, 16, 10  # of a topic; of a topic; of those by a run
TWICE = 10  # systems whose reports a second person has graded
PEOPLE_EACH = 5  # people of a crowd who grade each report
USERNAME = "rosa"


@transaction.atomic
def make(topics: int, systems: int, people: int = 0) -> None:
    """Create reports, passages, retrieval runs and ratings of a large study.

    A judge grades all texts, a person all reports. With 50 systems a topic has 1,008 ratings. With a
    number of `people` five of them grade each report instead: a topic has 2,528 ratings.
    """
    draw = random.Random(7)
    dataset = Dataset.objects.create(slug=SLUG, title="A large study")
    questions = _topics(draw, dataset, topics)
    texts = _texts(draw, dataset, list(questions), systems)
    _runs(draw, dataset, texts, systems)
    _ratings(draw, dataset, questions, texts, people)
    _session()
    if connection.vendor == "postgresql":  # as the server does by itself: its plans depend on it
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def _topics(draw: random.Random, dataset: Dataset, n: int) -> dict[Topic, list[SubQuestion]]:
    topics = Topic.objects.bulk_create(
        Topic(
            dataset=dataset, name=f"topic-{position}", request=sentence(draw, 12), position=position
        )
        for position in range(n)
    )
    questions = SubQuestion.objects.bulk_create(
        SubQuestion(topic=topic, position=position, body=f"{sentence(draw, 8)}?")
        for topic in topics
        for position in range(QUESTIONS)
    )
    return {
        topic: questions[first : first + QUESTIONS]
        for topic, first in zip(topics, range(0, len(questions), QUESTIONS), strict=True)
    }


def _texts(draw: random.Random, dataset: Dataset, topics: list[Topic], systems: int) -> list[Text]:
    def text(topic: Topic, kind: str, name: str, system: str, length: int) -> Text:
        body = sentence(draw, length)
        fields = {"dataset": dataset, "topic": topic, "kind": kind, "name": name, "system": system}
        return Text(**fields, body=body, sha256=digest(body))

    return Text.objects.bulk_create(
        instance
        for topic in topics
        for instance in (
            *(text(topic, "report", topic.name, f"system-{n:02}", 60) for n in range(systems)),
            *(text(topic, "passage", f"{topic.name}:0#{n}", "", 40) for n in range(PASSAGES)),
        )
    )


def _runs(draw: random.Random, dataset: Dataset, texts: list[Text], runs: int) -> None:
    passages: dict[int, list[Text]] = {}
    for text in texts:
        if text.kind == "passage":
            passages.setdefault(text.topic_id, []).append(text)
    for number in range(runs):
        run = RetrievalRun.objects.create(dataset=dataset, name=f"retriever-{number:02}")
        RankedText.objects.bulk_create(
            RankedText(run=run, topic_id=topic, text=text, rank=rank, score=float(RANKED - rank))
            for topic, candidates in passages.items()
            for rank, text in enumerate(draw.sample(candidates, RANKED), start=1)
        )


def _ratings(
    draw: random.Random,
    dataset: Dataset,
    topic_questions: dict[Topic, list[SubQuestion]],
    texts: list[Text],
    people: int,
) -> None:
    questions = {topic.pk: of_it for topic, of_it in topic_questions.items()}
    rubric = Rubric.objects.get(slug="graded").pk
    grades = [
        (text, question, draw.choices(range(6), (5, 2, 2, 2, 2, 3))[0])
        for text in texts
        for question in questions[text.topic_id]
    ]
    twice = {f"system-{n:02}" for n in range(TWICE)}
    raters = [
        ("judge", "model", 1.0, lambda text: True),
        ("ann", "human", 0.7, lambda text: text.kind == "report"),
        ("ben", "human", 0.7, lambda text: text.system in twice),
    ]
    if people:
        chosen = {
            text.pk: set(draw.sample(range(people), PEOPLE_EACH))
            for text in texts
            if text.kind == "report"
        }
        raters[1:] = [
            (f"person-{n:02}", "human", 0.7, lambda text, n=n: n in chosen.get(text.pk, ()))
            for n in range(people)
        ]
    for name, kind, share, of_whom in raters:
        rater = Rater.objects.create(dataset=dataset, name=name, kind=kind)
        Rating.objects.add_many(
            rater.pk,
            rubric,
            [
                (text.pk, question.pk, grade if draw.random() < share else draw.randrange(6))
                for text, question, grade in grades
                if of_whom(text)
            ],
        )


def _session() -> None:
    """Log in an admin, and write the session key beside the database."""
    user = User.objects.create_user(USERNAME, role=User.Role.ADMIN)
    join_main(user)
    client = Client()
    client.force_login(user)
    key = client.cookies["sessionid"].value
    (settings.VAR_DIR / "session.json").write_text(json.dumps(key))


def record_grades(per_second: float, seconds: float) -> Iterator[float]:
    """Change grades of people, so many a second; yield the milliseconds of each write."""
    draw = random.Random(11)
    people = Rating.objects.filter(rater__kind="human", rater__dataset__slug=SLUG)
    first, last = people.aggregate(first=Min("pk"), last=Max("pk")).values()
    # Looked up before: among a million ratings that takes longer than a write.
    ratings = list(people.filter(pk__in=[draw.randint(first, last) for _ in range(2000)]))
    start = time.monotonic()
    for number in count():
        time.sleep(max(0.0, start + number / per_second - time.monotonic()))
        if time.monotonic() > start + seconds:
            break
        rating = ratings[number % len(ratings)]
        rating.grade = (rating.grade + 1) % 6
        began = time.perf_counter()
        with transaction.atomic():
            Rating.objects.record(
                rater=rating.rater_id,
                rubric=rating.rubric_id,
                text=rating.text_id,
                question=rating.question_id,
                grade=rating.grade,
            )
        yield 1000 * (time.perf_counter() - began)


def addresses() -> dict[str, str]:
    """Return the address of a page of each kind, by its label in the table."""
    dataset = Dataset.objects.get(slug=SLUG)
    topic = dataset.topics.order_by("position").first()
    report = topic.texts.filter(kind="report").order_by("pk").first()
    question = topic.questions.order_by("position").first()
    judge = dataset.raters.get(name="judge")
    start = f"/datasets/{SLUG}/"
    return {
        "home": "/",
        "dataset": start,
        "agreement": f"{start}agreement/?rubric=graded",
        "agreement with a judge": f"{start}agreement/with/{judge.pk}/?rubric=graded",
        "disagreements": f"{start}disagreements/?rubric=graded",
        "a pair": f"{start}pairs/{report.pk}/{question.pk}/?rubric=graded",
        "rating matrices": f"{start}matrix/",
        "a rating matrix": f"{start}matrix/{topic.pk}/",
        "retrieval": f"{start}systems/?source=judge",
        "a run": f"{start}systems/runs/retriever-00/?source=judge",
        "two runs": f"{start}systems/compare/?source=judge",
        "judges of retrieval": f"{start}systems/judges/?source=judge",
        "discriminative power": f"{start}systems/discriminative/?source=judge",
        "recall of what was seen": f"{start}evidence-recall/?source=judge",
        "by type": f"{start}question-types/",
        "mixed model": f"{start}mixed-model/?rubric=graded",
        "calibration": f"{start}calibration/?rubric=graded",
        "label next": f"{start}label-next/?rubric=graded",
        "paper": f"{start}paper/?source=judge",
        "grid": f"{start}reports-against-references/",
        "exports": f"{start}exports/",
        "contents": f"{start}contents/",
        "history": f"{start}history/",
        "versions": f"{start}text-history/",
        "words of a text": f"{start}text-history/text/{report.pk}/",
        "search": f"{start}search/?q=harbour+ferry",
        "building": f"{start}building/",
        "reports": f"{start}building/reports/",
        "filter": f"{start}building/filter/",
    }
