"""Lenient parsers: set phrases, a grade with a reason, JSON, the rubric's labels.

Each takes what a person would read without a doubt and nothing else. Where a reply might take its
grade back, it has none. All read a reply once, however long it is.
"""

import json
import re
from dataclasses import replace
from typing import Any

from judging.grading.pairs import State
from judging.grading.readers import (
    AROUND,
    NUMBER,
    Parsed,
    Scale,
    failure_of,
    grade_from_digits,
    integer_1,
    unparseable,
)
from judging.llm.errors import Failure
from judging.llm.reasoning import holds_a_tag

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
_NUMBER = r"([0-9]++)(?>(?:\.0++)?)(?![0-9])"
_BOXED = r"(?>(?:\$*+\\boxed\{)?)"
_OF = rf"(?>(?:{_BRACKETS}(?:/|(?:out\s++)?of\b){_BRACKETS}{_NUMBER})?)"
_SET_WORDS = re.compile(
    rf"{_MARKS}(?>(?:{_LEAD}\b(?:{_MARKS}[:=,]?+{_MARKS}))*){_BRACKETS}{_BOXED}{_NUMBER}{_OF}"
    rf"\}}?\$*+{_BRACKETS}(?:(?:points?|stars?)\b)?{_BRACKETS}[.!]?{_BRACKETS}",
    re.IGNORECASE,
)
_NUMERAL_GRADE = re.compile(
    rf"{_MARKS}(?:(?:the\s++|my\s++)?(?:final\s++|overall\s++)?{_LABEL}{_MARKS}(?:[:=]|(?:is|of)\b)"
    rf"{_MARKS})?({'|'.join(_NUMERALS)})\b{_MARKS}[.!]?{_MARKS}",
    re.IGNORECASE,
)
LABELLED = re.compile(
    rf"(?<![\w-])(?>(?:(?:final|overall|relevance)\s){{0,2}}){_LABEL}{_MARKS}(?:[:=]|is\b){_BRACKETS}"
    rf"{_BOXED}{_NUMBER}{_OF}(?=\}}?\$*+{_ON_THE_LINE}(?:[.;,!](?!\S)|\n|\Z|(?:-|–|—|\()\s*+[^\W\d]|"
    r"because\b|since\b))",
    re.IGNORECASE,
)
_STANDALONE_GRADE = re.compile(
    rf"\s*+{_ON_A_LINE}{_NUMBER}{_OF}{_ON_A_LINE}(?:\n|(?=because\b))",
    re.IGNORECASE,
)
_OPENS = r"[\s\"'“”‘’*_(]{0,5}+"
# What may take a grade back, or give another one: anywhere, and where a sentence or part of one begins
# with it.
_DOUBT = re.compile(
    rf"\b(?:{'|'.join(numeral for numeral in _NUMERALS if numeral != 'one')})\b|\b{_LABEL}s?\b|\b(?:actually|"
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
    r"[\s•*_#-]*+(?>(?:" + _LEAD + r"\b[\s*_#]*+[:=,]?+[\s*_#]*+)*)",
    re.IGNORECASE,
)
ANNOUNCES = re.compile(r":[\s*_#]*+\Z")
# What announces an object that is not the reply's own: an example, the form, what a text says.
_FOREIGN_OBJECT = re.compile(
    r"\b(?:contain\w*+|demand\w*+|example|format|ignor\w*+|instead of|instruct\w*+|never|not|says?|said|"
    r"schema|template|wrong|\w*?n['’]t)\b",
    re.IGNORECASE,
)
_RELATED_KEY = re.compile(r"grade|out_?of|rating|revis|scale|score|(?:\b|_)max", re.IGNORECASE)
SENTENCE = re.compile(r"[.!?;](?=[\s\"'”’)*_])|\n")
OBJECT = re.compile(r"(?<!\\boxed)\{")  # JSON, or what was to be JSON
_TOKENS = re.compile(r"[^\W_]++")
_DIGIT = re.compile(r"\d|-\d")
_NAMED_GRADE = re.compile(r'"(?:grade|rating|score)"\s*+:\s*+"?+([0-9]++)(?![0-9])')


def n_of_m_1(reply: str, scale: Scale) -> Parsed:
    """Read a grade in a few set phrases, and nothing else.

    It takes what integer-1 takes, and also a grade of the highest one ("4/5", "4 out of 5"), in
    brackets, with an exclamation mark, as a numeral ("four", "Score: four"), as 4.0, in \\boxed{}, and
    behind words such as "I would give this passage a final score of". A 4/10 in a rubric to 5 is no
    grade, nor is any number beside words that are not among these.
    """
    if match := _NUMERAL_GRADE.fullmatch(reply):
        return grade_from_digits(str(_NUMERALS.index(match[1].lower())), scale)
    match = _SET_WORDS.fullmatch(reply)
    if match is None or not _of_the_highest(match, scale):
        return unparseable(failure_of(reply, scale.grades))
    return grade_from_digits(match[1], scale).at(match.span(1))


def reason_1(reply: str, scale: Scale) -> Parsed:
    """Read a labelled grade ("Rating: 4", "Final score: 4/5") with a reason around it.

    A grade alone on the first line, or before "because", needs no label. Where the reason holds another
    grade or label, or words that may take the grade back ("actually", "However, ..."), there is none:
    the reason would have to be understood.
    """
    whole = n_of_m_1(reply, scale)
    if whole.grade is not None:
        return whole
    match = _STANDALONE_GRADE.match(reply)
    if match is None:
        labelled = LABELLED.finditer(reply)
        match = next(labelled, None)
        if match is not None and next(labelled, None) is not None:
            return unparseable(Failure.SEVERAL_INTEGERS)
    if match is None or holds_a_tag(reply) or OBJECT.search(reply):
        return unparseable(failure_of(reply, scale.grades))
    before, suffix = reply[: match.start()], reply[match.end() :]
    *earlier, in_its_sentence = SENTENCE.split(before)
    lines = (sentence for sentence in reversed(earlier) if sentence.strip(" \t\r*_#"))
    if BEFORE_A_LABEL.fullmatch(in_its_sentence) is None or ANNOUNCES.search(next(lines, "")):
        return unparseable(Failure.NO_GRADE)
    if _takes_back(before, scale) or _takes_back(suffix, scale):
        return unparseable(Failure.SEVERAL_INTEGERS)
    if not _of_the_highest(match, scale):
        return unparseable(Failure.OUT_OF_RANGE)
    return grade_from_digits(match[1], scale).at(match.span(1))


def first_line_grade(reply: str) -> str | None:
    """Return the digits of a grade alone on the first line, or before "because"."""
    match = _STANDALONE_GRADE.match(reply)
    return match[1] if match else None


def rating_json_1(reply: str, scale: Scale) -> Parsed:
    """Read a JSON object with a `rating` and an `evaluation` or a `reason`.

    A rating is 5, 5.0 or "5"; 3.5 is none. The object may stand in a code fence or after words, but
    words that may take its rating back leave no grade. What the reason says does not count.
    """
    values = _object(reply, scale)
    if isinstance(values, Failure):
        return unparseable(values)
    if "rating" not in values or not ({"evaluation", "reason"} & values.keys()):
        return unparseable(Failure.NO_GRADE)
    return with_span(reply, read_rating(values, "rating", scale))


def grade_json_1(reply: str, scale: Scale) -> Parsed:
    """Read a JSON object with exactly one of `grade`, `rating` and `score`.

    Otherwise as rating-json-1 does.
    """
    values = _object(reply, scale)
    if isinstance(values, Failure):
        return unparseable(values)
    return with_span(reply, read_grade(values, scale))


def label_json_1(reply: str, scale: Scale) -> Parsed:
    """Read a JSON object whose `label_name` or `label` is a label of the rubric.

    Its reason is not read.
    """
    values = _object(reply, scale)
    if isinstance(values, Failure):
        return unparseable(values)
    return label_grade(values, scale)


def label_grade(values: dict[str, Any], scale: Scale) -> Parsed:
    """Return the grade of the label under exactly one of `label_name` and `label`."""
    keys = [name for name in ("label_name", "label") if name in values]
    if len(keys) != 1:
        return unparseable(Failure.SEVERAL_INTEGERS if keys else Failure.NO_GRADE)
    label = values[keys[0]]
    return _read_label(label, scale) if isinstance(label, str) else unparseable(Failure.NO_GRADE)


def word_1(reply: str, scale: Scale) -> Parsed:
    """Read exactly one label of the rubric, and nothing else.

    As in integer-1, white space, quotation marks, emphasis, one full stop and one label in front
    ("Label: vital") do not count. Capitals are small letters, and "partial support" is
    "partial_support".
    """
    match = _ONE_WORD.fullmatch(reply)
    return _read_label(match[1], scale) if match else unparseable(Failure.NO_GRADE)


def first_digit_1(reply: str, scale: Scale) -> Parsed:
    r"""Read the first match of `\d|-\d` in the reply, as the code of CRUX's authors does.

    So a 10 is 1, "4/5" is 4 and "2 facts, so 5" is 2. Their -1, which also stands for a reply without
    a digit, is no grade here. Digits of other scripts are digits, as in Python.
    """
    match = _DIGIT.search(reply)
    if match is None:
        return unparseable(Failure.NO_GRADE if reply.strip() else Failure.EMPTY)
    return grade_from_digits(str(int(match[0])), scale).at(match.span())


def normalize_label(label: str) -> str:
    """Normalize a label: lower case, joined by underscores."""
    return re.sub(r"[\s_-]+", "_", label.strip().lower())


_ONE_WORD = re.compile(
    rf"{AROUND}(?:(?:the\s++)?(?:label|grade|rating|answer|category|class){AROUND}(?:[:=]|is\b){AROUND})?"
    rf"([^\W\d_]\w*+(?>(?:[ -]\w++)*)){AROUND}\.?{AROUND}",
    re.IGNORECASE,
)


def _read_label(label: str, scale: Scale) -> Parsed:
    grade = scale.words.get(normalize_label(label).strip("_"))
    return unparseable(Failure.NO_GRADE) if grade is None else Parsed(State.GRADED, grade)


def _takes_back(text: str, scale: Scale) -> bool:
    """Return whether text beside a grade holds another, or may take it back."""
    return _DOUBT.search(text) is not None or _other_grade(text, scale)


def _other_grade(text: str, scale: Scale) -> bool:
    grades = {str(grade) for grade in scale.grades}
    numbers = (match[0] for match in NUMBER.finditer(text))
    # Digits of other scripts, and ③ and ½, are numbers to a person.
    return any(not number.isdecimal() or number in grades for number in numbers) or any(
        sign.isnumeric() and not sign.isascii() for sign in text
    )


def _of_the_highest(match: re.Match[str], scale: Scale) -> bool:
    return match[2] is None or match[2] == str(max(scale.grades))


def read_rating(values: dict[str, Any], name: str, scale: Scale) -> Parsed:
    """Read the grade under a key of a JSON object.

    There is none if another key may hold a grade or a scale.
    """
    related = (value for key, value in values.items() if key != name and _RELATED_KEY.search(key))
    if any(not isinstance(value, str) or NUMBER.search(value) for value in related):
        return unparseable(Failure.SEVERAL_INTEGERS)
    return rating(values[name], scale)


def read_grade(values: dict[str, Any], scale: Scale) -> Parsed:
    """Read the grade under exactly one of `grade`, `rating` and `score`."""
    keys = [name for name in ("grade", "rating", "score") if name in values]
    if len(keys) != 1:
        return unparseable(Failure.SEVERAL_INTEGERS if keys else Failure.NO_GRADE)
    return read_rating(values, keys[0], scale)


def with_span(reply: str, parsed: Parsed) -> Parsed:
    """Add the span of the grade in JSON, if the key of a grade occurs once."""
    matches = list(_NAMED_GRADE.finditer(reply))
    return parsed.at(matches[0].span(1)) if len(matches) == 1 else parsed


def rating(value: Any, scale: Scale) -> Parsed:
    """Convert a JSON number, or a string that is one, to a grade."""
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
    """Parse the JSON object from the first brace to the last; else return the failure."""
    start, end = reply.find("{"), reply.rfind("}") + 1
    if start < 0 or end <= start:
        return Failure.NO_GRADE
    before, suffix = reply[:start], reply[end:]
    if holds_a_tag(before) or _other_grade(before, scale) or _takes_back(suffix, scale):
        return Failure.SEVERAL_INTEGERS
    # Its own words stand on other lines, or come before a colon.
    announced = before.rstrip(" \t\r\n*`")
    if _FOREIGN_OBJECT.search(SENTENCE.split(announced)[-1]) or _names_a_word(
        before + suffix, scale
    ):
        return Failure.NO_GRADE
    try:
        values = json.loads(reply[start:end], object_pairs_hook=once)
    except DuplicateKeyError:
        return Failure.SEVERAL_INTEGERS
    except (ValueError, RecursionError):
        return Failure.NO_GRADE
    return values if isinstance(values, dict) else Failure.NO_GRADE


def _names_a_word(around: str, scale: Scale) -> bool:
    """Return whether the text around an object has a label of the rubric.

    It may be another grade.
    """
    joined = "_".join(["", *_TOKENS.findall(around.lower()), ""])
    return any(f"_{label}_" in joined for label in scale.words)


class DuplicateKeyError(Exception):
    """Duplicate key of a JSON object, and so perhaps two grades."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise DuplicateKeyError
    return values
