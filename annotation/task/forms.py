"""What people send us about a text, checked against what they were shown."""

import json
import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from annotation.models import Rubric, Text
from annotation.text.spans import Span, SpanError, checked, locate


class AnswerForm(forms.Form):
    """One answer: a grade of the rubric and the spans that support it.

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
    spans = forms.CharField(required=False)

    def __init__(self, data: QueryDict, *, text: Text, rubric: Rubric) -> None:
        super().__init__(data)
        self.sent = data
        self.text = text
        self.rubric = rubric

    def clean_grade(self) -> int | None:
        grade = self.cleaned_data["grade"]
        if grade is not None and grade not in self.rubric.grades():
            allowed = ", ".join(map(str, self.rubric.grades()))
            raise ValidationError(
                _("The grade must be one of %(allowed)s, not %(grade)s."),
                params={"allowed": allowed, "grade": grade},
            )
        return grade

    def clean_active_ms(self) -> int:
        # A clock that jumped is no reason to refuse an answer.
        return min(self.cleaned_data["active_ms"] or 0, self.DAY_MS)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        body = self.text.body or ""
        try:
            if "spans" in self.sent:
                spans = _sent(body, cleaned.get("spans", ""))
            else:
                spans = _kept(body, self.sent.getlist("keep"))
                spans += _copied(body, self.sent.get("quotes", ""))
                self._ask_about(spans, cleaned.get("grade"))
        except SpanError as error:
            problem = _(error.pattern) % error.values if error.values else _(error.pattern)
            raise ValidationError(
                _("A span does not fit the text: %(problem)s."), params={"problem": problem}
            ) from error
        if len(spans) > self.MOST_SPANS:
            raise ValidationError(
                _("One answer holds at most %(most)s spans."), params={"most": self.MOST_SPANS}
            )
        cleaned["span_list"] = sorted(set(spans), key=lambda span: (span.start, span.end))
        return cleaned

    def _ask_about(self, spans: list[Span], grade: int | None) -> None:
        """Words are not taken away unasked. A page with scripts has asked before it sends."""
        if spans and not self.rubric.takes_spans(grade):
            raise ValidationError(
                _("A grade of %(grade)s rests on no words: untick them, or choose a higher one."),
                params={"grade": grade},
            )


class SkipForm(forms.Form):
    broken = forms.BooleanField(required=False)
    note = forms.CharField(
        required=False,
        max_length=2000,
        error_messages={
            "max_length": gettext_lazy("The note is too long: 2,000 characters at most.")
        },
    )


def problems(form: forms.Form) -> str:
    """All that is wrong with a form, in words for whoever sent it."""
    return " ".join(str(message) for field in form.errors.values() for message in field)


def _sent(body: str, raw: str) -> list[Span]:
    """Spans as the script sends them."""
    expected = SpanError(gettext_noop("expected a list of {start, end, quote}"))
    try:
        sent = json.loads(raw or "[]")
    except (ValueError, RecursionError) as error:
        raise expected from error
    shape = {"start": int, "end": int, "quote": str}
    if not isinstance(sent, list) or not all(_has_shape(span, shape) for span in sent):
        raise expected
    return [checked(body, span["start"], span["end"], span["quote"]) for span in sent]


def _has_shape(span: object, shape: dict[str, type]) -> bool:
    return isinstance(span, dict) and all(
        type(span.get(key)) is kind for key, kind in shape.items()
    )


def _kept(body: str, kept: list[str]) -> list[Span]:
    spans = []
    for value in kept:
        place = re.fullmatch(r"([0-9]{1,9}):([0-9]{1,9})", value)
        if not place:
            pattern = gettext_noop("%(value)s is not a place in the text")
            raise SpanError(pattern, value=repr(value[:40]))
        start, end = int(place[1]), int(place[2])
        spans.append(checked(body, start, end, body[start:end]))
    return spans


def _copied(body: str, lines: str) -> list[Span]:
    spans = []
    # Not splitlines(), which also cuts at signs that stand within a line of a form.
    for line in filter(str.strip, re.split(r"\r\n|\r|\n", lines)):
        match = locate(body, line.strip())
        if not match:
            pattern = gettext_noop("the words “%(words)s” are not in it")
            raise SpanError(pattern, words=line.strip()[:80])
        spans.append(match[0])
    return spans
