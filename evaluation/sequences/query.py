"""Query of the plans: what is to be decided, with which precision, by how many people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.models import Dataset
from evaluation.data.filter_line import Phrase
from evaluation.data.query import OneOf, PageQuery, number, parameter
from evaluation.data.selection import Selection
from evaluation.labelling.query import label_query
from evaluation.models import LabelSequence

Kind = LabelSequence.Kind
TARGETS = {Kind.MEAN: 0.1, Kind.ORDER: 0.05}
STATED_RATE = 0.15  # of a judge's errors, where no person has graded
MAX_PEOPLE = 10
NO_SYSTEMS = "two systems not chosen yet"


class PlanQuery(PageQuery):
    """Question of a sequence beside the selection. `target` is a half-width or a margin."""

    kind: str = parameter(OneOf("question", Kind.values, initial=Kind.MEAN.value))
    system: str = parameter(OneOf("system"))
    other_system: str = parameter(OneOf("system"))
    target: float = parameter(
        number("The half-width or margin is a number from 0.005 to 0.5.", 0.005, 0.5)
    )
    people: int = parameter(
        number(
            f"People per pair: a whole number from 1 to {MAX_PEOPLE}.",
            1,
            MAX_PEOPLE,
            is_whole=True,
            initial=1,
        )
    )
    error_rate: float = parameter(
        number("The error rate is a number from 0 to 1.", 0, 1, initial=STATED_RATE)
    )

    def __init__(
        self, selection: Selection, systems: tuple[str, ...], params: Mapping[str, Any]
    ) -> None:
        self.selection, self.systems = selection, systems
        self.dataset = selection.dataset
        super().__init__(params, system=systems, other_system=systems)

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        is_order = values["kind"] == Kind.ORDER
        return values | {
            "system": values["system"] or "",
            "other_system": (is_order and values["other_system"]) or "",
            "target": values["target"] or TARGETS[Kind(values["kind"])],
        }

    @property
    def is_order(self) -> bool:
        return self.kind == Kind.ORDER

    @property
    def bound(self) -> float:
        """The largest error of a unit."""
        return bound_of(self.kind)

    def filter_phrases(self) -> Iterator[Phrase]:
        yield from self.selection.filter_phrases()
        if self.is_order:
            has_both = self.system and self.other_system
            yield Phrase(f"{self.system} against {self.other_system}" if has_both else NO_SYSTEMS)
            yield Phrase(f"margin {self.target:g}")
        else:
            yield Phrase(self.system or "all systems")
            yield Phrase(f"half-width {self.target:g}")
        yield Phrase(f"{self.people} {'person' if self.people == 1 else 'people'} per pair")

    def params(self, **changes: Any) -> dict[str, Any]:
        return self.selection.params(**super().params(**changes))


def bound_of(kind: str) -> float:
    """Return the largest error of a unit: of a pair 1, of a difference of coverage 2."""
    return 2.0 if kind == Kind.ORDER else 1.0


def plan_query(dataset: Dataset, params: Mapping[str, Any], **selected: Any) -> PlanQuery:
    """Parse the parameters of a URL. Raises SelectionError for a choice that does not exist."""
    labels = label_query(dataset, **selected)
    return PlanQuery(labels.selection, labels.systems, params).parse()
