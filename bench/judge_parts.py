"""Parts of bench.judge, each run in a separate process with Django set up."""

import random
import time
from pathlib import Path
from statistics import median

from django.core.management import call_command
from django.db import transaction

from annotation.models import Dataset, Rating, Rubric, SubQuestion, Text, Topic
from annotation.models.corpus import digest
from judging.engine import planning, runs
from judging.engine.fill import pump
from judging.engine.judges import baseline_of, make_judge
from judging.engine.progress import failures_of, progress_of
from judging.engine.selection import Selection
from judging.engine.storing import insert_new
from judging.graders.lexical import BaselineGrader
from judging.grading.pairs import Reply, State
from judging.models import Attempt, Batch, Judge, JudgeRun

QUESTIONS, TEXTS = 10, 40  # of a topic
WORDS_OF_A_PASSAGE = 90
BATCHES = (64, 2_000)  # as with a server, and as with the baseline
ROUNDS = 3
VOCABULARY = [f"word{number}" for number in range(20_000)]


class NullGrader:
    """Grader that returns 3 at once."""

    def replies(self, pairs):
        for pair in pairs:
            yield Reply(pair, State.GRADED, 3, raw="3", prompt_hash="0" * 16, prompt_tokens=350)


def overhead(pairs: int) -> dict:
    """Return pairs a second of the engine and of bare inserts, in turn."""
    call_command("migrate", verbosity=0)
    study = _study(pairs, short=True)
    rows = []
    for batch in BATCHES:
        timings = {"plan": [], "engine": [], "bare": []}
        for turn in range(ROUNDS):
            run, seconds = _timed(_planned, _judge(f"engine-{batch}-{turn}"), study)
            timings["plan"].append(seconds)
            _, pumped = _timed(pump, run, NullGrader(), "bench:1", batch=batch)
            timings["engine"].append(run.n_planned / (seconds + pumped))
            bare = _judge(f"bare-{batch}-{turn}")
            _, seconds = _timed(_bare, bare, study, batch)
            timings["bare"].append(run.n_planned / seconds)
            n = Rating.objects.filter(rater=bare.rater).count()
            assert n == Rating.objects.filter(rater=run.judge.rater).count() == run.n_planned
        row = {name: median(values) for name, values in timings.items()}
        rows.append({"batch": batch, "pairs": run.n_planned, **row})
    return {"rows": rows}


def _bare(judge: Judge, study: Dataset, size: int) -> None:
    """Insert the same rows without planning, leases or conflict handling."""
    run = JudgeRun.objects.create(judge=judge, dataset=study, state="finished")
    batch = Batch.objects.create(run=run, worker="bare").pk
    questions = SubQuestion.objects.values_list("topic_id", "pk").order_by("pk")
    of_topic: dict[int, list[int]] = {}
    for topic, question in questions:
        of_topic.setdefault(topic, []).append(question)
    texts = list(study.texts.order_by("pk").values_list("topic_id", "pk"))
    pairs = [(text, question) for topic, text in texts for question in of_topic[topic]]
    fields = {"counts": True, "copied": False, "state": "graded", "failure": "", "grade": 3}
    fields |= {"raw": "3", "detail": "", "prompt_hash": "0" * 16, "probabilities": None}
    fields |= {"expected_grade": None, "label_mass": None, "prompt_tokens": 350}
    fields |= {"completion_tokens": 0, "reasoning": ""}
    attempt = ("judge_id", "text_id", "question_id", "batch_id", *fields)
    rating = ("rater_id", "rubric_id", "text_id", "question_id", "grade", "created", "exposure")
    values = tuple(fields.values())
    created = "2026-01-01 00:00:00+00:00"
    for start in range(0, len(pairs), size):
        chunk = pairs[start : start + size]
        with transaction.atomic():
            insert_new(Attempt, attempt, [(judge.pk, *pair, batch, *values) for pair in chunk])
            rated = [(judge.rater_id, judge.rubric_id, *pair, 3, created, 0) for pair in chunk]
            insert_new(Rating, rating, rated)


def lexical(pairs: int) -> dict:
    """Run the lexical baseline over all pairs, as `manage.py judge` does."""
    call_command("migrate", verbosity=0)
    study = _study(pairs, texts=12)
    before = _forget()
    began = time.perf_counter()
    (judge, grader), fit = _timed(baseline_of, study)
    run, plan = _timed(_planned, judge, study)
    pump(run, grader, "bench:1", batch=2_000)
    seconds = time.perf_counter() - began
    assert isinstance(grader, BaselineGrader)
    assert Rating.objects.count() == run.n_planned
    peak_mb = _memory("VmHWM") - before
    return {"pairs": run.n_planned, "seconds": seconds, "fit": fit, "plan": plan, "mb": peak_mb}


def many(pairs: int) -> dict:
    """Measure memory of the process while it plans and fills very many pairs."""
    call_command("migrate", verbosity=0)
    study = _study(pairs, texts=60, short=True)
    before = _forget()
    run, plan = _timed(_planned, _judge("many"), study)
    plan_mb = _memory("VmHWM") - before
    grown: list[float] = []
    done = 0

    def note(batch: Batch) -> None:
        nonlocal done
        done += batch.n_attempts
        if done >= run.n_planned * (len(grown) + 1) / 10:
            grown.append(_memory("VmRSS") - before)

    _, pumped = _timed(pump, run, NullGrader(), "bench:1", batch=2_000, on_batch=note)
    assert done == run.n_planned
    assert run.state == "finished"
    peak_mb = _memory("VmHWM") - before
    run.refresh_from_db()
    return {
        "pairs": run.n_planned,
        "plan": plan,
        "plan_mb": plan_mb,
        "pump": pumped,
        "mb": grown,
        "most": peak_mb,
        "progress": _timed(progress_of, run)[1] * 1000,
        "failures": _timed(failures_of, run)[1] * 1000,
    }


def _study(pairs: int, texts: int = TEXTS, *, short: bool = False) -> Dataset:
    """Create topics of `texts` passages and ten questions, of a made-up vocabulary."""
    draw = random.Random(7)
    study = Dataset.objects.create(slug="bench", title="Bench")
    for start in range(0, pairs // (texts * QUESTIONS), 500):
        topics = Topic.objects.bulk_create(
            Topic(dataset=study, name=f"t-{position}", request="A report.", position=position)
            for position in range(start, min(start + 500, pairs // (texts * QUESTIONS)))
        )
        SubQuestion.objects.bulk_create(
            SubQuestion(
                topic=topic,
                position=position,
                body=f"What did {' '.join(_sample_words(draw, 6))} do?",
            )
            for topic in topics
            for position in range(QUESTIONS)
        )
        Text.objects.bulk_create(
            _passage(
                study,
                topic,
                position,
                " ".join(_sample_words(draw, 3 if short else WORDS_OF_A_PASSAGE)),
            )
            for topic in topics
            for position in range(texts)
        )
    return study


def _passage(study: Dataset, topic: Topic, position: int, content: str) -> Text:
    name = f"{topic.name}:0#{position}"
    body = f"{name} {content}"
    return Text(
        dataset=study, topic=topic, kind="passage", name=name, body=body, sha256=digest(body)
    )


def _sample_words(draw: random.Random, n: int) -> list[str]:
    # Few words are frequent and most are rare, as in a language.
    return [VOCABULARY[int(len(VOCABULARY) * draw.random() ** 3)] for _ in range(n)]


def _judge(slug: str) -> Judge:
    rubric = Rubric.objects.get(slug="graded")
    return make_judge(slug, rubric=rubric, backend="openai", model="null", revision=slug)


def _planned(judge: Judge, study: Dataset) -> JudgeRun:
    run = runs.start(judge, study, Selection())
    planning.plan(run, "bench:1")
    return run


def _timed(work, *arguments, **options) -> tuple:
    """Return the result of `work` and its seconds."""
    began = time.perf_counter()
    result = work(*arguments, **options)
    return result, time.perf_counter() - began


def _forget() -> float:
    """Reset the peak memory mark of the process; return its current memory in MB."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(field: str) -> float:
    status = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in status if line.startswith(f"{field}:"))
    return int(line.split()[1]) / 1000
