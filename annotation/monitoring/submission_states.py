"""States of submissions, stored on their parts from Prolific's list.

The person reads the state of their pay on the study's page. Of the list only the state and the time of the
review are stored.
"""

from django.db import transaction
from django.utils import timezone

from annotation.models import Campaign, LogEntry, Part, User
from annotation.monitoring.reconciliation import Reconciled
from annotation.participation.withdrawal import lock_campaign
from annotation.plurals import n_of

STATES = {
    "RESERVED": Part.Submission.ACTIVE,
    "ACTIVE": Part.Submission.ACTIVE,
    "AWAITING REVIEW": Part.Submission.WAITING,
    "APPROVED": Part.Submission.APPROVED,
    "PARTIALLY APPROVED": Part.Submission.PARTLY_APPROVED,
    "RETURNED": Part.Submission.RETURNED,
    "REJECTED": Part.Submission.REJECTED,
    "TIMED OUT": Part.Submission.TIMED_OUT,
    "SCREENED OUT": Part.Submission.SCREENED_OUT,
}


@transaction.atomic
def store_submission_states(campaign: Campaign, compared: Reconciled, by: User) -> int:
    """Store the state of each listed submission on its part; return the number of parts.

    Submissions without a part here, or with an unknown status, change nothing, nor do those of people whose
    personal data was deleted since. Of two lists at the same moment, the one that is stored last counts.
    """
    lock_campaign(campaign)
    submission_of_part = {
        row.part.part: row.submission
        for row in compared.rows
        if row.submission and row.part and row.part.part and row.submission.status in STATES
    }
    parts = Part.objects.select_for_update(of=("self",)).filter(
        pk__in=submission_of_part, participant__erased_at=None
    )
    listed_at, stored = timezone.now(), list(parts.order_by("pk"))
    for part in stored:
        submission = submission_of_part[part.pk]
        part.submission = STATES[submission.status]
        part.submission_reviewed_at = submission.reviewed
        part.submission_listed_at = listed_at
    fields = ["submission", "submission_reviewed_at", "submission_listed_at"]
    Part.objects.bulk_update(stored, fields)
    LogEntry.record(campaign, by, "loaded the list of Prolific", n_of(len(stored), "part"))
    return len(stored)
