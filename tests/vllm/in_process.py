"""Grades pairs with vLLM in this process; runs in the environment of vLLM, which has no Django.

    PYTHONPATH=. VLLM_ENV/bin/python tests/vllm/in_process.py < asked.json > replies.json

Reads {"spec": ..., "pairs": [[text, question], ...], "engine_args": ..., "in_flight": ...}; writes a
list of replies in the order of the pairs, or {"error": ..., "kind": ...} where the grader gave up.
"""

import dataclasses
import json
import os
import sys

from judging.graders.base import GraderError
from judging.graders.vllm_engine import VllmGrader
from judging.grading.pairs import Pair
from judging.grading.spec import Spec


def main() -> None:
    # vLLM prints; what we write goes to the real standard output alone.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    asked = json.load(sys.stdin)
    pairs = [Pair(n, n, text, question) for n, (text, question) in enumerate(asked["pairs"])]
    grader = VllmGrader(
        Spec.from_json(asked["spec"]),
        engine_args=asked["engine_args"],
        in_flight=asked["in_flight"],
    )
    try:
        replies = [reply for reply in grader.replies(iter(pairs)) if reply is not None]
    except GraderError as error:
        json.dump({"error": str(error), "kind": type(error).__name__}, out)
    else:
        replies.sort(key=lambda reply: reply.pair.text_id)
        json.dump([dataclasses.asdict(reply) for reply in replies], out)
    out.close()


if __name__ == "__main__":
    main()
