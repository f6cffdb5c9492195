"""Text edits by an import: refused, or stored as new versions, by the import's option."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from django.db.models import Max

from annotation.formats.summary import ImportSummary
from annotation.models import NuggetSpan, SubQuestion, Text, Version
from annotation.text.reanchoring import TextOrQuestion, ratings_of
from annotation.text.versions import TextEditError, preview_edit


class TextEditPolicy(StrEnum):
    """Treatment of text edits by an import, and of the grades of the old wording."""

    REFUSE = "refuse"
    COUNT = "count"
    SET_ASIDE = "set-aside"


class TextEdits:
    """Text edits of one import. `change` edits a text or question, and keeps a version.

    Each is edited once: files that disagree would make versions of each other.
    """

    def __init__(
        self, choice: TextEditPolicy, summary: ImportSummary, change: Callable[..., Version]
    ) -> None:
        self.choice = choice
        self._count = summary.new_words
        self._created = summary.created
        self._change = change
        models = (Text, SubQuestion, Version)
        # Rows with greater keys are created by this import.
        self._last = {model: _last_key(model) for model in models}
        self._in_files = {model: KeySet() for model in models}

    @property
    def may_be_earlier(self) -> bool:
        """True if an earlier wording in a file counts as unchanged: the file may be older.

        Not where the import was told to edit: then the wording of its files is the new one.
        """
        return self.choice is TextEditPolicy.REFUSE

    @property
    def counts(self) -> bool:
        return self.choice is TextEditPolicy.COUNT

    def tell(self, model: type[Any], pk: int) -> None:
        """Record that a line of a file has the current wording of this row."""
        self._in_files[model].add(pk)

    def is_in_files(self, model: type[Any], pk: int) -> bool:
        """Return whether an earlier line of these files has the current wording of this row."""
        return pk > self._last[model] or pk in self._in_files[model]

    def give(self, entity: TextOrQuestion, body: str, reason: str) -> None:
        """Edit the text or question, and count the effects. Raises TextEditError."""
        model = type(entity)
        if self.is_in_files(model, entity.pk):
            raise TextEditError("these files have another wording for it already")
        if self.choice is TextEditPolicy.REFUSE:
            raise TextEditError("to replace it, choose in the import what becomes of its grades")
        preview = preview_edit(entity, body)
        # Do not count a grade twice if its question was edited, too.
        grades = ratings_of(entity).exclude(question__versions__pk__gt=self._last[Version])
        n_grades, n_spans = grades.count(), NuggetSpan.objects.filter(rating__in=grades).count()
        self._change(entity, body, why=reason[: Version._meta.get_field("why").max_length])
        self.tell(model, entity.pk)
        self._created["versions of words"] += 1
        self._count.texts += model is Text
        self._count.questions += model is SubQuestion
        self._count.grades += n_grades
        self._count.spans += n_spans
        self._count.lost_citations += len(preview.lost_citations)
        if self.counts:  # else they are set aside with their grades
            self._count.lost_spans += len(preview.lost)


class KeySet:
    """Set of primary keys, a bit for each: an import sees millions."""

    def __init__(self) -> None:
        self._bits = bytearray()

    def add(self, key: int) -> None:
        index, bit = divmod(key, 8)
        self._bits.extend(bytes(max(0, index + 1 - len(self._bits))))
        self._bits[index] |= 1 << bit

    def __contains__(self, key: int) -> bool:
        index, bit = divmod(key, 8)
        return index < len(self._bits) and bool(self._bits[index] >> bit & 1)


def _last_key(model: type[Any]) -> int:
    last: int | None = model._default_manager.aggregate(last=Max("pk"))["last"]
    return last or 0
