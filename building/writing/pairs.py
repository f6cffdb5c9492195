"""Questions of a type on a passage, with their answers; and statements of it that they are made from.

Types and statements are those of Know Your RAG (de Lima et al., 2024); the words of prompts are our own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from building.writing import checks
from building.writing.items import tagged, unnumbered
from building.writing.parse import LACKS_TAG, QUESTION_MARKS, is_cut, nothing, words_of
from building.writing.products import Failure, Product, Source, Written, failed
from building.writing.sentences import on_one_line
from building.writing.typed_line import Answered, LineBroken, read_answered

KINDS = {
    "fact_single": "It asks for one fact, which has one place in the passage; the answer is a few words.",
    "summary": "It asks for what several places of the passage say together; the answer puts it into one "
    "or two sentences.",
    "reasoning": "It asks for a conclusion that follows from the passage, which does not spell it out; the "
    "answer says it in one or two sentences.",
}
"""What is asked for, by the type of the question."""
OF_EACH = {"fact_single": ("f", 5), "summary": ("s", 3), "reasoning": ("c", 3)}
"""The tag of a statement that such a question is made from, and how many there are at most."""
_OF_THE_TEXT = re.compile(
    r"\b(?:the|this) (?:text|passage|document|context|article|author|excerpt)s?\b", re.IGNORECASE
)


def read_pair(reply: str, finish_reason: str | None, source: Source) -> Written:
    """The one question of a reply, and below it its answer. Flagged are those that speak of the text itself.

    They are between tags, or in the one string of a tuned model (`typed_line`), which says the type, too.
    """
    text, cut = words_of(reply), is_cut(finish_reason)
    if not cut and (answered := _answered(text)):
        return _of_tuned(answered, source.kind)
    asked, answers = tagged(text, "q", cut), tagged(text, "a", cut)
    if not (asked.bodies and answers.bodies) or finish_reason == "content_filter":
        return nothing(reply, text, finish_reason, 1)
    question, *others = dict.fromkeys(map(on_one_line, unnumbered(asked.bodies)))
    if others:
        return failed(Failure.TOO_MANY, 1, f"It wrote {len(others) + 1} different questions.")
    answer = on_one_line(answers.bodies[0])
    if checks.refuses(answer):
        return failed(Failure.REFUSED, 1)
    flags = [LACKS_TAG] if asked.loose or answers.loose else []
    return _pair(question, answer, flags)


def _answered(text: str) -> Answered | None:
    try:
        return read_answered(text)
    except LineBroken:
        return None


def _of_tuned(answered: Answered, kind: str) -> Written:
    if answered.type != kind:
        wrong = f"It wrote a {answered.type} question, and a {kind} one was asked for."
        return failed(Failure.NO_TAGS, 1, wrong)
    return _pair(on_one_line(answered.question), on_one_line(answered.answer), [])


def _pair(question: str, answer: str, flags: list[str]) -> Written:
    if not question.endswith(QUESTION_MARKS):
        flags.append("does not end in a question mark")
    if said := _OF_THE_TEXT.search(question):
        flags.append(f"speaks of “{said[0]}”, which nobody sees who is asked")
    return Written((Product(body_of(question, answer), tuple(flags)),))


def body_of(question: str, answer: str) -> str:
    """A pair as people review it: the question on a line, and its answer below."""
    return f"{question}\n{answer}"


def parts_of(body: str) -> tuple[str, str]:
    """The question and the answer of a pair, as somebody may have edited it."""
    question, _, answer = body.strip().partition("\n")
    return on_one_line(question), on_one_line(answer)


def read_statements(reply: str, finish_reason: str | None, source: Source) -> Written:
    """The statements of a reply, their type before them: at most 5 facts, 3 summaries, 3 conclusions."""
    text = words_of(reply)
    products = []
    for kind, (tag, most) in OF_EACH.items():
        items = tagged(text, tag, is_cut(finish_reason))
        bodies = dict.fromkeys(map(on_one_line, unnumbered(items.bodies)))
        products += [Product(f"{kind}: {body}") for body in list(bodies)[:most] if body]
    if not products or finish_reason == "content_filter":
        return nothing(reply, text, finish_reason, 1)
    return Written(tuple(products))


def of_kind(bodies: Sequence[str], kind: str) -> list[str]:
    """The statements of a type, without it."""
    before = f"{kind}: "
    return [body.removeprefix(before) for body in bodies if body.startswith(before)]


def picked(statements: Sequence[str], passage: str) -> str:
    """One of some statements: by a hash of the passage, so that it is any of them and always the same."""
    digest = hashlib.sha256(passage.encode()).digest()
    return statements[int.from_bytes(digest[:8], "big") % len(statements)]
