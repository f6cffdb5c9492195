"""Examples of docs/replies.md: each is sent, read and stored again."""

import json
import textwrap

import pytest

from annotation.models import Dataset, Rating, Rubric, SubQuestion, Text, Topic
from judging.engine import runs
from judging.engine.fill import pump
from judging.engine.judges import levels_of, make_judge
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.grading import prompts
from judging.grading.completion import reply_of
from judging.grading.prompt import render, rubric_wording
from judging.llm.completion import Completion
from judging.llm.messages import prompt_hash
from judging.models import Attempt
from tests.toolbox.judging_study import WORKER, Scripted
from tests.toolbox.paths import ROOT

PAGE = (ROOT / "docs" / "replies.md").read_text()
EXAMPLES = {
    "one-number": ("question-first", "4"),
    "with-evidence": (
        "evidence-question-first",
        '4\n"waves of nearly six metres broke over the wall for five hours"\n'
        '"the concrete had been badly mixed"',
    ),
    "two-numbers": ("question-first", "Somewhere between 3 and 4."),
}


@pytest.fixture(scope="module")
def wall(shared_world) -> Dataset:
    return shared_world(make_wall)


def make_wall() -> Dataset:
    """The first passage of the demo, and the first question about it."""
    demo = ROOT / "fixtures" / "demo"
    first = {
        name: json.loads((demo / f"{name}.jsonl").read_text().splitlines()[0])
        for name in ("passages", "subquestions")
    }
    dataset = Dataset.objects.create(slug="wall", title="Wall")
    topic = Topic.objects.create(dataset=dataset, name="coast-1", request="?", position=0)
    body = first["subquestions"]["subquestions"][0]
    SubQuestion.objects.create(topic=topic, position=0, body=body)
    Text.objects.create(
        dataset=dataset,
        topic=topic,
        kind="passage",
        name=first["passages"]["id"],
        body=first["passages"]["contents"],
    )
    return dataset


def documented(dataset: Dataset, name: str) -> tuple[str, str, str]:
    """The messages, the reply, and what is stored of it, as the page prints them."""
    prompt, reply_text = EXAMPLES[name]
    file, rubric = prompts.load(prompt), Rubric.objects.get(slug="graded")
    judge = make_judge(
        name,
        rubric=rubric,
        backend="openai",
        model="some-model",
        revision=name,  # so that two judges of one prompt are two
        prompt_name=file.name,
        system=file.system,
        prompt=file.prompt,
        wording=rubric_wording([(grade, label) for grade, label in levels_of(rubric)]),
        sampling={"max_tokens": max(file.max_tokens, 20)},
        parser=file.parser,
    )
    messages = []

    def answer(pair):
        messages.extend(render(judge.spec, pair))
        model_reply = Completion(reply_text, finish_reason="stop")
        return reply_of(judge.spec, pair, prompt_hash(messages), [model_reply], None, (400, 9))

    run = runs.start(judge, dataset, Selection())
    plan(run, WORKER)
    pump(run, Scripted(answer), WORKER)
    prompt_text = "\n".join(f"{message['role']}:\n{message['content']}\n" for message in messages)
    return prompt_text.strip(), reply_text, stored(Attempt.objects.get(judge=judge))


def stored(attempt: Attempt) -> str:
    rating = Rating.objects.filter(rater=attempt.judge.rater).first()
    grade = "none" if attempt.grade is None else attempt.grade
    lines = [
        f"attempt   state {attempt.state}, failure {attempt.failure or 'none'}, grade {grade}",
        f"rating    {f'grade {rating.grade}' if rating else 'none: the cell stays empty'}",
    ]
    for span in rating.spans.order_by("position") if rating else ():
        location = "not in the text" if span.start is None else f"{span.start} to {span.end}"
        lines.append(f"span      {location}, {span.located}: {span.quote or span.source_quote}")
    return "\n".join(lines)


@pytest.mark.parametrize("name", EXAMPLES)
def test_page_has_what_comes_of_each(db, wall, name):
    for block in documented(wall, name):
        assert f"\n\n{textwrap.indent(block, '    ')}\n" in PAGE, block


def test_failing_example_leaves_no_rating(db, wall):
    outcomes = {name: documented(wall, name)[2] for name in EXAMPLES}
    assert ["rating    none" in outcome for outcome in outcomes.values()] == [False, False, True]
