"""Counts of grades given before a text or question was edited: valid ones and superseded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, Func, IntegerField, OuterRef, Q

from annotation.models import Dataset, Rating, Version
from annotation.plurals import n_of


@dataclass(frozen=True, slots=True)
class EditedTextGrades:
    """Counts of the grades that were given before an edit of their text or question.

    `n_counting` are among the dataset's ratings and were given to earlier versions of `n_texts` and
    `n_questions`; `n_set_aside` are superseded and stored with the versions.
    """

    n_valid: int
    n_texts: int
    n_questions: int
    n_superseded: int

    @property
    def sentences(self) -> list[str]:
        """Return notes for readers of results; none if no grade was given before an edit."""
        sentences = []
        if n := self.n_valid:
            edited_counts = ((self.n_texts, "text"), (self.n_questions, "sub-question"))
            edited = " and ".join(n_of(count, unit) for count, unit in edited_counts if count)
            was = "was" if n == 1 else "were"
            counts = "that counts" if n == 1 else "that count"
            sentences.append(
                f"{n_of(n, 'grade')} {counts} in this dataset {was} given to an earlier version of {edited}."
            )
        if n := self.n_superseded:
            is_ = "is" if n == 1 else "are"
            sentences.append(
                f"{n_of(n, 'grade')} of earlier versions {is_} superseded and not counted."
            )
        return sentences


def edited_text_grades(dataset: Dataset) -> EditedTextGrades | None:
    """Return the counts for a dataset; None if no text or question was edited.

    One query without edits, else two. A grade was given to an earlier version if that was replaced
    after it, as in `annotation.text.versions`.
    """
    length = _ArrayLength("set_aside")
    versions = dataset.versions.order_by().values_list("text", "question", length)
    if not (rows := list(versions)):
        return None
    texts, questions, set_aside = zip(*rows, strict=True)
    # By keys: with queries in their places PostgreSQL would read every rating.
    changed = Q(text__in=set(texts) - {None}) | Q(question__in=set(questions) - {None})
    later = Version.objects.filter(replaced__gte=OuterRef("created"))
    affected = (
        Rating.objects.filter(changed)
        .annotate(
            of_text=Exists(later.filter(text=OuterRef("text"))),
            of_question=Exists(later.filter(question=OuterRef("question"))),
        )
        .filter(Q(of_text=True) | Q(of_question=True))
        .aggregate(
            n=Count("pk"),
            texts=Count("text", distinct=True, filter=Q(of_text=True)),
            questions=Count("question", distinct=True, filter=Q(of_question=True)),
        )
    )
    return EditedTextGrades(
        affected["n"], affected["texts"], affected["questions"], n_superseded=sum(set_aside)
    )


class _ArrayLength(Func):
    """SQL function for the length of a JSON array, evaluated by the database."""

    function = "JSON_ARRAY_LENGTH"
    output_field = IntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **options: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSONB_ARRAY_LENGTH", **options)
