"""Labels of failures and states of replies, for people."""

from judging.grading.pairs import State
from judging.llm.errors import Failure

FAILURES = {
    Failure.EMPTY: "Nothing in the reply",
    Failure.NO_GRADE: "Text instead of a grade",
    Failure.SEVERAL_INTEGERS: "More than one integer",
    Failure.TEXT_AFTER_GRADE: "Words after the grade, or around its JSON",
    Failure.OUT_OF_RANGE: "No grade of this rubric",
    Failure.CUT: "Cut off before its end",
    Failure.REFUSAL: "Refused by the model",
    Failure.NO_TERMS: "A question of stop words alone",
    Failure.TOO_LONG: "Too long for the model",
    Failure.TIMEOUT: "Timed out",
    Failure.CONNECTION: "No connection",
    Failure.SERVER: "Fault of the server",
    Failure.REQUEST: "Refused by the server",
    Failure.MALFORMED: "Not what the protocol promises",
    Failure.OTHER_MODEL: "Written by another model",
    Failure.OVERSIZED: "Longer than any grade needs",
}
STATES = {
    State.GRADED: "graded",
    State.UNPARSEABLE: "unreadable",
    State.TRUNCATED: "truncated",
    State.REFUSED: "refused",
    State.ERROR: "error",
}


def failure_label(failure: str) -> str:
    """Return the reason why there is no grade, for use in a sentence; "" for a graded reply."""
    if not failure:
        return ""
    label = FAILURES[Failure(failure)]
    return label[0].lower() + label[1:]


def outcome_label(state: str, failure: str) -> str:
    """Return the outcome of a reply: "graded", or its state and reason."""
    if state == State.REFUSED:
        return failure_label(failure)
    label = STATES[State(state)]
    return f"{label}, {failure_label(failure)}" if failure else label
