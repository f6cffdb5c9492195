"""Grading with vLLM in this process, then manage.py; runs in vLLM's environment.

    PYTHONPATH=. VLLM_ENV/bin/python tests/vllm/in_process.py < asked > replies.json

The first line is a list of {"spec": ..., "pairs": [...], "engine_args": ..., "in_flight": ...}; for each it
writes a list of replies in the order of the questions' keys, or {"error": ..., "kind": ...} where the grader
gave up. A second line is a command of manage.py: Django and the rest of OUR_PACKAGES
come behind what vLLM has. One process for all, because loading vLLM and the model takes longer than the rest.
"""

import dataclasses
import json
import os
import sys
from typing import Any

from judging.graders.chat import VllmGrader
from judging.grading import probabilities
from judging.grading.pairs import Pair
from judging.grading.spec import Spec
from judging.llm.errors import BackendError


def main() -> None:
    # A random model leaves little to the grades; its distributions are compared all the same.
    probabilities.LEAST_MASS = 0.0
    # vLLM prints; what we write goes to the real standard output alone.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # A line, for a child of vLLM may hold the pipe open and with it the end of a file.
    out.write(json.dumps([answer(request) for request in json.loads(sys.stdin.readline())]) + "\n")
    out.close()
    if command := sys.stdin.readline().split():
        sys.path.append(os.environ["OUR_PACKAGES"])
        from django.core.management import execute_from_command_line  # noqa: PLC0415 - there now

        execute_from_command_line(["manage.py", *command])


def answer(request: dict[str, Any]) -> list[dict[str, Any]] | dict[str, str]:
    pairs = [Pair(**pair | {"questions": tuple(pair["questions"])}) for pair in request["pairs"]]
    grader = VllmGrader(
        Spec.from_json(request["spec"]),
        engine_args=request["engine_args"],
        in_flight=request["in_flight"],
    )
    try:
        replies = [reply for reply in grader.replies(iter(pairs)) if reply is not None]
    except BackendError as error:
        return {"error": str(error), "kind": type(error).__name__}
    replies.sort(key=lambda reply: reply.pair.question_id)
    return [dataclasses.asdict(reply) for reply in replies]


if __name__ == "__main__":
    main()
