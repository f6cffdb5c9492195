"""Why a reply has no grade, and what became of one, in words for people."""

from judging.grading.pairs import Failure, State

FAILURES = {
    Failure.EMPTY: "Nothing in the reply",
    Failure.NO_GRADE: "Text instead of a grade",
    Failure.SEVERAL: "More than one integer",
    Failure.WORDS_AFTER: "Words after the grade, or around its JSON",
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


def failure_words(failure: str) -> str:
    """Why there is no grade, to stand in a sentence; "" for a reply that has one."""
    if not failure:
        return ""
    words = FAILURES[Failure(failure)]
    return words[0].lower() + words[1:]


def outcome_words(state: str, failure: str) -> str:
    """What became of a reply: "graded", or its state and the reason why there is no grade."""
    if state == State.REFUSED:
        return failure_words(failure)
    words = STATES[State(state)]
    return f"{words}, {failure_words(failure)}" if failure else words
