"""Selection of what is compared: a rubric, raters, perhaps a judge, and eta.

Every choice is checked against what the dataset holds, and a wrong one is answered with the list.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast, get_args

from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q
from django.utils.http import urlencode

from annotation.errors import UserError
from annotation.models import Answer, Campaign, Dataset, Rater, Rating, Rubric
from annotation.models.rating import raters_by_name
from annotation.models.standard import ANSWERABLE, GRADED
from annotation.plurals import n_of
from evaluation.data.cache_keys import CacheKey
from evaluation.data.columns import Column, independent
from evaluation.data.default_judge import default_judge
from evaluation.data.eligible_judges import eligible_judges
from evaluation.data.filter_line import Phrase
from evaluation.data.measures import Measures, measures_of
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.stats.majority import Rule

LISTED = 20  # as many choices as a message names
Exposed = Literal["left-out", "included"]
CROWD = 12  # raters that have a column each in the tables of a page
MAX_NAMES = 3  # raters that the line above a page names; of more it gives the number


class SelectionError(UserError, ValidationError):
    """A choice that the dataset does not offer. The message says what it does offer."""

    def __str__(self) -> str:
        return str(self.message)


@dataclass(frozen=True)
class Slicing:
    """Pairs told apart by the grade that one rater gave them under another rubric."""

    rubric: Rubric
    rater: Column

    @property
    def name(self) -> str:
        """As a URL and the command have it."""
        return f"{self.rubric.slug}:{self.rater.name}"


@dataclass(frozen=True)
class Selection:
    """A rubric, the raters compared under it, and the judge that they are compared with.

    `judge_rubric` is the rubric of the judge's grades: the same one where the judge has rated under
    it, else the graded one, since a judge's grades of reports can be read at eta beside T1.
    """

    dataset: Dataset
    rubric: Rubric
    raters: tuple[Column, ...]
    everyone: tuple[Column, ...]
    judge: Column | None
    judges: tuple[Column, ...]
    judge_rubric: Rubric
    eta: int | None
    """None where no grade of the rubric says answerable; `etas` is then empty."""
    etas: tuple[int, ...]
    rubrics: tuple[Rubric, ...]
    campaigns: tuple[Campaign, ...] = ()
    """Those of the dataset that ask under the rubric, their own or a further one, and have ratings to
    compare: no drafts, no pilots."""
    campaign: Campaign | None = None
    """Whose ratings alone are compared, if one is chosen: of its raters, on what it asked."""
    judge_reason: str = ""
    """Why this judge, in a sentence, where nobody named one and there are others."""
    majority: Rule = "strict"
    """What a majority of raters is."""
    exposed: Exposed = "left-out"
    """Whether grades count that people gave after they had seen grades of others or decisions."""
    by: Slicing | None = None
    """Whose ratings under which rubric the pairs are sliced by."""
    slicings: tuple[Slicing, ...] = ()
    """What they can be sliced by: everybody who rated under another rubric of names."""

    @property
    def levels(self) -> tuple[int, ...]:
        """The grades of the rubric, ascending."""
        return tuple(self.rubric.grades())

    @property
    def raters_to_check(self) -> list[int]:
        """The keys of raters whose exposed grades are left out: people, but for adjudicators.

        Who chooses an adjudicator as a rater knows that they saw the grades.
        """
        return [rater.pk for rater in independent(self.raters)]

    @property
    def targeted_campaigns(self) -> list[Campaign]:
        """Campaigns with ratings here whose pairs were chosen for a reason, and not at random."""
        campaigns = [self.campaign] if self.campaign else self.campaigns
        return [
            campaign
            for campaign in campaigns
            if campaign.selection.get("pairs") and not campaign.selection["is_random"]
        ]

    @cached_property
    def measures(self) -> Measures:
        """Measures that the grades of the rubric allow."""
        return measures_of(self.rubric)

    @cached_property
    def names(self) -> dict[int, str]:
        """Label of each grade of the rubric, as pages show it."""
        return self.rubric.names()

    @property
    def threshold(self) -> int:
        """The grade at or above which a rater calls a pair answerable; above all, where none does."""
        return threshold(self.rubric, self.eta)

    @property
    def judge_threshold(self) -> int:
        """The grade at or above which the judge calls a pair answerable."""
        return threshold(self.judge_rubric, self.eta)

    @property
    def uses_eta(self) -> bool:
        """Return True if numbers depend on eta: by a judge, or by more than two levels."""
        return bool(self.etas) and (self.judge is not None or len(self.rubric.grades()) > 2)

    @property
    def judge_apart(self) -> Column | None:
        """The judge, unless it is among the raters: tables have its grades once."""
        names = {rater.name for rater in self.raters}
        return self.judge if self.judge and self.judge.name not in names else None

    @property
    def columns(self) -> tuple[Column, ...]:
        """The raters, and then the judge, unless it is one of them."""
        return (*self.raters, *filter(None, [self.judge_apart]))

    @property
    def is_crowd(self) -> bool:
        """Return True if there are too many raters for a column each: pages sum them up."""
        return len(self.raters) > CROWD

    @property
    def one_scale(self) -> bool:
        """Return True if the raters and the judge grade on the same levels."""
        return self.judge_rubric.pk == self.rubric.pk

    @property
    def leaves_out_filtered(self) -> bool:
        """Report coverage leaves filtered questions out; grades of passages on them count."""
        return self.rubric.slug == ANSWERABLE.slug

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Cache key of the selection, without the version of the data."""
        return (
            self.dataset.pk,
            self.rubric.pk,
            self.campaign and self.campaign.pk,
            self.raters,
            self.judge,
            self.judge_rubric.pk,
            self.eta,
            self.majority,
            self.exposed,
            self.by and self.by.name,
        )

    def params(self, **changes: Any) -> dict[str, str]:
        """The selection as parameters of a URL, with changes; a value of None drops one."""
        changed = self._params | changes
        return {key: str(value) for key, value in changed.items() if value is not None}

    @cached_property
    def _params(self) -> dict[str, Any]:
        params: dict[str, Any] = {"rubric": self.rubric.slug}
        if self.campaign:
            params["campaign"] = self.campaign.slug
        if set(self.raters) != {rater for rater in self.everyone if rater.is_person}:
            params["raters"] = ",".join(rater.name for rater in self.raters)
        if self.judges:
            params["judge"] = self.judge.name if self.judge else ""
        if self.judges or self.uses_eta:
            params["eta"] = self.eta
        if self.majority != "strict":
            params["majority"] = self.majority
        if self.exposed != "left-out":
            params["exposed"] = self.exposed
        if self.by:
            params["by"] = self.by.name
        return params

    def query(self, **changes: Any) -> str:
        """The selection as a query string, with changes as in `params`."""
        parts = self._encoded_params | {key: _encode(key, changes[key]) for key in changes}
        return "&".join(filter(None, parts.values()))

    @cached_property
    def _encoded_params(self) -> dict[str, str]:
        # A page has thousands of links with the same choices.
        return {key: _encode(key, value) for key, value in self._params.items()}

    def filter_phrases(self) -> Iterator[Phrase]:
        """Yield the rubric, raters, campaign, judge, eta, majority and split in words."""
        yield Phrase(self.rubric.title)
        yield Phrase(self._raters_in_words())
        if self.campaigns or self.campaign:
            yield Phrase(self.campaign.title if self.campaign else "all campaigns")
        if self.judges:
            yield (
                Phrase(f"judge {self.judge.title}", self.judge.pk, self.rubric.pk)
                if self.judge
                else Phrase("no judge")
            )
        if self.uses_eta:
            yield Phrase(f"answerable from grade {self.eta}")
        if self.majority != "strict":
            yield Phrase("majority: more than for any other grade")
        if self.exposed != "left-out":
            yield Phrase("with grades that are not independent")
        if self.by:
            yield Phrase(f"split by {self.by.rubric.title}, {self.by.rater.title}")

    def _raters_in_words(self) -> str:
        n, n_all = len(self.raters), len(self.everyone)
        are_people = n > 1 and all(rater.is_person for rater in self.raters)
        number = f"{n} people" if are_people else n_of(n, "rater")
        if n == n_all:
            return number
        if not 0 < n <= MAX_NAMES:
            return f"{number} of {n_all}"
        return ", ".join(rater.title for rater in self.raters)


def _encode(key: str, value: object) -> str:
    return "" if value is None else urlencode({key: str(value)})


def threshold(rubric: Rubric, eta: int | None) -> int:
    """Eta is for rubrics of several grades; yes and no have their own, fixed one.

    Above all grades where no grade of the rubric says answerable, so that none does.
    """
    if "prevalence" not in measures_of(rubric):
        return rubric.grades()[-1] + 1
    if eta is None or len(rubric.grades()) == 2:
        eta = rubric.eta
    assert eta is not None  # or the rubric would have no prevalence
    return eta


def select(
    dataset: Dataset,
    *,
    rubric: str | None = None,
    raters: Sequence[str] = (),
    judge: str | None = None,
    eta: str | int | None = None,
    campaign: str | None = None,
    majority: str | None = None,
    exposed: str | None = None,
    by: str | None = None,
    judge_by_default: bool = False,
) -> Selection:
    """Return the selection for these names of parameters.

    With `campaign` only its raters, its adjudicator, and models are there, and only what it asked is compared.
    Without `rubric`: the campaign's, or report coverage, or the first rubric that has ratings where
    that has none.
    Without `raters`: all people with ratings under it, but for adjudicators, who have seen what
    the others said. `judge` None takes none, or with
    `judge_by_default` the dataset's default one, of those that rated what the raters rated; an
    empty one is none. `majority` is "strict", or else "plurality". `exposed` is "left-out", or else
    "included". `by` is RUBRIC:RATER.
    Raises SelectionError for a rubric, campaign, rater, judge or eta that is not there.
    """
    rubrics = tuple(Rubric.objects.prefetch_related("levels"))
    if not rubrics:
        raise SelectionError("There is no rubric yet: import a dataset first.")
    by_rubric = _raters_under(dataset, rubrics)
    counted = dataset.campaigns.published().filter(is_pilot=False)
    studies = [*counted.select_related("rubric").prefetch_related("further_rubrics")]
    if campaign and not rubric:
        one_of("campaign", campaign, (study.slug for study in studies))
        rubric = next(study.rubric.slug for study in studies if study.slug == campaign)
    chosen = _rubric(rubrics, by_rubric, rubric)
    studies = [study for study in studies if chosen in study.rubrics()]
    study = _campaign(studies, campaign, chosen)
    everyone = _of_campaign(by_rubric[chosen.pk], study)
    columns = _columns(everyone, raters, f"under {chosen.slug} in {study or dataset.slug}")
    names = {
        column.pk: column.name for rubric_raters in by_rubric.values() for column in rubric_raters
    }
    judges = eligible_judges(dataset, chosen, rubrics, columns, names, study)
    default = default_judge(dataset, tuple(judges)) if judge is None and judge_by_default else None
    chosen_judge = default.judge if default else _judge(tuple(judges), judge)
    judge_rubric = judges[chosen_judge] if chosen_judge else chosen
    scale = _scale(rubrics, chosen, judge_rubric)
    etas = tuple(scale.grades()[1:]) if scale else ()
    return Selection(
        dataset=dataset,
        rubric=chosen,
        raters=columns,
        everyone=everyone,
        judge=chosen_judge,
        judges=tuple(judges),
        judge_rubric=judge_rubric,
        eta=_eta(etas, eta, scale.eta if scale else None),
        etas=etas,
        rubrics=rubrics,
        campaigns=tuple(studies),
        campaign=study,
        judge_reason=default.why if default else "",
        majority=cast(Rule, one_of("majority", majority or "strict", get_args(Rule))),
        exposed=cast(Exposed, one_of("exposed", exposed or "left-out", get_args(Exposed))),
        by=_slicing(rubrics, by_rubric, by, dataset),
        slicings=tuple(
            Slicing(rubric, rater)
            for rubric in rubrics
            if rubric != chosen and "classes" in measures_of(rubric)
            for rater in by_rubric[rubric.pk]
        ),
    )


def _scale(rubrics: Sequence[Rubric], chosen: Rubric, of_judge: Rubric) -> Rubric | None:
    """Return the rubric whose levels are the choices of eta; None without a threshold.

    Yes and no alone have the graded rubric's, since what a judge graded may come beside them.
    """
    if "prevalence" not in measures_of(chosen):
        return None
    multi_level = (r for r in (chosen, of_judge) if len(r.grades()) > 2 and r.eta is not None)
    graded = (r for r in rubrics if r.slug == GRADED.slug)
    return [*multi_level, *graded, chosen][0]


def _slicing(
    rubrics: Sequence[Rubric],
    by_rubric: dict[int, tuple[Column, ...]],
    by: str | None,
    dataset: Dataset,
) -> Slicing | None:
    if not by:
        return None
    slug, _, name = by.partition(":")
    one_of("rubric", slug, (rubric.slug for rubric in rubrics if not rubric.is_multi_label))
    rubric = next(rubric for rubric in rubrics if rubric.slug == slug)
    raters = by_rubric[rubric.pk]
    one_of(f"rater under {slug} in {dataset.slug} called", name, (rater.name for rater in raters))
    return Slicing(rubric, next(rater for rater in raters if rater.name == name))


def one_of(noun: str, value: str, choices: Iterable[str]) -> str:
    """Return the value if it is one of the choices.

    Raises SelectionError, which lists the choices, if it is not.
    """
    names = list(choices)
    if value in names:
        return value
    if not names:
        raise SelectionError(f"There is no {noun} “{value}”. There are none.")
    listed = ", ".join(names[:LISTED]) + (
        f" and {len(names) - LISTED} more" * (len(names) > LISTED)
    )
    raise SelectionError(f"There is no {noun} “{value}”. There are: {listed}.")


def raters_under(dataset: Dataset, slug: str) -> tuple[Column, ...]:
    """Return the raters of texts of the dataset under a rubric: people first, then by name."""
    (columns,) = _raters_under(dataset, Rubric.objects.filter(slug=slug)).values() or ((),)
    return columns


def _raters_under(dataset: Dataset, rubrics: Collection[Rubric]) -> dict[int, tuple[Column, ...]]:
    """Return for each rubric the raters of the dataset's texts: people first, then by name."""
    return SHARED_CACHE.until_db_write(
        (CacheKey.RATERS_BY_RUBRIC, dataset.pk, tuple(sorted(rubric.pk for rubric in rubrics))),
        lambda: _load_raters(dataset, rubrics),
    )


def _load_raters(dataset: Dataset, rubrics: Collection[Rubric]) -> dict[int, tuple[Column, ...]]:
    rated = {
        f"under_{rubric.pk}": Rating.objects.of_dataset(dataset)
        .filter(rubric=rubric)
        .exist_for_rater()
        for rubric in rubrics
    }
    order = [Rater.Kind.HUMAN, Rater.Kind.MODEL, Rater.Kind.BASELINE, Rater.Kind.AGGREGATE]
    raters = sorted(
        Rater.objects.filter(Q(dataset=dataset) | Q(dataset=None)).annotate(**rated),
        key=lambda rater: (
            order.index(Rater.Kind(rater.kind)),
            rater.name,
            rater.dataset_id is None,
        ),
    )
    # Two raters may share a name: they are told apart here as they are in files.
    present = [r for r in raters if r.dataset_id or any(getattr(r, key) for key in rated)]
    names = {rater.pk: name for name, rater in raters_by_name(present).items()}
    columns: dict[int, tuple[Column, ...]] = {}
    for rubric in rubrics:
        rubric_raters = [rater for rater in raters if getattr(rater, f"under_{rubric.pk}")]
        columns[rubric.pk] = tuple(
            Column(rater.pk, names[rater.pk], rater.kind, position, rater.is_adjudicator)
            for position, rater in enumerate(rubric_raters)
        )
    return columns


def _rubric(
    rubrics: Sequence[Rubric], by_rubric: dict[int, tuple[Column, ...]], slug: str | None
) -> Rubric:
    if slug:
        one_of("rubric", slug, (rubric.slug for rubric in rubrics))
        return next(rubric for rubric in rubrics if rubric.slug == slug)
    first = sorted(rubrics, key=lambda rubric: (rubric.slug != ANSWERABLE.slug, rubric.slug))
    by_people = [r for r in first if any(column.is_person for column in by_rubric[r.pk])]
    return [*by_people, *(r for r in first if by_rubric[r.pk]), *first][0]


def _campaign(studies: Sequence[Campaign], slug: str | None, rubric: Rubric) -> Campaign | None:
    if not slug:
        return None
    one_of(f"campaign under {rubric.slug} called", slug, (study.slug for study in studies))
    return next(study for study in studies if study.slug == slug)


def _of_campaign(everyone: tuple[Column, ...], study: Campaign | None) -> tuple[Column, ...]:
    """Drop people without an answer that counts in the study; its adjudicator is kept."""
    if study is None:
        return everyone
    answered = Answer.objects.filter(assignment__participant=OuterRef("pk"), late=Answer.Late.NO)
    people = {
        study.adjudicator_id,
        *study.participants.filter(Exists(answered)).values_list("rater", flat=True),
    }
    return tuple(column for column in everyone if not column.is_person or column.pk in people)


def _columns(everyone: tuple[Column, ...], names: Sequence[str], scope: str) -> tuple[Column, ...]:
    requested = [part.strip() for name in names for part in name.split(",") if part.strip()]
    if not requested:
        return independent(everyone) or tuple(c for c in everyone if c.is_person)
    for name in requested:
        one_of(f"rater {scope} called", name, (column.name for column in everyone))
    return tuple(column for column in everyone if column.name in requested)


def _judge(judges: tuple[Column, ...], name: str | None) -> Column | None:
    if not name:
        return None
    one_of("judge of these pairs called", name, (judge.name for judge in judges))
    return next(judge for judge in judges if judge.name == name)


def _eta(etas: Sequence[int], value: str | int | None, default: int | None) -> int | None:
    if value in (None, ""):
        return default
    if not etas:
        raise SelectionError("No grade of this rubric means answerable, so eta cannot be chosen.")
    return int(one_of("eta", str(value), map(str, etas)))
