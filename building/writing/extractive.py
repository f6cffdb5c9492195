"""Extractive baseline: copies source sentences into templates, without a model.

It shows that the way from a source to a product works, and is a floor for what a model writes. It is no
model, and what it writes is not fit for a study. Replies are as a model would give them, tags and all,
so that they are read in the same way. The same source gives the same reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, pairwise, zip_longest

from building.writing.citations import parse_citations
from building.writing.outputs import Source
from building.writing.pairs import STATEMENT_TAGS
from building.writing.parse import FEWEST_PASSAGES, PASSAGE_WORDS, REPORT_WORDS
from building.writing.salience import salience
from building.writing.sentences import (
    has_token,
    n_words,
    on_one_line,
    plain_words,
    texts,
    with_line_ends,
)

NAME = "extractive"
NO_CONTEXT = "I cannot write without passages: a baseline knows nothing by itself."
NO_DOCUMENT = "I cannot write about a document without words."
_LONGEST = 60  # words of a piece that has no sentence end
_FROM_A_SENTENCE = 6  # its content words that questions are made from
_TAG = re.compile(r"<\s*+/?\s*+\w{1,12}\s*+>")
_ENDS = (".", "!", "?", "…", "。", '"', "”")


def write(task: str, source: Source) -> str:
    """Return the baseline's reply to a task; a refusal if the source is empty.

    `source` is whole (`Task.whole`): it says how many and how long. Raises KeyError for another task.
    """
    return _WRITERS[task](source)


def _passages(source: Source) -> str:
    """Split the document at sentences into up to `n` pieces of about `words` words."""
    sentences = [piece for sentence in _sentences(source.document) for piece in _pieces(sentence)]
    counts = [n_words(sentence) for sentence in sentences]
    total = sum(counts)
    if not total:
        return NO_DOCUMENT
    fewest, limit = PASSAGE_WORDS
    target = max(
        FEWEST_PASSAGES if total >= FEWEST_PASSAGES * fewest else 1, round(total / source.words)
    )
    k = max(1, min(source.n, target, len(sentences)))
    edges = _edges(counts, k)
    passages = []
    for first, last in pairwise(edges):
        while sum(counts[first:last]) < min(fewest, total):
            # Too short: it begins with the end of the one before, or goes on into the next.
            first, last = (first - 1, last) if first else (first, last + 1)
        while sum(counts[first:last]) > limit:
            last -= 1
        passages.append(" ".join(sentences[first:last]))
    return _in_tags("p", passages)


def _edges(counts: Sequence[int], k: int) -> list[int]:
    """Return the starts of k pieces of similar length, and the end, in sentences."""
    edges, read, total = [0], 0, sum(counts)
    for index, count in enumerate(counts[:-1], 1):
        read += count
        n_missing = k - len(edges)
        if n_missing and (read >= total * len(edges) / k or len(counts) - index == n_missing):
            edges.append(index)
    return [*edges, len(counts)]


def _request(source: Source) -> str:
    sentences = _sentences(source.document)
    topics = salience(sentences).heaviest(" ".join(sentences))[:6]
    if not topics:
        return NO_DOCUMENT
    asks = f"Write a report on {_listed(topics[:3])}."
    more = (
        f"what there is to know about {_listed(topics[3:])}" if topics[3:] else "what else is known"
    )
    asks += (
        " It shall say what happened or what is the matter, who takes part in it, when and where it was,"
        f" {more}, and what came of it in the end."
    )
    return _in_tags("r", [asks])


def _questions(source: Source) -> str:
    sentences = _sentences(source.document)
    weights = salience(sentences)
    by_sentence = [
        _questions_on(weights.heaviest(sentence)[:_FROM_A_SENTENCE]) for sentence in sentences
    ]
    have = {on_one_line(question).casefold() for question in source.existing}
    questions: list[str] = []
    for question in (
        candidate for round_ in zip_longest(*by_sentence) for candidate in round_ if candidate
    ):
        if len(questions) < source.n and question.casefold() not in have:
            have.add(question.casefold())
            questions.append(question)
    return _in_tags("q", questions) if questions else NO_DOCUMENT


def _nuggets(source: Source) -> str:
    """Return the first sentences, each [okay]: a baseline cannot tell what is vital."""
    have = {on_one_line(nugget).casefold() for nugget in source.existing}
    sentences = dict.fromkeys(f"[okay] {sentence}" for sentence in _sentences(source.document))
    new = [nugget for nugget in sentences if nugget.casefold() not in have]
    return _in_tags("n", new[: source.n]) if new else NO_DOCUMENT


def _questions_on(names: Sequence[str]) -> Iterator[str]:
    """Yield a question on each pair of names, then one on each alone."""
    for first, second in combinations(names, 2):
        yield f"What is said about {first} and {second}?"
    for first in names:
        yield f"What is said about {first}?"


def _report(source: Source) -> str:
    """Take the first sentence of each passage by rank, then the second, up to the length."""
    if not source.passages:
        return NO_CONTEXT
    by_passage = [
        [(sentence, number) for sentence in _sentences(parse_citations(body).body)]
        for number, (_, body) in enumerate(source.passages, 1)
    ]
    limit = min(source.words, source.max_words or source.words)
    report: list[str] = []
    used_sentences: set[tuple[str, ...]] = set()
    n_used = 0
    for sentence, number in (
        entry for round_ in zip_longest(*by_passage) for entry in round_ if entry
    ):
        tokens, n = tuple(plain_words(sentence)), n_words(sentence)
        if tokens in used_sentences or (n_used >= REPORT_WORDS and n_used + n > limit):
            continue
        used_sentences.add(tokens)
        n_used += n
        report.append(f"{sentence if sentence.endswith(_ENDS) else sentence + '.'} [{number}]")
    return " ".join(report) or NO_DOCUMENT


def _direct(source: Source) -> str:
    return NO_CONTEXT


def _statements(source: Source) -> str:
    """Use the first sentences as facts, the first as summary, the last as conclusion."""
    sentences = _sentences(source.document)
    if not sentences:
        return NO_DOCUMENT
    tags = (("f", sentences[:5]), ("s", sentences[:1]), ("c", sentences[-1:]))
    return "\n".join(_in_tags(tag, items) for tag, items in tags)


def _pairs(source: Source) -> str:
    """Ask about terms of a sentence, with the sentence as the answer.

    Another one for each type, where there are as many: equal pairs would be one in a file.
    """
    sentences = _sentences(source.statement or source.document)
    weights = salience(sentences)
    can_ask = (
        (question, sentence)
        for sentence in sentences
        for question in _questions_on(weights.heaviest(sentence)[:_FROM_A_SENTENCE])
    )
    of_each_type = list(islice(can_ask, len(STATEMENT_TAGS)))
    if not of_each_type:
        return NO_DOCUMENT
    index = list(STATEMENT_TAGS).index(source.kind) if source.kind in STATEMENT_TAGS else 0
    question, sentence = of_each_type[min(index, len(of_each_type) - 1)]
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
    """Return the sentences with words, each on one line, without tag-like strings."""
    lines = (on_one_line(sentence) for sentence in texts(with_line_ends(_TAG.sub(" ", text))))
    return [sentence for sentence in lines if has_token(sentence)]


def _pieces(sentence: str) -> list[str]:
    tokens = sentence.split()
    return [" ".join(tokens[start : start + _LONGEST]) for start in range(0, len(tokens), _LONGEST)]


def _listed(names: Sequence[str]) -> str:
    *first_names, last = names
    return f"{', '.join(first_names)} and {last}" if first_names else last


def _in_tags(tag: str, items: Sequence[str]) -> str:
    return "\n".join(f"<{tag}>{item}</{tag}>" for item in items)
