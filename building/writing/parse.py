"""Parse replies into outputs, or into the failure.

Nothing is guessed: an item that was cut off is none, and one that lacks a tag is told as such. What can
be used is kept beside a failure, and what is doubtful is flagged for a person.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from annotation.plurals import n_of
from building.writing import checks
from building.writing.citations import parse_citations
from building.writing.items import Items, listed_items, strip_numbers, tagged_items
from building.writing.lengths import cut_at_sentence, cut_at_words
from building.writing.outputs import FAILURES, Failure, ParsedReply, Product, Source, failed_reply
from building.writing.sentences import n_words, on_one_line, texts, with_line_ends
from judging.llm.reasoning import split_reasoning

PASSAGE_WORDS = (40, 400)
REQUEST_WORDS = (20, 150)
FEWEST_PASSAGES = 2
REPORT_WORDS = 20  # fewer are no report
OFF_LENGTH = 2  # times the words asked for, or a half of them, from where it is flagged
_QUOTED_LENGTH = 80  # characters of a text that a sentence quotes
QUESTION_MARKS = (
    "?",
    "？",
    "؟",
    "\u037e",
)  # the last is the Greek one, which looks like a semicolon
_NOTES = ("note:", "**note", "references:", "**references", "sources:")
LACKS_TAG = "one of its tags is missing"
NUGGET_WORDS = 30  # from where one is flagged: a nugget is one fact
_NUGGET = re.compile(r"\[(vital|okay)\]\s*+(\S.*)", re.IGNORECASE | re.DOTALL)


def read_questions(reply: str, finish_reason: str | None, source: Source) -> ParsedReply:
    """Parse the first `source.n` questions that are distinct and new.

    Questions are the same that are equal but for case, white space and numbers. TOO_FEW
    keeps those that came. Flagged are those without a question mark, with a tag missing, and nearly the
    same as another (`checks.near_duplicates`): its number counts from the first of `source.have`.
    """
    n, cut = max(source.n, 1), is_cut(finish_reason)
    text = strip_reasoning(reply)
    items = tagged_items(text, "q", cut)
    if not items.bodies and not items.was_cut:
        items = listed_items(text, cut)
    if not items.bodies or finish_reason == "content_filter":
        return no_items(reply, text, finish_reason, n)
    keys = {_key(question) for question in source.existing}
    accepted: list[tuple[str, bool]] = []
    for index, body in enumerate(strip_numbers(items.bodies, len(source.existing))):
        question = on_one_line(_first_line(body) if index in items.loose else body)
        if question and _key(question) not in keys and not checks.is_refusal(question):
            keys.add(_key(question))
            accepted.append((question, index in items.loose))
    missing = max(n - len(accepted), 0)
    products = _flagged(accepted[:n], source.existing)
    details = [_count_note(len(items.bodies), len(accepted), n), _cut_note(items)]
    return ParsedReply(products, Failure.TOO_FEW if missing else None, _joined(details), missing)


def _flagged(accepted: Sequence[tuple[str, bool]], have: Sequence[str]) -> tuple[Product, ...]:
    near = checks.near_duplicates([*have, *(question for question, _ in accepted)])
    products = []
    for index, (question, is_loose) in enumerate(accepted, len(have)):
        flags = [LACKS_TAG] if is_loose else []
        if not question.endswith(QUESTION_MARKS):
            flags.append("does not end in a question mark")
        if index in near:
            flags.append(f"nearly the same as question {near[index] + 1}")
        products.append(Product(question, tuple(flags)))
    return tuple(products)


def _count_note(written: int, distinct: int, n: int) -> str:
    if distinct > n:
        return _surplus_note(written, n)
    new = "" if distinct == written else f", {distinct} of them new"
    return f"{n} were asked for and {written} written{new}." if written != n or new else ""


def _surplus_note(written: int, n: int) -> str:
    return f"{written} were written, of which the first {n} were taken." if written > n else ""


def split_importance(nugget: str) -> tuple[str, str]:
    """Split a nugget into importance (vital, okay or "") and text."""
    match = _NUGGET.fullmatch(nugget.strip())
    return (match[1].lower(), match[2].strip()) if match else ("", nugget.strip())


def read_nuggets(reply: str, finish_reason: str | None, source: Source) -> ParsedReply:
    """Parse the first `source.n` nuggets that are new and have an importance.

    One without [vital] or [okay] before it is left out. TOO_FEW keeps those that came. Flagged are those with
    a tag missing, of more words than NUGGET_WORDS, and nearly the same as another, as questions are.
    """
    n, cut = max(source.n, 1), is_cut(finish_reason)
    text = strip_reasoning(reply)
    items = tagged_items(text, "n", cut)
    if not items.bodies or finish_reason == "content_filter":
        return no_items(reply, text, finish_reason, n)
    have = [split_importance(nugget)[1] for nugget in source.existing]
    keys = {_key(nugget) for nugget in have}
    accepted: list[tuple[str, str, bool]] = []
    n_unweighed = 0
    for index, body in enumerate(strip_numbers(items.bodies, len(have))):
        importance, fact = split_importance(on_one_line(body))
        n_unweighed += not importance
        if importance and _key(fact) not in keys and not checks.is_refusal(fact):
            keys.add(_key(fact))
            accepted.append((importance, fact, index in items.loose))
    missing = max(n - len(accepted), 0)
    details = [_count_note(len(items.bodies), len(accepted), n), _cut_note(items)]
    if n_unweighed:
        details.append(f"{n_unweighed} without [vital] or [okay] are left out.")
    failure = Failure.TOO_FEW if missing else None
    return ParsedReply(_nuggets(accepted[:n], have), failure, _joined(details), missing)


def _nuggets(accepted: Sequence[tuple[str, str, bool]], have: Sequence[str]) -> tuple[Product, ...]:
    near = checks.near_duplicates([*have, *(fact for _, fact, _ in accepted)])
    products = []
    for index, (importance, fact, is_loose) in enumerate(accepted, len(have)):
        flags = [LACKS_TAG] if is_loose else []
        if (length := n_words(fact)) > NUGGET_WORDS:
            flags.append(f"has {length} words, which is long for one fact")
        if index in near:
            flags.append(f"nearly the same as nugget {near[index] + 1}")
        products.append(Product(f"[{importance}] {fact}", tuple(flags)))
    return tuple(products)


def read_passages(reply: str, finish_reason: str | None, source: Source) -> ParsedReply:
    """Parse up to `source.n` passages of 40 to 400 words each; at least two.

    Of a short document one is enough.

    A passage may be shorter than 40 words where its document is. What is out of these bounds is left out,
    and so is what was cut off: a failure only where fewer than two are left.
    """
    n, text = max(source.n, 1), strip_reasoning(reply)
    fewest, limit = PASSAGE_WORDS
    of_document = n_words(source.document) or limit
    least = min(n, FEWEST_PASSAGES) if of_document >= FEWEST_PASSAGES * fewest else 1
    items = tagged_items(text, "p", is_cut(finish_reason))
    if not items.bodies or finish_reason == "content_filter":
        return no_items(reply, text, finish_reason, least)
    whole: dict[str, tuple[str, bool]] = {}
    left_out: list[tuple[Failure, str]] = []
    for index, body in enumerate(strip_numbers(items.bodies)):
        if trouble := _problem(body, min(fewest, of_document), limit):
            left_out.append((trouble[0], f"Passage {index + 1} was left out: {trouble[1]}"))
        else:
            whole.setdefault(_key(body), (body, index in items.loose))
    accepted = tuple(
        _passage(*candidate, source.document) for candidate in list(whole.values())[:n]
    )
    missing = max(least - len(accepted), 0)
    details = [detail for _, detail in left_out]
    details += [_cut_note(items), _surplus_note(len(whole), n)]
    if not missing:
        return ParsedReply(accepted, None, _joined(details))
    failure = Failure.CUT if items.was_cut and not accepted else Failure.TOO_FEW
    failure = left_out[0][0] if left_out else failure
    return ParsedReply(accepted, failure, _joined(details) or FAILURES[failure], missing)


def _passage(body: str, is_loose: bool, document: str) -> Product:
    unsupported = checks.unsupported_flag(body, document) if document else ""
    flags = (LACKS_TAG if is_loose else "", unsupported)
    return Product(body, tuple(filter(None, flags)))


def read_request(reply: str, finish_reason: str | None, source: Source) -> ParsedReply:
    """Parse one request of 20 to 150 words that copies no sentence of its source."""
    text = strip_reasoning(reply)
    items = tagged_items(text, "r", is_cut(finish_reason))
    if not items.bodies or finish_reason == "content_filter":
        return no_items(reply, text, finish_reason, 1)
    requests = {_key(body): on_one_line(body) for body in strip_numbers(items.bodies)}
    body, *extra = requests.values()
    if extra:
        return failed_reply(Failure.TOO_MANY, 1, f"It wrote {len(requests)} different requests.")
    if trouble := _problem(body, *REQUEST_WORDS):
        return failed_reply(trouble[0], 1, _capital(trouble[1]))
    if copied := checks.copied_sentence(body, source.document):
        return failed_reply(
            Failure.COPIES, 1, f"It holds this sentence of its source: {_quoted(copied)}"
        )
    return ParsedReply((Product(body, (LACKS_TAG,) if items.loose else ()),))


def read_report(reply: str, finish_reason: str | None, source: Source) -> ParsedReply:
    """Parse a report, and separate its citations.

    One that was stopped by its length ends at its last whole sentence, and so does one of more than
    `source.max_words`; both are flagged, and so is one far from `source.words`, one with notes of the
    writer, and one that cites none of the passages it was given.
    """
    text = strip_reasoning(reply)
    if not text or finish_reason == "content_filter" or checks.is_refusal(text):
        return no_items(reply, text, finish_reason, 1)
    report = parse_citations(text, [name for name, _ in source.passages])
    if report.labels and not source.passages:
        labels = ", ".join(dict.fromkeys(report.labels))
        return failed_reply(
            Failure.CITES_WITHOUT_CONTEXT, 1, f"It was given no passages, and cites {labels}."
        )
    flags = []
    if is_cut(finish_reason):
        report = report.until(len(cut_at_sentence(report.body)))
        flags.append("cut at its last sentence")
        if not report.body:
            return failed_reply(Failure.CUT, 1)
    if source.max_words and n_words(report.body) > source.max_words:
        report = report.until(len(cut_at_words(report.body, source.max_words)))
        flags.append(f"cut at {source.max_words} words")
        if not report.body:
            detail = f"Its first sentence has more than {source.max_words} words."
            return failed_reply(Failure.TOO_LONG, 1, detail)
    least = min(REPORT_WORDS, source.words or REPORT_WORDS, source.max_words or REPORT_WORDS)
    if trouble := _problem(report.body, least, None):
        return failed_reply(trouble[0], 1, _capital(trouble[1]))
    flags += _flags_of_report(report.body, source)
    if source.passages and not report.labels:
        flags.append("cites none of its passages")
    return ParsedReply((Product(report.body, tuple(flags), report.statements),))


def _flags_of_report(body: str, source: Source) -> list[str]:
    flags = []
    n_total = n_words(body)
    if source.words and not source.words / OFF_LENGTH <= n_total <= source.words * OFF_LENGTH:
        flags.append(f"has {n_of(n_total, 'word')} of the {source.words} asked for")
    if any(line.strip().casefold().startswith(_NOTES) for line in body.split("\n")):
        flags.append("holds notes or references of the writer's own")
    return flags


def _problem(body: str, fewest: int, limit: int | None) -> tuple[Failure, str] | None:
    """Check one text; return the failure and a sentence, or None."""
    n_total = n_words(body)
    if checks.is_refusal(body):
        return Failure.REFUSED, f"it says {_quoted(body)}"
    if repeated := checks.repeated_passage(body):
        return Failure.LOOPS, f"it says again and again {_quoted(repeated)}"
    if n_total < fewest:
        return Failure.TOO_SHORT, f"it has {n_of(n_total, 'word')}, and {fewest} are the fewest."
    if limit is not None and n_total > limit:
        return Failure.TOO_LONG, f"it has {n_of(n_total, 'word')}, and {limit} are the most."
    return None


def no_items(reply: str, text: str, finish_reason: str | None, missing: int) -> ParsedReply:
    """Return the failure of a reply without items.

    `text` is the reply without its reasoning, `missing` the number of items asked for.
    """
    if finish_reason == "content_filter":
        return failed_reply(Failure.REFUSED, missing, "The server's filter stopped it.")
    if checks.is_refusal(text):
        return failed_reply(Failure.REFUSED, missing, f"The writer refused: {_quoted(text)}")
    if is_cut(finish_reason):
        only_thought = reply.strip() and not text
        return failed_reply(
            Failure.CUT, missing, "It was cut while it was thinking." if only_thought else ""
        )
    if not text:
        return failed_reply(Failure.EMPTY, missing)
    return failed_reply(Failure.NO_TAGS, missing)


def strip_reasoning(reply: str) -> str:
    """Strip the model's reasoning from a reply."""
    return with_line_ends(split_reasoning(reply)[1])


def is_cut(finish_reason: str | None) -> bool:
    """Return whether the reply was truncated."""
    return finish_reason in ("length", "abort")


def _key(body: str) -> str:
    return on_one_line(unicodedata.normalize("NFKC", body).casefold())


def _first_line(body: str) -> str:
    """Return the question line of an item that lacks a tag, as other text may surround it."""
    lines = [line for line in body.split("\n") if line.strip()]
    return next(
        (line for line in lines if line.rstrip().endswith(QUESTION_MARKS)),
        lines[0] if lines else "",
    )


def _cut_note(items: Items) -> str:
    return "The last one was cut off, and is left out." if items.was_cut else ""


def _quoted(text: str) -> str:
    first = on_one_line((texts(text) or [text])[0])
    return f"“{first}”" if len(first) <= _QUOTED_LENGTH else f"“{first[: _QUOTED_LENGTH - 1]}…”"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _joined(sentences: Sequence[str]) -> str:
    return " ".join(filter(None, sentences))
