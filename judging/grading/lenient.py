"""Readers that a judge may choose instead of the strict ones: set words, a reason, JSON, the rubric's words.

Each takes what a person would read without a doubt and nothing else. Where a reply might take its
grade back, it has none. All read a reply once, however long it is.
"""

import json
import re
from dataclasses import replace
from typing import Any

from judging.grading.pairs import Failure, State
from judging.grading.readers import (
    AROUND,
    NUMBER,
    Parsed,
    Scale,
    integer_1,
    level,
    unparseable,
    why_not,
)
from judging.grading.thoughts import holds_a_tag

_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_LABEL = r"(?:grade|rating|score)"
_LEAD = (
    r"(?:an?|as|answer|assessment|assign|be|context|deserves|document|final|for|get|gets|give|given|"
    r"grade|graded|grades|here|i['’]d|i['’]ll|i|is|it|its|judgment|judgement|my|of|overall|passage|"
    r"rate|rated|rates|rating|ratings|relevance|score|scored|scores|should|so|text|the|therefore|"
    r"this|verdict|will|with|would)"
)
_MARKS = r"[\s\"'`“”‘’*_#]*+"
_BRACKETS = r"[\s\"'`“”‘’*_#()\[\]]*+"
_ON_THE_LINE = r"[ \t\r\"'`“”‘’*_)\]]*+"
_ON_A_LINE = r"[ \t\r\"'`“”‘’*_]*+"  # without what makes "1)" and "1." of a list
_NUMBER = r"([0-9]++)(?:\.0++)?+(?![0-9])"
_BOXED = r"(?:\$*+\\boxed\{)?+"
_OF = rf"(?:{_BRACKETS}(?:/|(?:out\s++)?of\b){_BRACKETS}([0-9]++)(?:\.0++)?+(?![0-9]))?+"
_SET_WORDS = re.compile(
    rf"{_MARKS}(?:{_LEAD}\b(?:{_MARKS}[:=,]?+{_MARKS}))*+{_BRACKETS}{_BOXED}{_NUMBER}{_OF}"
    rf"\}}?\$*+{_BRACKETS}(?:(?:points?|stars?)\b)?{_BRACKETS}[.!]?{_BRACKETS}",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    rf"{_MARKS}(?:(?:the\s++|my\s++)?(?:final\s++|overall\s++)?{_LABEL}{_MARKS}(?:[:=]|(?:is|of)\b)"
    rf"{_MARKS})?({'|'.join(_NUMERALS)})\b{_MARKS}[.!]?{_MARKS}",
    re.IGNORECASE,
)
LABELLED = re.compile(
    rf"(?<![\w-])(?:(?:final|overall|relevance)\s){{0,2}}+{_LABEL}{_MARKS}(?:[:=]|is\b){_BRACKETS}"
    rf"{_BOXED}{_NUMBER}{_OF}(?=\}}?\$*+{_ON_THE_LINE}(?:[.;,!](?!\S)|\n|\Z|(?:-|–|—|\()\s*+[^\W\d]|"
    r"because\b|since\b))",
    re.IGNORECASE,
)
_ALONE = re.compile(
    rf"\s*+{_ON_A_LINE}{_NUMBER}{_OF}{_ON_A_LINE}(?:\n|(?=because\b))",
    re.IGNORECASE,
)
_OPENS = r"[\s\"'“”‘’*_(]{0,5}+"
# What may take a grade back, or give another one: anywhere, and where a sentence or part of one begins
# with it.
_DOUBT = re.compile(
    rf"\b(?:{'|'.join(word for word in _NUMERALS if word != 'one')})\b|\b{_LABEL}s?\b|\b(?:actually|"
    r"alternatively|chang(?:e|ed|ing) (?:it|my|that|this|to)|correction|deduct\w*+|disregard|"
    r"double-check\w*+|full marks?|higher|hmm|hold on|ignore|incorrect|injection|instead|instruct\w*+|"
    r"joking|kidding|lower|make (?:it|that|this)|mistake|never ?mind|on reflection|oops|rather|"
    r"reconsider\w*+|reserved|"
    r"retract\w*+|revis\w*+|scratch|second thoughts?|sorry|strike|subtract\w*+|"
    r"take (?:it|that|this) back|too|top marks?|wait|withdraw\w*+|"
    r"would (?:be|deserve|earn|get|merit|receive)|wrong)\b"
    r"|\b(?:highest|lowest|maximum|minimum)(?=\W)(?! [^\W\d])|\b(?:highest|lowest|maximum|minimum)\Z"
    rf"|(?:\A|[.!?;:,\n–—-]){_OPENS}(?:less|minus|never|not?|one (?:down|less|more|up)|or|plus|yet)\b"
    rf"|(?:\A|[.!?;:\n–—-]){_OPENS}(?:at|but|edit|however|if|maybe|only|perhaps|though|unless|update)\b",
    re.IGNORECASE,
)
# What may stand before a label in its sentence: "Maximum rating: 5" is about something else, and what
# stands in quotation marks or behind a line that ends in a colon may be what another said.
BEFORE_A_LABEL = re.compile(
    r"[\s•*_#-]*+(?:" + _LEAD + r"\b[\s*_#]*+[:=,]?+[\s*_#]*+)*+",
    re.IGNORECASE,
)
ANNOUNCES = re.compile(r":[\s*_#]*+\Z")
# What announces an object that is not the reply's own: an example, the form, what a text says.
_OF_ANOTHER = re.compile(
    r"\b(?:contain\w*+|demand\w*+|example|format|ignor\w*+|instead of|instruct\w*+|never|not|says?|said|"
    r"schema|template|wrong|\w*?n['’]t)\b",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"grade|out_?of|rating|revis|scale|score|(?:\b|_)max", re.IGNORECASE)
SENTENCE = re.compile(r"[.!?;](?=[\s\"'”’)*_])|\n")
OBJECT = re.compile(r"(?<!\\boxed)\{")  # JSON, or what was to be JSON
_WORDS = re.compile(r"[^\W_]++")
_DIGIT = re.compile(r"\d|-\d")
_NAMED_GRADE = re.compile(r'"(?:grade|rating|score)"\s*+:\s*+"?+([0-9]++)(?![0-9])')


def n_of_m_1(reply: str, scale: Scale) -> Parsed:
    """One grade in a few set words, and nothing else.

    What integer-1 takes, and also a grade of the highest one ("4/5", "4 out of 5"), in brackets, with
    an exclamation mark, as a numeral ("four", "Score: four"), as 4.0, in \\boxed{}, and behind words
    such as "I would give this passage a final score of". A 4/10 in a rubric to 5 is no grade, nor is
    any number beside words that are not among these.
    """
    if match := _IN_WORDS.fullmatch(reply):
        return level(str(_NUMERALS.index(match[1].lower())), scale)
    match = _SET_WORDS.fullmatch(reply)
    if match is None or not _of_the_highest(match, scale):
        return unparseable(why_not(reply, scale.grades))
    return level(match[1], scale).at(match.span(1))


def reason_1(reply: str, scale: Scale) -> Parsed:
    """A grade with its label ("Rating: 4", "Final score: 4/5") and a reason before or after it.

    A grade alone on the first line, or before "because", needs no label. Where the reason holds another
    grade or label, or words that may take the grade back ("actually", "However, ..."), there is none:
    the reason would have to be understood.
    """
    whole = n_of_m_1(reply, scale)
    if whole.grade is not None:
        return whole
    found = _ALONE.match(reply)
    if found is None:
        labelled = LABELLED.finditer(reply)
        found = next(labelled, None)
        if found is not None and next(labelled, None) is not None:
            return unparseable(Failure.SEVERAL)
    if found is None or holds_a_tag(reply) or OBJECT.search(reply):
        return unparseable(why_not(reply, scale.grades))
    before, after = reply[: found.start()], reply[found.end() :]
    *earlier, in_its_sentence = SENTENCE.split(before)
    lines = (sentence for sentence in reversed(earlier) if sentence.strip(" \t\r*_#"))
    if BEFORE_A_LABEL.fullmatch(in_its_sentence) is None or ANNOUNCES.search(next(lines, "")):
        return unparseable(Failure.NO_GRADE)
    if _takes_back(before, scale) or _takes_back(after, scale):
        return unparseable(Failure.SEVERAL)
    if not _of_the_highest(found, scale):
        return unparseable(Failure.OUT_OF_RANGE)
    return level(found[1], scale).at(found.span(1))


def first_line_grade(reply: str) -> str | None:
    """The digits of a grade that stands alone on the first line, or before "because"."""
    found = _ALONE.match(reply)
    return found[1] if found else None


def rating_json_1(reply: str, scale: Scale) -> Parsed:
    """One JSON object with a `rating` and an `evaluation` or a `reason`.

    A rating is 5, 5.0 or "5"; 3.5 is none. The object may stand in a code fence or after words, but
    words that may take its rating back leave no grade. What the reason says does not count.
    """
    values = _object(reply, scale)
    if isinstance(values, Failure):
        return unparseable(values)
    if "rating" not in values or not ({"evaluation", "reason"} & values.keys()):
        return unparseable(Failure.NO_GRADE)
    return placed(reply, rated(values, "rating", scale))


def grade_json_1(reply: str, scale: Scale) -> Parsed:
    """One JSON object with exactly one of `grade`, `rating` and `score`, read as by rating-json-1."""
    values = _object(reply, scale)
    if isinstance(values, Failure):
        return unparseable(values)
    return placed(reply, graded(values, scale))


def label_json_1(reply: str, scale: Scale) -> Parsed:
    """One JSON object whose `label_name` (or `label`) is a word of the rubric; its reason is not read."""
    values = _object(reply, scale)
    if isinstance(values, Failure):
        return unparseable(values)
    return label_grade(values, scale)


def label_grade(values: dict[str, Any], scale: Scale) -> Parsed:
    """The word of the rubric under exactly one of `label_name` and `label`."""
    named = [name for name in ("label_name", "label") if name in values]
    if len(named) != 1:
        return unparseable(Failure.SEVERAL if named else Failure.NO_GRADE)
    label = values[named[0]]
    return _word(label, scale) if isinstance(label, str) else unparseable(Failure.NO_GRADE)


def word_1(reply: str, scale: Scale) -> Parsed:
    """Exactly one word of the rubric, and nothing else.

    As in integer-1, white space, quotation marks, emphasis, one full stop and one label in front
    ("Label: vital") do not count. Capitals are small letters, and "partial support" is
    "partial_support".
    """
    match = _ONE_WORD.fullmatch(reply)
    return _word(match[1], scale) if match else unparseable(Failure.NO_GRADE)


def first_digit_1(reply: str, scale: Scale) -> Parsed:
    r"""The first match of `\d|-\d` anywhere in the reply, as the code of CRUX's authors reads.

    So a 10 is 1, "4/5" is 4 and "2 facts, so 5" is 2. Their -1, which also stands for a reply without
    a digit, is no grade here. Digits of other scripts are digits, as in Python.
    """
    match = _DIGIT.search(reply)
    if match is None:
        return unparseable(Failure.NO_GRADE if reply.strip() else Failure.EMPTY)
    return level(str(int(match[0])), scale).at(match.span())


def as_word(label: str) -> str:
    """A label as words are compared: in small letters, and joined by underscores."""
    return re.sub(r"[\s_-]+", "_", label.strip().lower())


_ONE_WORD = re.compile(
    rf"{AROUND}(?:(?:the\s++)?(?:label|grade|rating|answer|category|class){AROUND}(?:[:=]|is\b){AROUND})?"
    rf"([^\W\d_]\w*+(?:[ -]\w++)*+){AROUND}\.?{AROUND}",
    re.IGNORECASE,
)


def _word(words: str, scale: Scale) -> Parsed:
    grade = scale.words.get(as_word(words).strip("_"))
    return unparseable(Failure.NO_GRADE) if grade is None else Parsed(State.GRADED, grade)


def _takes_back(words: str, scale: Scale) -> bool:
    """Whether words beside a grade hold another, or may take it back."""
    return _DOUBT.search(words) is not None or _other_grade(words, scale)


def _other_grade(words: str, scale: Scale) -> bool:
    grades = {str(grade) for grade in scale.grades}
    numbers = (match[0] for match in NUMBER.finditer(words))
    # Digits of other scripts, and ③ and ½, are numbers to a person.
    return any(not number.isdecimal() or number in grades for number in numbers) or any(
        sign.isnumeric() and not sign.isascii() for sign in words
    )


def _of_the_highest(match: re.Match[str], scale: Scale) -> bool:
    return match[2] is None or match[2] == str(max(scale.grades))


def rated(values: dict[str, Any], name: str, scale: Scale) -> Parsed:
    """Read the grade under a name of a JSON object; none if another key may hold a grade or a scale."""
    others = (value for key, value in values.items() if key != name and _BESIDE.search(key))
    if any(not isinstance(value, str) or NUMBER.search(value) for value in others):
        return unparseable(Failure.SEVERAL)
    return rating(values[name], scale)


def graded(values: dict[str, Any], scale: Scale) -> Parsed:
    """What stands under exactly one of `grade`, `rating` and `score`."""
    named = [name for name in ("grade", "rating", "score") if name in values]
    if len(named) != 1:
        return unparseable(Failure.SEVERAL if named else Failure.NO_GRADE)
    return rated(values, named[0], scale)


def placed(reply: str, parsed: Parsed) -> Parsed:
    """The same with the place of its grade in JSON, where the name of a grade stands in it once."""
    found = list(_NAMED_GRADE.finditer(reply))
    return parsed.at(found[0].span(1)) if len(found) == 1 else parsed


def rating(value: Any, scale: Scale) -> Parsed:
    """A number of JSON, or a string that is one, as a grade."""
    if isinstance(value, str):
        return replace(integer_1(value, scale), place=None)  # which would be that in the value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return unparseable(Failure.NO_GRADE)
    return (
        Parsed(State.GRADED, value) if value in scale.grades else unparseable(Failure.OUT_OF_RANGE)
    )


def _object(reply: str, scale: Scale) -> dict[str, Any] | Failure:
    """The JSON object from the first brace to the last, or why there is none."""
    start, end = reply.find("{"), reply.rfind("}") + 1
    if start < 0 or end <= start:
        return Failure.NO_GRADE
    before, after = reply[:start], reply[end:]
    if holds_a_tag(before) or _other_grade(before, scale) or _takes_back(after, scale):
        return Failure.SEVERAL
    # Its own words stand on other lines, or come before a colon.
    announced = before.rstrip(" \t\r\n*`")
    if _OF_ANOTHER.search(SENTENCE.split(announced)[-1]) or _names_a_word(before + after, scale):
        return Failure.NO_GRADE
    try:
        values = json.loads(reply[start:end], object_pairs_hook=once)
    except TwiceError:
        return Failure.SEVERAL
    except (ValueError, RecursionError):
        return Failure.NO_GRADE
    return values if isinstance(values, dict) else Failure.NO_GRADE


def _names_a_word(around: str, scale: Scale) -> bool:
    """Whether what stands around an object has a word of the rubric, which may be another grade."""
    joined = "_".join(["", *_WORDS.findall(around.lower()), ""])
    return any(f"_{word}_" in joined for word in scale.words)


class TwiceError(Exception):
    """A name that an object holds twice, and so perhaps two grades."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise TwiceError
    return values
