"""A study of 1,000 pairs from the demo texts, and the judge that a real server serves."""

import json
import time
from dataclasses import asdict, replace
from pathlib import Path

from annotation.models import Dataset, Document, Rubric, SubQuestion, Text, Topic
from building.engine import writings
from building.engine.choosing import make_writer
from building.engine.fill import pump
from building.engine.generation_spec import GenerationSpec
from building.models import Writing
from building.writers.openai_writer import OpenAIWriter
from building.writing.tasks import TASKS
from judging.engine import judges, planning, runs
from judging.engine.selection import Selection
from judging.execution.leases import worker_name
from judging.grading import prompts
from judging.grading.pairs import Pair
from judging.grading.prompt import rubric_wording
from judging.grading.spec import Spec
from judging.llm.probe import probe
from judging.llm.sampling import Sampling
from judging.llm.server import Address
from judging.models import Judge, JudgeRun
from tests.vllm.server import MODEL

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
SLUG = "thousand"
TOPICS, TEXTS, QUESTIONS = 4, 25, 10
PAIRS = TOPICS * TEXTS * QUESTIONS
CONCURRENCY = 16
LEVELS = tuple((grade, f"{grade} fifths of the question are answered") for grade in range(6))
PROMPT = "text-first"
WRITTEN, ORDERS, WRITTEN_TOKENS = "written", 8, 300  # a dataset; replies that take seconds in all


def texts() -> list[str]:
    """As many different texts as the study has: a passage and the beginning of another one."""
    lines = (DEMO / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    passages = [json.loads(line)["contents"] for line in lines]
    bodies = [
        f"{passage} {passages[(number + shift) % len(passages)].partition('. ')[0]}."
        for shift in range(1, 1 + TOPICS * TEXTS // len(passages) + 1)
        for number, passage in enumerate(passages)
    ]
    return bodies[: TOPICS * TEXTS]


def questions() -> list[str]:
    lines = (DEMO / "subquestions.jsonl").read_text(encoding="utf-8").splitlines()
    return [question for line in lines for question in json.loads(line)["subquestions"]]


def spec_of(
    address: str, levels: tuple[tuple[int, str], ...] = LEVELS, prompt: str = PROMPT
) -> Spec:
    """The judge that a server serves, with all that can be pinned of it."""
    learnt = probe(f"{address}/v1", None, MODEL, labels=[str(grade) for grade, _ in levels])
    prompt_file = prompts.load(prompt)
    return Spec(
        rubric="graded",
        levels=levels,
        backend="openai",
        model=MODEL,
        revision=learnt.revision,
        system=prompt_file.system,
        prompt=prompt_file.prompt,
        wording=rubric_wording(levels),
        template_hash=learnt.template_hash,
        sampling=Sampling(max_tokens=prompt_file.max_tokens),
        label_ids=learnt.label_ids,
        parser=prompt_file.parser,
    )


def pairs(number: int) -> list[Pair]:
    """Some pairs without a database, several questions to a text, numbered from 0."""
    question_texts = questions()
    return [
        Pair(n, n, text, question_texts[n % len(question_texts)])
        for n, text in enumerate(text for text in texts() for _ in range(5))
    ][:number]


def study(address: str) -> tuple[Dataset, Judge]:
    """Fill an empty database: the study, and the judge that a server serves."""
    dataset = Dataset.objects.create(slug=SLUG, title="A thousand pairs")
    question_texts, bodies = questions() * 2, iter(texts())
    for number in range(TOPICS):
        topic = Topic.objects.create(
            dataset=dataset, name=f"t{number}", request="Report on it.", position=number
        )
        for position, body in enumerate(question_texts[6 * number : 6 * number + QUESTIONS]):
            SubQuestion.objects.create(topic=topic, position=position, body=body)
        for index in range(TEXTS):
            Text.objects.create(
                dataset=dataset,
                topic=topic,
                kind="passage",
                name=f"t{number}:{index}",
                body=next(bodies),
            )
    rubric = Rubric.objects.get(slug="graded")
    spec = spec_of(address, tuple((grade, label) for grade, label in judges.levels_of(rubric)))
    values = spec.as_json()
    return dataset, judges.make_judge("tiny", **{**values, "rubric": rubric, "prompt_name": PROMPT})


def begin_writing(model: str) -> None:
    """Fill an empty database: topics with a document each, and a generation run in process."""
    dataset = Dataset.objects.create(slug=WRITTEN, title="Documents of the demo")
    for number, body in enumerate(texts()[:ORDERS]):
        topic = Topic.objects.create(dataset=dataset, name=f"t{number}", position=number)
        Document.objects.create(dataset=dataset, topic=topic, name=f"d{number}", body=body)
    sampling = replace(TASKS["questions"].sampling, max_tokens=WRITTEN_TOKENS)
    writer = make_writer(
        "tiny", task="questions", backend="vllm", model=model, sampling=asdict(sampling)
    )
    # One after another, so that who is killed after some leaves others.
    writings.start(writer, dataset, GenerationSpec(n=3), concurrency=1)


def go_on_at(address: str) -> None:
    """Write the rest with the same model at a server, once leases of killed workers expired."""
    run = Writing.objects.get()
    spec = replace(run.writer.spec, model=MODEL)
    writer = OpenAIWriter(spec, [Address(f"{address}/v1", None)], concurrency=2)
    while run.is_running:
        pump(run, writer, worker_name())
        time.sleep(0.2)


def seed(address: str) -> JudgeRun:
    """The study, its judge, and a run with its shards planned."""
    dataset, judge = study(address)
    run = runs.start(judge, dataset, Selection(), endpoint=f"{address}/v1", concurrency=CONCURRENCY)
    planning.plan(run, "seed")
    return run
