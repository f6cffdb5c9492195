"""A rubric as a form: what it asks and shows, and a row for each of its levels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.forms.models import fields_for_model
from django.http import QueryDict

from annotation.form_versions import CHANGED, EMPTY, Conflict, VersionedForm, in_words
from annotation.models import Rubric, RubricLevel
from annotation.models.rubric_rules import (
    MOST_LEVELS,
    OF_A_LEVEL,
    OF_A_RUBRIC,
    RubricRefused,
    store,
    values_of,
)
from annotation.row_versions import VERSION, version_of

EMPTY_ROWS = 3
LABELS = {"grade": "Grade", "label": "Words", "name": "One word", "key": "Key", "colour": "Colour"}
BY_THE_MODEL = [name for name in OF_A_RUBRIC if name != "shows"]


class GuidelineForm(VersionedForm):
    class Meta:
        model = Rubric
        fields = ("guideline",)
        widgets = {"guideline": forms.Textarea(attrs={"rows": 24})}


class RubricForm(forms.Form):
    """All of a rubric but its levels. The rules are those of `annotation.models.rubric_rules`.

    `version` is that of the rubric which it changes, with its levels; `conflicts` as of a `VersionedForm`.
    """

    version = ""
    conflicts: Sequence[Conflict] = ()

    shows = forms.MultipleChoiceField(
        choices=Rubric.Shows.choices,
        widget=forms.CheckboxSelectMultiple,
        label="What is shown of a pair",
        initial=["text", "question"],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= fields_for_model(
            Rubric,
            BY_THE_MODEL,
            labels={
                "slug": "Its name in addresses and files",
                "eta": "Answerable from grade (η)",
                "span_from": "Words are marked from grade",
            },
            help_texts={"slug": "letters, digits, - and _"},
            widgets={
                "question": forms.Textarea(attrs={"rows": 2}),
                "guideline": forms.Textarea(attrs={"rows": 16}),
            },
        )
        self.order_fields(["slug", "title", "question", "shows"])


class LevelForm(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= fields_for_model(RubricLevel, OF_A_LEVEL)
        # The heads of the columns are no labels of the fields below them.
        for name, field in self.fields.items():
            label = f"{LABELS[name]}, level {int(str(self.prefix).rpartition('-')[2]) + 1}"
            field.widget.attrs["aria-label"] = label


LevelForms = forms.formset_factory(
    LevelForm, extra=EMPTY_ROWS, max_num=MOST_LEVELS, absolute_max=2 * MOST_LEVELS
)


class RubricForms:
    """The form of a rubric with the rows of its levels."""

    def __init__(self, form: RubricForm, rows: Any) -> None:
        self.form = form
        self.rows = rows

    @classmethod
    def empty(cls) -> "RubricForms":
        return cls(RubricForm(), LevelForms(prefix="levels"))

    @classmethod
    def of(cls, rubric: Rubric, **changes: Any) -> "RubricForms":
        """Filled with a rubric that is there."""
        stored = values_of(rubric)
        made = cls(
            RubricForm(initial=stored | changes),
            LevelForms(initial=stored["levels"], prefix="levels"),
        )
        made.form.version = version_of(stored)
        return made

    @classmethod
    def with_more_rows(cls, sent: QueryDict) -> "RubricForms":
        """As it was typed, without a look at what is right, and with empty rows at its end."""
        rows = LevelForms(sent, prefix="levels")
        typed = [
            {name: sent.get(f"{form.prefix}-{name}", "") for name in OF_A_LEVEL} for form in rows
        ]
        initial: dict[str, Any] = {name: sent.get(name, "") for name in BY_THE_MODEL}
        initial["shows"] = sent.getlist("shows")
        rows = LevelForms(initial=[row for row in typed if any(row.values())], prefix="levels")
        made = cls(RubricForm(initial=initial), rows)
        made.form.version = sent.get(VERSION, "")
        return made

    @classmethod
    def sent(cls, sent: QueryDict) -> "RubricForms":
        made = cls(RubricForm(sent), LevelForms(sent, prefix="levels"))
        made.form.version = sent.get(VERSION, "")
        return made

    def store(self, before: Rubric | None = None) -> Rubric | None:
        """The rubric, made, or in the place of one before; None where something is wrong, as fields say.

        Raises RubricChanged where the one before is not the one that the form was opened with.
        """
        if not (self.form.is_valid() and self.rows.is_valid()):
            return None
        filled = [row for row in self.rows if row.cleaned_data]
        kept = {"pk": before.pk, "is_retired": before.is_retired} if before else {}
        rubric = Rubric(**kept, **self.form.cleaned_data)
        try:
            levels = [RubricLevel(**row.cleaned_data) for row in filled]
            return store(rubric, levels, seen=self.form.version)
        except RubricRefused as error:
            self._show(error.problems, filled)
        return None

    def compare(self, stored: Rubric) -> None:
        """Show what somebody else has stored meanwhile beside what was sent; the next save replaces it."""
        values = values_of(stored)
        self.form.version = version_of(values)
        self.form.conflicts = list(self._differing(values))
        if self.form.conflicts:
            self.form.add_error(None, CHANGED)

    def _differing(self, stored: Mapping[str, Any]) -> Iterator[Conflict]:
        for name, field in self.form.fields.items():
            before = in_words(field, stored[name])
            sent = in_words(field, self.form.cleaned_data.get(name))
            if before != sent:
                yield Conflict(str(self.form[name].label), before, sent)
        rows = [row.cleaned_data for row in self.rows if row.cleaned_data]
        before, sent = _levels_in_words(stored["levels"]), _levels_in_words(rows)
        if before != sent:
            yield Conflict("Levels", before, sent)

    def _show(self, problems: Iterable[tuple[str, str]], filled: list[forms.Form]) -> None:
        for field, message in problems:
            match field.split("."):
                case ["levels", index, name]:
                    filled[int(index)].add_error(name, message)
                case _:
                    self.form.add_error(field if field in self.form.fields else None, message)


def _levels_in_words(levels: Iterable[Mapping[str, Any]]) -> str:
    """The levels as lines, from the highest grade down."""
    ordered = sorted(levels, key=lambda level: -level["grade"])
    lines = [
        ", ".join(str(level[name]) for name in OF_A_LEVEL if level[name] not in ("", None))
        for level in ordered
    ]
    return "\n".join(lines) or EMPTY
