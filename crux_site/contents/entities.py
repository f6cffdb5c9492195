"""Entities of a dataset that owners rename and remove: run, file rater, system, dataset."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction
from django.db.models import Model, QuerySet

from annotation.errors import UserError
from annotation.formats.reports import SYSTEM
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
from annotation.plurals import n_of
from building.engine.support import support_datasets
from building.models import Product, Writing
from crux_site.contents.shared_addresses import rename_in_shared_links
from crux_site.history.import_undo import running_work
from crux_site.projects.archive import archive_campaigns
from crux_site.removal import Blocker, Removal, RemovalPreview, Rows, rows_of
from evaluation.data.certificates import rename_person
from evaluation.formats.trec_run import checked_run_name
from evaluation.models import LabelSample, RankedText, ReportValue, RetrievalRun, System
from judging.models import Attempt, JudgeTestReply

LONGEST = 120  # characters of a name


class EntityRemovedError(UserError):
    """Somebody else has renamed or removed it; the message says so."""


@dataclass(frozen=True)
class Entity(ABC):
    """Entity of a dataset, identified by its name; creating one changes nothing."""

    dataset: Dataset
    name: str
    KIND: ClassVar[str] = ""
    LABEL: ClassVar[str] = ""
    LONGEST: ClassVar[int] = LONGEST
    CONTENT: ClassVar[type[Model] | None] = None  # rows without which files bring none of it

    def __str__(self) -> str:
        return f"the {self.LABEL} {self.name}"

    @classmethod
    @abstractmethod
    def names(cls, dataset: Dataset) -> list[str]:
        """Return the names of all entities of this kind in the dataset."""

    @abstractmethod
    def rows(self) -> Rows:
        """Return the rows that are removed with the entity."""

    @abstractmethod
    def name_conflict(self, new: str) -> str:
        """Return a sentence that says why it cannot have this name; empty if it can."""

    @abstractmethod
    def set_name(self, new: str) -> None:
        """Set another name. In a transaction."""

    def removal_preview(self) -> RemovalPreview:
        """Return the rows that a removal would delete, or the reasons that block it."""
        removal = Removal(self.rows())
        return RemovalPreview(removal, removal.counts(), self.active_work() + removal.blockers())

    def active_work(self) -> list[Blocker]:
        """Return the running work on the dataset, which blocks a removal."""
        return running_work(self.dataset)

    def lock(self) -> None:
        """Lock the dataset, and see that the thing still has its name. In a transaction."""
        try:
            dataset = Dataset.objects.lock(self.dataset.pk)
        except Dataset.DoesNotExist:
            raise EntityRemovedError("Somebody deleted the dataset in the meantime.") from None
        if self.name not in self.names(dataset):
            raise EntityRemovedError(f"Somebody renamed or removed {self.name} in the meantime.")

    def rename(self, new: str, by: User) -> str:
        """Rename it; return a sentence that says why it cannot be renamed, or an empty string.

        Raises EntityRemovedError.
        """
        with transaction.atomic():
            self.lock()
            if reason := self.name_conflict(new):
                return reason
            self.set_name(new)
            detail = f"the {self.LABEL} {self.name}, to {new}"
            ProjectEntry.record(self.dataset.project, by, "renamed", detail, self.dataset)
        return ""

    def remove(self, by: User, known_version: str = "") -> RemovalPreview:
        """Remove it unless a reason blocks that; return the rows removed, or the reasons.

        `known_version` is of the preview that the person confirmed. Raises IntegrityError where
        somebody builds on it now, EntityRemovedError, and RemovalChangedError.
        """
        with transaction.atomic():
            self.lock()
            pending = self.removal_preview()
            if not pending.reasons:
                pending.check_version(known_version)
                pending.removal.delete()
                detail = f"{self}: {pending}"
                ProjectEntry.record(self.dataset.project, by, "removed", detail, self.dataset)
        return pending


class RunEntity(Entity):
    KIND, LABEL, CONTENT = "run", "retrieval run", RankedText

    @classmethod
    def names(cls, dataset: Dataset) -> list[str]:
        return list(dataset.runs.values_list("name", flat=True))

    def rows(self) -> Rows:
        runs = RetrievalRun.objects.filter(dataset=self.dataset, name=self.name)
        return {
            RetrievalRun: runs,
            RankedText: RankedText.objects.filter(run__in=runs.values("pk")),
        }

    def name_conflict(self, new: str) -> str:
        try:
            checked_run_name(new)
        except ValueError as error:
            return f"The name of a run {error}."
        if new in self.names(self.dataset):
            return f"A retrieval run {new} exists already."
        if self.name in SystemEntity.names(self.dataset):
            return (
                f"This run is the context of the reports of {self.name}: rename that system, "
                "and the run is renamed too."
            )
        return ""

    def set_name(self, new: str) -> None:
        RetrievalRun.objects.filter(dataset=self.dataset, name=self.name).update(name=new)
        rename_in_shared_links(self.dataset, self.name, new)


class FileRater(Entity):
    """Rater from files: no person of the site, no baseline judge of the dataset, no aggregate."""

    KIND, LABEL, CONTENT = "rater", "rater", Rating

    @classmethod
    def names(cls, dataset: Dataset) -> list[str]:
        raters = dataset.raters.filter(judge=None).exclude(kind=Rater.Kind.AGGREGATE)
        return list(raters.values_list("name", flat=True))

    def rows(self) -> Rows:
        raters = Rater.objects.filter(dataset=self.dataset, name=self.name)
        ratings = Rating.objects.filter(rater__in=raters.values("pk"))
        spans = NuggetSpan.objects.filter(rating__in=ratings.values("pk"))
        return {Rater: raters, Rating: ratings, NuggetSpan: spans}

    def name_conflict(self, new: str) -> str:
        try:
            validate_slug(new)
        except ValidationError:
            return "The name of a rater may have only letters, digits, - and _, as it is part of file names."
        if new in raters_of(self.dataset) or self.dataset.raters.filter(name=new).exists():
            return f"A rater {new} exists already."
        if Writing.objects.filter(dataset=self.dataset, writer__slug=self.name).exists():
            return "The name belongs to a writer, whose nuggets this rater weights."
        return ""

    def set_name(self, new: str) -> None:
        Rater.objects.filter(dataset=self.dataset, name=self.name).update(name=new)
        rename_person(self.dataset, self.name, new)
        rename_in_shared_links(self.dataset, self.name, new)


class SystemEntity(Entity):
    """System: its reports, ratings of them from files and judges, and its settings."""

    KIND, LABEL, CONTENT = "system", "system", Text

    @classmethod
    def names(cls, dataset: Dataset) -> list[str]:
        reports = dataset.texts.filter(kind=Text.Kind.REPORT).order_by("system")
        settings = System.objects.filter(dataset=dataset).values_list("name", flat=True)
        return sorted({*reports.values_list("system", flat=True).distinct(), *settings})

    def rows(self) -> Rows:
        reports = self._reports()
        report_ids = reports.values("pk")
        by_people = {"rater__dataset": None, "rater__kind": Rater.Kind.HUMAN}
        ratings = Rating.objects.filter(text__in=report_ids).exclude(**by_people)
        return {
            Text: reports,
            Citation: Citation.objects.filter(report__in=report_ids),
            ReportValue: ReportValue.objects.filter(report__in=report_ids),
            Rating: ratings,
            NuggetSpan: NuggetSpan.objects.filter(rating__in=ratings.values("pk")),
            JudgeTestReply: JudgeTestReply.objects.filter(attempt__text__in=report_ids),
            Attempt: Attempt.objects.filter(text__in=report_ids),
            System: System.objects.filter(dataset=self.dataset, name=self.name),
            Version: Version.objects.filter(text__in=report_ids),
        }

    def _reports(self) -> QuerySet[Text]:
        return Text.objects.filter(dataset=self.dataset, kind=Text.Kind.REPORT, system=self.name)

    def name_conflict(self, new: str) -> str:
        if not SYSTEM.fullmatch(new) or new in (ANNOTATED, HUMAN_EVAL):
            return (
                "The name of a system has only letters, digits and . _ + -, as an import needs it."
            )
        for beginning in (ANNOTATED, HUMAN_EVAL):
            if self.name.startswith(beginning) != new.startswith(beginning):
                return f"The beginning {beginning} has a meaning in files: you can neither add nor remove it."
        if new in self.names(self.dataset) or new in RunEntity.names(self.dataset):
            return f"A system or retrieval run {new} exists already."
        if n := Product.objects.filter(text__in=self._reports()).count():
            return (
                f"{n:,} of its reports were generated on this site, under the name of the writer."
            )
        if support := support_datasets(self.dataset, self.name):
            return f"Its citations are in the dataset {support[0].slug}, under its name."
        return ""

    def set_name(self, new: str) -> None:
        """Rename the reports, and the settings, run, draws and selections of that name."""
        # Before the texts, as where answers become ratings again.
        campaigns = Campaign.objects.select_for_update().filter(dataset=self.dataset)
        locked_campaigns = list(campaigns.order_by("pk"))
        if self.name.startswith(ANNOTATED):
            self._rename_annotated_reports(new)
        self._reports().update(system=new)
        for model in (System, RetrievalRun):
            model._default_manager.filter(dataset=self.dataset, name=self.name).update(name=new)
        LabelSample.objects.filter(dataset=self.dataset, system=self.name).update(system=new)
        sequences = self.dataset.label_sequences
        sequences.filter(system=self.name).update(system=new)
        sequences.filter(other_system=self.name).update(other_system=new)
        rename_in_shared_links(self.dataset, self.name, new)
        for campaign in locked_campaigns:
            chosen = campaign.selection.get("systems") or []
            if self.name in chosen:
                systems = [new if name == self.name else name for name in chosen]
                campaign.selection = {**campaign.selection, "systems": systems}
                campaign.save(update_fields=["selection"])

    def _rename_annotated_reports(self, new: str) -> None:
        """Rename "bm25_TOPIC": files name the system of an annotated report by this beginning."""
        old_context, new_context = (name.removeprefix(ANNOTATED) for name in (self.name, new))
        reports = self._reports().select_for_update(of=("self",)).order_by("pk")
        renamed = []
        for report in reports.exclude(topic=None).select_related("topic").defer("body"):
            assert report.topic
            if report.name == f"{old_context}_{report.topic.name}":
                report.name = f"{new_context}_{report.topic.name}"
                renamed.append(report)
        Text.objects.bulk_update(renamed, ["name"], batch_size=500)


class DatasetEntity(Entity):
    """The dataset itself; answers of its campaigns are archived in its project first."""

    KIND, LABEL, LONGEST = "dataset", "dataset", 200

    @classmethod
    def names(cls, dataset: Dataset) -> list[str]:
        return [dataset.title]

    def rows(self) -> Rows:
        return rows_of(self.dataset)

    def active_work(self) -> list[Blocker]:
        active_campaigns = self.dataset.campaigns.filter(
            state__in=[Campaign.State.OPEN, Campaign.State.PAUSED]
        )
        campaign_blockers = [
            Blocker(f"Campaign {campaign}", campaign.participants.count(), "people: close it first")
            for campaign in active_campaigns
        ]
        return campaign_blockers + super().active_work()

    def name_conflict(self, new: str) -> str:
        return ""

    def set_name(self, new: str) -> None:
        Dataset.objects.filter(pk=self.dataset.pk).update(title=new)

    def remove(self, by: User, known_version: str = "") -> RemovalPreview:
        opened = self.dataset.campaigns.exclude(state=Campaign.State.DRAFT)
        with transaction.atomic():
            # Of the whole row: nobody may begin to refer to it.
            list(Dataset.objects.select_for_update().filter(pk=self.dataset.pk))
            self.lock()
            project = Project.objects.get(datasets=self.dataset)
            pending = self.removal_preview()
            if pending.reasons:
                return pending
            pending.check_version(known_version)
            # Nobody answers any more while it is written down.
            assignments = Assignment.objects.filter(item__campaign__dataset=self.dataset)
            list(assignments.select_for_update().order_by("pk").values_list("pk", flat=True))
            campaigns = list(opened.select_related("dataset", "rubric"))
            with archive_campaigns(project, campaigns):
                pending.removal.delete()
                ProjectEntry.objects.filter(dataset=self.dataset).update(dataset=None)
                row = Dataset.objects.filter(pk=self.dataset.pk)
                row._raw_delete(row.db)
                detail = f"{self.dataset.slug}, {self.dataset.title}: {n_of(pending.n, 'row')}"
                if campaigns:
                    detail += f"; answers of {n_of(len(campaigns), 'campaign')} are archived"
                ProjectEntry.record(project, by, "deleted the dataset", detail)
        return pending


KINDS: dict[str, type[Entity]] = {
    kind.KIND: kind for kind in (DatasetEntity, RunEntity, FileRater, SystemEntity)
}
