"""Chat tasks: messages to a model, and the reading of replies, for any backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from judging.llm.completion import RAW_LIMIT, Completion, TokenLogprobs
from judging.llm.errors import Failure
from judging.llm.messages import Message
from judging.llm.sampling import RequestedModel

DETAIL_LIMIT = 500  # characters, as many as an attempt or a draft keeps
TOO_MANY_CHARACTERS = f"The reply is longer than {RAW_LIMIT:,} characters."
NO_TOKENS = (0, 0)

Item = TypeVar("Item")
Result = TypeVar("Result")
Tokens = tuple[int, int]  # read and written


class ChatTask(ABC, Generic[Item, Result]):
    """Chat task: the messages about an item of type `What`, and the reading of replies.

    `who` is what asks, for people: a judge. `rename_advice` says how it accepts replies that name the model
    as {named}. `request_variants` are the parameters of a request to a server, the best first.
    """

    role: str
    rename_advice = "copy this judge to a new one, with {named} under “Model name in replies”"
    spec: RequestedModel
    request_variants: Sequence[dict[str, object]]

    @property
    def label_ids(self) -> Mapping[str, int]:
        """Return the token ids of the grades, if known: their probabilities are requested."""
        return {}

    @abstractmethod
    def messages(self, item: Item) -> list[Message]: ...

    def extra_parameters(self, item: Item) -> dict[str, object]:
        """Return parameters for the request about this item alone."""
        return {}

    @abstractmethod
    def replied(
        self,
        item: Item,
        digest: str,
        completions: Sequence[Completion],
        logprobs: TokenLogprobs | None,
        tokens: Tokens,
    ) -> Result:
        """Return the result of a reply, with as many samples as requested.

        `digest` is the messages' hash. `logprobs` are those of the first sample, None where there are none.
        """

    @abstractmethod
    def failed(
        self,
        item: Item,
        digest: str,
        failure: Failure,
        detail: str,
        raw: str = "",
        tokens: Tokens = NO_TOKENS,
    ) -> Result:
        """Return the result of a request without a reply.

        The tokens were paid for all the same.
        """

    @abstractmethod
    def other_model(self, result: Result) -> str:
        """Return the message of a result that another model wrote; "" for any other."""


def oversized(texts: Iterable[str]) -> str:
    """Return the first text longer than RAW_LIMIT; "" if there is none."""
    return next((text for text in texts if len(text) > RAW_LIMIT), "")
