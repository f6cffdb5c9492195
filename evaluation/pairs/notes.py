"""Notes on pairs: form, counts by pair, and the table of all notes of a dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime

from django import forms
from django.db.models import QuerySet
from django.urls import reverse

from annotation.form_fields import MultilineField
from annotation.models import Answer, Dataset, SubQuestion, Text, User
from annotation.text.reanchoring import lock_wordings
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
        """Save the note, unless the same note exists: a button may be pressed twice.

        In a transaction.
        """
        lock_wordings([text.pk], [])  # the second press waits here for the first
        note = {"text": text, "question": question, "by": by, "body": self.cleaned_data["body"]}
        if not PairNote.objects.not_withdrawn().filter(**note).exists():
            PairNote.objects.create(**note, author=by.username)


def remarks(dataset: Dataset) -> QuerySet[Answer]:
    """Return what people said of their own answers in a dataset: note and confidence."""
    return Answer.objects.remarks().filter(assignment__item__text__dataset=dataset)


def _noted_answers(dataset: Dataset) -> QuerySet[Answer, tuple[int, int]]:
    notes = remarks(dataset).exclude(note="").order_by()
    return notes.values_list("assignment__item__text_id", "question_id")


def counts(dataset: Dataset, pairs: Iterable[tuple[int, int]]) -> Counter[tuple[int, int]]:
    """Return the number of notes of each pair, by the keys of text and question.

    Notes of the team and of those who graded it.
    """
    texts, questions = zip(*pairs, strict=True) if (pairs := list(pairs)) else ((), ())
    notes = PairNote.objects.not_withdrawn().filter(text__in=texts, question__in=questions)
    of_answers = _noted_answers(dataset).filter(
        assignment__item__text__in=texts, question__in=questions
    )
    return Counter([*notes.order_by().values_list("text_id", "question_id"), *of_answers])


def noted(dataset: Dataset) -> set[tuple[int, int]]:
    """Return the pairs of a dataset that have a note, by the keys of text and question."""
    notes = PairNote.objects.not_withdrawn().filter(text__dataset=dataset)
    return {*notes.order_by().values_list("text_id", "question_id"), *_noted_answers(dataset)}


def note_rows(dataset: Dataset, site: str) -> Iterator[list[Cell]]:
    """Yield all notes, the team's and then the raters', with the URL of the pair below `site`."""
    notes = PairNote.objects.not_withdrawn().filter(text__dataset=dataset)
    for note in notes.select_related("text__dataset", "question__topic"):
        yield _note_row(note.text, note.question, note.author, note.at, note.body, site)
    answers = remarks(dataset).exclude(note="").order_by("pk")
    related = (
        "assignment__item__text__dataset",
        "assignment__participant__rater",
        "question__topic",
    )
    for answer in answers.select_related(*related):
        item, rater = answer.assignment.item, answer.assignment.participant.rater
        assert answer.question
        yield _note_row(item.text, answer.question, rater.name, answer.created, answer.note, site)


def _note_row(
    text: Text, question: SubQuestion, by: str, at: datetime, body: str, site: str
) -> list[Cell]:
    page = reverse("pair", args=[text.dataset.slug, text.pk, question.pk])
    return [
        *(question.topic.name, text.kind, text.system or None, text.name),
        *(question.number, question.body, by, at.isoformat(), body, f"{site}{page}"),
    ]
