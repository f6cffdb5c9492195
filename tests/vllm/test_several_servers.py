"""One judge at two real vLLM servers, of which one is killed in the middle."""

import pytest

from judging.graders.openai_api import OpenAIGrader
from judging.graders.openai_server import Address
from judging.grading.pairs import State
from tests.vllm.material import pairs, spec_of
from tests.vllm.server import VllmServer

PAIRS = 120


@pytest.fixture
def second(tiny_model):
    running = VllmServer(tiny_model, tiny_model.parent / "second.log")
    running.start()
    yield running
    running.kill()


def test_what_a_killed_server_leaves_goes_to_the_other(server, second):
    aside = {}
    grader = OpenAIGrader(
        spec_of(server.address),
        f"{server.address}/v1",
        key=None,
        others=[Address(f"{second.address}/v1", None)],
        on_aside=aside.__setitem__,
        concurrency=16,
    )
    replies = []
    for reply in grader.replies(iter(pairs(PAIRS))):
        if reply is not None:
            replies.append(reply)
        if len(replies) == PAIRS // 4:
            second.kill()
    assert sorted(reply.pair.text_id for reply in replies) == list(range(PAIRS))
    assert {reply.state for reply in replies} <= {State.GRADED, State.UNPARSEABLE}
    assert list(aside) == [f"{second.address}/v1"]
