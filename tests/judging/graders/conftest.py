import pytest

from judging.graders.chat import OpenAIGrader
from judging.llm import retry, server_client
from tests.judging.graders import material
from tests.toolbox.scripted_server import ScriptedServer


@pytest.fixture
def server(monkeypatch):
    """Return a scripted server, with clients that do not wait.

    They wait neither before a retry nor for a first reply.
    """
    monkeypatch.setattr(server_client, "FIRST_REPLY_SECONDS", 0)
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.02)
    monkeypatch.setattr(retry, "LONGEST_WAIT", 0.1)
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def ask(server):
    """Grade questions by the scripted server: `ask("Q1", "Q2", retry_seconds=1)`."""

    def ask(*questions, spec=None, **options):
        values = {"key": None, "concurrency": 8, "timeout": 60, "retry_seconds": 120}
        grader = OpenAIGrader(spec or material.spec(), server.url, **values | options)
        return material.graded(grader, *questions)

    return ask
