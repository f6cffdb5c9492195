"""What a model is asked, and what its replies come to: alike at a server and in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from judging.grading.pairs import RAW_LIMIT, Failure
from judging.grading.probabilities import TokenLogprobs
from judging.grading.prompt import Message
from judging.grading.said import Said
from judging.grading.spec import Asked

DETAIL_LIMIT = 500  # characters, as many as an attempt or a draft keeps
TOO_MANY_CHARACTERS = f"The reply is longer than {RAW_LIMIT:,} characters."
NO_TOKENS = (0, 0)

What = TypeVar("What")
Came = TypeVar("Came")
Tokens = tuple[int, int]  # read and written


class Script(ABC, Generic[What, Came]):
    """What is said to a model about `What`, and what its replies are read as.

    `who` is what asks, for people: a judge. `rename_advice` says how it accepts replies that name the model
    as {named}. `ways` are the parameters of a request to a server, the best first.
    """

    who: str
    rename_advice = "copy this judge to a new one, with {named} under “Replies name the model as”"
    spec: Asked
    ways: Sequence[dict[str, object]]

    @property
    def label_ids(self) -> Mapping[str, int]:
        """The token ids of the grades, where those are known: their probabilities are asked for."""
        return {}

    @abstractmethod
    def messages(self, what: What) -> list[Message]: ...

    def of_its_own(self, what: What) -> dict[str, object]:
        """Parameters that only the request about this has."""
        return {}

    @abstractmethod
    def replied(
        self,
        what: What,
        digest: str,
        said: Sequence[Said],
        logprobs: TokenLogprobs | None,
        tokens: Tokens,
    ) -> Came:
        """What a reply comes to, whatever it says, in as many samples as were asked for.

        `digest` is the messages' hash. `logprobs` are those of the first sample, None where there are none.
        """

    @abstractmethod
    def failed(
        self,
        what: What,
        digest: str,
        failure: Failure,
        why: str,
        raw: str = "",
        tokens: Tokens = NO_TOKENS,
    ) -> Came:
        """What it comes to that there is no reply. The tokens were paid for all the same."""

    @abstractmethod
    def is_of_another(self, came: Came) -> str:
        """In which words an answer says that another model wrote it; "" where it does not."""


def oversized(words: Iterable[str]) -> str:
    """The first of some words that are more than is kept; "" where none are."""
    return next((each for each in words if len(each) > RAW_LIMIT), "")
