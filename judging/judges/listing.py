"""List of judges: filters, order and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import QueryDict
from django.utils.http import urlencode

from annotation.models import Rater, User
from judging.engine import progress
from judging.engine.progress import Tally
from judging.models import Judge, JudgeRun

PER_PAGE = 50
ACTIVE, ARCHIVED, ANY_STATE = "active", "archived", "all"
STATES = {ACTIVE: "active", ARCHIVED: "archived", ANY_STATE: "all"}
KINDS = {Rater.Kind.MODEL.value: "models", Rater.Kind.BASELINE.value: "baselines"}


@dataclass(frozen=True)
class Row:
    """Judge with the count of its replies, and its newest run."""

    judge: Judge
    tally: Tally
    last: JudgeRun | None


COLUMNS: Mapping[str, tuple[str, bool, Callable[[Row], Any]]] = {
    "name": ("Judge", False, lambda row: row.judge.slug.casefold()),
    "kind": ("Kind", False, lambda row: row.judge.rater.kind),
    "model": ("Model and revision", False, lambda row: row.judge.model.casefold()),
    "prompt": ("Prompt", False, lambda row: row.judge.prompt_name.casefold()),
    "rubric": ("Rubric", False, lambda row: row.judge.rubric.slug),
    "fingerprint": ("Fingerprint", False, lambda row: row.judge.fingerprint),
    "graded": ("Pairs graded", True, lambda row: row.tally.n_graded),
    "failed": ("Without a grade", True, lambda row: row.tally.n_failed),
    "run": ("Last run", False, lambda row: row.last.pk if row.last else 0),
}
"""The heading of each column that can be sorted by, whether it is of numbers, and its values."""


@dataclass(frozen=True)
class Column:
    """Column heading that sorts the table: in reverse if it is sorted by it."""

    title: str
    is_number: bool
    query: str
    aria_sort: str = ""


@dataclass(frozen=True)
class Listing:
    """Judges that a user sees, filtered and sorted by URL parameters.

    Unknown values are ignored.
    """

    user: User
    params: QueryDict
    text: str = field(init=False)
    rubric: str = field(init=False)
    kind: str = field(init=False)
    state: str = field(init=False)
    sort: str = field(init=False)

    def __post_init__(self) -> None:
        sort = self.params.get("sort", "")
        chosen = {
            "text": self.params.get("q", "").strip()[:200],
            "rubric": self.params.get("rubric", ""),
            "kind": _one_of(KINDS, self.params.get("kind", ""), ""),
            "state": _one_of(STATES, self.params.get("shown", ""), ACTIVE),
            "sort": sort if sort.removeprefix("-") in COLUMNS else "",
        }
        for name, value in chosen.items():
            object.__setattr__(self, name, value)

    @cached_property
    def everything(self) -> list[Judge]:
        """Return all judges that the user sees, the newest first."""
        judges = Judge.objects.visible_to(self.user).select_related("rater__dataset", "rubric")
        return list(judges.order_by("-id"))

    @property
    def rubrics(self) -> list[str]:
        return sorted({judge.rubric.slug for judge in self.everything})

    @property
    def is_filtered(self) -> bool:
        return bool(self.text or self.rubric or self.kind or self.state != ACTIVE)

    @property
    def n_archived(self) -> int:
        return sum(judge.archived is not None for judge in self.everything)

    @property
    def page(self) -> Page:
        """Return the requested page of the list."""
        tallies, last = progress.by_judge(self.user), progress.last_runs(self.user)
        rows = [
            Row(judge, tallies.get(judge.pk, progress.NOTHING), last.get(judge.pk))
            for judge in self.everything
            if self._has(judge)
        ]
        if self.sort:
            value = COLUMNS[self.sort.removeprefix("-")][2]
            rows.sort(key=value, reverse=self.sort.startswith("-"))
        return Paginator(rows, PER_PAGE).get_page(self.params.get("page"))

    def _has(self, judge: Judge) -> bool:
        texts = (judge.slug, judge.model, judge.revision, judge.prompt_name, judge.fingerprint)
        return (
            (not self.text or any(self.text.casefold() in text.casefold() for text in texts))
            and self.rubric in ("", judge.rubric.slug)
            and self.kind in ("", judge.rater.kind)
            and (
                self.state == ANY_STATE or (self.state == ARCHIVED) == (judge.archived is not None)
            )
        )

    @property
    def columns(self) -> list[Column]:
        """Return the headings; numbers are sorted from the largest first."""
        columns = []
        for name, (title, is_number, _) in COLUMNS.items():
            ascending, descending = name, f"-{name}"
            first, second = (descending, ascending) if is_number else (ascending, descending)
            aria_sort = {ascending: "ascending", descending: "descending"}.get(self.sort, "")
            query = self._query(sort=second if self.sort == first else first)
            columns.append(Column(title, is_number, query, aria_sort))
        return columns

    @property
    def query(self) -> str:
        """Return the query of the filters, for links to other pages of the list."""
        query = self._query(sort=self.sort)
        return f"{query}&" if query else ""

    def _query(self, **changes: str) -> str:
        state = "" if self.state == ACTIVE else self.state
        values = {"q": self.text, "rubric": self.rubric, "kind": self.kind, "shown": state}
        return urlencode({name: value for name, value in (values | changes).items() if value})


def _one_of(valid: Mapping[str, str], value: str, otherwise: str) -> str:
    return value if value in valid else otherwise
