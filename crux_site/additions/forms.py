"""Forms that add a topic, a sub-question or a text: each makes one row of an import."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django import forms

from annotation.form_fields import MultilineField
from annotation.formats.layout import Kind, Source
from annotation.formats.records import AddedQuestionRow, CitedRow, PassageRow, Row, TopicRow
from annotation.formats.tables.names import passage_id, system_name, text_id, topic_id
from annotation.formats.tables.values import normal
from annotation.formats.translation import Translation
from annotation.models import Dataset, Text, Topic

FILE = "form"  # name of the file that an import reports


@dataclass(frozen=True)
class Addition:
    """Row of an import, its label for the log, and its fields by those of the form."""

    kind: Kind
    shape: type[Row]
    values: dict[str, Any]
    label: str
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def source(self) -> Source:
        """Return the row as a file that the importer reads."""
        translation = Translation(
            self.shape,
            lambda row: (row,),
            values=lambda path: iter([(1, self.values)]),
            fields=self.fields,
        )
        return Source(Path(FILE), FILE, self.kind, translation=translation)


class AdditionForm(forms.Form):
    """Base of the forms: `repeated` are the fields that the next addition begins with."""

    title: str
    repeated: tuple[str, ...] = ("topic",)

    def __init__(self, dataset: Dataset, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        topic = self.fields["topic"]
        if isinstance(topic, forms.ModelChoiceField):
            topic.queryset = dataset.topics.all()

    def addition(self) -> Addition:
        raise NotImplementedError


def _topic_field(**options: Any) -> forms.ModelChoiceField:
    return forms.ModelChoiceField(Topic.objects.none(), to_field_name="name", **options)


class TopicForm(AdditionForm):
    title = "Add topic"

    topic = forms.CharField(
        max_length=200, label="Id", help_text="short, such as coast-1; blanks and colons become -"
    )
    request = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 4}), help_text="what a report of the topic answers"
    )

    def clean_topic(self) -> str:
        return topic_id(normal(self.cleaned_data["topic"]))

    def addition(self) -> Addition:
        name = self.cleaned_data["topic"]
        values = {"id": name, "request": normal(self.cleaned_data["request"])}
        return Addition(Kind.TOPICS, TopicRow, values, f"topic {name}", {"id": "topic"})


class QuestionForm(AdditionForm):
    title = "Add sub-question"

    topic = _topic_field()
    question = forms.CharField(
        label="Sub-question", widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def addition(self) -> Addition:
        topic = self.cleaned_data["topic"].name
        values = {"id": topic, "question": normal(self.cleaned_data["question"])}
        label = f"sub-question of {topic}"
        return Addition(Kind.ADDED_QUESTIONS, AddedQuestionRow, values, label, {"id": "topic"})


class TextForm(AdditionForm):
    title = "Add text"
    repeated = ("topic", "kind", "system")

    topic = _topic_field(required=False, help_text="a report needs one")
    kind = forms.ChoiceField(
        choices=[
            (Text.Kind.PASSAGE, "passage: a piece of a source"),
            (Text.Kind.REPORT, "report: an answer that a system wrote"),
        ],
        widget=forms.RadioSelect,
        initial=Text.Kind.PASSAGE,
    )
    system = forms.CharField(
        max_length=120, required=False, help_text="of a report: the name of what wrote it"
    )
    name = forms.CharField(
        max_length=250,
        required=False,
        label="Id",
        help_text="if you leave it out, a report is called like its topic, and a passage by its words",
    )
    body = MultilineField(widget=forms.Textarea(attrs={"rows": 12}), strip=False, label="Text")

    def clean_body(self) -> str:
        body: str = self.cleaned_data["body"]
        if not body.strip():
            raise forms.ValidationError("Write or paste a text.")
        return body

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("kind") == Text.Kind.REPORT:
            if not cleaned.get("topic") and "topic" not in self.errors:
                self.add_error("topic", "Choose the topic of the report.")
            if not cleaned.get("system") and "system" not in self.errors:
                self.add_error("system", "Write which system wrote the report.")
        elif cleaned.get("system"):
            self.add_error("system", "A passage has no system: choose report, or leave it out.")
        return cleaned

    def addition(self) -> Addition:
        topic = self.cleaned_data["topic"].name if self.cleaned_data["topic"] else ""
        name = text_id(normal(self.cleaned_data["name"]))
        body = self.cleaned_data["body"]
        if self.cleaned_data["kind"] == Text.Kind.PASSAGE:
            if not name:
                name = passage_id(topic, body)
            elif topic and not name.startswith(f"{topic}:"):
                name = f"{topic}:{name}"
            values = {"id": name, "contents": body}
            fields = {"id": "name", "contents": "body"}
            return Addition(Kind.PASSAGES, PassageRow, values, f"passage {name}", fields)
        system = system_name(normal(self.cleaned_data["system"]))
        values = {
            "topic": topic,
            "system": system,
            "name": name or topic,
            "body": body,
            "statements": [],
        }
        label = f"report {name or topic} of {system}"
        return Addition(Kind.CITED, CitedRow, values, label)


FORMS: dict[str, type[AdditionForm]] = {
    "topic": TopicForm,
    "question": QuestionForm,
    "text": TextForm,
}
