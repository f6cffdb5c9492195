"""Judges and replies that are looked at: two judges of one model whose prompts differ.

The passage and the two reports (of the same words) of tests/toolbox/factories.py, with four questions each:

    text       question   first      second
    passage    1          5          3
               2          0          0
               3          refused   2
               4          1          4
    oracle     1          3          -
               2          2          2

The report of bm25 has the words of oracle's, so its replies are copies.
"""

from dataclasses import dataclass

from annotation.models import Dataset, Rubric, SubQuestion, Text
from judging.engine.judges import levels_of, make_judge
from judging.engine.storing import store
from judging.grading import prompts
from judging.grading.pairs import Pair, Reply, State
from judging.grading.prompt import render, rubric_wording
from judging.llm.errors import Failure
from judging.llm.messages import prompt_hash
from judging.models import Judge, JudgeRun
from tests.toolbox.factories import make_dataset

FIRST = {("passage", 1): 5, ("passage", 2): 0, ("passage", 3): None, ("passage", 4): 1}
FIRST |= {("oracle", 1): 3, ("oracle", 2): 2}
SECOND = {("passage", 1): 3, ("passage", 2): 0, ("passage", 3): 2, ("passage", 4): 4}
SECOND |= {("oracle", 2): 2}
REFUSAL = "I cannot  help\nwith <b>that</b>."
PROBABILITIES = (0.1, 0.0005, 0.0, None, 0.25, 0.5)


@dataclass
class ReplyStudy:
    dataset: Dataset
    texts: dict[str, Text]
    questions: list[SubQuestion]
    first: Judge
    second: Judge
    run: JudgeRun
    other_run: JudgeRun

    def url(self, judge: Judge, text: str, number: int) -> str:
        question = self.questions[number - 1]
        return f"/replies/{judge.rater_id}/{self.texts[text].pk}/{question.pk}/"

    def pair(self, text: str, number: int) -> Pair:
        row, question = self.texts[text], self.questions[number - 1]
        return Pair(row.pk, question.pk, row.body, question.body, question.topic.request)


def make_reply_study(slug: str = "ferry") -> ReplyStudy:
    dataset = make_dataset(slug)
    texts = {name: dataset.texts.get(system=f"annotated.{name}") for name in ("oracle", "bm25")}
    texts["passage"] = dataset.texts.get(name=f"{slug}-1:0#0")
    questions = list(
        SubQuestion.objects.filter(topic__dataset=dataset)
        .select_related("topic")
        .order_by("position")
    )
    first = make_model("first", "question-first")
    second = make_model("second", "text-first")
    reply_study = ReplyStudy(dataset, texts, questions, first, second, None, None)
    reply_study.run = fill(reply_study, first, FIRST)
    reply_study.other_run = fill(reply_study, second, SECOND)
    return reply_study


def make_model(slug: str, prompt: str = "question-first", **changes: object) -> Judge:
    file = prompts.load(prompt)
    rubric = Rubric.objects.get(slug="graded")
    values = {
        "rubric": rubric,
        "backend": Judge.Backend.OPENAI,
        "model": "tiny",
        "prompt_name": file.name,
        "system": file.system,
        "prompt": file.prompt,
        "wording": rubric_wording(levels_of(rubric)),
        "sampling": {"max_tokens": file.max_tokens},
        "parser": file.parser,
    }
    return make_judge(slug, **values | changes)


def start(reply_study: ReplyStudy, judge: Judge, **options: object) -> JudgeRun:
    return JudgeRun.objects.create(
        judge=judge, dataset=reply_study.dataset, state="finished", endpoint="local", **options
    )


def fill(reply_study: ReplyStudy, judge: Judge, grades: dict, **options: object) -> JudgeRun:
    """A run in which a judge gives these grades, None where it refuses."""
    run = start(reply_study, judge, **options)
    replies = [
        reply(judge, reply_study.pair(text, n), grade) for (text, n), grade in grades.items()
    ]
    oracle, bm25 = reply_study.texts["oracle"].pk, reply_study.texts["bm25"].pk
    duplicates = {(oracle, question.pk): [bm25] for question in reply_study.questions}
    store(run, None, "host-1:77", replies, duplicates)
    return run


def reply(judge: Judge, pair: Pair, grade: int | None, **changes: object) -> Reply:
    fields = {"prompt_hash": prompt_hash(render(judge.spec, pair)), "prompt_tokens": 321}
    if grade is None:
        fields |= {"state": State.REFUSED, "failure": Failure.REFUSAL, "raw": REFUSAL}
    else:
        fields |= {
            "state": State.GRADED,
            "grade": grade,
            "raw": str(grade),
            "probabilities": PROBABILITIES,
            "expected_grade": 4.1,
            "label_mass": 0.8505,
            "completion_tokens": 1,
        }
    return Reply(pair, **fields | changes)
