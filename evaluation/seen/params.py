"""What the page of Rel and Rel' is asked for: by whose grades, what was seen, and how it is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django import forms
from django.utils.http import urlencode

from annotation.models import Dataset, Rating, Rubric, Text
from annotation.models.standard import GRADED
from evaluation.data.columns import independent
from evaluation.data.held import COUNTED
from evaluation.data.query import OneOf, QueryForm
from evaluation.data.selection import SelectionError
from evaluation.data.sources import MAJORITY, Source, source, sources
from evaluation.http import KEPT
from evaluation.metrics.relevance_seen import RULES, Rules
from evaluation.models import RetrievalRun

Rel = Literal["answerable", "asked"]

OWN = "own"
RELS: dict[Rel, str] = {"answerable": "answerable in P*", "asked": "all asked"}
RULE_WORDS: dict[Rules, str] = {"paper": "of the paper", "authors": "of ALCE’s code"}
DEFAULT_ETA = 3
LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that a value depends on, besides the data.

    `source` says which passages answer what, `rater` which questions a report answers, both at `eta`.
    `rel` are the questions that should be answered. `run` is the retrieval run that stands for what
    all systems saw, none for the run of each system's own name; `depth` its first passages that
    count, None for all.
    """

    source: Source
    rater: Source
    eta: int
    rel: Rel
    run: str
    depth: int | None
    rules: Rules

    def params(self) -> dict[str, str]:
        """As the parameters of SeenForm."""
        return {
            "judge": self.source.name,
            "rater": self.rater.name,
            "eta": str(self.eta),
            "rel": self.rel,
            "seen": self.run or OWN,
            "depth": str(self.depth or ""),
            "rules": self.rules,
        }


class SeenForm(QueryForm):
    """The options, by the same names in addresses and in the command."""

    judge = forms.CharField(
        required=False,
        strip=False,
        help_text="whose grades say which passages answer a question: a rater's name, majority (of "
        "the people), or people:JUDGE; default: the judge that the pages take",
    )
    rater = forms.CharField(
        required=False,
        strip=False,
        help_text="who says which questions a report answers; default: the majority of the people who "
        "rated reports, the one person who did, or else the judge",
    )
    eta = OneOf(
        "eta",
        initial=str(DEFAULT_ETA),
        coerce=int,
        help_text="grade at or above which a pair counts as answered; default: 3",
    )
    rel = OneOf(
        "reading of Rel",
        RELS,
        initial="answerable",
        help_text="questions that should be answered: answerable (by a passage of P*, the default) or "
        "asked (all that are not filtered)",
    )
    seen = forms.CharField(
        required=False,
        strip=False,
        help_text="what was seen: own (the retrieval run of each system's name, the default), or a "
        "run that stands for what all of them saw",
    )
    depth = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST,
        help_text="how many of the first passages of what was seen count; default: all",
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value"), "The depth is a whole number from 1."
        ),
    )
    rules = OneOf(
        "set of rules",
        RULES,
        initial="paper",
        help_text="paper (the default: sets, and no precision of an empty output), or authors: as "
        "ALCE's code counts, where what is cited twice counts twice in precision, an empty output "
        "has a precision of 0, and a statement has three citations at most",
    )

    def __init__(self, dataset: Dataset, query: Mapping[str, Any]) -> None:
        super().__init__(query)
        self.dataset = dataset
        graded = Rubric.objects.filter(slug=GRADED.slug).first()
        self.etas = tuple(graded.grades()[1:]) if graded else ()
        self.runs = tuple(
            RetrievalRun.objects.filter(dataset=dataset)
            .order_by("name")
            .values_list("name", flat=True)
        )
        self.offer(eta=self.etas)

    def clean_judge(self) -> Source:
        return source(self.dataset, self.cleaned_data["judge"])

    def clean_rater(self) -> Source | None:
        name = self.cleaned_data["rater"]
        return source(self.dataset, name) if name else None

    def clean_seen(self) -> str:
        name: str = self.cleaned_data["seen"]
        if name in ("", OWN):
            return ""
        if name not in self.runs:
            listed = ", ".join([OWN, *self.runs[:20]])
            raise SelectionError(f"There is no retrieval run “{name}”. There are: {listed}.")
        return name

    def options(self) -> Options:
        """Raises SelectionError, which lists the choices, for what is not there."""
        asked = self.asked()
        return Options(
            source=asked["judge"],
            rater=asked["rater"] or rater_by_default(self.dataset, asked["judge"]),
            eta=asked["eta"],
            rel=asked["rel"],
            run=asked["seen"],
            depth=asked["depth"],
            rules=asked["rules"],
        )


def rater_by_default(dataset: Dataset, judge: Source) -> Source:
    """Who says what reports answer where nobody is named: people who rated reports, else the judge."""
    rated = Rating.objects.of_dataset(dataset).filter(text__kind=Text.Kind.REPORT)
    who = COUNTED.while_unwritten(
        ("raters of reports", dataset.pk),
        lambda: set(rated.order_by().values_list("rater", flat=True).distinct()),
    )
    every = sources(dataset)
    alone = [each for each in every if each.kind == "rater" and each.rater and each.rater.pk in who]
    people = {column.pk for column in independent(each.rater for each in alone if each.rater)}
    if len(people) > 1:
        return next(each for each in every if each.name == MAJORITY)
    by_people = [each for each in alone if each.rater and each.rater.pk in people]
    if by_people or judge in alone or not alone:
        return by_people[0] if by_people else judge
    return alone[0]


@dataclass(frozen=True)
class SeenChoice:
    """One state of the page, and what its form offers. `words` are its parameters as they came."""

    dataset: Dataset
    options: Options
    sources: tuple[Source, ...]
    etas: tuple[int, ...]
    runs: tuple[str, ...]
    words: Mapping[str, str]

    @property
    def rels(self) -> list[tuple[str, str]]:
        return list(RELS.items())

    @property
    def rules(self) -> list[tuple[str, str]]:
        return list(RULE_WORDS.items())

    def query(self, **changes: str | None) -> str:
        """The state as the query of a URL, with changes; a value of None drops a parameter."""
        words = {**self.words, **changes}
        return urlencode({name: value for name, value in words.items() if value is not None})


def seen_choice(dataset: Dataset, asked: Mapping[str, str]) -> SeenChoice | None:
    """The state that these parameters ask for; None if nobody has rated the dataset.

    Raises SelectionError, which lists the choices, for what is not there.
    """
    every = sources(dataset)
    if not every:
        return None
    words = {name: asked[name] for name in (*KEPT, *SeenForm.base_fields) if asked.get(name)}
    form = SeenForm(dataset, words)
    return SeenChoice(dataset, form.options(), every, form.etas, form.runs, words)
