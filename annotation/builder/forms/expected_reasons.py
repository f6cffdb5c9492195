"""Form of the reasons for the correct answers of training and gold items."""

from itertools import groupby
from typing import Any

from django import forms

from annotation.builder.expected_reasons import ExpectedAnswer, expected_answers, save_reasons
from annotation.form_fields import MultilineField
from annotation.form_versions import CHANGED, Conflict, display_value
from annotation.models import Campaign, Item
from annotation.models.rubric_wording import campaign_wording
from annotation.row_versions import VERSION, version_of

MOST_CHARACTERS = 1000
PREFIX = "reason-"


class ReasonsForm(forms.Form):
    """Form with a field for each correct answer that workers see in feedback.

    `version` and `conflicts` as of a `VersionedForm`. Fields are named after the text and the question,
    so that a reason never moves to another question when the draft is drawn again.
    """

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data)
        purposes = [Item.Purpose.TRAINING, *([Item.Purpose.GOLD] if campaign.gold_feedback else [])]
        self.answers = {
            PREFIX + "-".join(map(str, answer.key)): answer
            for answer in expected_answers(campaign, *purposes)
        }
        rubric_wording = campaign_wording(campaign)
        for name, answer in self.answers.items():
            further = rubric_wording.further.get(answer.rubric.slug, rubric_wording)
            self.fields[name] = MultilineField(
                max_length=MOST_CHARACTERS,
                required=False,
                label=answer.item_question.question.body,
                help_text=f"Expected: {further.grade_text(answer.grade)}",
                initial=answer.reason,
                widget=forms.Textarea(attrs={"rows": 2}),
            )
        self.version = version_of(
            [(name, answer.grade, answer.reason) for name, answer in self.answers.items()]
        )
        self.conflicts: list[Conflict] = []

    def fields_by_item(self) -> list[tuple[Item, list[forms.BoundField]]]:
        def item_of(answer_field: tuple[str, ExpectedAnswer]) -> Item:
            return answer_field[1].item_question.item

        return [
            (item, [self[name] for name, _answer in group])
            for item, group in groupby(self.answers.items(), item_of)
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        missing = [
            name
            for name in self.data
            if name.startswith(PREFIX) and name not in self.fields and self.data[name].strip()
        ]
        if missing:
            # The page has what was sent, and not what was saved since.
            self.version = self.data.get(VERSION, self.version)
            self.add_error(
                None,
                "Nothing was saved: the texts were drawn again since you opened this page, and "
                f"{len(missing)} of your reasons belong to questions that were left out.",
            )
        elif self.data.get(VERSION, self.version) != self.version:
            for name in self.changed_data:
                field = self.fields[name]
                stored = display_value(field, field.initial)
                sent = display_value(field, cleaned.get(name, ""))
                if stored != sent:
                    self.conflicts.append(Conflict(str(field.label), stored, sent))
            if self.conflicts:
                self.add_error(None, CHANGED)
        return cleaned

    def store(self) -> None:
        """Store all reasons. In a transaction."""
        save_reasons({answer: self.cleaned_data[name] for name, answer in self.answers.items()})
