import pytest

from judging.graders import openai_asking, patience
from judging.graders.openai_api import OpenAIGrader
from tests.judging.graders import material
from tests.judging.graders.scripted_server import ScriptedServer


@pytest.fixture
def server(monkeypatch):
    """A scripted server, and a client that does not wait: before it tries again, or for a first reply."""
    monkeypatch.setattr(openai_asking, "FIRST_REPLY_SECONDS", 0)
    monkeypatch.setattr(patience, "FIRST_WAIT", 0.02)
    monkeypatch.setattr(patience, "LONGEST_WAIT", 0.1)
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def ask(server):
    """Grade questions by the scripted server: `ask("Q1", "Q2", patience=1)`."""

    def ask(*questions, spec=None, **options):
        values = {"key": None, "concurrency": 8, "timeout": 60, "patience": 120}
        grader = OpenAIGrader(spec or material.spec(), server.url, **values | options)
        return material.graded(grader, *questions)

    return ask
