"""Query of the page of recall by question type: types, gold, two runs, fusion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from django import forms

from annotation.models import Dataset
from annotation.models.standard import QUESTION_TYPE
from annotation.plurals import n_of
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.filter_line import Phrase
from evaluation.data.query import OneOf, PageQuery, number, parameter
from evaluation.data.question_kinds import QuestionKind, question_kinds
from evaluation.data.selection import SelectionError
from evaluation.models import RankedText
from evaluation.replications.know_your_rag.gold import OWN_TOPIC, golds
from evaluation.scoring.same_topics import largest_group

How = Literal["raw", "minmax", "rrf"]
HOWS: dict[How, str] = {
    "raw": "weighted raw scores",
    "minmax": "weighted scores, scaled to 0..1",
    "rrf": "reciprocal rank fusion",
}
WEIGHTS = "0, 0.05, 0.1, 0.2, 0.5, 1"  # of the paper's scan
MOST_WEIGHTS = 21
DEPTH = 5
NO_WEIGHTS = (
    f"The weights are 1 to {MOST_WEIGHTS} different numbers from 0 to 1, such as {WEIGHTS}."
)
NO_DEPTH = "k is a whole number from 1 to 1000."


class Weights(forms.CharField):
    """Form field for numbers separated by commas, in ascending order."""

    def clean(self, value: Any) -> tuple[float, ...]:
        try:
            weights = sorted(float(part) for part in (value or WEIGHTS).split(","))
        except ValueError:
            raise SelectionError(NO_WEIGHTS) from None
        are_shares = all(0 <= weight <= 1 for weight in weights)
        if not are_shares or len(weights) != len(set(weights)) or len(weights) > MOST_WEIGHTS:
            raise SelectionError(NO_WEIGHTS)
        return tuple(weights)


class ByRater(OneOf):
    """Form field for RUBRIC:RATER, or for a rater alone.

    A rater alone is read under `question-type`, or the one rubric that it rated under.
    """

    def look_up(self, name: str) -> str:
        if ":" not in name:
            of_rater = [str(c) for c in self.choices if str(c).partition(":")[2] == name]
            first = [c for c in of_rater if c.partition(":")[0] == QUESTION_TYPE.slug]
            name = next(iter(first or (of_rater if len(of_rater) == 1 else [])), name)
        return super().look_up(name)


class ByTypeQuery(PageQuery):
    """Source of types, source of gold contexts, and fusion of two runs of a dataset.

    `types` is RUBRIC:RATER, empty where nobody says types.
    """

    types: str = parameter(ByRater("rater of question types, called", takes_first=True))
    gold: str = parameter(OneOf("source of gold contexts, called", takes_first=True))
    lexical: str = parameter(OneOf("run called"))
    dense: str = parameter(OneOf("run called"))
    how: How = parameter(OneOf("fusion method, called", HOWS))
    k: int = parameter(number(NO_DEPTH, 1, 1000, initial=DEPTH, is_whole=True))
    weights: tuple[float, ...] = parameter(Weights(required=False))

    def __init__(self, dataset: Dataset, runs: tuple[str, ...], params: Mapping[str, Any]) -> None:
        self.dataset, self.runs = dataset, runs
        self.every_kind = question_kinds(dataset)
        super().__init__(
            params,
            types=tuple(dict.fromkeys(kind.typing for kind in self.every_kind)),
            gold={
                name: "of the question’s own topic" if name == OWN_TOPIC else name
                for name in golds(dataset)
            },
            lexical=runs,
            dense=runs,
        )

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        runs = _most_alike_first(self.dataset, self.runs)
        lexical, dense = _two(runs, values["lexical"], values["dense"])
        return values | {
            "types": values["types"] or "",
            "lexical": lexical,
            "dense": dense,
            "how": values["how"] or _by_default(self.dataset, lexical, dense),
        }

    def filter_phrases(self) -> Iterator[Phrase]:
        if self.types:
            yield Phrase(f"types by {self.types}")
        yield Phrase(f"gold context {self.labels['gold']}")
        yield Phrase(f"{self.lexical} with {self.dense}")
        yield Phrase(self.labels["how"])
        yield Phrase(f"first {n_of(self.k, 'text')}")

    @property
    def kinds(self) -> tuple[QuestionKind, ...]:
        """Types that the rater gave; empty if there are none."""
        return tuple(kind for kind in self.every_kind if kind.typing == self.types)

    @property
    def weights_in_words(self) -> str:
        return self.params()["weights"].replace(",", ", ")


def by_type_query(dataset: Dataset, params: Mapping[str, Any]) -> ByTypeQuery | None:
    """Parse the parameters of a URL or of the command; None without two runs to fuse.

    Raises SelectionError, which lists the choices, for what is not there.
    """
    runs = tuple(dataset.runs.order_by("name").values_list("name", flat=True))
    return ByTypeQuery(dataset, runs, params).parse() if len(runs) > 1 else None


def _by_default(dataset: Dataset, *runs: str) -> How:
    """Return the default fusion: raw scores if both runs have scores, else reciprocal ranks."""
    unscored = RankedText.objects.filter(run__dataset=dataset, run__name__in=runs, score=None)
    return "rrf" if unscored.exists() else "raw"


def _most_alike_first(dataset: Dataset, runs: tuple[str, ...]) -> tuple[str, ...]:
    """The runs, those of the largest group on the same topics first: see `largest_group`."""

    def group() -> tuple[str, ...]:
        topics: dict[str, set[int]] = {run: set() for run in runs}
        ranked = RankedText.objects.filter(run__dataset=dataset).order_by()
        for run, topic in ranked.values_list("run__name", "topic_id").distinct():
            topics[run].add(topic)
        return largest_group({run: frozenset(ranked) for run, ranked in topics.items()})

    same_topics = cached(dataset, (CacheKey.RUNS_ON_SAME_TOPICS,), group)
    return (*same_topics, *(run for run in runs if run not in same_topics))


def _two(runs: tuple[str, ...], lexical: str | None, dense: str | None) -> tuple[str, str]:
    """Return two different runs: those named, else by names that contain `bm25` and `dense`."""
    if lexical and lexical == dense:
        raise SelectionError(
            f"The lexical and the dense run are both {lexical}: choose two different runs."
        )
    free = [run for run in runs if run != dense]
    lexical = lexical or next((run for run in free if "bm25" in run.lower()), free[0])
    remaining = [run for run in runs if run != lexical]
    dense = dense or next((run for run in remaining if "dense" in run.lower()), remaining[0])
    return lexical, dense
