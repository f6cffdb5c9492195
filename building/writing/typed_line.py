"""Typed question and answer in one string, for small encoder-decoders.

    <<summary>> CONTEXT                      what it reads
    <<summary>> QUESTION <a> ANSWER          what it writes

This is the form of Appendix H of Know Your RAG (de Lima et al. 2024, arXiv:2411.19710).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TYPES = ("fact_single", "summary", "reasoning")
ANSWER = "<a>"
PROMPT = "<<{type}>> {document}{statement}"  # default prompt of a tuned model
MARKS = (ANSWER, *(f"<<{kind}>>" for kind in TYPES))
_MARKED = re.compile(r"<<([^<>]*)>>(.*)", re.DOTALL)


class LineError(ValueError):
    """A string of another form; what is wrong with it, without a subject: "has no <a> ..."."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question of a type of TYPES, and its answer; neither is empty."""

    type: str
    question: str
    answer: str


def read_context(line: str) -> tuple[str, str]:
    """Parse (type, context) of a model's input. Raises LineError."""
    marked = _MARKED.fullmatch(line.strip())
    if marked is None:
        raise LineError(f"does not begin with {_of_marks()}")
    if marked[1] not in TYPES:
        raise LineError(f"begins with <<{marked[1][:40]}>>, which is none of {_of_marks()}")
    if not (context := marked[2].strip()):
        raise LineError(f"has nothing after <<{marked[1]}>>")
    return marked[1], context


def read_answered(line: str) -> Answered:
    """Parse a model's output. Raises LineError for any other form."""
    kind, body = read_context(line)
    if any(mark in body for mark in MARKS[1:]):
        raise LineError("has a second type")
    question, *answers = (part.strip() for part in body.split(ANSWER))
    if len(answers) != 1:
        raise LineError(f"has {len(answers)} times {ANSWER}, and one was expected")
    if not question:
        raise LineError(f"has no question before {ANSWER}")
    if not answers[0]:
        raise LineError(f"has no answer after {ANSWER}")
    return Answered(kind, question, answers[0])


def _of_marks() -> str:
    return ", ".join(MARKS[1:])
