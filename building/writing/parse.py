"""From a reply to its products, or to what it failed by.

Nothing is guessed: an item that was cut off is none, and one that lacks a tag is told as such. What can
be used is kept beside a failure, and what is doubtful is flagged for a person.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from building.writing import checks
from building.writing.citations import cited
from building.writing.items import Items, listed, tagged, unnumbered
from building.writing.lengths import cut_at_sentence, cut_at_words
from building.writing.products import FAILURES, Failure, Product, Source, Written, failed
from building.writing.sentences import n_words, on_one_line, texts, with_line_ends
from judging.grading.thoughts import thinking_apart

PASSAGE_WORDS = (40, 400)
REQUEST_WORDS = (20, 150)
FEWEST_PASSAGES = 2
REPORT_WORDS = 20  # fewer are no report
OFF_LENGTH = 2  # times the words asked for, or a half of them, from where it is flagged
_SHOWN = 80  # characters of a text that a sentence quotes
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


def read_questions(reply: str, finish_reason: str | None, source: Source) -> Written:
    """The first `source.n` questions of a reply that are distinct, and none of those that are there already.

    Questions are the same that are equal but for case, white space and numbers. TOO_FEW
    keeps those that came. Flagged are those without a question mark, with a tag missing, and nearly the
    same as another (`checks.near_duplicates`): its number counts from the first of `source.have`.
    """
    n, cut = max(source.n, 1), is_cut(finish_reason)
    text = words_of(reply)
    items = tagged(text, "q", cut)
    if not items.bodies and not items.was_cut:
        items = listed(text, cut)
    if not items.bodies or finish_reason == "content_filter":
        return nothing(reply, text, finish_reason, n)
    seen = {_key(question) for question in source.have}
    kept: list[tuple[str, bool]] = []
    for place, body in enumerate(unnumbered(items.bodies, len(source.have))):
        question = on_one_line(_first_line(body) if place in items.loose else body)
        if question and _key(question) not in seen and not checks.refuses(question):
            seen.add(_key(question))
            kept.append((question, place in items.loose))
    missing = max(n - len(kept), 0)
    products = _flagged(kept[:n], source.have)
    details = [_said_of_number(len(items.bodies), len(kept), n), _said_of_cut(items)]
    return Written(products, Failure.TOO_FEW if missing else None, _joined(details), missing)


def _flagged(kept: Sequence[tuple[str, bool]], have: Sequence[str]) -> tuple[Product, ...]:
    near = checks.near_duplicates([*have, *(question for question, _ in kept)])
    products = []
    for place, (question, is_loose) in enumerate(kept, len(have)):
        flags = [LACKS_TAG] if is_loose else []
        if not question.endswith(QUESTION_MARKS):
            flags.append("does not end in a question mark")
        if place in near:
            flags.append(f"nearly the same as question {near[place] + 1}")
        products.append(Product(question, tuple(flags)))
    return tuple(products)


def _said_of_number(written: int, distinct: int, n: int) -> str:
    if distinct > n:
        return _said_of_more(written, n)
    new = "" if distinct == written else f", {distinct} of them new"
    return f"{n} were asked for and {written} written{new}." if written != n or new else ""


def _said_of_more(written: int, n: int) -> str:
    return f"{written} were written, of which the first {n} were taken." if written > n else ""


def weighed(nugget: str) -> tuple[str, str]:
    """The importance in front of a nugget, vital or okay, "" where there is none, and its words."""
    found = _NUGGET.fullmatch(nugget.strip())
    return (found[1].lower(), found[2].strip()) if found else ("", nugget.strip())


def read_nuggets(reply: str, finish_reason: str | None, source: Source) -> Written:
    """The first `source.n` nuggets of a reply that say how important they are, and are not there already.

    One without [vital] or [okay] before it is left out. TOO_FEW keeps those that came. Flagged are those with
    a tag missing, of more words than NUGGET_WORDS, and nearly the same as another, as questions are.
    """
    n, cut = max(source.n, 1), is_cut(finish_reason)
    text = words_of(reply)
    items = tagged(text, "n", cut)
    if not items.bodies or finish_reason == "content_filter":
        return nothing(reply, text, finish_reason, n)
    have = [weighed(nugget)[1] for nugget in source.have]
    seen = {_key(nugget) for nugget in have}
    kept: list[tuple[str, str, bool]] = []
    n_unweighed = 0
    for place, body in enumerate(unnumbered(items.bodies, len(have))):
        importance, words = weighed(on_one_line(body))
        n_unweighed += not importance
        if importance and _key(words) not in seen and not checks.refuses(words):
            seen.add(_key(words))
            kept.append((importance, words, place in items.loose))
    missing = max(n - len(kept), 0)
    details = [_said_of_number(len(items.bodies), len(kept), n), _said_of_cut(items)]
    if n_unweighed:
        details.append(f"{n_unweighed} without [vital] or [okay] are left out.")
    failure = Failure.TOO_FEW if missing else None
    return Written(_nuggets(kept[:n], have), failure, _joined(details), missing)


def _nuggets(kept: Sequence[tuple[str, str, bool]], have: Sequence[str]) -> tuple[Product, ...]:
    near = checks.near_duplicates([*have, *(words for _, words, _ in kept)])
    products = []
    for place, (importance, words, is_loose) in enumerate(kept, len(have)):
        flags = [LACKS_TAG] if is_loose else []
        if (length := n_words(words)) > NUGGET_WORDS:
            flags.append(f"has {length} words, which is long for one fact")
        if place in near:
            flags.append(f"nearly the same as nugget {near[place] + 1}")
        products.append(Product(f"[{importance}] {words}", tuple(flags)))
    return tuple(products)


def read_passages(reply: str, finish_reason: str | None, source: Source) -> Written:
    """Two to `source.n` passages of a document, each of 40 to 400 words; of a short document one is enough.

    A passage may be shorter than 40 words where its document is. What is out of these bounds is left out,
    and so is what was cut off: a failure only where fewer than two are left.
    """
    n, text = max(source.n, 1), words_of(reply)
    fewest, most = PASSAGE_WORDS
    of_document = n_words(source.document) or most
    least = min(n, FEWEST_PASSAGES) if of_document >= FEWEST_PASSAGES * fewest else 1
    items = tagged(text, "p", is_cut(finish_reason))
    if not items.bodies or finish_reason == "content_filter":
        return nothing(reply, text, finish_reason, least)
    whole: dict[str, tuple[str, bool]] = {}
    left_out: list[tuple[Failure, str]] = []
    for place, body in enumerate(unnumbered(items.bodies)):
        if trouble := _trouble(body, min(fewest, of_document), most):
            left_out.append((trouble[0], f"Passage {place + 1} was left out: {trouble[1]}"))
        else:
            whole.setdefault(_key(body), (body, place in items.loose))
    kept = tuple(_passage(*each, source.document) for each in list(whole.values())[:n])
    missing = max(least - len(kept), 0)
    details = [words for _, words in left_out]
    details += [_said_of_cut(items), _said_of_more(len(whole), n)]
    if not missing:
        return Written(kept, None, _joined(details))
    failure = Failure.CUT if items.was_cut and not kept else Failure.TOO_FEW
    failure = left_out[0][0] if left_out else failure
    return Written(kept, failure, _joined(details) or FAILURES[failure], missing)


def _passage(body: str, is_loose: bool, document: str) -> Product:
    says_else = checks.says_else(body, document) if document else ""
    flags = (LACKS_TAG if is_loose else "", says_else)
    return Product(body, tuple(filter(None, flags)))


def read_request(reply: str, finish_reason: str | None, source: Source) -> Written:
    """The one request of a reply, on one line: 20 to 150 words, and no whole sentence of its source."""
    text = words_of(reply)
    items = tagged(text, "r", is_cut(finish_reason))
    if not items.bodies or finish_reason == "content_filter":
        return nothing(reply, text, finish_reason, 1)
    requests = {_key(body): on_one_line(body) for body in unnumbered(items.bodies)}
    body, *others = requests.values()
    if others:
        return failed(Failure.TOO_MANY, 1, f"It wrote {len(requests)} different requests.")
    if trouble := _trouble(body, *REQUEST_WORDS):
        return failed(trouble[0], 1, _capital(trouble[1]))
    if copied := checks.copied_sentence(body, source.document):
        return failed(Failure.COPIES, 1, f"It holds this sentence of its source: {_quoted(copied)}")
    return Written((Product(body, (LACKS_TAG,) if items.loose else ()),))


def read_report(reply: str, finish_reason: str | None, source: Source) -> Written:
    """The report that a reply is, with its citations apart.

    One that was stopped by its length ends at its last whole sentence, and so does one of more than
    `source.max_words`; both are flagged, and so is one far from `source.words`, one with notes of the
    writer, and one that cites none of the passages it was given.
    """
    text = words_of(reply)
    if not text or finish_reason == "content_filter" or checks.refuses(text):
        return nothing(reply, text, finish_reason, 1)
    report = cited(text, [name for name, _ in source.passages])
    if report.labels and not source.passages:
        labels = ", ".join(dict.fromkeys(report.labels))
        return failed(
            Failure.CITES_WITHOUT_CONTEXT, 1, f"It was given no passages, and cites {labels}."
        )
    flags = []
    if is_cut(finish_reason):
        report = report.until(len(cut_at_sentence(report.body)))
        flags.append("cut at its last sentence")
        if not report.body:
            return failed(Failure.CUT, 1)
    if source.max_words and n_words(report.body) > source.max_words:
        report = report.until(len(cut_at_words(report.body, source.max_words)))
        flags.append(f"cut at {source.max_words} words")
        if not report.body:
            said = f"Its first sentence has more than {source.max_words} words."
            return failed(Failure.TOO_LONG, 1, said)
    least = min(REPORT_WORDS, source.words or REPORT_WORDS, source.max_words or REPORT_WORDS)
    if trouble := _trouble(report.body, least, None):
        return failed(trouble[0], 1, _capital(trouble[1]))
    flags += _flags_of_report(report.body, source)
    if source.passages and not report.labels:
        flags.append("cites none of its passages")
    return Written((Product(report.body, tuple(flags), report.statements),))


def _flags_of_report(body: str, source: Source) -> list[str]:
    flags = []
    words = n_words(body)
    if source.words and not source.words / OFF_LENGTH <= words <= source.words * OFF_LENGTH:
        flags.append(f"has {words} words of the {source.words} asked for")
    if any(line.strip().casefold().startswith(_NOTES) for line in body.split("\n")):
        flags.append("holds notes or references of the writer's own")
    return flags


def _trouble(body: str, fewest: int, most: int | None) -> tuple[Failure, str] | None:
    """What is wrong with one text, and a sentence on it."""
    words = n_words(body)
    if checks.refuses(body):
        return Failure.REFUSED, f"it says {_quoted(body)}"
    if again := checks.loop(body):
        return Failure.LOOPS, f"it says again and again {_quoted(again)}"
    if words < fewest:
        return Failure.TOO_SHORT, f"it has {words} words, and {fewest} are the fewest."
    if most is not None and words > most:
        return Failure.TOO_LONG, f"it has {words} words, and {most} are the most."
    return None


def nothing(reply: str, text: str, finish_reason: str | None, missing: int) -> Written:
    """Why there is no item in a reply, of which `text` is what was not thought; `missing` were asked for."""
    if finish_reason == "content_filter":
        return failed(Failure.REFUSED, missing, "The server's filter stopped it.")
    if checks.refuses(text):
        return failed(Failure.REFUSED, missing, f"The writer refused: {_quoted(text)}")
    if is_cut(finish_reason):
        only_thought = reply.strip() and not text
        return failed(
            Failure.CUT, missing, "It was cut while it was thinking." if only_thought else ""
        )
    if not text:
        return failed(Failure.EMPTY, missing)
    return failed(Failure.NO_TAGS, missing)


def words_of(reply: str) -> str:
    """A reply without what the model thought."""
    return with_line_ends(thinking_apart(reply)[1])


def is_cut(finish_reason: str | None) -> bool:
    """Whether the reply was stopped before its end."""
    return finish_reason in ("length", "abort")


def _key(body: str) -> str:
    return on_one_line(unicodedata.normalize("NFKC", body).casefold())


def _first_line(body: str) -> str:
    """Of a question that lacks a tag, so that other words may be around it."""
    lines = [line for line in body.split("\n") if line.strip()]
    return next(
        (line for line in lines if line.rstrip().endswith(QUESTION_MARKS)),
        lines[0] if lines else "",
    )


def _said_of_cut(items: Items) -> str:
    return "The last one was cut off, and is left out." if items.was_cut else ""


def _quoted(words: str) -> str:
    first = on_one_line((texts(words) or [words])[0])
    return f"“{first}”" if len(first) <= _SHOWN else f"“{first[: _SHOWN - 1]}…”"


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def _joined(sentences: Sequence[str]) -> str:
    return " ".join(filter(None, sentences))
