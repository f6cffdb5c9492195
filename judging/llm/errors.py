"""Errors of a model backend, and kinds of failed replies."""

from __future__ import annotations

from enum import StrEnum

from annotation.errors import UserError


class BackendError(UserError):
    """Error after which no grader can go on: a sentence for whoever started the run."""


class BackendUnavailableError(BackendError):
    """The server did not answer within the retry time limit.

    The pairs in flight stay unjudged.
    """


class ModelMismatchError(BackendError):
    """The server serves another model or chat template than the requested judge's."""


class ReplyModelMismatchError(ModelMismatchError):
    """A reply names its model `reply_model`, which is not the requested one."""

    def __init__(self, message: str, reply_model: str) -> None:
        super().__init__(message)
        self.named = reply_model


class Failure(StrEnum):
    """Reason why a reply has no grade; a run counts each kind."""

    EMPTY = "empty"
    NO_GRADE = "no_grade"  # no grade that stands alone: words, or a number that is no integer
    SEVERAL_INTEGERS = "several"  # more than one integer
    TEXT_AFTER_GRADE = (
        "words_after"  # words after the grade, or around its JSON: they may take it back
    )
    OUT_OF_RANGE = "out_of_range"  # an integer that is no level of the rubric
    CUT = "cut"  # the reply reached its length limit before it was whole
    REFUSAL = "refusal"
    NO_TERMS = "no_terms"  # the baseline: a question of stop words alone
    TOO_LONG = "too_long"  # the prompt does not fit the model
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    SERVER = "server"  # a 5xx or 429 that outlasted the retries
    REQUEST = "request"  # another 4xx
    MALFORMED = "malformed"  # not the JSON that the protocol promises
    OTHER_MODEL = "other_model"  # the reply says that another model wrote it
    OVERSIZED = "oversized"  # more bytes than any grade needs
