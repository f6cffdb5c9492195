"""Signals of Quality as reasons to review a submission: straight-lining, copies, speed."""

from collections.abc import Mapping, Sequence

import numpy as np
from django.urls import reverse

from annotation.models import Assignment, Campaign
from annotation.monitoring.reconciliation import Link, Reason
from evaluation.quality.page import QualityReport, quality_report
from evaluation.quality.signals.profile import Flag, Profile

LABELS = {
    "one-grade": "Straight-lining",
    "run": "Straight-lining",
    "copies": "Copies",
    "quick": "Too fast",
}
"""Kinds of flags that are a reason to review a submission. Disagreement with others is none."""
MAX_ITEMS = 3  # links to items, for each reason


def quality_reasons(campaign: Campaign) -> Mapping[int, Sequence[Reason]]:
    """Return the reasons to review the work of each participant, in all parts together."""
    report = quality_report(campaign)
    participant_of = dict(campaign.participants.values_list("rater", "pk"))
    return {
        participant_of[rater]: [
            Reason(f"{LABELS[flag.kind]}: {flag.words}.", _links(report, rater, profile, flag))
            for flag in profile.flags
            if flag.kind in LABELS
        ]
        for rater, profile in zip(report.answers.names, report.profiles, strict=True)
    }


def _links(report: QualityReport, rater: int, profile: Profile, flag: Flag) -> tuple[Link, ...]:
    """Return links to the quality page of the rater, of a partner, and of some items."""
    slug = report.campaign.slug
    names = filter(None, (profile.name, flag.partner))
    raters = [
        Link(f"Quality of {name}", reverse("quality_rater", args=[slug, name])) for name in names
    ]
    items = [report.answers.items[pk] for pk in _items(report, rater, profile, flag)[:MAX_ITEMS]]
    return (
        *raters,
        *(Link(item.title, reverse("quality_item", args=[slug, item.pk])) for item in items),
    )


def _items(report: QualityReport, rater: int, profile: Profile, flag: Flag) -> list[int]:
    """Return the items of a run, those that a partner answered as well, or the quickest."""
    answers = report.answers
    counted = np.flatnonzero((answers.rater == rater) & answers.counts)
    if flag.kind == "run":
        run = counted[profile.straight.start :][: profile.straight.length]
        return list(dict.fromkeys(answers.item[run].tolist()))
    if flag.kind == "copies":
        partner = next(pk for pk, name in answers.names.items() if name == flag.partner)
        of_partner = set(answers.item[(answers.rater == partner) & answers.counts].tolist())
        return [pk for pk in dict.fromkeys(answers.item[counted].tolist()) if pk in of_partner]
    if flag.kind == "quick":
        timed = [
            (row.active_ms, row.item)
            for row in answers.assignments
            if row.rater == rater and row.state == Assignment.State.SUBMITTED and row.active_ms
        ]
        return [item for _, item in sorted(timed)]
    return []
