import pytest

from annotation.models import Text
from judging.llm import retry
from tests.building.model_server import reranked, scored, vectors
from tests.toolbox.scripted_server import ScriptedServer


@pytest.fixture(autouse=True)
def own_indexes(settings, tmp_path):
    """Indexes of a test are its own: keys of datasets begin again in each."""
    settings.VAR_DIR = tmp_path
    return tmp_path / "indexes"


@pytest.fixture
def server(monkeypatch, settings):
    """A scripted server named local, with vectors and scores, and short retry waits."""
    monkeypatch.setattr("building.asking.client.RETRY_SECONDS", 600.0)
    monkeypatch.setenv("JUDGE_KEY_LOCAL", "a-key-that-is-secret")
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(retry, "LONGEST_WAIT", 0.02)
    with ScriptedServer() as server:
        settings.JUDGE_ENDPOINTS = {"local": server.url}
        server.answers["/v1/embeddings"] = vectors()
        server.answers["/v1/rerank"] = reranked(len)
        server.answers["/v1/score"] = scored(len)
        yield server


@pytest.fixture
def passages(dataset):
    """The dataset with three passages, the last of them without text."""
    topic = dataset.topics.get()
    for number, body in enumerate(["A harbour.", "The harbour & the <b>ferry</b>.", None]):
        Text.objects.create(
            dataset=dataset, topic=topic, kind="passage", name=f"p{number}", body=body
        )
    return dataset
