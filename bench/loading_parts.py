"""Parts of bench.loading, each run in a separate process with Django set up."""

import os
import random
import statistics
import time
from collections.abc import Callable
from itertools import groupby, islice
from pathlib import Path

import pandas as pd  # noqa: F401 - as the server has loaded it
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic, User
from evaluation.data.cells import load_cells
from evaluation.data.corpus import load_corpus
from evaluation.models import RankedText, RetrievalRun
from evaluation.scoring.options import ScoringQuery
from evaluation.scoring.pools import load_pools
from evaluation.scoring.score import cached_scores

REAL = Path(
    os.environ.get(
        "CRUX_DATA", Path(__file__).resolve().parents[2] / "shared" / "data" / "crux-duc04"
    )
)
SLUG, JUDGE = "bench", "bench-judge"
QUESTIONS = 10
PASSAGES = (12, 12, 12, 13, 13)  # of the topics in turn: 12.4 a topic, 620,000 ratings
PART = 20  # the plain loop reads one topic in so many
WORDS_OF_A_PASSAGE = 90
PAGES = 7


def seed(n_topics: int) -> dict:
    """Create the study, of so many topics."""
    call_command("migrate", verbosity=0)
    draw = random.Random(7)
    dataset = Dataset.objects.create(slug=SLUG, title="Bench")
    judge = Rater.objects.create(dataset=dataset, name=JUDGE, kind="model")
    rubric = Rubric.objects.get(slug="graded")
    run = RetrievalRun.objects.create(dataset=dataset, name="first")
    topics = Topic.objects.bulk_create(
        Topic(dataset=dataset, name=f"t-{position}", request="A report.", position=position)
        for position in range(n_topics)
    )
    questions = SubQuestion.objects.bulk_create(
        SubQuestion(topic=topic, position=position, body=f"Question {position}?")
        for topic in topics
        for position in range(QUESTIONS)
    )
    body = "word " * WORDS_OF_A_PASSAGE
    texts = Text.objects.bulk_create(
        Text(
            dataset=dataset,
            topic=topic,
            kind="passage",
            name=f"{topic.name}:0#{position}",
            body=body,
            sha256="0",
        )
        for number, topic in enumerate(topics)
        for position in range(PASSAGES[number % len(PASSAGES)])
    )
    by_topic = {pk: list(rows) for pk, rows in groupby(questions, lambda q: q.topic_id)}
    rated = (
        Rating(
            rater=judge,
            rubric=rubric,
            text=text,
            question=question,
            grade=draw.choice((0, 0, 0, 0, 1, 2, 3, 4, 5)),
        )
        for text in texts
        for question in by_topic[text.topic_id]
    )
    n = 0
    while batch := list(islice(rated, 50_000)):
        n += len(Rating.objects.bulk_create(batch))
    RankedText.objects.bulk_create(
        RankedText(run=run, topic_id=topic, text=text, rank=rank)
        for topic, rows in groupby(texts, lambda text: text.topic_id)
        for rank, text in enumerate(list(rows)[::-1][:10], 1)
    )
    return {"ratings": n}


def arrays(n_topics: int) -> dict:
    """Load all ratings into arrays, then compute pools and scores from them."""
    dataset = Dataset.objects.get(slug=SLUG)
    options = ScoringQuery(dataset, {"source": JUDGE}).options
    cells, seconds, mb = _measure(
        lambda: load_cells(dataset, options.source, options.eta, load_corpus(dataset))
    )
    n = cells.n_ratings
    assert n == n_topics * QUESTIONS * sum(PASSAGES) // len(PASSAGES)
    del cells
    pools = _measure(lambda: load_pools(dataset, options))[1]
    scores = _measure(lambda: cached_scores(dataset, options))[1]
    cached = _measure(lambda: cached_scores(dataset, options))[1]
    return {
        "ratings": n,
        "seconds": seconds,
        "mb": mb,
        "pools": pools,
        "scores": scores,
        "cached": cached,
    }


def plain(n_topics: int) -> dict:
    """Load the same grades by model instances for some topics; scale seconds and MB to all."""
    dataset = Dataset.objects.get(slug=SLUG)

    def load() -> dict:
        grades: dict = {}
        part = Rating.objects.of_dataset(dataset).filter(
            rater__name=JUDGE, question__topic__position__lt=n_topics // PART
        )
        for rating in part.select_related("text", "question__topic"):
            of_topic = grades.setdefault(rating.question.topic.name, {})
            of_topic.setdefault(rating.text.name, {})[rating.question.position] = rating.grade
        return grades

    grades, seconds, mb = _measure(load)
    n = sum(len(of_text) for of_topic in grades.values() for of_text in of_topic.values())
    return {"part": PART, "ratings": n, "seconds": seconds * PART, "mb": mb * PART}


def agreement() -> dict:
    """Request the agreement page as an admin; return its timings and size."""
    call_command("migrate", verbosity=0)
    is_real = (REAL / "topics.jsonl").is_file()
    if is_real:
        arguments = ["import_dataset", str(REAL), "--dataset", "study"]
        with open(os.devnull, "w") as nowhere:
            call_command(*arguments, stdout=nowhere)
    else:
        with open(os.devnull, "w") as nowhere:
            call_command("demo", stdout=nowhere)
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
    }
    slug = Dataset.objects.values_list("slug", flat=True).first()
    client = Client()
    client.force_login(User.objects.create_user("bench", password=None, role="admin"))
    durations = []
    for _ in range(PAGES):
        began = time.perf_counter()
        page = client.get(f"/datasets/{slug}/agreement/", headers={"HX-Request": "true"})
        durations.append((time.perf_counter() - began) * 1000)
        assert page.status_code == 200, page.status_code
    return {
        "data": "the real study" if is_real else f"the demo ({slug}); the real study is not here",
        "first": durations[0],
        "again": PAGES - 1,
        "median": statistics.median(durations[1:]),
        "kb": len(page.content) / 1000,
    }


def _measure(work: Callable) -> tuple:
    """Return the result of `work`, its seconds, and its peak memory over the start in MB."""
    # Reset the peak memory mark, so that the next one is of this work.
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory("VmRSS")
    began = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - began
    return result, seconds, _memory("VmHWM") - before


def _memory(field: str) -> float:
    status = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in status if line.startswith(f"{field}:"))
    return int(line.split()[1]) / 1000
