"""Roles of columns, guessed from their names and shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from annotation.formats.tables.column_names import ANSWERS, BY_NAME, PASSAGES, plain_name
from annotation.formats.tables.column_shapes import FEW, Sample, Shape, cell_text
from annotation.formats.tables.mapping import ASK, Role
from annotation.formats.tables.source import Table, is_unnamed
from annotation.formats.tables.values import word_key
from annotation.formats.tables.word_scales import ordered_levels

MAX_WIDE_GRADE = 10  # of columns that are raters; larger numbers are counts or times
_TERM = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_METRIC_NAMES = (
    "relevance relevancy relevanz faithfulness groundedness grounding correctness korrektheit accuracy "
    "genauigkeit precision recall completeness vollständigkeit coherence fluency clarity consistency "
    "conciseness coverage helpfulness usefulness informativeness hallucination hallucinations toxicity "
    "harmfulness factuality attribution support quality readability naturalness"
)
_NAMES_BESIDE_METRICS = (
    "answer response output context passage document retrieval question query "
    "overall label score rating grade"
)
_METRICS = {*_METRIC_NAMES.split()}
_BESIDE_METRICS = {*_NAMES_BESIDE_METRICS.split()}
_STEM = 5  # characters that the forms of a metric share, as relevance and relevancy


def roles_of(table: Table, shapes: Mapping[str, Shape], sample: Sample) -> dict[str, Any]:
    """Return the role of each column by its name and values; "?" where they disagree."""
    roles: dict[str, Any] = {}
    wide = _wide_columns(table, shapes)
    wide_role = _wide_roles(wide)
    for header in table.headers:
        shape, name = shapes[header], plain_name(header)
        if not shape.n:
            continue
        if header in wide:
            roles[header] = wide_role(header)
        elif name in ANSWERS or name in PASSAGES:
            roles[header] = _text_role(name, shape)
        elif role := BY_NAME.get(name):
            roles[header] = _checked_role(role, shape)
        elif shape.is_fraction:
            roles[header] = {"role": Role.VALUE.value, "measure": header}
    _settle(roles, shapes, sample)
    if _has_grades(roles):
        roles |= {h: ASK for h in _unknown_metrics(table, shapes) if h not in roles}
    else:
        roles |= dict.fromkeys(_german_grades(roles, shapes), Role.GRADE)
    if not _has_grades(roles):
        roles |= dict.fromkeys(_likely_grades(table, shapes), ASK)
    return {
        header: role.value if isinstance(role, Role) else role
        for header, role in roles.items()
        if role is not None
    }


def _has_grades(roles: Mapping[str, Any]) -> bool:
    return Role.GRADE in {role_of(column) for column in roles.values() if column is not None}


def _german_grades(roles: Mapping[str, Any], shapes: Mapping[str, Shape]) -> list[str]:
    """Return columns called Note with a number in most rows: a grade in German and French."""
    return [
        header
        for header, column in roles.items()
        if column is Role.COMMENT
        and header.strip().casefold() == "note"
        and shapes[header].numbers is not None
        and shapes[header].is_grade
        and shapes[header].n > shapes[header].n_missing
    ]


def _text_role(name: str, shape: Shape) -> Any:
    if shape.is_list:
        return Role.CONTEXTS
    if name in PASSAGES and not shape.is_text and shape.looks_like_id:
        return Role.TEXT
    if name in ANSWERS and not shape.is_text and shape.is_grade and shape.numbers is not None:
        return ASK
    return Role.BODY


def _checked_role(role: Role, shape: Shape) -> Any:
    """Return the role if the values fit it, else "?", or None for a column that is not read."""
    if role in (Role.CONTEXTS, Role.GOLD):
        return (
            role
            if shape.is_list
            else (Role.BODY if role is Role.CONTEXTS and shape.is_text else ASK)
        )
    if role in (Role.REQUEST, Role.QUESTION) and shape.is_list:
        return ASK
    if role is Role.GRADE:
        if shape.is_list:
            return None
        if shape.is_grade:
            return role
        return {"role": Role.VALUE.value, "measure": "score"} if shape.is_fraction else None
    if role in (Role.TOPIC, Role.TEXT, Role.SYSTEM, Role.RUN):
        return role if shape.looks_like_id or role is Role.SYSTEM else None
    if role in (Role.RANK, Role.QUESTION_NUMBER, Role.QUESTION_INDEX):
        return role if shape.numbers is not None else None
    if role in (Role.KIND, Role.RATER_KIND):
        kinds = {"passage", "report", "reference", "human", "model", "baseline"}
        return role if {label.casefold() for label in shape.texts} <= kinds else None
    return role


def _settle(roles: dict[str, Any], shapes: Mapping[str, Shape], sample: Sample) -> None:
    """Decide between columns of the same role, and between a topic and its sub-question."""

    def having(role: Role) -> list[str]:
        return [header for header, column in roles.items() if column == role]

    requests = having(Role.REQUEST)
    # "topic" with short values beside a question is the topic's id; the question is of the topic.
    topics = [header for header in requests if plain_name(header) in ("topic", "thema", "request")]
    more_questions = [header for header in requests if header not in topics]
    if topics and more_questions:
        for header in more_questions[1:]:
            roles[header] = ASK
        roles[more_questions[0]] = Role.QUESTION
    elif len(requests) > 1:
        for header in requests[1:]:
            roles[header] = ASK
    for header in topics:
        if not shapes[header].is_text and shapes[header].looks_like_id and not having(Role.TOPIC):
            roles[header] = Role.TOPIC
    if having(Role.TOPIC) and len(having(Role.REQUEST)) == 1 and not having(Role.QUESTION):
        _settle_question(roles, having(Role.TOPIC)[0], having(Role.REQUEST)[0], sample)
    if having(Role.QUESTION) and not having(Role.REQUEST) and not having(Role.TOPIC):
        for header in having(Role.QUESTION)[:1]:
            roles[header] = Role.REQUEST
    bodies = having(Role.BODY)
    answers = [header for header in bodies if plain_name(header) in ANSWERS]
    if answers and len(answers) < len(bodies):  # a passage beside an answer was retrieved for it
        for header in bodies:
            if header not in answers:
                roles[header] = Role.CONTEXTS
    ids = [header for header in having(Role.TEXT) if plain_name(header) == "id"]
    if (
        ids
        and having(Role.REQUEST)
        and not having(Role.TOPIC)
        and (answers or having(Role.CONTEXTS))
    ):
        roles[ids[0]] = Role.TOPIC  # of a log with a row for each question
    if not having(Role.TEXT) and not having(Role.REQUEST) and not having(Role.QUESTION):
        _settle_topic_text(roles, shapes)
    for header in having(Role.TEXT):
        if plain_name(header) == "docno":  # beside the internal docid of a search engine
            roles |= dict.fromkeys(having(Role.TEXT))
            roles[header] = Role.TEXT
    for role in {*Role} - {Role.GRADE, Role.VALUE, Role.BODY, Role.COMMENT, Role.GOLD}:
        for header in having(role)[1:]:
            roles[header] = None
    for header in having(Role.BODY)[1:]:
        roles[header] = ASK
    if not having(Role.RANK):
        for header in having(Role.RUN):
            roles[header] = None
        return
    for header, column in list(roles.items()):
        if plain_name(header) == "score" and column != Role.SCORE:
            roles[header] = Role.SCORE


def _settle_topic_text(roles: dict[str, Any], shapes: Mapping[str, Shape]) -> None:
    """Decide about the only text beside a topic's id: with an id a row, it may be the request."""
    columns = {header: column for header, column in roles.items() if column is not None}
    if sorted(columns.values(), key=str) != sorted((Role.TOPIC, Role.BODY), key=str):
        return
    topic, body = sorted(columns, key=lambda header: columns[header] is Role.BODY)
    is_row_id = shapes[topic].n_different == shapes[topic].n
    if is_row_id and plain_name(body) in ("text", "body", "content"):
        roles[body] = ASK


def _settle_question(roles: dict[str, Any], topic: str, question: str, sample: Sample) -> None:
    """Make a question beside a topic's id its sub-question where a topic has several."""
    by_topic: dict[str, set[str]] = {}
    for cells in sample:
        by_topic.setdefault(cell_text(cells.get(topic)), set()).add(cell_text(cells.get(question)))
    if any(len(questions - {""}) > 1 for questions in by_topic.values()):
        roles[question] = Role.QUESTION


def _wide_columns(table: Table, shapes: Mapping[str, Shape]) -> list[str]:
    """Return three or more columns of unknown names with grades on the same few values."""
    groups = _unknown_grades(table, shapes)
    return next((group for group in groups if len(group) > 2 and _one_scale(group, shapes)), [])


def _likely_grades(table: Table, shapes: Mapping[str, Shape]) -> list[str]:
    """Return two columns of unknown names with shared values, which may be raters."""
    for group in _unknown_grades(table, shapes):
        if len(group) == 2 and _one_scale(group, shapes):
            first, second = (_values(shapes[header]) for header in group)
            return group if first & second and len(first | second) > 1 else []
    return []


def _one_scale(group: Sequence[str], shapes: Mapping[str, Shape]) -> bool:
    """Return whether the columns have the same few values, or few small numbers."""
    values = {value for header in group for value in _values(shapes[header])}
    if shapes[group[0]].numbers is None and ordered_levels(values):
        return True
    have_same_values = all(len(_values(shapes[header])) * 3 >= len(values) for header in group)
    is_scale = shapes[group[0]].numbers is None or max(values) <= MAX_WIDE_GRADE
    return len(values) <= FEW and have_same_values and (is_scale or _all_same(group, shapes))


def _unknown_grades(table: Table, shapes: Mapping[str, Shape]) -> tuple[list[str], list[str]]:
    """Return the columns of unknown names with few values: of numbers, and of words."""
    unknown = [
        header
        for header in table.headers
        if shapes[header].n
        and shapes[header].is_grade
        and shapes[header].n_different <= FEW
        and plain_name(header) not in BY_NAME
        and plain_name(header) not in ANSWERS | PASSAGES
        and not is_unnamed(header)
    ]
    if any(map(_metric_words, unknown)):
        # Relevance is a usual name of a grade, and one metric among others.
        unknown += [
            header
            for header in table.headers
            if BY_NAME.get(plain_name(header)) is Role.GRADE
            and _metric_words(header)
            and shapes[header].n
            and shapes[header].is_grade
        ]
    numeric = [header for header in unknown if shapes[header].numbers is not None]
    return numeric, [header for header in unknown if header not in numeric]


def _all_same(group: Sequence[str], shapes: Mapping[str, Shape]) -> bool:
    return len({frozenset(_values(shapes[header])) for header in group}) == 1


def _values(shape: Shape) -> set[Any]:
    return set(shape.numbers) if shape.numbers is not None else {word_key(w) for w in shape.texts}


def _unknown_metrics(table: Table, shapes: Mapping[str, Shape]) -> list[str]:
    return [
        header
        for group in _unknown_grades(table, shapes)
        for header in group
        if _metric_words(header)
    ]


def _wide_roles(headers: Sequence[str]) -> Callable[[str], Any]:
    """Return the role of each of several columns of grades: metrics, sub-questions or raters.

    If some of them are called like metrics and others are not, they are asked about.
    """
    if _are_metrics(headers):
        return lambda header: Role.GRADE
    n_metrics = sum(bool(_metric_words(header)) for header in headers)
    return _wide_role if n_metrics in (0, len(headers)) else lambda header: ASK


def _wide_role(header: str) -> dict[str, str]:
    """Return the role of a column of grades: its header names a sub-question, else a rater."""
    role = {"role": Role.GRADE.value}
    if _is_question(header):
        return role | {Role.QUESTION.value: header.strip()}
    return role | {Role.RATER.value: _rater_name(header)}


def _is_question(header: str) -> bool:
    return header.rstrip().endswith(("?", "？"))


def _are_metrics(headers: Sequence[str]) -> bool:
    """Return whether all these columns are called like metrics, each by a name of its own.

    Such as Answer_Relevance and Answer_Faithfulness. Names of which a word is unknown are those of raters, as
    anna_relevance, and names that differ only in a number, as relevance1.
    """
    names = {frozenset(term[:_STEM] for term in _metric_words(header)) for header in headers}
    return bool(headers) and frozenset() not in names and len(names) == len(headers)


def _metric_words(header: str) -> set[str]:
    """Return the words of a header that is called like a metric; none for another header."""
    terms = {*_TERM.findall(_CAMEL.sub(" ", header).casefold())}
    metrics = terms & _METRICS
    is_metric = metrics and terms - metrics <= _BESIDE_METRICS and not _is_question(header)
    return terms if is_metric else set()


def settle_fractions(
    roles: dict[str, Any], table_constants: Mapping[str, str], fixed: Mapping[str, str]
) -> None:
    """Decide what fractions are: grades of a given rubric, or values of reports.

    A passage has no values, so that a person must choose.
    """
    for header, column in roles.items():
        if role_of(column) != Role.VALUE:
            continue
        if Role.RUBRIC in fixed and BY_NAME.get(plain_name(header)) is Role.GRADE:
            roles[header] = Role.GRADE.value
        elif table_constants.get(Role.KIND) == "passage":
            roles[header] = ASK


def is_answer(header: str) -> bool:
    """Return whether a header is a usual name of a system's answer."""
    return plain_name(header) in ANSWERS


def role_of(column: Any) -> str:
    """Return the role of a column in a mapping: a role, or an object with one."""
    return str(column["role"] if isinstance(column, dict) else column)


def _rater_name(header: str) -> str:
    name = re.sub(r"[^\w-]+", "-", header.strip(), flags=re.UNICODE).strip("-").casefold()
    return name or "rater"
