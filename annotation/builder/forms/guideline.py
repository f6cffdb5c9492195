"""Form of the guideline step: page language, rubric wording, guideline and consent."""

from typing import Any

from django import forms

from annotation.builder.forms.steps import DraftForm
from annotation.models import Campaign
from annotation.models.rubric_wording import (
    Level,
    RubricWording,
    campaign_wording,
    default_wording,
    is_same_text,
    overrides_of,
)

MAX_LENGTH = 200  # characters, as the columns of a rubric hold
LEVEL = "level_"


class Phrase(forms.CharField):
    """Single-line text field in a box of two rows, so that all of it is visible."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 2})
        super().__init__(max_length=MAX_LENGTH, widget=widget, **kwargs)

    def to_python(self, value: Any) -> str:
        return " ".join(str(super().to_python(value)).split())


class GuidelineForm(DraftForm):
    """Form of the texts that raters read before and during their work.

    The rubric's wording is in its fields, in the draft's language. Values left as the rubric has
    them follow the language; the rest is the campaign's own.
    """

    rubric_title = forms.CharField(
        max_length=MAX_LENGTH,
        label="Title of the rubric",
        help_text="visible in a rater's list of studies",
        error_messages={"required": "Enter a title of the rubric."},
    )
    question = Phrase(
        label="Question of the rubric",
        help_text="displayed above the questions of each text",
        error_messages={"required": "Enter the question of the rubric."},
    )

    class Meta:
        model = Campaign
        fields = ("language", "guideline", "consent", "consent_version")
        labels = {"consent": "Consent", "consent_version": "Version of the consent"}
        help_texts = {
            "language": "of the task pages, and of the rubric's wording and guideline if you do "
            "not change them: standard rubrics are translated when you save",
            "guideline": "Markdown; the initial text is the rubric's guideline",
            "consent": "Markdown; people agree to it before they begin. Empty: no consent is requested",
            "consent_version": "recorded with each agreement, for example 2026-11",
        }
        widgets = {
            "guideline": forms.Textarea(attrs={"rows": 20}),
            "consent": forms.Textarea(attrs={"rows": 12}),
        }

    def __init__(self, *args: Any, instance: Campaign, **kwargs: Any) -> None:
        rubric_wording = campaign_wording(instance)
        initial = {"rubric_title": rubric_wording.title, "question": rubric_wording.question}
        initial |= {f"{LEVEL}{level.grade}": level.label for level in rubric_wording.levels}
        super().__init__(*args, instance=instance, initial=initial, **kwargs)
        self.own_before = default_wording(instance.rubric, instance.language, instance.kind)
        noun = rubric_wording.level_noun
        for level in rubric_wording.levels:
            self.fields[f"{LEVEL}{level.grade}"] = Phrase(
                label=f"Wording of {noun} {level.grade}",
                error_messages={
                    "required": f"{noun.capitalize()} {level.grade} has no wording.",
                    "max_length": f"The wording of {noun} {level.grade} has more than {MAX_LENGTH} characters.",
                },
            )
        levels = [name for name in self.fields if name.startswith(LEVEL)]
        self.order_fields(["language", "rubric_title", "question", *levels, "guideline"])

    def stored_values(self) -> dict[str, Any]:
        return super().stored_values() | {"wording": self.instance.wording}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("consent") and not cleaned.get("consent_version"):
            self.add_error(
                "consent_version", "Enter a version: it records what each person agreed to."
            )
        for name in self.data:
            if name.startswith(LEVEL) and name not in self.fields:
                self.add_error(None, f"The rubric has no grade {name.removeprefix(LEVEL)[:20]}.")
        if not self.errors:
            self._translate_unchanged(cleaned)
        return cleaned

    def _translate_unchanged(self, cleaned: dict[str, Any]) -> None:
        """Translate the unchanged rubric wording into the language that is chosen now."""
        draft = self.instance
        rubric_wording = default_wording(draft.rubric, cleaned["language"], draft.kind)
        unchanged = (self.own_before.guideline, draft.rubric.guideline)
        if any(is_same_text(cleaned["guideline"], guideline) for guideline in unchanged):
            cleaned["guideline"] = rubric_wording.guideline
        draft.wording = overrides_of(self._form_wording(cleaned, rubric_wording), rubric_wording)

    def _form_wording(
        self, cleaned: dict[str, Any], rubric_wording: RubricWording
    ) -> RubricWording:
        """Return the wording of the form, with the rubric's own for unchanged fields."""
        before = self.own_before
        labels = {level.grade: level.label for level in before.levels}

        def label(level: Level) -> str:
            sent: str = cleaned[f"{LEVEL}{level.grade}"]
            return level.label if sent == labels[level.grade] else sent

        return RubricWording(
            title=rubric_wording.title
            if cleaned["rubric_title"] == before.title
            else cleaned["rubric_title"],
            question=rubric_wording.question
            if cleaned["question"] == before.question
            else cleaned["question"],
            levels=tuple(Level(level.grade, label(level)) for level in rubric_wording.levels),
            guideline=cleaned["guideline"],
        )
