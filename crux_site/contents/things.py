"""What owners rename and remove: a retrieval run, a rater of files, the reports of a system, the dataset."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction
from django.db.models import Model, QuerySet

from annotation.formats.slots import ANNOTATED, HUMAN_EVAL
from annotation.models import (
    Assignment,
    Campaign,
    Citation,
    Dataset,
    NuggetSpan,
    Project,
    ProjectEntry,
    Rater,
    Rating,
    Text,
    User,
    Version,
)
from annotation.models.rating import raters_of
from building.engine.support import support_datasets
from building.models import Product, Writing
from crux_site.history.undoing import at_work
from crux_site.projects.archive import archived
from crux_site.removal import Going, Removal, Rows, Standing, rows_of
from evaluation.models import LabelSample, RankedText, ReportValue, RetrievalRun, System
from judging.models import Attempt

LONGEST = 120  # characters of a name


class RemovedMeanwhile(Exception):
    """Somebody else has renamed or removed it; the message says so."""


@dataclass(frozen=True)
class Thing(ABC):
    """One of them, by its name. Nothing changes by looking at it."""

    dataset: Dataset
    name: str
    KIND: ClassVar[str] = ""
    CALLED: ClassVar[str] = ""
    LONGEST: ClassVar[int] = LONGEST
    CONTENT: ClassVar[type[Model] | None] = None  # rows without which files bring none of it

    def __str__(self) -> str:
        return f"the {self.CALLED} {self.name}"

    @classmethod
    @abstractmethod
    def names(cls, dataset: Dataset) -> list[str]:
        """Those of the dataset."""

    @abstractmethod
    def rows(self) -> Rows:
        """What goes with it."""

    @abstractmethod
    def keeps_name(self, new: str) -> str:
        """Why it cannot be called so, as a sentence; empty where it can."""

    @abstractmethod
    def call(self, new: str) -> None:
        """Give it another name. In a transaction."""

    def going(self) -> Going:
        """What would go with it, or why it cannot."""
        removal = Removal(self.rows())
        return Going(removal, removal.counts(), self.busy() + removal.standing())

    def busy(self) -> list[Standing]:
        """Who is at work for the dataset now."""
        return at_work(self.dataset)

    def lock(self) -> None:
        """Lock the dataset, and see that the thing still has its name. In a transaction."""
        try:
            dataset = Dataset.objects.lock(self.dataset.pk)
        except Dataset.DoesNotExist:
            raise RemovedMeanwhile("Somebody has deleted the dataset meanwhile.") from None
        if self.name not in self.names(dataset):
            raise RemovedMeanwhile(f"Somebody has renamed or removed {self.name} meanwhile.")

    def rename(self, new: str, by: User) -> str:
        """Why it cannot be called so; empty where it is so called now. Raises RemovedMeanwhile."""
        with transaction.atomic():
            self.lock()
            if why := self.keeps_name(new):
                return why
            self.call(new)
            detail = f"the {self.CALLED} {self.name}, to {new}"
            ProjectEntry.record(self.dataset.project, by, "renamed", detail, self.dataset)
        return ""

    def remove(self, by: User) -> Going:
        """It goes, unless there are reasons.

        Raises IntegrityError where somebody builds on it now, and RemovedMeanwhile.
        """
        with transaction.atomic():
            self.lock()
            going = self.going()
            if not going.reasons:
                going.removal.delete()
                detail = f"{self}: {going}"
                ProjectEntry.record(self.dataset.project, by, "removed", detail, self.dataset)
        return going


class Run(Thing):
    KIND, CALLED, CONTENT = "run", "retrieval run", RankedText

    @classmethod
    def names(cls, dataset: Dataset) -> list[str]:
        return list(dataset.runs.values_list("name", flat=True))

    def rows(self) -> Rows:
        runs = RetrievalRun.objects.filter(dataset=self.dataset, name=self.name)
        return {
            RetrievalRun: runs,
            RankedText: RankedText.objects.filter(run__in=runs.values("pk")),
        }

    def keeps_name(self, new: str) -> str:
        if new in self.names(self.dataset):
            return f"There is a retrieval run {new} already."
        if self.name in Reports.names(self.dataset):
            return (
                f"It is the context of the reports of {self.name}: rename these, and it goes along."
            )
        return ""

    def call(self, new: str) -> None:
        RetrievalRun.objects.filter(dataset=self.dataset, name=self.name).update(name=new)


class FileRater(Thing):
    """Neither the baseline judge of the dataset nor an aggregate; people of the site are no dataset's."""

    KIND, CALLED, CONTENT = "rater", "rater", Rating

    @classmethod
    def names(cls, dataset: Dataset) -> list[str]:
        raters = dataset.raters.filter(judge=None).exclude(kind=Rater.Kind.AGGREGATE)
        return list(raters.values_list("name", flat=True))

    def rows(self) -> Rows:
        raters = Rater.objects.filter(dataset=self.dataset, name=self.name)
        ratings = Rating.objects.filter(rater__in=raters.values("pk"))
        spans = NuggetSpan.objects.filter(rating__in=ratings.values("pk"))
        return {Rater: raters, Rating: ratings, NuggetSpan: spans}

    def keeps_name(self, new: str) -> str:
        try:
            validate_slug(new)
        except ValidationError:
            return "Letters, digits, - and _ alone make a rater's name, as it becomes part of file names."
        if new in raters_of(self.dataset) or self.dataset.raters.filter(name=new).exists():
            return f"There is a rater {new} already."
        if Writing.objects.filter(dataset=self.dataset, writer__slug=self.name).exists():
            return "It weighs what the writer of its name wrote, and is known by that name."
        return ""

    def call(self, new: str) -> None:
        Rater.objects.filter(dataset=self.dataset, name=self.name).update(name=new)


class Reports(Thing):
    """A system: its reports with what came in files or by judges about them, and how it was set."""

    KIND, CALLED, CONTENT = "system", "system", Text

    @classmethod
    def names(cls, dataset: Dataset) -> list[str]:
        reports = dataset.texts.filter(kind=Text.Kind.REPORT).order_by("system")
        settings = System.objects.filter(dataset=dataset).values_list("name", flat=True)
        return sorted({*reports.values_list("system", flat=True).distinct(), *settings})

    def rows(self) -> Rows:
        reports = self._reports()
        of_them = reports.values("pk")
        by_people = {"rater__dataset": None, "rater__kind": Rater.Kind.HUMAN}
        ratings = Rating.objects.filter(text__in=of_them).exclude(**by_people)
        return {
            Text: reports,
            Citation: Citation.objects.filter(report__in=of_them),
            ReportValue: ReportValue.objects.filter(report__in=of_them),
            Rating: ratings,
            NuggetSpan: NuggetSpan.objects.filter(rating__in=ratings.values("pk")),
            Attempt: Attempt.objects.filter(text__in=of_them),
            System: System.objects.filter(dataset=self.dataset, name=self.name),
            Version: Version.objects.filter(text__in=of_them),
        }

    def _reports(self) -> QuerySet[Text]:
        return Text.objects.filter(dataset=self.dataset, kind=Text.Kind.REPORT, system=self.name)

    def keeps_name(self, new: str) -> str:
        for beginning in (ANNOTATED, HUMAN_EVAL):
            if self.name.startswith(beginning) != new.startswith(beginning):
                return (
                    f"Files know reports by {beginning} at the beginning: keep it, or do without."
                )
        if new in self.names(self.dataset) or new in Run.names(self.dataset):
            return f"There is a system or a retrieval run {new} already."
        if n := Product.objects.filter(text__in=self._reports()).count():
            return f"{n:,} of its reports were written here, under the name of the writer."
        if taken := support_datasets(self.dataset, self.name):
            return f"What it cites was taken into {taken[0].slug}, under its name."
        return ""

    def call(self, new: str) -> None:
        """Its settings, the run of its name, and what is chosen by that name go along."""
        self._reports().update(system=new)
        for model in (System, RetrievalRun):
            model._default_manager.filter(dataset=self.dataset, name=self.name).update(name=new)
        LabelSample.objects.filter(dataset=self.dataset, system=self.name).update(system=new)
        for campaign in Campaign.objects.select_for_update().filter(dataset=self.dataset):
            chosen = campaign.selection.get("systems") or []
            if self.name in chosen:
                systems = [new if name == self.name else name for name in chosen]
                campaign.selection = {**campaign.selection, "systems": systems}
                campaign.save(update_fields=["selection"])


class Whole(Thing):
    """The dataset. What people said in its campaigns goes into the archive of its project first."""

    KIND, CALLED, LONGEST = "dataset", "dataset", 200

    @classmethod
    def names(cls, dataset: Dataset) -> list[str]:
        return [dataset.title]

    def rows(self) -> Rows:
        return rows_of(self.dataset)

    def busy(self) -> list[Standing]:
        under_way = self.dataset.campaigns.filter(
            state__in=[Campaign.State.OPEN, Campaign.State.PAUSED]
        )
        of_people = [
            Standing(
                f"Campaign {campaign}", campaign.participants.count(), "people: close it first"
            )
            for campaign in under_way
        ]
        return of_people + super().busy()

    def keeps_name(self, new: str) -> str:
        return ""

    def call(self, new: str) -> None:
        Dataset.objects.filter(pk=self.dataset.pk).update(title=new)

    def remove(self, by: User) -> Going:
        opened = self.dataset.campaigns.exclude(state=Campaign.State.DRAFT)
        with transaction.atomic():
            # Of the whole row: nobody may begin to refer to it.
            list(Dataset.objects.select_for_update().filter(pk=self.dataset.pk))
            self.lock()
            project = Project.objects.get(datasets=self.dataset)
            going = self.going()
            if going.reasons:
                return going
            # Nobody answers any more while it is written down.
            in_hand = Assignment.objects.filter(item__campaign__dataset=self.dataset)
            list(in_hand.select_for_update().order_by("pk").values_list("pk", flat=True))
            campaigns = list(opened.select_related("dataset", "rubric"))
            with archived(project, campaigns):
                going.removal.delete()
                ProjectEntry.objects.filter(dataset=self.dataset).update(dataset=None)
                whole = Dataset.objects.filter(pk=self.dataset.pk)
                whole._raw_delete(whole.db)
                detail = f"{self.dataset.slug}, {self.dataset.title}: {going.n} rows"
                if campaigns:
                    detail += f"; what people said is in the archive, campaigns: {len(campaigns)}"
                ProjectEntry.record(project, by, "deleted the dataset", detail)
        return going


KINDS: dict[str, type[Thing]] = {kind.KIND: kind for kind in (Whole, Run, FileRater, Reports)}
