"""Probability of each grade, from the log-probabilities at the token of the grade.

A server gives them by token id, for exactly the ids asked for, or by token string, for the likeliest
tokens only. What it did not give is None and never 0, and nothing is renormalised: what the grades
lack to 1 went to tokens that are no grade. A distribution that is not that of the parsed grade is none.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from judging.grading.parse import begins_another
from judging.llm.completion import TOKEN_ID, TokenLogprobs

# Servers write this where they have no value that JSON can hold: for -inf, and for a token that they
# did not look at. As the two cannot be told apart, it is a value that was not given.
MISSING_LOGPROB = -9999.0
# Log-probabilities computed in 16 bits come out above 0 by this much at most. More is no rounding: the
# server sends something else, such as logits.
ROUNDING = 0.01

# A smaller share of the probability is not a distribution over the grades.
LEAST_MASS = 0.5


_SPACES = " \t\r\nĠ▁"  # the last two are how vocabularies write the space before a word
# What may follow the reply among the generated tokens: white space, and tokens such as <|im_end|>.
_ENDING = re.compile(rb"\s*(?:<[^<>]{1,60}>\s*)*")


@dataclass(frozen=True, slots=True)
class Labels:
    """Probabilities of the grades.

    `probabilities` has one entry for each grade, in ascending order of the grades: in 0..1, or None
    where the server did not tell. `label_mass` is the sum of those known, at most 1, and None if none
    is. `expected_grade` is the mean of the grades, weighted by those known; None if they have no mass.
    """

    probabilities: tuple[float | None, ...]
    expected_grade: float | None
    label_mass: float | None

    def is_of(self, grade: int, grades: Sequence[int]) -> bool:
        """Return True if this is the distribution of a parsed grade.

        The grades have at least LEAST_MASS together, and none is more probable than `grade`.
        """
        by_grade = dict(zip(sorted(grades), self.probabilities, strict=True))
        probability = by_grade[grade]
        values = [value for value in self.probabilities if value is not None]
        return (
            probability is not None
            and probability == max(values)
            and (self.label_mass or 0.0) >= LEAST_MASS
        )


def at_grade(
    logprobs: TokenLogprobs,
    reply: str,
    span: tuple[int, int] | None,
    grade: int,
    grades: Sequence[int],
    label_ids: Sequence[int] = (),
) -> Labels | None:
    """Return labels at the token of the parsed grade; None if it cannot be found.

    `span` is where the grade's digits are in `reply`, half-open, in code points; None where its parser
    does not say. The generated tokens may begin with reasoning that is no part of the reply. Of a grade
    that takes several tokens the probability is the product over them.
    """
    tokens = logprobs.tokens()
    if not tokens:
        return None
    if label_ids and isinstance(tokens[0], str) and tokens[0].startswith(TOKEN_ID):
        name = f"{TOKEN_ID}{label_ids[list(grades).index(grade)]}"
        position = _lone_grade(tokens, name, reply, grade)
        if position is None:
            return None
        by_id = {
            int(number): value
            for token, value in logprobs.alternatives(position)
            if (number := token.removeprefix(TOKEN_ID)).isdecimal()
        }
        return from_label_ids(by_id, label_ids, grades)
    digits = _digits(tokens, reply, span) if span else None
    if digits is None:
        position = _lone_grade(tokens, str(grade), reply, grade)
        if position is None:
            return None
        digits = _Digits(position, position, "", "")
    return _on_path(logprobs, digits, grade, grades)


@dataclass(frozen=True, slots=True)
class _Digits:
    """Token positions of a grade, first and last, with the text around it in these tokens."""

    first: int
    last: int
    prefix: str
    suffix: str


def _digits(tokens: Sequence[str | bytes], reply: str, span: tuple[int, int]) -> _Digits | None:
    """Return the tokens that cover a span of the reply, which ends the generated text."""
    parts = [token if isinstance(token, bytes) else _utf8(token) for token in tokens]
    generated, written = b"".join(parts), _utf8(reply)
    begin = generated.rfind(written)
    if begin < 0 or not _ENDING.fullmatch(generated, begin + len(written)):
        return None
    start = begin + len(_utf8(reply[: span[0]]))
    end = start + len(_utf8(reply[slice(*span)]))
    ends = list(accumulate(len(part) for part in parts))
    first, last = bisect_right(ends, start), bisect_left(ends, end)
    prefix = generated[ends[first] - len(parts[first]) : start].decode("utf-8", "replace")
    suffix = generated[end : ends[last]].decode("utf-8", "replace")
    return _Digits(first, last, prefix.strip(_SPACES), suffix.strip(_SPACES))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _lone_grade(tokens: Sequence[str | bytes], name: str, reply: str, grade: int) -> int | None:
    """Return the position of a token that is the whole grade.

    Of several such tokens the last one counts, if the reply is nothing but the grade.
    """
    texts = [
        (token.decode("utf-8", "replace") if isinstance(token, bytes) else token).strip(_SPACES)
        for token in tokens
    ]
    positions = [position for position, text in enumerate(texts) if text == name]
    if reply.strip() != str(grade):
        return positions[0] if len(positions) == 1 else None
    if len(texts) == 1:
        return 0  # such as " 4", whose id is another
    # Reasoning may have the same digits: those of the reply are followed by the token that ends it, or none.
    ending = texts[positions[-1] + 1 :] if positions else []
    is_last = len(ending) <= 1 or all(_ENDING.fullmatch(_utf8(text)) for text in ending)
    return positions[-1] if positions and is_last else None


def _on_path(
    logprobs: TokenLogprobs, digits: _Digits, grade: int, grades: Sequence[int]
) -> Labels | None:
    """Return labels at the first token of a grade.

    The grade's own probability is over all of its tokens.
    """
    alternatives = logprobs.alternatives(digits.first)
    if not _credible(value for _, value in alternatives):
        return None
    is_one_token = digits.first == digits.last
    prefix, suffix = digits.prefix, digits.suffix if is_one_token else ""
    if prefix or suffix:
        texts = [(token.strip(_SPACES), value) for token, value in alternatives]
        alternatives = [
            (text[len(prefix) : len(text) - len(suffix)], value)
            for text, value in texts
            if text.startswith(prefix) and text.endswith(suffix)
        ]
    labels = _summed(alternatives, grades)
    if is_one_token and not begins_another(grade, grades):
        return labels
    by_grade = dict(zip(sorted(grades), labels.probabilities, strict=True))
    by_grade[grade] = _over_tokens(logprobs, digits, grade, grades)
    return _labels(by_grade)


def _over_tokens(
    logprobs: TokenLogprobs, digits: _Digits, grade: int, grades: Sequence[int]
) -> float | None:
    """Return the probability of a grade with several tokens, or that begins another grade."""
    tokens = logprobs.tokens()
    product = 1.0
    for position in range(digits.first, digits.last + 1):
        chosen = _probability(_of_token(logprobs.alternatives(position), tokens[position]))
        if chosen is None:
            return None
        product *= chosen
    if not begins_another(grade, grades) or digits.suffix:
        return product
    if digits.last + 1 == len(tokens):
        return None  # how probable it was that another digit follows is not known
    longer = [
        str(longer)[len(str(grade)) :] for longer in grades if str(longer).startswith(str(grade))
    ]
    following = [
        _probability(value) or 0.0
        for token, value in logprobs.alternatives(digits.last + 1)
        if token and any(digit and digit.startswith(token) for digit in longer)
    ]
    return product * max(0.0, 1.0 - math.fsum(following))


def _of_token(alternatives: Sequence[tuple[str, float]], token: str | bytes) -> float | None:
    text = token.decode("utf-8", "replace") if isinstance(token, bytes) else token
    return next((value for alternative, value in alternatives if alternative == text), None)


def from_label_ids(
    logprobs: Mapping[int, float | None], label_ids: Sequence[int], grades: Sequence[int]
) -> Labels:
    """Return labels from the natural log-probabilities by token id.

    `label_ids` are the ids of `grades`, in the same order. Other ids are passed over. -inf is the
    probability 0; NaN, None and -9999 are not given; a value a hair above 0 is the probability 1. One
    value further above 0 shows that these are no log-probabilities, and then nothing is known. Raises
    ValueError if there are not as many ids as grades.
    """
    if not _credible(logprobs.values()):
        logprobs = {}
    by_grade = zip(grades, (_probability(logprobs.get(label)) for label in label_ids), strict=True)
    return _labels(dict(by_grade))


def from_logprobs(
    tokens: Mapping[str, float | None]
    | Mapping[bytes, float | None]
    | Iterable[tuple[str | bytes, float | None]],
    grades: Sequence[int],
) -> Labels:
    """Return labels from the natural log-probabilities by token, as text or UTF-8 bytes.

    Every way of writing a grade counts: "3" and " 3" are added up, and so are two tokens of the same
    string, which pairs can hold and a mapping cannot. A grade that another one begins with, as 1 in a
    rubric to 10, is not known: the token may be the first of "10". Values are read as by
    `from_label_ids`.
    """
    pairs = list(tokens.items() if isinstance(tokens, Mapping) else tokens)
    return _summed(pairs if _credible(value for _, value in pairs) else [], grades)


def _summed(pairs: Iterable[tuple[str | bytes, float | None]], grades: Sequence[int]) -> Labels:
    """Return labels from credible log-probabilities, summed over spellings of a grade."""
    by_grade: dict[int, float | None] = dict.fromkeys(grades)
    written = _written(tuple(grades))
    for token, value in pairs:
        text = token.decode("utf-8", "replace") if isinstance(token, bytes) else token
        grade = written.get(text.strip(_SPACES))
        if grade is not None and (probability := _probability(value)) is not None:
            by_grade[grade] = min(1.0, (by_grade[grade] or 0.0) + probability)
    return _labels(by_grade)


@lru_cache(maxsize=256)
def _written(grades: tuple[int, ...]) -> Mapping[str, int]:
    """Return the grades that a single token identifies, by their digits.

    Cached, as a scale gives the same for every reply.
    """
    return {str(grade): grade for grade in grades if not begins_another(grade, grades)}


def _credible(values: Iterable[float | None]) -> bool:
    return all(value is None or not value > ROUNDING for value in values)


def _probability(logprob: float | None) -> float | None:
    if logprob is None or math.isnan(logprob) or logprob == MISSING_LOGPROB:
        return None
    return math.exp(min(0.0, logprob))


def _labels(by_grade: Mapping[int, float | None]) -> Labels:
    ascending = sorted(by_grade.items())
    with_value = [(grade, value) for grade, value in ascending if value is not None]
    mass = math.fsum(value for _, value in with_value)
    expected = None
    if mass:
        mean = math.fsum(grade * value for grade, value in with_value) / mass
        # Rounding may leave the grades' range. Its ends are integers, and what is written is a mean.
        expected = float(min(max(mean, with_value[0][0]), with_value[-1][0]))
    return Labels(
        probabilities=tuple(value for _, value in ascending),
        expected_grade=expected,
        label_mass=min(1.0, mass) if with_value else None,
    )
