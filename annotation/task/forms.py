"""Forms for answers to an item, validated against the text that was displayed."""

import json
import re
from contextlib import suppress
from typing import Any, NamedTuple, Self

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from annotation.form_fields import MultilineField
from annotation.models import Answer, Rubric, Text
from annotation.models.rubric_rules import MOST_LABELS
from annotation.text.spans import Span, SpanError, locate, validated_span


class Remark(NamedTuple):
    """Note on an answer and confidence in it, by the person who gave it."""

    note: str = ""
    confidence: str = ""


class SharedFields(dict[str, forms.Field]):
    """Fields that all forms of a class share. Django copies them for each form, to be changed.

    Copying the fields of an answer takes longer than cleaning them.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class AnswerForm(forms.Form):
    """Form of one answer: a grade of the rubric and the spans that support it.

    The page's script sends spans with offsets. Without scripts the form sends which of the old
    spans to keep, and new ones as words copied from the text, one span a line.
    """

    DAY_MS = 24 * 60 * 60 * 1000
    MOST_SPANS = 1000  # far more than anybody marks, and fewer than the database can count

    key = forms.UUIDField()
    base = forms.UUIDField(required=False)
    active_ms = forms.IntegerField(required=False, min_value=0)
    altered = forms.BooleanField(required=False)
    grade = forms.IntegerField(required=False)
    note = MultilineField(
        required=False,
        max_length=1000,
        error_messages={
            "max_length": gettext_lazy("The note is too long: 1,000 characters at most.")
        },
    )
    confidence = forms.ChoiceField(required=False, choices=Answer.Confidence.choices)
    spans = forms.CharField(required=False)

    def __init__(self, data: QueryDict, *, text: Text, rubric: Rubric) -> None:
        super().__init__(with_grade_of_labels(data, rubric))
        self.sent = data
        self.text = text
        self.rubric = rubric

    def clean_grade(self) -> int | None:
        grade: int | None = self.cleaned_data["grade"]
        if len(labels := self.sent.getlist("label")) > 1 and "0" in labels:
            raise ValidationError(
                _("You chose “none of these” and others. Untick one or the other.")
            )
        if self.rubric.is_multi_label and grade is not None and grade not in self.rubric.grades():
            raise ValidationError(_("The labels must be some of those on the page."))
        if grade is not None and grade not in self.rubric.grades():
            allowed = ", ".join(map(str, self.rubric.grades()))
            raise ValidationError(
                _("The grade must be one of %(allowed)s, not %(grade)s."),
                params={"allowed": allowed, "grade": grade},
            )
        return grade

    @property
    def remark(self) -> Remark | None:
        """Note and confidence; None where the page sent neither, as one of an earlier version."""
        if "note" not in self.sent and "confidence" not in self.sent:
            return None
        return Remark(self.cleaned_data["note"], self.cleaned_data["confidence"])

    def clean_active_ms(self) -> int:
        # A clock that jumped is no reason to refuse an answer.
        return min(self.cleaned_data["active_ms"] or 0, self.DAY_MS)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        body = self.text.body or ""
        try:
            if "spans" in self.sent:
                spans = _parse_spans(body, cleaned.get("spans", ""))
            else:
                spans = _parse_positions(body, self.sent.getlist("keep"))
                spans += _locate_quotes(body, self.sent.get("quotes", ""))
                self._refuse_unasked_removal(spans, cleaned.get("grade"))
        except SpanError as error:
            message = _(error.pattern) % error.values if error.values else _(error.pattern)
            raise ValidationError(
                _("A span does not fit the text: %(problem)s."), params={"problem": message}
            ) from error
        if len(spans) > self.MOST_SPANS:
            raise ValidationError(
                _("One answer holds at most %(most)s spans."), params={"most": self.MOST_SPANS}
            )
        cleaned["span_list"] = sorted(set(spans), key=lambda span: (span.start, span.end))
        return cleaned

    def _refuse_unasked_removal(self, spans: list[Span], grade: int | None) -> None:
        """Refuse to drop spans unasked. A page with scripts has asked before it sends."""
        if spans and not self.rubric.takes_spans(grade):
            raise ValidationError(
                _("Grade %(grade)s needs no marked words: untick them, or choose a higher grade."),
                params={"grade": grade},
            )


AnswerForm.base_fields = SharedFields(AnswerForm.base_fields)


def with_grade_of_labels(sent: QueryDict, rubric: Rubric) -> QueryDict:
    """Return sent values with the grade that the ticked labels of a multi-label rubric make.

    Scripts send the grade itself. Values that are no numbers make a grade that is none.
    """
    labels = sent.getlist("label")
    if not rubric.is_multi_label or "grade" in sent or not labels:
        return sent
    values = sent.copy()
    is_valid = all(re.fullmatch(r"[0-9]{1,4}", label) for label in labels)
    values["grade"] = str(sum(set(map(int, labels)))) if is_valid else "-1"
    return values


def selected_options(grade: str, rubric: Rubric) -> set[str]:
    """Return the values of the options that a form with this grade has selected."""
    if not rubric.is_multi_label or grade == "0" or not re.fullmatch(r"[0-9]{1,4}", grade):
        return {grade}
    return {str(option) for bit in range(MOST_LABELS) if (option := 1 << bit) & int(grade)}


class SkipForm(forms.Form):
    broken = forms.BooleanField(required=False)
    note = MultilineField(
        required=False,
        max_length=2000,
        error_messages={
            "max_length": gettext_lazy("The note is too long: 2,000 characters at most.")
        },
    )


def problems(form: forms.Form) -> str:
    """Join all errors of a form into one message for the person who sent it."""
    return " ".join(str(message) for field in form.errors.values() for message in field)


def _parse_spans(body: str, raw: str) -> list[Span]:
    """Parse spans as the script sends them. Raises SpanError."""
    expected = SpanError(gettext_noop("expected a list of {start, end, quote}"))
    try:
        spans = json.loads(raw or "[]")
    except (ValueError, RecursionError) as error:
        raise expected from error
    shape = {"start": int, "end": int, "quote": str}
    if not isinstance(spans, list) or not all(_has_shape(span, shape) for span in spans):
        raise expected
    return [validated_span(body, span["start"], span["end"], span["quote"]) for span in spans]


def _has_shape(span: object, shape: dict[str, type]) -> bool:
    return isinstance(span, dict) and all(
        type(span.get(key)) is kind for key, kind in shape.items()
    )


def ticked_spans(body: str, positions: list[str]) -> tuple[Span, ...]:
    """Return the spans at sent positions, to display them again; what is no span is left out."""
    spans = []
    for position in positions:
        with suppress(SpanError):
            spans += _parse_positions(body, [position])
    return tuple(spans)


def _parse_positions(body: str, positions: list[str]) -> list[Span]:
    spans = []
    for value in positions:
        match = re.fullmatch(r"([0-9]{1,9}):([0-9]{1,9})", value)
        if not match:
            pattern = gettext_noop("%(value)s is not a place in the text")
            raise SpanError(pattern, value=repr(value[:40]))
        start, end = int(match[1]), int(match[2])
        spans.append(validated_span(body, start, end, body[start:end]))
    return spans


def _locate_quotes(body: str, lines: str) -> list[Span]:
    spans = []
    # Not splitlines(), which also cuts at signs that stand within a line of a form.
    for line in filter(str.strip, re.split(r"\r\n|\r|\n", lines)):
        match = locate(body, line.strip())
        if not match:
            pattern = gettext_noop("the words “%(words)s” are not in it")
            raise SpanError(pattern, words=line.strip()[:80])
        spans.append(match[0])
    return spans
