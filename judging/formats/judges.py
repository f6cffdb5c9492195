"""Definitions of judges in our own raters.jsonl: everything that shapes a judge's replies."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import RaterRow, Row, Something, Whole, Words
from annotation.formats.summary import Mapped
from annotation.formats.target import Target
from annotation.models import Rater
from judging.engine.judges import JudgeRefused, make_judge
from judging.grading.parse import PARSERS
from judging.models import Judge


def _checked_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is no number")
    return value


# Unconverted: 0 and 0.0 give two fingerprints.
Number = Annotated[Any, AfterValidator(_checked_number)]


class SamplingRow(Row):
    temperature: Number
    top_p: Number
    max_tokens: Whole
    seed: Whole | None
    logprobs: bool
    extra: dict[Words, Any]


class JudgeRow(Row):
    """The fields of Judge, and their fingerprint."""

    rubric: Words
    levels: list[Annotated[tuple[Whole, Words], Field(strict=False)]]  # JSON has lists
    backend: Words
    model: Annotated[Something, Field(max_length=250)]
    revision: Annotated[Words, Field(max_length=250)] = ""
    prompt_name: Annotated[Words, Field(max_length=120)] = ""
    system: Words = ""
    prompt: Words = ""
    wording: Words = ""
    template_hash: Annotated[Words, Field(max_length=64)] = ""
    sampling: SamplingRow
    label_ids: list[int] = []
    parser: Annotated[Words, Field(max_length=40)] = ""
    failure_policy: Words = Judge.FailurePolicy.MISSING.value
    reply_model: Annotated[Words, Field(max_length=250)] = ""
    fingerprint: Words


class JudgeRaterRow(RaterRow):
    """A line of raters.jsonl, of which annotation.formats.raters reads the rest."""

    judge: JudgeRow | None = None


def read(target: Target, source: Source) -> None:
    """Create the judges that are new, and add grades to those with the same fingerprint.

    A judge of a model is known to the whole site; the lexical baseline belongs to its dataset.
    """
    for line, row in rows(target, source, JudgeRaterRow):
        if row.judge is None:
            continue
        judge = _judge(target, source, line, row, row.judge)
        if judge is not None:
            _add(target, source, line, row, judge)


def _judge(
    target: Target, source: Source, line: int, row: JudgeRaterRow, values: JudgeRow
) -> Judge | None:
    """The judge of a line, not saved; None, and an error noted, for one that cannot be."""

    def problem(field: str, message: str) -> None:
        target.problem(source, line, f"judge.{field}", message)

    fields = values.model_dump(exclude={"rubric", "fingerprint"})
    is_lexical = values.backend == Judge.Backend.LEXICAL
    if row.kind not in (Rater.Kind.MODEL, Rater.Kind.BASELINE):
        target.problem(
            source, line, "kind", f"{row.name} has a judge, so it is a model or a baseline"
        )
    elif values.backend not in Judge.Backend.values:
        problem("backend", f"is none of {', '.join(Judge.Backend.values)}")
    elif values.failure_policy not in Judge.FailurePolicy.values:
        problem("failure_policy", f"is none of {', '.join(Judge.FailurePolicy.values)}")
    elif not is_lexical and values.parser not in PARSERS:
        problem("parser", f"is none of {', '.join(PARSERS)}")
    elif rubric := target.rubric_called(source, line, values.rubric):
        judge = Judge(rubric=rubric.rubric, **fields)
        if judge.spec.fingerprint == values.fingerprint:
            return judge
        problem("fingerprint", "is not that of this judge")
    return None


def _add(target: Target, source: Source, line: int, row: JudgeRaterRow, judge: Judge) -> None:
    """Let the grades under the line's name be those of this judge."""
    fingerprint = judge.spec.fingerprint
    there = Judge.objects.filter(fingerprint=fingerprint).select_related("rater").first()
    known = target.rater_named(row.name)
    if known is not None:
        own = Judge.objects.filter(rater=known).first()
        if own is not None and own.fingerprint != fingerprint:
            message = f"{row.name} is another judge here ({own.short})"
            target.problem(source, line, "judge.fingerprint", message)
        elif own is not None:
            target.adopt(row.name, known)
        else:
            target.summary.mapped[Mapped.JUDGE_NOT_LINKED] += 1
    elif there is not None and there.rater.dataset_id not in (None, target.dataset.pk):
        target.summary.mapped[Mapped.JUDGE_NOT_LINKED] += 1
    elif there is not None:
        target.adopt(row.name, there.rater)
    elif target.is_rater_name(source, line, row.name):
        _create(target, source, line, row, judge)


def _create(target: Target, source: Source, line: int, row: JudgeRaterRow, judge: Judge) -> None:
    if judge.backend == Judge.Backend.LEXICAL:
        rater = target.rater(source, line, row.name, Rater.Kind(row.kind))
        assert rater is not None
        judge.rater = rater
        judge.save(force_insert=True)
        target.adopt(row.name, rater)
    else:
        name = row.name
        if Rater.objects.filter(dataset=None, name=name).exists():
            ending = f"-{judge.spec.fingerprint[:8]}"
            name = name[: 120 - len(ending)] + ending
        names = ("levels", *(set(JudgeRow.model_fields) - {"levels", "fingerprint"}))
        try:
            made = make_judge(
                name, kind=row.kind, **{field: getattr(judge, field) for field in names}
            )
        except JudgeRefused as refused:
            target.problem(source, line, "judge", str(refused))
            return
        target.adopt(row.name, made.rater)
    target.summary.created["judges"] += 1
    target.summary.file(source.name).created += 1


def definitions(raters: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The definitions of judges by the keys of their raters, as lines of raters.jsonl hold them."""
    judges = Judge.objects.filter(rater__in=raters).select_related("rubric")
    return {judge.rater_id: definition_of(judge) for judge in judges}


def definition_of(judge: Judge) -> dict[str, Any]:
    """The definition of a judge as JSON, with its fingerprint."""
    values = json.loads(json.dumps(judge.spec.as_json()))
    sampling = values["sampling"]
    sampling["extra"] = dict(sorted(sampling["extra"].items()))
    name = {"prompt_name": judge.prompt_name} if judge.prompt_name else {}
    return {**name, **values, "fingerprint": judge.spec.fingerprint}
