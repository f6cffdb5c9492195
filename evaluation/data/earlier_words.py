"""Grades that were given to words which are no longer there: how many count, and how many are set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, Func, IntegerField, OuterRef, Q

from annotation.models import Dataset, Rating, Version
from annotation.plurals import n_of


@dataclass(frozen=True, slots=True)
class EarlierWords:
    """Of a dataset whose words have changed, the grades that were given before.

    `n_counting` are among its ratings and were given to earlier words of `n_texts` and `n_questions`;
    `n_set_aside` lie with the versions.
    """

    n_counting: int
    n_texts: int
    n_questions: int
    n_set_aside: int

    @property
    def sentences(self) -> list[str]:
        """What a reader of results has to know; nothing where no grade was given before."""
        said = []
        if n := self.n_counting:
            things = ((self.n_texts, "text"), (self.n_questions, "sub-question"))
            whose = " and ".join(n_of(count, thing) for count, thing in things if count)
            was = "was" if n == 1 else "were"
            counts = "that counts" if n == 1 else "that count"
            said.append(
                f"{n_of(n, 'grade')} {counts} in this dataset {was} given to earlier words of {whose}."
            )
        if n := self.n_set_aside:
            is_ = "is" if n == 1 else "are"
            said.append(f"{n_of(n, 'grade')} set aside with earlier words {is_} not counted.")
        return said


def earlier_words(dataset: Dataset) -> EarlierWords | None:
    """None where no words have changed, which takes one query; else it takes two.

    A grade was given to earlier words if they were replaced after it, as in `annotation.text.versions`.
    """
    length = _ArrayLength("set_aside")
    versions = dataset.versions.order_by().values_list("text", "question", length)
    if not (rows := list(versions)):
        return None
    texts, questions, set_aside = zip(*rows, strict=True)
    # By keys: with queries in their places PostgreSQL would read every rating.
    changed = Q(text__in=set(texts) - {None}) | Q(question__in=set(questions) - {None})
    later = Version.objects.filter(replaced__gte=OuterRef("created"))
    counting = (
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
    return EarlierWords(
        counting["n"], counting["texts"], counting["questions"], n_set_aside=sum(set_aside)
    )


class _ArrayLength(Func):
    """How many there are in a list of JSON, which the database counts without handing it out."""

    function = "JSON_ARRAY_LENGTH"
    output_field = IntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **words: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSONB_ARRAY_LENGTH", **words)
