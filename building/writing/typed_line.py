"""A typed question and its answer in one string, as a small encoder-decoder reads and writes them.

    <<summary>> CONTEXT                      what it reads
    <<summary>> QUESTION <a> ANSWER          what it writes

This is the form of Appendix H of Know Your RAG (de Lima et al. 2024, arXiv:2411.19710).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TYPES = ("fact_single", "summary", "reasoning")
ANSWER = "<a>"
PROMPT = (
    "<<{type}>> {document}{statement}"  # what a tuned model is asked with, where nothing is said
)
MARKS = (ANSWER, *(f"<<{each}>>" for each in TYPES))
_MARKED = re.compile(r"<<([^<>]*)>>(.*)", re.DOTALL)


class LineBroken(ValueError):
    """A string of another form; what is wrong with it, without a subject: "has no <a> ..."."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question of a type of TYPES, and its answer; neither is empty."""

    type: str
    question: str
    answer: str


def read_context(line: str) -> tuple[str, str]:
    """(type, context) of what such a model reads. Raises LineBroken."""
    marked = _MARKED.fullmatch(line.strip())
    if marked is None:
        raise LineBroken(f"does not begin with {_of_marks()}")
    if marked[1] not in TYPES:
        raise LineBroken(f"begins with <<{marked[1][:40]}>>, which is none of {_of_marks()}")
    if not (words := marked[2].strip()):
        raise LineBroken(f"has nothing after <<{marked[1]}>>")
    return marked[1], words


def read_answered(line: str) -> Answered:
    """What such a model wrote. Nothing is guessed: raises LineBroken for any other form."""
    kind, words = read_context(line)
    if any(mark in words for mark in MARKS[1:]):
        raise LineBroken("has a second type")
    question, *answers = (part.strip() for part in words.split(ANSWER))
    if len(answers) != 1:
        raise LineBroken(f"has {len(answers)} times {ANSWER}, and one was expected")
    if not question:
        raise LineBroken(f"has no question before {ANSWER}")
    if not answers[0]:
        raise LineBroken(f"has no answer after {ANSWER}")
    return Answered(kind, question, answers[0])


def _of_marks() -> str:
    return ", ".join(MARKS[1:])
