"""What raters read: the language of the pages, the rubric's words in it, the guideline and the consent."""

from typing import Any

from django import forms

from annotation.builder.forms.steps import DraftForm
from annotation.models import Campaign
from annotation.models.wording import Level, Wording, differing, rubrics_own, same_words, shown

MOST = 200  # characters, as the columns of a rubric hold
LEVEL = "level_"


class Phrase(forms.CharField):
    """A sentence or less, on one line for whoever reads it; its box has two, so that all of it is seen."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 2})
        super().__init__(max_length=MOST, widget=widget, **kwargs)

    def to_python(self, value: Any) -> str:
        return " ".join(str(super().to_python(value)).split())


class GuidelineForm(DraftForm):
    """What people read before and beside their work.

    The rubric's words stand in their fields, in the draft's language. Whatever is left as the rubric has
    it follows the language; the rest is the campaign's own.
    """

    rubric_title = forms.CharField(
        max_length=MOST,
        label="Title of the rubric",
        help_text="in the list of a rater's studies",
        error_messages={"required": "The rubric has no title."},
    )
    question = Phrase(
        label="What is asked",
        help_text="stands above the questions of each text",
        error_messages={"required": "Nothing is asked."},
    )

    class Meta:
        model = Campaign
        fields = ("language", "guideline", "consent", "consent_version")
        labels = {"consent": "Consent", "consent_version": "Version of the consent"}
        help_texts = {
            "language": "of the pages round the texts, and of the rubric's words and guideline where you "
            "leave them as they are: those of our rubrics are translated when you save",
            "guideline": "Markdown; it began as the rubric's own",
            "consent": "Markdown; what people agree to before they begin. Empty: nothing is asked",
            "consent_version": "recorded with each agreement, for example 2026-11",
        }
        widgets = {
            "guideline": forms.Textarea(attrs={"rows": 20}),
            "consent": forms.Textarea(attrs={"rows": 12}),
        }

    def __init__(self, *args: Any, instance: Campaign, **kwargs: Any) -> None:
        words = shown(instance)
        initial = {"rubric_title": words.title, "question": words.question}
        initial |= {f"{LEVEL}{level.grade}": level.label for level in words.levels}
        super().__init__(*args, instance=instance, initial=initial, **kwargs)
        self.own_before = rubrics_own(instance.rubric, instance.language, instance.kind)
        for level in words.levels:
            self.fields[f"{LEVEL}{level.grade}"] = Phrase(
                label=f"Words for grade {level.grade}",
                error_messages={
                    "required": f"Grade {level.grade} has no words.",
                    "max_length": f"The words for grade {level.grade} have more than {MOST} characters.",
                },
            )
        levels = [name for name in self.fields if name.startswith(LEVEL)]
        self.order_fields(["language", "rubric_title", "question", *levels, "guideline"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("consent") and not cleaned.get("consent_version"):
            self.add_error(
                "consent_version", "Name the version, so that it is known who agreed to what."
            )
        for name in self.data:
            if name.startswith(LEVEL) and name not in self.fields:
                self.add_error(None, f"The rubric has no grade {name.removeprefix(LEVEL)[:20]}.")
        if not self.errors:
            self._reword(cleaned)
        return cleaned

    def _reword(self, cleaned: dict[str, Any]) -> None:
        """Put what was left as the rubric has it into the language that is chosen now."""
        draft = self.instance
        own = rubrics_own(draft.rubric, cleaned["language"], draft.kind)
        unchanged = (self.own_before.guideline, draft.rubric.guideline)
        if any(same_words(cleaned["guideline"], words) for words in unchanged):
            cleaned["guideline"] = own.guideline
        draft.wording = differing(self._given(cleaned, own), own)

    def _given(self, cleaned: dict[str, Any], own: Wording) -> Wording:
        """The words of the form, with the rubric's own where they stayed as they were."""
        before = self.own_before
        labels = before.labels()

        def label(level: Level) -> str:
            sent: str = cleaned[f"{LEVEL}{level.grade}"]
            return level.label if sent == labels[level.grade] else sent

        return Wording(
            title=own.title if cleaned["rubric_title"] == before.title else cleaned["rubric_title"],
            question=own.question
            if cleaned["question"] == before.question
            else cleaned["question"],
            levels=tuple(Level(level.grade, label(level)) for level in own.levels),
            guideline=cleaned["guideline"],
        )
