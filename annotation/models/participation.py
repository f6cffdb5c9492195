"""Participation: participants, parts, assignments, messages, the log, decisions."""

from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When
from django.urls import reverse
from django.utils import timezone

from annotation.models.item import Item

if TYPE_CHECKING:
    from annotation.models.campaign import Campaign
    from annotation.models.people import User


class ParticipantQuerySet(models.QuerySet["Participant"]):
    def with_status(self, now: datetime | None = None) -> models.QuerySet[Any]:
        """Annotate each with `status`, a key of Participant.STATUSES: the furthest reached."""
        parts = Part.objects.filter(participant=OuterRef("pk"))
        began = parts.filter(outcome=Part.Outcome.UNDER_WAY)
        agreed = Q(consented_at__isnull=False) | Q(checked_at__isnull=False)
        return self.annotate(
            status=Case(
                When(~Q(outcome=""), then=F("outcome")),
                When(
                    Exists(began.filter(expires__lte=now or timezone.now())), then=Value("overdue")
                ),
                When(Exists(began), then=Value("working")),
                When(Exists(parts.filter(outcome=Part.Outcome.DONE)), then=Value("part_done")),
                When(Exists(parts.filter(outcome=Part.Outcome.EXPIRED)), then=Value("lapsed")),
                When(checked_at=None, check_tries__gt=0, then=Value("in_check")),
                When(agreed, then=Value("consented")),
                default=Value("invited"),
            )
        )


class Participant(models.Model):
    """A rater's participation in a campaign, from the invitation to its outcome."""

    class Source(models.TextChoices):
        ACCOUNT = "account", "account"
        LINK = "link", "invitation link"
        PROLIFIC = "prolific", "Prolific"
        SONA = "sona", "SONA"
        CONNECT = "connect", "CloudResearch Connect"
        MTURK = "mturk", "Mechanical Turk"

    class Outcome(models.TextChoices):
        UNDER_WAY = "", "under way"
        DONE = "done", "done"
        SCREENED_OUT = "screened_out", "screened out"
        FAILED_CHECK = "failed_check", "failed the check"
        RETURNED = "returned", "returned"

    # Progress of a participant, in order.
    STATUSES = {
        "invited": "invited",
        "consented": "consented",
        "in_check": "in the check",
        "working": "working",
        "overdue": "overdue",
        "lapsed": "time ran out",
        "part_done": "part done",
        Outcome.DONE.value: "done",
        Outcome.SCREENED_OUT.value: "screened out",
        Outcome.FAILED_CHECK.value: "failed the check",
        Outcome.RETURNED.value: "returned",
    }

    campaign = models.ForeignKey(
        "annotation.Campaign",
        on_delete=models.CASCADE,
        related_name="participants",
        db_index=False,
    )
    rater = models.ForeignKey(
        "annotation.Rater", on_delete=models.PROTECT, related_name="participations"
    )
    source = models.CharField(max_length=8, choices=Source.choices, default=Source.ACCOUNT)
    external_id = models.CharField(
        max_length=200,
        blank=True,
        help_text="id of the person on the platform, or name for an invitation link",
    )
    link_serial = models.PositiveSmallIntegerField(
        default=0, help_text="number of the valid invitation link; earlier links are invalid"
    )
    link_until = models.DateTimeField(
        null=True, blank=True, help_text="expiry of the link; empty: the end of the study"
    )
    outcome = models.CharField(max_length=12, choices=Outcome.choices, blank=True, default="")
    seed = models.PositiveIntegerField(
        default=0, help_text="of the participant's own order of items"
    )
    consented_at = models.DateTimeField(null=True, blank=True)
    consent_version = models.CharField(max_length=40, blank=True)
    check_tries = models.PositiveSmallIntegerField(default=0)
    checked_at = models.DateTimeField(
        null=True, blank=True, help_text="when the person passed the check"
    )
    surveyed_at = models.DateTimeField(
        null=True, blank=True, help_text="when the person sent the survey page before the work"
    )
    feedback_opened_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="when the person first opened the page with decisions of an expert",
    )
    seen_message = models.PositiveIntegerField(
        default=0, help_text="id of the newest message that the person dismissed"
    )
    joined = models.DateTimeField(auto_now_add=True)
    set_aside_at = models.DateTimeField(
        null=True, blank=True, help_text="since when the work is excluded"
    )
    erased_at = models.DateTimeField(
        null=True, blank=True, help_text="when personal data was deleted; answers and ratings stay"
    )

    objects = ParticipantQuerySet.as_manager()

    class Meta:
        ordering = ["campaign_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "rater"], name="participant_unique"),
            models.UniqueConstraint(
                fields=["campaign", "source", "external_id"],
                condition=~Q(external_id=""),
                name="participant_external_id_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rater} in {self.campaign}"

    @cached_property
    def has_seen_feedback(self) -> bool:
        """True if the person has seen decisions of an expert, in this campaign or another."""
        readers = Participant.objects.filter(feedback_opened_at__isnull=False)
        return readers.filter(rater=self.rater_id).exists()

    @property
    def can_work(self) -> bool:
        """True if the participant may work: not ended by anybody, and work not excluded."""
        return self.outcome in (self.Outcome.UNDER_WAY, self.Outcome.DONE) and not self.set_aside_at

    def link_has_ended(self) -> bool:
        return self.link_until is not None and self.link_until <= timezone.now()

    def parts_done(self) -> int:
        return self.parts.filter(outcome=Part.Outcome.DONE).count()


class Part(models.Model):
    """A batch of a participant's work: items assigned together, with one completion code.

    It may have an end (`expires`).
    """

    class Outcome(models.TextChoices):
        UNDER_WAY = "", "under way"
        DONE = "done", "done"
        EXPIRED = "expired", "expired"
        RETURNED = "returned", "returned"

    class Submission(models.TextChoices):
        """State of the part's submission in the list that a platform exports."""

        ACTIVE = "active", "active"
        WAITING = "waiting", "waiting for review"
        APPROVED = "approved", "approved"
        PARTLY_APPROVED = "partly_approved", "partly approved"
        RETURNED = "returned", "returned"
        REJECTED = "rejected", "rejected"
        TIMED_OUT = "timed_out", "timed out"
        SCREENED_OUT = "screened_out", "screened out"

    participant = models.ForeignKey(
        Participant, on_delete=models.CASCADE, related_name="parts", db_index=False
    )
    number = models.PositiveSmallIntegerField()
    study_id = models.CharField(max_length=200, blank=True)
    session_id = models.CharField(max_length=200, blank=True)
    began = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField(null=True, blank=True)
    ended = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=8, choices=Outcome.choices, blank=True, default="")
    submission = models.CharField(
        max_length=15,
        choices=Submission.choices,
        blank=True,
        default="",
        help_text="state on the platform in the newest list that staff loaded; empty: in none",
    )
    submission_reviewed_at = models.DateTimeField(
        null=True, blank=True, help_text="time of the review on the platform, if the list has it"
    )
    submission_listed_at = models.DateTimeField(
        null=True, blank=True, help_text="when staff loaded that list"
    )

    class Meta:
        ordering = ["participant_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["participant", "number"], name="part_number_unique"),
        ]

    def __str__(self) -> str:
        return f"part {self.number} of {self.participant}"

    @property
    def is_extendable(self) -> bool:
        """True if the part has an end, and is under way or expired."""
        ends = self.outcome in (self.Outcome.UNDER_WAY, self.Outcome.EXPIRED)
        return ends and self.expires is not None

    @property
    def has_listed_submission(self) -> bool:
        """True if a list has the state of the submission as it is after the end of the part."""
        if self.submission != self.Submission.ACTIVE:
            return bool(self.submission)
        ended, listed = self.ended, self.submission_listed_at
        return ended is not None and listed is not None and ended <= listed

    def is_overdue(self, now: datetime | None = None) -> bool:
        return (
            not self.outcome
            and self.expires is not None
            and self.expires <= (now or timezone.now())
        )


def shown_state(assignment: str = "") -> Case:
    """Return the expression for `Assignment.shown_state` in queries.

    `assignment` is the look-up prefix: "assignment__".
    """
    is_released_skip = {
        f"{assignment}state": Assignment.State.RELEASED,
        f"{assignment}was_skipped": True,
    }
    return Case(
        When(**is_released_skip, then=Value(Assignment.State.SKIPPED.value)),
        default=F(f"{assignment}state"),
    )


class Assignment(models.Model):
    """An item assigned to a participant.

    While it counts towards the raters that its item needs it holds one of the item's slots, 0 to k
    - 1; the database refuses to give a slot twice. Training and gold items are assigned to
    everybody and hold none. A released assignment has given up its slot; its answers stay.

    A repeat shows the item of an earlier assignment to the same person again. It holds no slot, and
    its answers become no ratings: they tell how far the person agrees with themselves.
    """

    class State(models.TextChoices):
        OPEN = "open", "open"
        SUBMITTED = "submitted", "submitted"
        SKIPPED = "skipped", "skipped"
        RELEASED = "released", "released"

    participant = models.ForeignKey(
        Participant, on_delete=models.PROTECT, related_name="assignments", db_index=False
    )
    item = models.ForeignKey(
        "annotation.Item", on_delete=models.PROTECT, related_name="assignments"
    )
    part = models.ForeignKey(
        Part, on_delete=models.PROTECT, related_name="assignments", null=True, blank=True
    )
    repeats = models.OneToOneField(
        "self",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="repeat",
        help_text="first assignment of the item to the person, if this one shows it again",
    )
    position = models.PositiveIntegerField(help_text="position in the participant's own order")
    slot = models.PositiveSmallIntegerField(null=True, blank=True)
    state = models.CharField(max_length=9, choices=State.choices, default=State.OPEN)
    check_asked = models.ForeignKey(
        "annotation.AttentionCheck",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="assignments",
    )
    was_skipped = models.BooleanField(
        default=False,
        help_text="skipped and not submitted since, even if the item returned to the pool",
    )
    note = models.TextField(blank=True, help_text="the rater's reason to skip the item")
    reported_broken = models.BooleanField(
        default=False, help_text="the rater skipped the item and reported its text as broken"
    )
    active_ms = models.PositiveIntegerField(
        default=0, help_text="active milliseconds from the last answer to the submission"
    )
    opened_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="when the person first opened the page; empty: unknown",
    )
    submitted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["participant_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["participant", "item"],
                condition=Q(repeats=None),
                name="item_lent_once_to_a_participant",
            ),
            models.UniqueConstraint(
                fields=["participant", "position"], name="assignment_position_unique"
            ),
            models.UniqueConstraint(fields=["item", "slot"], name="item_slot_held_once"),
            models.CheckConstraint(
                condition=~Q(state="released", slot__isnull=False), name="released_holds_no_slot"
            ),
            models.CheckConstraint(
                condition=Q(repeats=None) | Q(slot=None), name="repeat_holds_no_slot"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.participant}: {self.item.text}"

    def get_absolute_url(self) -> str:
        return reverse("work", args=[self.pk])

    @property
    def shown_state(self) -> State:
        """Return the state for pages and exports.

        Skipped stays skipped, also after the item has returned to the pool.
        """
        if self.state == self.State.RELEASED and self.was_skipped:
            return self.State.SKIPPED
        return self.State(self.state)

    @property
    def needs_slot(self) -> bool:
        """True if the assignment counts towards the raters of its item."""
        return self.item.purpose == Item.Purpose.STUDY and self.repeats_id is None

    @property
    def is_reopened(self) -> bool:
        """True if the item was submitted, and a later change withdrew that."""
        return self.state == self.State.OPEN and self.submitted_at is not None

    def next_open(self) -> "Assignment | None":
        """Return the participant's next open assignment: further on, else the first one."""
        open_assignments = self.participant.assignments.filter(state=self.State.OPEN).exclude(
            pk=self.pk
        )
        return (
            open_assignments.filter(position__gt=self.position).first() or open_assignments.first()
        )


class MessageQuerySet(models.QuerySet["Message"]):
    def addressed_to_all(self) -> "MessageQuerySet":
        """Filter to messages to all workers of a campaign."""
        return self.filter(participant=None)

    def for_reading(self, participant: Participant) -> "MessageQuerySet":
        """Filter to messages of the researchers that a participant may read."""
        addressed = Q(participant=None) | Q(participant=participant)
        return self.filter(addressed, campaign=participant.campaign_id, is_from_participant=False)

    def unread(self) -> "MessageQuerySet":
        """Filter to messages of participants that no staff has read or answered."""
        return self.filter(is_from_participant=True, read_at=None)


class Message(models.Model):
    """Message of the researchers to all workers of a campaign, or between them and one.

    A note of a participant who disagrees with a decision names the pair.
    """

    campaign = models.ForeignKey(
        "annotation.Campaign", on_delete=models.CASCADE, related_name="messages_sent"
    )
    participant = models.ForeignKey(
        Participant,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="messages",
        help_text="the person whose conversation it is in; empty: to all workers",
    )
    about = models.ForeignKey(
        "annotation.ItemQuestion",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="pair with whose decision the participant disagrees",
    )
    is_from_participant = models.BooleanField(default=False)
    read_at = models.DateTimeField(
        null=True, blank=True, help_text="when staff read or answered a participant's message"
    )
    body = models.TextField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(is_from_participant=False) | Q(participant__isnull=False, by=None),
                name="message_from_a_participant_names_them",
            ),
        ]

    def __str__(self) -> str:
        return self.body


class LogEntry(models.Model):
    """Audit log of staff actions on a campaign and its participants: append-only."""

    campaign = models.ForeignKey(
        "annotation.Campaign", on_delete=models.CASCADE, related_name="log"
    )
    participant = models.ForeignKey(
        Participant, on_delete=models.SET_NULL, null=True, blank=True, related_name="log"
    )
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    action = models.CharField(max_length=40)
    detail = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = "campaign log entry"
        verbose_name_plural = "campaign log entries"

    def __str__(self) -> str:
        return f"{self.at:%F %H:%M} {self.action}"

    @classmethod
    def record(
        cls,
        campaign: "Campaign",
        by: "User | None",
        action: str,
        detail: str = "",
        participant: Participant | None = None,
    ) -> "LogEntry":
        """Write a log entry. `by` is None for what a scheduled command did."""
        return cls.objects.create(
            campaign=campaign, by=by, action=action, detail=detail, participant=participant
        )


class Decision(models.Model):
    """Adjudication of a pair on which raters differ: append-only, the newest counts.

    Its projection is the rating of the campaign's adjudicator, a rater of its own. A grade of None
    withdraws the decision before: the pair is open again.
    """

    item = models.ForeignKey("annotation.Item", on_delete=models.PROTECT, related_name="decisions")
    question = models.ForeignKey(
        "annotation.SubQuestion", on_delete=models.PROTECT, related_name="decisions"
    )
    key = models.UUIDField(unique=True)
    grade = models.SmallIntegerField(null=True, help_text="empty: withdraws the previous decision")
    spans = models.JSONField(help_text="[{start, end, quote}], offsets in code points of the text")
    note = models.TextField(blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.item_id}/{self.question_id}: {'withdrawn' if self.grade is None else self.grade}"
