"""Campaigns: terms on which texts and questions are shown to raters."""

import secrets
from contextlib import suppress
from datetime import datetime

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import (
    MaxValueValidator,
    MinValueValidator,
    URLValidator,
    validate_email,
)
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone, translation

from annotation.models.corpus import Text
from annotation.models.people import User
from annotation.models.projects import visibility_filter
from annotation.models.rubric import Rubric
from annotation.models.standard import kind_for


def new_salt() -> str:
    return secrets.token_hex(16)


def languages() -> list[tuple[str, str]]:
    """Return the languages of the settings; a callable, so that adding one is no migration."""
    return settings.LANGUAGES


def is_contact(value: str) -> None:
    """Validate an e-mail or web address. Raises ValidationError for anything else."""
    with suppress(ValidationError):
        return validate_email(value)
    with suppress(ValidationError):
        return URLValidator(["http", "https"])(value)
    raise ValidationError("Give an e-mail address, or a web address with https://.")


A_SHARE = [MinValueValidator(0), MaxValueValidator(100)]  # in per cent
FEW = MaxValueValidator(1000)


class CampaignQuerySet(models.QuerySet["Campaign"]):
    def published(self) -> "CampaignQuerySet":
        """Return campaigns visible to raters: all except drafts."""
        return self.exclude(state=Campaign.State.DRAFT)

    def visible_to(self, user: User) -> "CampaignQuerySet":
        """Return campaigns of the projects that a member of staff is in; all for an admin."""
        return self.filter(visibility_filter("dataset", user))


class Campaign(models.Model):
    """A study: texts of a dataset, graded by participants under one rubric, on stated terms.

    A draft is fully editable, and its items are sampled again with every change. Once it is open,
    everything shown to raters is frozen: items, questions, the rubric's wording, guideline,
    consent, checks, pay. `annotation.builder.sampling` samples and opens;
    `annotation.participation.assigning` assigns.
    """

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    class Platform(models.TextChoices):
        NONE = "", "none: accounts and invitation links"
        PROLIFIC = "prolific", "Prolific"
        SONA = "sona", "SONA"
        CONNECT = "connect", "CloudResearch Connect"
        MTURK = "mturk", "Mechanical Turk"

    class Feedback(models.TextChoices):
        """Time from which people see the decisions on what they answered."""

        NEVER = "never", "never"
        CLOSED = "closed", "when the campaign is closed"
        PART = "part", "after each part"

    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.PROTECT, related_name="campaigns"
    )
    rubric = models.ForeignKey(
        "annotation.Rubric", on_delete=models.PROTECT, related_name="campaigns"
    )
    further_rubrics = models.ManyToManyField(
        "annotation.Rubric",
        blank=True,
        related_name="+",
        help_text="asked on the same page about the same pairs; each has its own ratings",
    )
    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=6, choices=State.choices, default=State.DRAFT)
    is_pilot = models.BooleanField(
        "pilot", default=False, help_text="its answers are stored, but never become ratings"
    )

    # Sampling
    selection = models.JSONField(
        default=dict,
        blank=True,
        help_text="filters of the texts: kind, systems, topics, sample size",
    )
    questions_per_item = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="drawn at random for each text; empty: all questions"
    )
    question_source = models.ForeignKey(
        "annotation.Rater",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="rater whose labels select one answerable and one unanswerable question for each text",
    )
    question_rubric = models.ForeignKey(
        "annotation.Rubric", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    gold_source = models.ForeignKey(
        "annotation.Rater",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="rater whose labels are the correct answers of training and gold items",
    )
    n_training = models.PositiveSmallIntegerField("training items", default=0)
    n_gold = models.PositiveSmallIntegerField("hidden gold items", default=0)
    gold_per_person = models.PositiveSmallIntegerField(
        "hidden gold items for one person",
        null=True,
        blank=True,
        help_text="spread evenly over all parts; empty: one in each part, until the person has had all",
    )
    gold_feedback = models.BooleanField(
        "feedback on hidden gold",
        default=False,
        help_text="show the correct answers of a hidden gold item after it is submitted, as of practice",
    )
    copies_equal_texts = models.BooleanField(
        "texts of equal words",
        default=False,
        help_text="assign one of them and copy its grades to the others; otherwise assign each",
    )
    seed = models.PositiveIntegerField(
        default=1, help_text="of all random draws, so that they can be reproduced"
    )

    # Assignment
    raters_per_item = models.PositiveSmallIntegerField(default=1)
    items_per_part = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="empty: one part with all items"
    )
    max_parts = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="maximum for one person; empty: no limit"
    )
    repeat_percent = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="share of the study items of a part that the same person gets again; empty: none",
    )
    repeat_after = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="minimum number of other items between an item and its repeat",
    )
    lease_hours = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="after that, untouched items return to the pool; empty: never",
    )
    begun_lease_hours = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="from the start of a part; after that, begun items return to the pool too; empty: never",
    )
    attention_per_part = models.PositiveSmallIntegerField("attention checks per part", default=0)
    skips_per_part = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="maximum number of skipped texts in a part; empty: a quarter",
    )

    # Pages of raters
    language = models.CharField(
        max_length=10,
        choices=languages,
        default=settings.LANGUAGE_CODE,
        help_text="language of the task pages; texts are not translated",
    )
    wording = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        help_text="title, question and levels of the rubric, as in annotation.models.rubric_wording; "
        "empty: the rubric's own",
    )
    guideline = models.TextField(blank=True, help_text="Markdown")
    consent = models.TextField(blank=True, help_text="Markdown; empty: no consent is requested")
    consent_version = models.CharField(max_length=40, blank=True)
    pay_per_part = models.DecimalField(max_digits=7, decimal_places=2, null=True, blank=True)
    currency = models.CharField(max_length=3, default="GBP", blank=True)
    minutes_per_part = models.PositiveSmallIntegerField(null=True, blank=True)
    contact = models.CharField(
        max_length=200,
        blank=True,
        validators=[is_contact],
        help_text="e-mail or web address for questions of workers",
    )
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    feedback = models.CharField(
        "feedback on decisions",
        max_length=6,
        choices=Feedback.choices,
        default=Feedback.NEVER,
        help_text="when people see an expert's decisions on pairs that they answered",
    )

    # Recruitment platform, with a completion code for each outcome
    platform = models.CharField(max_length=8, choices=Platform.choices, blank=True, default="")
    code_done = models.CharField(max_length=40, blank=True)
    code_screened_out = models.CharField(max_length=40, blank=True)
    code_failed_check = models.CharField(max_length=40, blank=True)
    admits_anyone = models.BooleanField(
        "open link", default=False, help_text="anyone with the link can join without an account"
    )
    completion_url = models.URLField(
        blank=True,
        help_text="with the placeholders {code} and {worker}; empty: the address of the platform",
    )
    platform_fee = models.DecimalField(
        max_digits=5,
        decimal_places=2,
        null=True,
        blank=True,
        validators=A_SHARE,
        help_text="in per cent of the pay, in addition to it; empty: no fee",
    )

    # Expected participation, for planning
    drop_out_percent = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MaxValueValidator(99)],
        help_text="expected share of arrivals that finish no part",
    )
    workers_a_day = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )

    # Review rules: parts to flag for review before approval
    look_skipped_percent = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=A_SHARE,
        help_text="flag for review if more texts of a part are skipped; empty: more than may be skipped",
    )
    look_checks_missed = models.PositiveSmallIntegerField(
        default=0, validators=[FEW], help_text="flag for review if more attention checks are missed"
    )
    look_gold_percent = models.PositiveSmallIntegerField(
        default=60,
        validators=A_SHARE,
        help_text="flag for review if fewer gold answers are correct",
    )
    look_gold_answers = models.PositiveSmallIntegerField(
        default=3,
        validators=[MinValueValidator(1), FEW],
        help_text="minimum number of gold answers for a share",
    )
    look_active_percent = models.PositiveSmallIntegerField(
        default=10,
        validators=A_SHARE,
        help_text="flag for review if less of the stated minutes is active time",
    )

    adjudicator = models.OneToOneField(
        "annotation.Rater",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        help_text="rater that has the decisions of experts as ratings",
    )
    salt = models.CharField(max_length=32, default=new_salt, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)

    objects = CampaignQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(raters_per_item__gte=1), name="campaign_needs_a_rater_per_item"
            ),
            models.CheckConstraint(
                condition=Q(question_source=None, question_rubric=None)
                | Q(question_source__isnull=False, question_rubric__isnull=False),
                name="campaign_question_source_has_a_rubric",
            ),
            models.CheckConstraint(
                condition=Q(begun_lease_hours=None)
                | Q(lease_hours__isnull=False, begun_lease_hours__gte=F("lease_hours")),
                name="campaign_begun_items_return_last",
            ),
            models.CheckConstraint(
                condition=Q(repeat_percent=None, repeat_after=None)
                | Q(
                    repeat_percent__isnull=False,
                    repeat_percent__range=(1, 100),
                    repeat_after__isnull=False,
                    repeat_after__gte=1,
                ),
                name="campaign_repeats_come_later",
            ),
            models.CheckConstraint(
                condition=Q(drop_out_percent=None) | Q(drop_out_percent__lt=100),
                name="campaign_somebody_finishes",
            ),
            models.CheckConstraint(
                condition=Q(gold_per_person=None)
                | Q(gold_per_person__gte=1, gold_per_person__lte=F("n_gold")),
                name="campaign_gold_per_person_is_drawn",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("campaign", args=[self.slug])

    @property
    def contact_url(self) -> str:
        return self.contact if "://" in self.contact else f"mailto:{self.contact}"

    @property
    def kind(self) -> str:
        """Return the kind of text chosen in the builder, else the one its rubric is made for."""
        kind: str = self.selection.get("kind") or kind_for(self.rubric)
        return kind or Text.Kind.PASSAGE

    def rubrics(self) -> "list[Rubric]":
        """Return all rubrics of the campaign: its own first, then the further ones."""
        return [self.rubric, *self.further_rubrics.all()]

    def kind_asked(self) -> str:
        """Return the kind of text of its first item; `kind` before any is sampled."""
        kinds = self.items.values_list("text__kind", flat=True)
        return kinds.first() or self.kind

    @property
    def is_draft(self) -> bool:
        return self.state == self.State.DRAFT

    @property
    def admits_strangers(self) -> bool:
        """Return whether people join by themselves: from a platform, or by the open link."""
        return bool(self.platform) or self.admits_anyone

    def activate_language(self) -> None:
        """Activate the campaign's language for the rest of the request."""
        translation.activate(self.language)

    def assigns_work(self, now: datetime | None = None) -> bool:
        """Return whether work is assigned to new arrivals: open, and between its dates."""
        now = now or timezone.now()
        return (
            self.state == self.State.OPEN
            and (self.opens_at is None or self.opens_at <= now)
            and (self.closes_at is None or now < self.closes_at)
        )

    def skip_limit(self, texts: int) -> int:
        """Return the number of texts of a part that may be skipped; by default a quarter.

        The default is at least one, as any text may be broken. Never all, as a part is paid.
        """
        limit = max(1, texts // 4) if self.skips_per_part is None else self.skips_per_part
        return max(0, min(limit, texts - 1))

    def counts_answers(self) -> bool:
        """Return whether answers to open assignments become ratings: also while it is paused."""
        return self.state in (self.State.OPEN, self.State.PAUSED)
