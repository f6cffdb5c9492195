"""Writer backend with vLLM in process, for one machine with a GPU and no server."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from building.writers.base import Ask, Outcome
from building.writers.chat_task import WriterChat
from building.writers.spec import WriterSpec
from judging.llm.vllm_engine import Engine


class VllmWriter:
    """The writer `spec`, whose model is a folder or a name that vLLM can load; see Engine."""

    def __init__(
        self,
        spec: WriterSpec,
        *,
        engine_args: Mapping[str, Any] | None = None,
        in_flight: int = 64,
    ) -> None:
        self.engine: Engine[Ask, Outcome] = Engine(
            WriterChat(spec), engine_args=engine_args, in_flight=in_flight
        )

    def outcomes(self, asks: Iterator[Ask]) -> Generator[Outcome | None]:
        """See WriterBackend. No model is loaded if there is nothing to write."""
        first = next(asks, None)
        if first:
            asks = itertools.chain([first], asks)
            yield from self.engine.answers(lambda: next(asks, None))
