"""Other words under an old name: refused, or made versions of, as the import was told."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from django.db.models import Max

from annotation.formats.summary import ImportSummary
from annotation.models import NuggetSpan, SubQuestion, Text, Version
from annotation.text.carrying import Worded, ratings_of
from annotation.text.versions import RewordingRefused, outlook


class Choice(StrEnum):
    """What an import does with other words under an old name, and with the grades of the old ones."""

    REFUSE = "refuse"
    COUNT = "count"
    SET_ASIDE = "set-aside"


class NewWords:
    """The new words that one import brings. `change` gives a thing its words, and keeps the old ones.

    Each thing gets its words once: files that do not agree on them would make versions of each other.
    """

    def __init__(
        self, choice: Choice, summary: ImportSummary, change: Callable[..., Version]
    ) -> None:
        self.choice = choice
        self._count = summary.new_words
        self._created = summary.created
        self._change = change
        models = (Text, SubQuestion, Version)
        # Whatever has a greater key was made by this very import.
        self._last = {model: _last_key(model) for model in models}
        self._told: set[tuple[type[Any], int]] = set()

    @property
    def may_be_earlier(self) -> bool:
        """Whether words from before a change say nothing new: a file that was written then still has them.

        Not where the import was told to change words: those of its files are the new ones.
        """
        return self.choice is Choice.REFUSE

    @property
    def counts(self) -> bool:
        return self.choice is Choice.COUNT

    def tell(self, model: type[Any], pk: int) -> None:
        """Note that a line of a file has given the words of this thing: those that it has."""
        if self.choice is not Choice.REFUSE:
            self._told.add((model, pk))

    def give(self, thing: Worded, body: str, why: str) -> None:
        """Raises RewordingRefused where the words stay."""
        model = type(thing)
        if self.choice is Choice.REFUSE:
            raise RewordingRefused(
                "to make a version of it, choose in the import what becomes of its grades"
            )
        if (model, thing.pk) in self._told or thing.pk > self._last[model]:
            raise RewordingRefused("these files have other words for it already")
        found = outlook(thing, body)
        # A grade of which the question got new words, too, is one grade.
        grades = ratings_of(thing).exclude(question__versions__pk__gt=self._last[Version])
        n_grades, n_spans = grades.count(), NuggetSpan.objects.filter(rating__in=grades).count()
        self._change(thing, body, why=why[: Version._meta.get_field("why").max_length])
        self.tell(model, thing.pk)
        self._created["versions of words"] += 1
        self._count.texts += model is Text
        self._count.questions += model is SubQuestion
        self._count.grades += n_grades
        self._count.spans += n_spans
        self._count.lost_citations += len(found.lost_citations)
        if self.counts:  # else they are set aside with their grades
            self._count.lost_spans += len(found.lost)


def _last_key(model: type[Any]) -> int:
    last: int | None = model._default_manager.aggregate(last=Max("pk"))["last"]
    return last or 0
