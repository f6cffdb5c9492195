"""World of the random test: a dataset, and a ledger of grades, texts and positions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from annotation.models import (
    Campaign,
    Dataset,
    Membership,
    NuggetSpan,
    Participant,
    Rater,
    Rating,
    Version,
)
from annotation.monitoring import actions
from crux_site.imports.importing import import_dataset
from tests.toolbox.answers import label_item, submit_item
from tests.toolbox.factories import make_campaign
from tests.toolbox.import_study import write
from tests.toolbox.users import Cast, make_cast

SLUG = "small"
Pair = tuple[int, int, int, int]  # keys of rater, rubric, text and question
Grades = frozenset[tuple[Pair, int]]


@dataclass
class World:
    """Dataset with two owners, a campaign on its reports, and the ledger of the test."""

    rng: Random
    folder: Path
    cast: Cast
    dataset: Dataset
    campaign: Campaign
    typed: set[str] = field(default_factory=set)  # wordings that an owner was told are saved
    n_files: int = 0
    imported: dict[int, set[str]] = field(default_factory=dict)  # raters of an import, by its entry
    positions: dict[tuple, tuple] = field(default_factory=dict)

    def person(self, name: str) -> Participant:
        user = getattr(self.cast, name)
        return self.campaign.participants.get(rater__user=user)

    def new_folder(self) -> Path:
        self.n_files += 1
        return self.folder / f"file-{self.n_files}"


def make_world(rng: Random, folder: Path) -> World:
    cast = make_cast()
    import_dataset(write(folder / "small"), SLUG)
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    dataset = Dataset.objects.get(slug=SLUG)
    campaign = make_campaign(dataset, cast.worker, cast.other_worker)
    for item in campaign.items.select_related("text"):
        name = item.text.system or item.text.name
        for person, grades in ((cast.worker, (1, 0, 1)), (cast.other_worker, (0, 1, 1))):
            if item.asked.count() == 3 and campaign.items.filter(text__system=name).count() == 1:
                label_item(campaign, person, name, *grades)
                submit_item(campaign, person, name)
    actions.set_state(campaign, "closed", cast.admin)
    return World(rng, folder, cast, dataset, campaign)


def all_grades(dataset: Dataset) -> Grades:
    """Return the grades of a dataset: the ratings, and the superseded ones of all versions."""
    live = Rating.objects.of_dataset(dataset).values_list(
        "rater", "rubric", "text", "question", "grade"
    )
    grades = {(tuple(key), grade) for *key, grade in live}
    for rows in Version.objects.filter(dataset=dataset).values_list("set_aside", flat=True):
        names = ("rater", "rubric", "text", "question")
        grades |= {(tuple(row[name] for name in names), row["grade"]) for row in rows}
    return frozenset(grades)


def span_rows(dataset: Dataset) -> dict[tuple, tuple]:
    """Return the position of each span by rating, place and hash of the current text."""
    spans = NuggetSpan.objects.filter(rating__text__dataset=dataset).select_related("rating__text")
    return {
        (
            span.rating.rater_id,
            span.rating.rubric_id,
            span.rating.text_id,
            span.rating.question_id,
            str(span.rating.created),
            span.position,
            span.rating.text.sha256,
        ): (span.start, span.end, span.quote, span.source_quote)
        for span in spans
    }


def raters_by_name(dataset: Dataset) -> dict[str, set[int]]:
    raters: dict[str, set[int]] = defaultdict(set)
    for pk, name in Rater.objects.filter(dataset=dataset).values_list("pk", "name"):
        raters[name].add(pk)
    return raters
