"""Blockers of a restore: rows that depend on the current wording of a text or question."""

from __future__ import annotations

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.models import Answer, Campaign, Item, Rating, SubQuestion, Version
from crux_site.removal import Blocker


def dependent_rows(versions: QuerySet[Version], brought: QuerySet[Rating]) -> list[Blocker]:
    """Return rows that depend on wordings after these versions; `brought` ratings go, too."""
    since = Version.objects.filter(
        Q(text=OuterRef("text")) | Q(question=OuterRef("question")), number__gt=OuterRef("number")
    ).exclude(pk__in=versions.values("pk"))
    blockers = [
        Blocker("Texts", versions.filter(Exists(since)).count(), "edited again since"),
        Blocker("Texts", versions.filter(had={}).count(), "edited before edits could be undone"),
    ]
    for kind in ("text", "question"):
        rated = Rating.objects.filter(
            **{f"{kind}__versions__in": versions},
            created__gt=F(f"{kind}__versions__replaced"),
        ).exclude(pk__in=brought.values("pk"))
        for rater, n in (
            rated.order_by("rater__name").values_list("rater__name").annotate(Count("pk"))
        ):
            blockers.append(Blocker(f"Rater {rater}", n, f"grades of the new version of a {kind}"))
        blockers += _answer_blockers(versions, kind)
    uses_wording = (
        Q(items__text__versions__in=versions)
        | Q(items__equal_texts__text__versions__in=versions)
        | Q(items__asked__question__versions__in=versions)
    )
    active_campaigns = Campaign.objects.exclude(state=Campaign.State.CLOSED).filter(uses_wording)
    for campaign, n in (
        active_campaigns.order_by("pk").values_list("title").annotate(Count("items", distinct=True))
    ):
        blockers.append(
            Blocker(
                f"Campaign {campaign}",
                n,
                "items with the new version: close or delete the campaign first",
            )
        )
    return [blocker for blocker in blockers if blocker.n]


def duplicate_wordings(
    versions: QuerySet[Version], brought: QuerySet[SubQuestion]
) -> list[Blocker]:
    """Return wordings that another question of the topic has now.

    `brought` are questions that are removed as well.
    """
    duplicates = SubQuestion.objects.filter(
        topic=OuterRef("question__topic"), body=OuterRef("body")
    )
    duplicates = duplicates.exclude(pk__in=brought.values("pk")).exclude(versions__in=versions)
    n = versions.exclude(body="").filter(Exists(duplicates)).count()
    return [Blocker("Texts", n, "that are now equal to another question")] if n else []


def _answer_blockers(versions: QuerySet[Version], kind: str) -> list[Blocker]:
    """Return answers to the new wording by campaign, also those that withdrew a grade."""
    path = "assignment__item__text" if kind == "text" else "question"
    since = Answer.objects.filter(
        **{f"{path}__versions__in": versions},
        created__gt=F(f"{path}__versions__replaced"),
        late=Answer.Late.NO,
        question__isnull=False,
        assignment__item__campaign__is_pilot=False,
        assignment__repeats=None,
    ).exclude(assignment__item__purpose=Item.Purpose.TRAINING)
    by_campaign = since.order_by("assignment__item__campaign").values_list(
        "assignment__item__campaign", "assignment__item__campaign__title"
    )
    return [
        Blocker(f"Campaign {title}", n, f"answers to the new version of a {kind}")
        for _campaign, title, n in by_campaign.annotate(Count("pk"))
    ]
