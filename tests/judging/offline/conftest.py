import pytest

from annotation.models import Rubric
from judging.engine.judges import make_judge
from judging.engine.selection import Selection
from judging.grading.pairs import Reply, State
from judging.grading.prompt import render
from judging.llm.messages import prompt_hash
from judging.llm.sampling import Sampling
from judging.offline.exchange import export_run
from tests.toolbox.scripted_server import MODEL, ScriptedServer


def judge_of(slug="tiny-judge", **changes):
    values = {
        "rubric": Rubric.objects.get(slug="graded"),
        "backend": "openai",
        "model": MODEL,
        "prompt": "{question}\nText: {text}",
        "parser": "integer-1",
        "sampling": {"max_tokens": Sampling().max_tokens},
    }
    return make_judge(slug, **values | changes)


class Threes:
    """Grader without a server: 3 for every pair, with the hash of its messages."""

    def __init__(self, spec):
        self.spec = spec

    def replies(self, pairs):
        for pair in pairs:
            digest = prompt_hash(render(self.spec, pair))
            yield Reply(pair, State.GRADED, grade=3, raw="3", prompt_hash=digest)


@pytest.fixture
def server():
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def judge(db):
    return judge_of()


@pytest.fixture
def export(dataset, judge, tmp_path):
    """All pairs of the ferry study, eight of them asked, in a folder: (run, job, folder)."""
    folder = tmp_path / "export"
    return *export_run(judge, dataset, Selection(), folder), folder
