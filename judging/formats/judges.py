"""Definitions of judges in our own raters.jsonl: everything that shapes a judge's replies."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import NonEmptyText, RaterRow, Row, StoredText, WholeNumber
from annotation.formats.summary import Conversion
from annotation.formats.target import Target
from annotation.models import Rater
from judging.engine.judges import JudgeError, make_judge
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
    max_tokens: WholeNumber
    seed: WholeNumber | None
    logprobs: bool
    extra: dict[StoredText, Any]


class JudgeRow(Row):
    """The fields of Judge, and their fingerprint."""

    rubric: StoredText
    levels: list[Annotated[tuple[WholeNumber, StoredText], Field(strict=False)]]  # JSON has lists
    backend: StoredText
    model: Annotated[NonEmptyText, Field(max_length=250)]
    revision: Annotated[StoredText, Field(max_length=250)] = ""
    prompt_name: Annotated[StoredText, Field(max_length=120)] = ""
    system: StoredText = ""
    prompt: StoredText = ""
    wording: StoredText = ""
    template_hash: Annotated[StoredText, Field(max_length=64)] = ""
    sampling: SamplingRow
    label_ids: list[int] = []
    parser: Annotated[StoredText, Field(max_length=40)] = ""
    failure_policy: StoredText = Judge.FailurePolicy.MISSING.value
    reply_model: Annotated[StoredText, Field(max_length=250)] = ""
    fingerprint: StoredText


class JudgeRaterRow(RaterRow):
    """A line of raters.jsonl, of which annotation.formats.raters reads the rest."""

    judge: JudgeRow | None = None


def read(target: Target, source: Source) -> None:
    """Create new judges, and add grades to those with the same fingerprint.

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
    """Return the unsaved judge of a line; None, and an error noted, if it is invalid."""

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
        if rubric.rubric.is_multi_label:
            problem(
                "rubric", f"{values.rubric} is multi-label, and a judge gives one grade to a pair"
            )
            return None
        judge = Judge(rubric=rubric.rubric, **fields)
        if judge.spec.fingerprint == values.fingerprint:
            return judge
        problem("fingerprint", "is not that of this judge")
    return None


def _add(target: Target, source: Source, line: int, row: JudgeRaterRow, judge: Judge) -> None:
    """Link the grades under the line's name to this judge."""
    fingerprint = judge.spec.fingerprint
    existing = Judge.objects.filter(fingerprint=fingerprint).select_related("rater").first()
    rater = target.rater_named(row.name)
    if rater is not None:
        rater_judge = Judge.objects.filter(rater=rater).first()
        if rater_judge is not None and rater_judge.fingerprint != fingerprint:
            message = f"{row.name} is another judge here ({rater_judge.short})"
            target.problem(source, line, "judge.fingerprint", message)
        elif rater_judge is not None:
            target.adopt(row.name, rater)
        else:
            target.summary.mapped[Conversion.JUDGE_NOT_LINKED] += 1
    elif existing is not None and existing.rater.dataset_id not in (None, target.dataset.pk):
        target.summary.mapped[Conversion.JUDGE_NOT_LINKED] += 1
    elif existing is not None:
        target.adopt(row.name, existing.rater)
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
            created = make_judge(
                name, kind=row.kind, **{field: getattr(judge, field) for field in names}
            )
        except JudgeError as refused:
            target.problem(source, line, "judge", str(refused))
            return
        target.adopt(row.name, created.rater)
    target.summary.created["judges"] += 1
    target.summary.file(source.name).created += 1


def definitions(raters: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return definitions of judges by the keys of their raters, as in raters.jsonl."""
    judges = Judge.objects.filter(rater__in=raters).select_related("rubric")
    return {judge.rater_id: definition_of(judge) for judge in judges}


def definition_of(judge: Judge) -> dict[str, Any]:
    """Return the definition of a judge as JSON, with its fingerprint."""
    values = json.loads(json.dumps(judge.spec.as_json()))
    sampling = values["sampling"]
    sampling["extra"] = dict(sorted(sampling["extra"].items()))
    name = {"prompt_name": judge.prompt_name} if judge.prompt_name else {}
    return {**name, **values, "fingerprint": judge.spec.fingerprint}
