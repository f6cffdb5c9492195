"""Form of a rubric: its question and parts, with rows of levels and examples."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.models import fields_for_model
from django.http import QueryDict

from annotation.form_fields import MultilineField
from annotation.form_versions import CHANGED, EMPTY, Conflict, VersionedForm, display_value
from annotation.models import Project, Rubric, RubricLevel, User
from annotation.models.rubric_rules import (
    EXAMPLE_LENGTHS,
    IMPOSSIBLE_FIELDS,
    LEVEL_FIELDS,
    MOST_EXAMPLES,
    MOST_LEVELS,
    RUBRIC_FIELDS,
    RubricError,
    store_rubric,
    values_of,
)
from annotation.row_versions import VERSION, version_of

EMPTY_ROWS = 3
LABELS = {"grade": "Grade", "label": "Words", "name": "One word", "key": "Key", "colour": "Colour"}
BY_THE_MODEL = [name for name in RUBRIC_FIELDS if name not in ("shows", "impossible")]


class GuidelineForm(VersionedForm):
    class Meta:
        model = Rubric
        fields = ("guideline",)
        widgets = {"guideline": forms.Textarea(attrs={"rows": 24})}


class ImpossibleField(forms.CharField):
    """Declarations of impossible combinations, one a line: grade, rubric, its grades."""

    LINE = re.compile(r"(\d{1,9})[\s,]+(\S+?)[\s,]+(\d{1,9}(?:[\s,]+\d{1,9})*)")

    def prepare_value(self, value: Any) -> Any:
        """Return declarations as lines of text; text stays as it was typed."""
        return value if isinstance(value, str) else "\n".join(map(self.line_of, value or ()))

    def clean(self, value: Any) -> list[dict[str, Any]]:
        lines = super().clean(value).splitlines()
        return [self._parse(line.strip()) for line in lines if line.strip()]

    def _parse(self, line: str) -> dict[str, Any]:
        match = self.LINE.fullmatch(line)
        if not match:
            raise ValidationError(
                f"“{line[:80]}” is not a grade, a rubric and its grades, as in “0 utility 4 5”."
            )
        grades = [int(grade) for grade in re.split(r"[\s,]+", match[3])]
        values = (int(match[1]), match[2], grades)
        return dict(zip(IMPOSSIBLE_FIELDS, values, strict=True))

    @staticmethod
    def line_of(declared: Mapping[str, Any]) -> str:
        grade, rubric, grades = (declared[name] for name in IMPOSSIBLE_FIELDS)
        return " ".join(map(str, (grade, rubric, *grades)))


class RubricForm(forms.Form):
    """Fields of a rubric, without its levels, by `annotation.models.rubric_rules`.

    With a `creator`, the project of the new rubric is a field: one that the user owns, or for admins the site.
    `version` is that of the edited rubric with its levels; `conflicts` as of a `VersionedForm`.
    """

    version = ""
    conflicts: Sequence[Conflict] = ()

    shows = forms.MultipleChoiceField(
        choices=Rubric.Shows.choices,
        widget=forms.CheckboxSelectMultiple,
        label="Visible parts of a pair",
        initial=["text", "question"],
    )
    impossible = ImpossibleField(
        required=False,
        label="Impossible with grades of other rubrics",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="one a line, for example “0 utility 4 5”: grade 0 cannot be right together with "
        "grade 4 or 5 of the rubric “utility”. If a campaign has both rubrics, its raters are asked "
        "to check such answers.",
    )

    def __init__(self, *args: Any, creator: User | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= fields_for_model(
            Rubric,
            BY_THE_MODEL,
            labels={
                "slug": "Name in URLs and files",
                "eta": "Answerable from grade (η)",
                "span_from": "Highlights needed from grade",
            },
            help_texts={"slug": "letters, digits, - and _"},
            widgets={
                "question": forms.Textarea(attrs={"rows": 2}),
                "guideline": forms.Textarea(attrs={"rows": 16}),
            },
        )
        if creator:
            self.fields["project"] = forms.ModelChoiceField(
                Project.objects.owned_by(creator),
                to_field_name="slug",
                required=not creator.is_admin,
                empty_label="the whole site" if creator.is_admin else None,
                help_text="its members see the rubric, and its owners can edit it",
            )
        self.order_fields(
            ["project", "slug", "title", "question", "shows", "scale", "eta", "span_from"]
        )


class LevelForm(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= fields_for_model(RubricLevel, LEVEL_FIELDS)
        # Column headers do not label the fields below them.
        for name, field in self.fields.items():
            label = f"{LABELS[name]}, level {int(str(self.prefix).rpartition('-')[2]) + 1}"
            field.widget.attrs["aria-label"] = label


class ExampleForm(forms.Form):
    grade = forms.IntegerField()
    text = MultilineField(
        max_length=EXAMPLE_LENGTHS["text"], widget=forms.Textarea(attrs={"rows": 3})
    )
    question = MultilineField(
        max_length=EXAMPLE_LENGTHS["question"],
        required=False,
        label="Sub-question",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="empty: none",
    )
    reason = MultilineField(
        max_length=EXAMPLE_LENGTHS["reason"],
        label="Why this grade is right",
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class RowForms(forms.BaseFormSet):
    """Rows of which those sent empty are left out, also those that were filled at first."""

    def initial_form_count(self) -> int:
        return 0 if self.is_bound else super().initial_form_count()


LevelForms = forms.formset_factory(
    LevelForm, RowForms, extra=EMPTY_ROWS, max_num=MOST_LEVELS, absolute_max=2 * MOST_LEVELS
)
ExampleForms = forms.formset_factory(
    ExampleForm, RowForms, extra=EMPTY_ROWS, max_num=MOST_EXAMPLES * MOST_LEVELS
)


class RubricForms:
    """Form of a rubric with formsets of its levels and of their examples."""

    def __init__(self, form: RubricForm, rows: Any, examples: Any) -> None:
        self.form = form
        self.rows = rows
        self.examples = examples

    @classmethod
    def empty(cls, creator: User, project: str) -> "RubricForms":
        form = RubricForm(creator=creator, initial={"project": project})
        return cls(form, LevelForms(prefix="levels"), ExampleForms(prefix="examples"))

    @classmethod
    def of(cls, rubric: Rubric, creator: User | None = None, **changes: Any) -> "RubricForms":
        """Return the form filled with a stored rubric; with a creator, for a copy."""
        stored = values_of(rubric)
        filled = cls(
            RubricForm(creator=creator, initial=stored | changes),
            LevelForms(initial=stored["levels"], prefix="levels"),
            ExampleForms(initial=list(_flat_examples(stored["levels"])), prefix="examples"),
        )
        filled.form.version = version_of(stored)
        return filled

    @classmethod
    def with_more_rows(cls, params: QueryDict, creator: User | None) -> "RubricForms":
        """Return the submitted values without validation, with empty rows appended."""
        initial: dict[str, Any] = {
            name: params.get(name, "") for name in (*BY_THE_MODEL, "impossible", "project")
        }
        initial["shows"] = params.getlist("shows")
        filled = cls(
            RubricForm(creator=creator, initial=initial),
            _with_empty_rows(LevelForms(params, prefix="levels"), LEVEL_FIELDS),
            _with_empty_rows(ExampleForms(params, prefix="examples"), ExampleForm.base_fields),
        )
        filled.form.version = params.get(VERSION, "")
        return filled

    @classmethod
    def sent(cls, params: QueryDict, creator: User | None) -> "RubricForms":
        filled = cls(
            RubricForm(params, creator=creator),
            LevelForms(params, prefix="levels"),
            ExampleForms(params, prefix="examples"),
        )
        filled.form.version = params.get(VERSION, "")
        return filled

    def store(self, edited: Rubric | None = None) -> Rubric | None:
        """Create or replace the rubric; None if invalid, with errors on the fields.

        Raises RubricConflictError if `edited` has changed since the form was opened.
        """
        if not all(part.is_valid() for part in (self.form, self.rows, self.examples)):
            return None
        filled = [row for row in self.rows if row.cleaned_data]
        examples = [row for row in self.examples if row.cleaned_data]
        grades = {row.cleaned_data["grade"] for row in filled}
        for row in examples:
            if row.cleaned_data["grade"] not in grades:
                row.add_error("grade", f"{row.cleaned_data['grade']} is not a grade of the rubric.")
        if any(row.errors for row in examples):
            return None
        rubric = Rubric(pk=edited.pk if edited else None, **self.form.cleaned_data)
        try:
            levels = [
                RubricLevel(**row.cleaned_data, examples=_examples_of(row, examples))
                for row in filled
            ]
            return store_rubric(rubric, levels, version=self.form.version)
        except RubricError as error:
            self._show(error.problems, filled, examples)
        return None

    def compare(self, stored: Rubric) -> None:
        """Show an edit conflict: stored values beside the submitted ones.

        The next save replaces the stored values.
        """
        values = values_of(stored)
        self.form.version = version_of(values)
        self.form.conflicts = list(self._differing(values))
        if self.form.conflicts:
            self.form.add_error(None, CHANGED)

    def _differing(self, stored: Mapping[str, Any]) -> Iterator[Conflict]:
        for name, field in self.form.fields.items():
            values = (stored[name], self.form.cleaned_data.get(name))
            if isinstance(field, ImpossibleField):
                values = tuple(map(field.prepare_value, values))
            stored_text, sent_text = (display_value(field, value) for value in values)
            if stored_text != sent_text:
                yield Conflict(str(self.form[name].label), stored_text, sent_text)
        rows = [row.cleaned_data for row in self.rows if row.cleaned_data]
        stored_text, sent_text = _levels_in_words(stored["levels"]), _levels_in_words(rows)
        if stored_text != sent_text:
            yield Conflict("Levels", stored_text, sent_text)
        stored_text = _examples_in_words(_flat_examples(stored["levels"]))
        sent_text = _examples_in_words(
            row.cleaned_data for row in self.examples if row.cleaned_data
        )
        if stored_text != sent_text:
            yield Conflict("Examples", stored_text, sent_text)

    def _show(
        self,
        problems: Iterable[tuple[str, str]],
        filled: list[forms.Form],
        examples: list[forms.Form],
    ) -> None:
        declarations = self.form.cleaned_data["impossible"]  # gone after its first error
        for field, message in problems:
            match field.split("."):
                case ["levels", index, "examples"]:
                    level = filled[int(index)]
                    _of_level(level, examples)[-1].add_error("grade", message)
                case ["levels", index, "examples", place, name]:
                    level = filled[int(index)]
                    _of_level(level, examples)[int(place)].add_error(name, message)
                case ["impossible", index, _name]:
                    line = ImpossibleField.line_of(declarations[int(index)])
                    self.form.add_error("impossible", f"“{line}”: {message}")
                case ["levels", index, name]:
                    filled[int(index)].add_error(name, message)
                case _:
                    self.form.add_error(field if field in self.form.fields else None, message)


def _with_empty_rows(sent: Any, fields: Iterable[str]) -> Any:
    """Return an unbound formset with the rows as they were typed, and empty rows."""
    typed = [{name: sent.data.get(f"{row.prefix}-{name}", "") for name in fields} for row in sent]
    filled = [row for row in typed if any(row.values())]
    return type(sent)(initial=filled, prefix=sent.prefix)


def _of_level(level: forms.Form, examples: Iterable[forms.Form]) -> list[forms.Form]:
    """Return the rows of examples of a level's grade, in order."""
    grade = level.cleaned_data["grade"]
    return [row for row in examples if row.cleaned_data["grade"] == grade]


def _examples_of(level: forms.Form, examples: Iterable[forms.Form]) -> list[dict[str, str]]:
    return [
        {name: row.cleaned_data[name] for name in EXAMPLE_LENGTHS}
        for row in _of_level(level, examples)
    ]


def _flat_examples(levels: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the examples of all levels with their grades."""
    for level in levels:
        for example in level["examples"]:
            yield {"grade": level["grade"], **example}


def _examples_in_words(examples: Iterable[Mapping[str, Any]]) -> str:
    """Return examples as lines of text, from the highest grade down."""
    ordered = sorted(examples, key=lambda example: -example["grade"])
    lines = [
        ", ".join(str(example[name]) for name in ("grade", *EXAMPLE_LENGTHS) if example[name] != "")
        for example in ordered
    ]
    return "\n".join(lines) or EMPTY


def _levels_in_words(levels: Iterable[Mapping[str, Any]]) -> str:
    """Return the levels as lines of text, from the highest grade down."""
    ordered = sorted(levels, key=lambda level: -level["grade"])
    lines = [
        ", ".join(str(level[name]) for name in LEVEL_FIELDS if level[name] not in ("", None))
        for level in ordered
    ]
    return "\n".join(lines) or EMPTY
