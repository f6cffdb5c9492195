"""Typed questions on a passage with answers, and the statements to make them from.

Types and statements are those of Know Your RAG (de Lima et al., 2024); the words of prompts are our own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from building.writing import checks
from building.writing.items import strip_numbers, tagged_items
from building.writing.outputs import Failure, ParsedReply, Product, Source, failed_reply
from building.writing.parse import LACKS_TAG, QUESTION_MARKS, is_cut, no_items, strip_reasoning
from building.writing.sentences import on_one_line
from building.writing.typed_line import Answered, LineError, read_answered

KINDS = {
    "fact_single": "It asks for one fact, which has one place in the passage; the answer is a few words.",
    "summary": "It asks for what several places of the passage say together; the answer puts it into one "
    "or two sentences.",
    "reasoning": "It asks for a conclusion that follows from the passage, which does not spell it out; the "
    "answer says it in one or two sentences.",
}
"""What is asked for, by the type of the question."""
STATEMENT_TAGS = {"fact_single": ("f", 5), "summary": ("s", 3), "reasoning": ("c", 3)}
"""The tag of a statement that such a question is made from, and how many there are at most."""
_OF_THE_TEXT = re.compile(
    r"\b(?:the|this) (?:text|passage|document|context|article|author|excerpt)s?\b", re.IGNORECASE
)


def read_pair(reply: str, finish_reason: str | None, source: Source) -> ParsedReply:
    """Parse one question and its answer; flag questions that mention the text itself.

    They are between tags, or in the one string of a tuned model (`typed_line`), which says the type, too.
    """
    text, cut = strip_reasoning(reply), is_cut(finish_reason)
    if not cut and (answered := _answered(text)):
        return _from_tuned(answered, source.kind)
    questions, answers = tagged_items(text, "q", cut), tagged_items(text, "a", cut)
    if not (questions.bodies and answers.bodies) or finish_reason == "content_filter":
        return no_items(reply, text, finish_reason, 1)
    question, *extra = dict.fromkeys(map(on_one_line, strip_numbers(questions.bodies)))
    if extra:
        return failed_reply(Failure.TOO_MANY, 1, f"It wrote {len(extra) + 1} different questions.")
    answer = on_one_line(answers.bodies[0])
    if checks.is_refusal(answer):
        return failed_reply(Failure.REFUSED, 1)
    flags = [LACKS_TAG] if questions.loose or answers.loose else []
    return _build_pair(question, answer, flags)


def _answered(text: str) -> Answered | None:
    try:
        return read_answered(text)
    except LineError:
        return None


def _from_tuned(answered: Answered, kind: str) -> ParsedReply:
    if answered.type != kind:
        wrong = f"It wrote a {answered.type} question, and a {kind} one was asked for."
        return failed_reply(Failure.NO_TAGS, 1, wrong)
    return _build_pair(on_one_line(answered.question), on_one_line(answered.answer), [])


def _build_pair(question: str, answer: str, flags: list[str]) -> ParsedReply:
    if not question.endswith(QUESTION_MARKS):
        flags.append("does not end in a question mark")
    if match := _OF_THE_TEXT.search(question):
        flags.append(f"speaks of “{match[0]}”, which nobody sees who is asked")
    return ParsedReply((Product(body_of(question, answer), tuple(flags)),))


def body_of(question: str, answer: str) -> str:
    """Format a pair for review: the question on a line, and its answer below."""
    return f"{question}\n{answer}"


def parts_of(body: str) -> tuple[str, str]:
    """Split a pair, possibly edited, into question and answer."""
    question, _, answer = body.strip().partition("\n")
    return on_one_line(question), on_one_line(answer)


def read_statements(reply: str, finish_reason: str | None, source: Source) -> ParsedReply:
    """Parse at most 5 facts, 3 summaries and 3 conclusions, prefixed by type."""
    text = strip_reasoning(reply)
    products = []
    for kind, (tag, limit) in STATEMENT_TAGS.items():
        items = tagged_items(text, tag, is_cut(finish_reason))
        bodies = dict.fromkeys(map(on_one_line, strip_numbers(items.bodies)))
        products += [Product(f"{kind}: {body}") for body in list(bodies)[:limit] if body]
    if not products or finish_reason == "content_filter":
        return no_items(reply, text, finish_reason, 1)
    return ParsedReply(tuple(products))


def of_kind(bodies: Sequence[str], kind: str) -> list[str]:
    """Return the statements of a type, without the prefix."""
    before = f"{kind}: "
    return [body.removeprefix(before) for body in bodies if body.startswith(before)]


def pick_statement(statements: Sequence[str], passage: str) -> str:
    """Pick a statement by a hash of the passage: arbitrary, but reproducible."""
    digest = hashlib.sha256(passage.encode()).digest()
    return statements[int.from_bytes(digest[:8], "big") % len(statements)]
