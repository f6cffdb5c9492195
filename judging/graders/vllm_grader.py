"""Grades with vLLM in this process: for one machine with a GPU and no server."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from judging.graders.grading import Grading, replies_of
from judging.graders.vllm_engine import Engine
from judging.grading.pairs import Pair, Reply
from judging.grading.spec import Spec


class VllmGrader:
    """The judge `spec`, whose model is a folder or a name that vLLM can load; see Engine."""

    def __init__(
        self, spec: Spec, *, engine_args: Mapping[str, Any] | None = None, in_flight: int = 256
    ) -> None:
        self.engine: Engine[Sequence[Pair], list[Reply]] = Engine(
            Grading(spec), engine_args=engine_args, in_flight=in_flight
        )

    def replies(self, pairs: Iterator[Pair]) -> Generator[Reply | None]:
        """Grade pairs; see Grader. The model is loaded before the first pair is taken."""
        yield from replies_of(self.engine.answers, pairs)
