"""Notes on pairs: form, counts by pair, and the table of all notes of a dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from django import forms
from django.urls import reverse

from annotation.form_fields import MultilineField
from annotation.models import Dataset, SubQuestion, Text, User
from evaluation.models import PairNote
from evaluation.result_tables import Cell

HEADER = ("topic", "kind", "system", "text", "number", "question", "by", "at", "note", "page")


class NoteForm(forms.Form):
    body = MultilineField(
        max_length=PairNote.LONGEST,
        error_messages={
            "required": "The note is empty.",
            "max_length": f"A note has {PairNote.LONGEST:,} characters at most.",
            "null_characters_not_allowed": "A note must not contain a NUL character.",
        },
    )

    def save(self, text: Text, question: SubQuestion, by: User) -> None:
        """Save the note, unless the same note exists: a button may be pressed twice."""
        note = {"text": text, "question": question, "by": by, "body": self.cleaned_data["body"]}
        if not PairNote.objects.not_withdrawn().filter(**note).exists():
            PairNote.objects.create(**note, author=by.username)


def counts(pairs: Iterable[tuple[int, int]]) -> Counter[tuple[int, int]]:
    """Return the number of notes of each pair, by the keys of text and question."""
    texts, questions = zip(*pairs, strict=True) if (pairs := list(pairs)) else ((), ())
    notes = PairNote.objects.not_withdrawn().filter(text__in=texts, question__in=questions)
    return Counter(notes.order_by().values_list("text_id", "question_id"))


def noted(dataset: Dataset) -> set[tuple[int, int]]:
    """Return the pairs of a dataset that have a note, by the keys of text and question."""
    notes = PairNote.objects.not_withdrawn().filter(text__dataset=dataset)
    return set(notes.order_by().values_list("text_id", "question_id"))


def note_rows(dataset: Dataset, site: str) -> Iterator[list[Cell]]:
    """Yield all notes, the oldest first, each with the URL of its pair below `site`."""
    notes = PairNote.objects.not_withdrawn().filter(text__dataset=dataset)
    for note in notes.select_related("text", "question__topic"):
        page = reverse("pair", args=[dataset.slug, note.text_id, note.question_id])
        yield [
            note.question.topic.name,
            note.text.kind,
            note.text.system or None,
            note.text.name,
            note.question.number,
            note.question.body,
            note.author,
            note.at.isoformat(),
            note.body,
            f"{site}{page}",
        ]
