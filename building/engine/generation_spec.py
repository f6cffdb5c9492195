"""Specification of a generation run: topics, number, length and context."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from annotation.errors import UserError
from annotation.models import Dataset, Topic
from building.models import Writing
from building.writing.lengths import CONTEXT_TOKENS, matches
from building.writing.pairs import KINDS
from evaluation.data.selection import one_of
from evaluation.models import RetrievalRun

REQUIRED = "required"
REPORTS = ("report", "direct")
ON_PASSAGES = ("statements", "pairs")
_SYSTEM = re.compile(r"\w[\w.+-]*")


class SpecError(UserError):
    """An invalid specification; a sentence for people."""


class NothingToWriteError(SpecError):
    """A specification without orders: all exist or cannot be written; the message says which."""


@dataclass(frozen=True)
class GenerationSpec:
    """Specification of a generation run.

    `topics` are names; none means all. `n` 0 is as many as the task writes by itself.

    `run` is the run whose passages a report is written from: its first `k`, as far as `context_tokens` hold
    them. `k` is a number, "" for all, or "required" for as many as the required subset of the topic has, which
    is the topic's ranking in the run `required`. `length` is that of lengths.py. `samples` are written of each
    thing. `system` names the system of the reports; "" names it by the writer and the run. `types` are those of
    questions on passages, and `statements` the writer whose statements they are made from; "" for none.
    """

    topics: tuple[str, ...] = ()
    n: int = 0
    length: str = ""
    run: str = ""
    k: str = ""
    context_tokens: int = CONTEXT_TOKENS
    required: str = ""
    samples: int = 1
    system: str = ""
    types: tuple[str, ...] = tuple(KINDS)
    statements: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> GenerationSpec:
        field_names = {field.name for field in fields(cls)}
        values = {name: value for name, value in values.items() if name in field_names}
        for name in ("topics", "types"):
            if name in values:
                values[name] = tuple(values[name])
        return cls(**values)

    def check(self, task: str, dataset: Dataset) -> None:
        """Validate the spec. Raises SpecError, or SelectionError for an unknown topic or run."""
        for name in self.topics:
            one_of("topic", name, dataset.topics.values_list("name", flat=True))
        if not 1 <= self.samples <= 100:
            raise SpecError("The number of samples must be from 1 to 100.")
        if not 0 <= self.n <= 100:
            raise SpecError("At most 100 outputs per task can be requested.")
        if self.length:
            self._check_length(task)
        if self.system:
            self._check_system(task)
        if task == "report":
            self._check_context(dataset)
        if task == "pairs":
            self._check_types(dataset)

    def _check_length(self, task: str) -> None:
        if task not in REPORTS:
            raise SpecError("Only reports have a length.")
        length_source = matches(self.length)
        if length_source == REQUIRED and not self.required:
            raise SpecError(f"{self.length} needs the run with the required subsets.")

    def _check_system(self, task: str) -> None:
        if task not in REPORTS:
            raise SpecError("Only reports have a system.")
        if not _SYSTEM.fullmatch(self.system):
            raise SpecError(
                f"The name of a system may have letters, digits and - _ . +, not “{self.system}”."
            )

    def _check_context(self, dataset: Dataset) -> None:
        if not self.run:
            raise SpecError("A report needs the passages of a run: choose one.")
        run_of(dataset, self.run)
        if self.required:
            run_of(dataset, self.required)
        if self.context_tokens < 1:
            raise SpecError("A context needs at least 1 token.")
        if self.k == REQUIRED and not self.required:
            raise SpecError("Choose the run with the required subsets.")
        if self.k not in ("", REQUIRED) and not _is_whole(self.k):
            raise SpecError(f"Passages of a context: enter a number from 1, or {REQUIRED}.")

    def _check_types(self, dataset: Dataset) -> None:
        if not self.types:
            raise SpecError(f"Enter types of questions: {', '.join(KINDS)}.")
        for name in self.types:
            one_of("type of question", name, KINDS)
        if self.statements:
            one_of("writer of statements", self.statements, writers_of_statements(dataset))

    def topics_of(self, dataset: Dataset) -> list[Topic]:
        topics = dataset.topics.order_by("position")
        return list(topics.filter(name__in=self.topics) if self.topics else topics)


def writers_of_statements(dataset: Dataset) -> list[str]:
    """Return the names of the writers with statements of this dataset's passages."""
    writings = Writing.objects.filter(dataset=dataset, writer__task="statements")
    return sorted(set(writings.values_list("writer__slug", flat=True)))


def run_of(dataset: Dataset, name: str) -> RetrievalRun:
    """Return the dataset's run of this name. Raises SelectionError if there is none."""
    runs = {run.name: run for run in RetrievalRun.objects.filter(dataset=dataset)}
    return runs[one_of("run", name, runs)]


def _is_whole(text: str) -> bool:
    # int() rejects numbers of very many digits.
    return text.isascii() and text.isdecimal() and len(text) <= 6 and 0 < int(text) <= 100_000
