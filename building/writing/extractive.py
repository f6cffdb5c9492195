"""The embedded baseline: it writes without a model, by copying sentences and filling in sentences of ours.

It shows that the way from a source to a product works, and is a floor for what a model writes. It is no
model, and what it writes is not fit for a study. Replies are as a model would give them, tags and all,
so that they are read in the same way. The same source gives the same reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, pairwise, zip_longest

from building.writing.citations import cited
from building.writing.pairs import OF_EACH
from building.writing.parse import FEWEST_PASSAGES, PASSAGE_WORDS, REPORT_WORDS
from building.writing.products import Source
from building.writing.salience import salience
from building.writing.sentences import (
    has_words,
    n_words,
    on_one_line,
    plain_words,
    texts,
    with_line_ends,
)

NAME = "extractive"
NO_CONTEXT = "I cannot write without passages: a baseline knows nothing by itself."
NO_WORDS = "I cannot write about a document without words."
_LONGEST = 60  # words of a piece that has no sentence end
_FROM_A_SENTENCE = 6  # its content words that questions are made from
_TAG = re.compile(r"<\s*+/?\s*+\w{1,12}\s*+>")
_ENDS = (".", "!", "?", "…", "。", '"', "”")


def write(task: str, source: Source) -> str:
    """The reply to a task of this name; a refusal in words where the source has nothing to write from.

    `source` is whole (`Task.whole`): it says how many and how long. Raises KeyError for another task.
    """
    return _WRITERS[task](source)


def _passages(source: Source) -> str:
    """The document in pieces of about `words` words, at most `n` of them, each to the end of a sentence."""
    sentences = [piece for sentence in _sentences(source.document) for piece in _pieces(sentence)]
    counts = [n_words(sentence) for sentence in sentences]
    total = sum(counts)
    if not total:
        return NO_WORDS
    fewest, most = PASSAGE_WORDS
    wanted = max(
        FEWEST_PASSAGES if total >= FEWEST_PASSAGES * fewest else 1, round(total / source.words)
    )
    k = max(1, min(source.n, wanted, len(sentences)))
    edges = _edges(counts, k)
    passages = []
    for first, last in pairwise(edges):
        while sum(counts[first:last]) < min(fewest, total):
            # Too short: it begins with the end of the one before, or goes on into the next.
            first, last = (first - 1, last) if first else (first, last + 1)
        while sum(counts[first:last]) > most:
            last -= 1
        passages.append(" ".join(sentences[first:last]))
    return _in_tags("p", passages)


def _edges(counts: Sequence[int], k: int) -> list[int]:
    """Where each of k pieces begins, and the end: about as many words in each, and at least a sentence."""
    edges, read, total = [0], 0, sum(counts)
    for place, count in enumerate(counts[:-1], 1):
        read += count
        left = k - len(edges)
        if left and (read >= total * len(edges) / k or len(counts) - place == left):
            edges.append(place)
    return [*edges, len(counts)]


def _request(source: Source) -> str:
    sentences = _sentences(source.document)
    found = salience(sentences).heaviest(" ".join(sentences))[:6]
    if not found:
        return NO_WORDS
    asks = f"Write a report on {_listed(found[:3])}."
    more = (
        f"what there is to know about {_listed(found[3:])}" if found[3:] else "what else is known"
    )
    asks += (
        " It shall say what happened or what is the matter, who takes part in it, when and where it was,"
        f" {more}, and what came of it in the end."
    )
    return _in_tags("r", [asks])


def _questions(source: Source) -> str:
    sentences = _sentences(source.document)
    found = salience(sentences)
    of_each = [_asked(found.heaviest(sentence)[:_FROM_A_SENTENCE]) for sentence in sentences]
    have = {on_one_line(question).casefold() for question in source.have}
    questions: list[str] = []
    for question in (each for round_ in zip_longest(*of_each) for each in round_ if each):
        if len(questions) < source.n and question.casefold() not in have:
            have.add(question.casefold())
            questions.append(question)
    return _in_tags("q", questions) if questions else NO_WORDS


def _nuggets(source: Source) -> str:
    """The first sentences, each [okay]: a baseline does not know what an answer must have."""
    have = {on_one_line(nugget).casefold() for nugget in source.have}
    sentences = dict.fromkeys(f"[okay] {sentence}" for sentence in _sentences(source.document))
    new = [nugget for nugget in sentences if nugget.casefold() not in have]
    return _in_tags("n", new[: source.n]) if new else NO_WORDS


def _asked(found: Sequence[str]) -> Iterator[str]:
    """A question on each two of the words, then one on each alone."""
    for one, other in combinations(found, 2):
        yield f"What is said about {one} and {other}?"
    for one in found:
        yield f"What is said about {one}?"


def _report(source: Source) -> str:
    """The first sentence of each passage by rank, then the second of each, to the length asked for."""
    if not source.passages:
        return NO_CONTEXT
    of_each = [
        [(sentence, number) for sentence in _sentences(cited(body).body)]
        for number, (_, body) in enumerate(source.passages, 1)
    ]
    most = min(source.words, source.max_words or source.words)
    report: list[str] = []
    seen: set[tuple[str, ...]] = set()
    used = 0
    for sentence, number in (each for round_ in zip_longest(*of_each) for each in round_ if each):
        words, n = tuple(plain_words(sentence)), n_words(sentence)
        if words in seen or (used >= REPORT_WORDS and used + n > most):
            continue
        seen.add(words)
        used += n
        report.append(f"{sentence if sentence.endswith(_ENDS) else sentence + '.'} [{number}]")
    return " ".join(report) or NO_WORDS


def _direct(source: Source) -> str:
    return NO_CONTEXT


def _statements(source: Source) -> str:
    """The first sentences for facts, the first again for a summary, the last for a conclusion."""
    sentences = _sentences(source.document)
    if not sentences:
        return NO_WORDS
    tags = (("f", sentences[:5]), ("s", sentences[:1]), ("c", sentences[-1:]))
    return "\n".join(_in_tags(tag, items) for tag, items in tags)


def _pairs(source: Source) -> str:
    """What is said about some words of a sentence, with the sentence for the answer.

    Another one for each type, where there are as many: equal pairs would be one in a file.
    """
    sentences = _sentences(source.statement or source.document)
    found = salience(sentences)
    can_ask = (
        (question, sentence)
        for sentence in sentences
        for question in _asked(found.heaviest(sentence)[:_FROM_A_SENTENCE])
    )
    of_each_type = list(islice(can_ask, len(OF_EACH)))
    if not of_each_type:
        return NO_WORDS
    place = list(OF_EACH).index(source.kind) if source.kind in OF_EACH else 0
    question, sentence = of_each_type[min(place, len(of_each_type) - 1)]
    return f"{_in_tags('q', [question])}\n{_in_tags('a', [sentence])}"


_WRITERS = {
    "passages": _passages,
    "request": _request,
    "questions": _questions,
    "nuggets": _nuggets,
    "report": _report,
    "direct": _direct,
    "statements": _statements,
    "pairs": _pairs,
}


def _sentences(text: str) -> list[str]:
    """The sentences of a text that have words, each on one line, without what a reader would take for a tag."""
    found = (on_one_line(sentence) for sentence in texts(with_line_ends(_TAG.sub(" ", text))))
    return [sentence for sentence in found if has_words(sentence)]


def _pieces(sentence: str) -> list[str]:
    words = sentence.split()
    return [" ".join(words[start : start + _LONGEST]) for start in range(0, len(words), _LONGEST)]


def _listed(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def _in_tags(tag: str, items: Sequence[str]) -> str:
    return "\n".join(f"<{tag}>{item}</{tag}>" for item in items)
