"""What people send us, checked against what they were shown."""

import json
import re
from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import QueryDict

from annotation.models import Campaign, Dataset, Rubric, Text, Topic, User
from annotation.spans import Span, SpanError, checked, locate


class AnswerForm(forms.Form):
    """One answer: a grade of the rubric and the spans that support it.

    The page's script sends spans with offsets. Without scripts the form sends which of the old
    spans to keep, and new ones as words copied from the text, one span a line.
    """

    key = forms.UUIDField()
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
            raise ValidationError(f"The grade must be one of {allowed}, not {grade}.")
        return grade

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        body = self.text.body or ""
        try:
            if "spans" in self.sent:
                spans = _sent(body, cleaned.get("spans", ""))
            else:
                spans = _kept(body, self.sent.getlist("keep"))
                spans += _copied(body, self.sent.get("quotes", ""))
        except SpanError as error:
            raise ValidationError(f"A span does not fit the text: {error}.") from error
        cleaned["span_list"] = sorted(set(spans), key=lambda span: (span.start, span.end))
        return cleaned


class SkipForm(forms.Form):
    note = forms.CharField(required=False, max_length=2000)


def _sent(body: str, raw: str) -> list[Span]:
    """Spans as the script sends them."""
    expected = SpanError("expected a list of {start, end, quote}")
    try:
        sent = json.loads(raw or "[]")
    except ValueError as error:
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
            raise SpanError(f"{value[:40]!r} is not a place in the text")
        start, end = int(place[1]), int(place[2])
        spans.append(checked(body, start, end, body[start:end]))
    return spans


def _copied(body: str, lines: str) -> list[Span]:
    spans = []
    for line in filter(str.strip, lines.splitlines()):
        found = locate(body, line.strip())
        if not found:
            raise SpanError(f"the words {line.strip()[:80]!r} are not in it")
        spans.append(found[0])
    return spans


class CampaignForm(forms.ModelForm):
    """A study of texts that are here already: which of them, under which rubric, by whom."""

    systems = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="reports only; none ticked means all",
    )
    kind = forms.ChoiceField(choices=Text.Kind.choices, label="Texts")
    topics = forms.ModelMultipleChoiceField(
        queryset=Topic.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="none ticked means all",
    )
    people = forms.ModelMultipleChoiceField(
        queryset=User.objects.filter(is_active=True).order_by("username"),
        widget=forms.CheckboxSelectMultiple,
        label="Raters",
        help_text="each of them gets every text",
    )

    class Meta:
        model = Campaign
        fields = ("title", "slug", "rubric", "questions_per_item", "seed")
        help_texts = {"slug": "in addresses; letters, digits and hyphens"}

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset = dataset
        self.fields["topics"].queryset = dataset.topics.all()  # type: ignore[attr-defined]
        systems = dataset.texts.exclude(system="").values_list("system", flat=True)
        self.fields["systems"].choices = [  # type: ignore[attr-defined]
            (system, system) for system in sorted(set(systems))
        ]

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug == "new":
            raise ValidationError("This address is the form's own; take another.")
        return slug

    def clean_questions_per_item(self) -> int | None:
        number: int | None = self.cleaned_data["questions_per_item"]
        if number == 0:
            raise ValidationError("A text needs at least one question; empty means all of them.")
        return number

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not self.texts():
            raise ValidationError(
                "No text fits: of this kind and these topics and systems, none has both words "
                "and a topic with questions."
            )
        return cleaned

    def texts(self) -> list[Text]:
        """The chosen texts in a steady order: by topic, then as they were imported."""
        chosen = self.dataset.texts.with_body().filter(
            kind=self.cleaned_data["kind"], topic__questions__filtered_because=""
        )
        if topics := self.cleaned_data["topics"]:
            chosen = chosen.filter(topic__in=topics)
        if systems := self.cleaned_data["systems"]:
            chosen = chosen.filter(system__in=systems)
        return list(chosen.distinct().select_related("topic").order_by("topic__position", "id"))


class GuidelineForm(forms.ModelForm):
    class Meta:
        model = Rubric
        fields = ("guideline",)
        widgets = {"guideline": forms.Textarea(attrs={"rows": 24})}


class NewPersonForm(BaseUserCreationForm):
    """A new account; its password is told to the person by whoever makes it."""

    class Meta:
        model = User
        fields = ("username", "role")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The form stands below the list, which is what most come to read.
        self.fields["username"].widget.attrs.pop("autofocus", None)


class PersonForm(forms.ModelForm):
    """What may be changed of an account. Its labels stay whatever happens to it."""

    new_password = forms.CharField(
        required=False,
        strip=False,
        widget=forms.PasswordInput,
        help_text="empty: the old one stays",
    )

    class Meta:
        model = User
        fields = ("role", "is_active")
        labels = {"is_active": "May log in"}
        help_texts = {"is_active": ""}

    def clean_new_password(self) -> str:
        password: str = self.cleaned_data["new_password"]
        if password:
            validate_password(password, self.instance)
        return password

    def save(self, commit: bool = True) -> User:
        if self.cleaned_data["new_password"]:
            self.instance.set_password(self.cleaned_data["new_password"])
        return super().save(commit)
