"""Judges and runs for their pages: a scripted grader, and runs in every state."""

from django_tasks_db.models import DBTaskResult

from annotation.models import Rubric
from judging import tasks
from judging.engine import runs
from judging.engine.fill import pump
from judging.engine.judges import make_judge
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.grading import prompts
from judging.grading.pairs import Reply, State
from judging.llm.errors import Failure

RUBRIC_TEXT = "5: all of it\n0: nothing"


class Scripted:
    """Grades 0 to 5 in turn with their probabilities; every seventh reply has no grade."""

    def __init__(self):
        self.n = 0

    def replies(self, pairs):
        for pair in pairs:
            self.n += 1
            yield self.failed(pair) if self.n % 7 == 0 else self.graded(pair)

    def graded(self, pair):
        grade = self.n % 6
        shares = tuple(0.75 if grade == candidate else 0.05 for candidate in range(6))
        expected = sum(level * share for level, share in enumerate(shares))
        return Reply(
            pair,
            State.GRADED,
            grade,
            raw=str(grade),
            prompt_hash="0" * 16,
            probabilities=shares,
            expected_grade=expected,
            label_mass=1.0,
            prompt_tokens=200,
            completion_tokens=1,
        )

    def failed(self, pair):
        if self.n % 3 == 0:
            return Reply(
                pair, State.ERROR, failure=Failure.TIMEOUT, detail="no reply within 60 seconds"
            )
        return Reply(
            pair,
            State.UNPARSEABLE,
            failure=Failure.SEVERAL_INTEGERS,
            raw="3 or 4 <b>of them</b>",
            prompt_tokens=200,
            completion_tokens=9,
        )


def a_judge(slug="tiny-judge", **fields):
    """A judge behind a server, with the first of our prompts."""
    file = prompts.load("question-first")
    values = {
        "rubric": Rubric.objects.get(slug="graded"),
        "backend": "openai",
        "model": "tiny",
        "revision": "0e9e39f249a16976918f6564b8830bc894c89659",
        "prompt_name": file.name,
        "system": file.system,
        "prompt": file.prompt,
        "wording": RUBRIC_TEXT,
        "sampling": {"max_tokens": 1, "seed": 0},
        "label_ids": [15, 16, 17, 18, 19, 20],
        "parser": file.parser,
    }
    return make_judge(slug, **values | fields)


def a_run(judge, dataset, **options):
    """A run that is planned, and that nobody works at."""
    texts = options.pop("texts", "")
    selection = Selection(texts=texts, limit=options.pop("limit", None))
    run = runs.start(judge, dataset, selection, **options)
    plan(run, "planner:1")
    return run


def n_wakes(run):
    """Return how many workers were woken for a run."""
    return DBTaskResult.objects.filter(
        task_path=tasks.work.module_path, args_kwargs__args=[run.pk]
    ).count()


def filled(run, worker="gpu-1:7"):
    """The run after a worker has taken all that it could."""
    pump(run, Scripted(), worker, batch=4)
    run.refresh_from_db()
    return run
