"""Rows that need the current wording of a text or a question, and keep earlier words from being restored."""

from __future__ import annotations

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.models import Answer, Campaign, Item, Rating, SubQuestion, Version
from crux_site.removal import Standing


def needed(versions: QuerySet[Version], brought: QuerySet[Rating]) -> list[Standing]:
    """Rows that depend on the wordings after these versions; `brought` are ratings that go as well."""
    since = Version.objects.filter(
        Q(text=OuterRef("text")) | Q(question=OuterRef("question")), number__gt=OuterRef("number")
    ).exclude(pk__in=versions.values("pk"))
    found = [
        Standing(
            "Words", versions.filter(Exists(since)).count(), "that are other ones again since"
        ),
        Standing("Words", versions.filter(had={}).count(), "from before they could be given back"),
    ]
    for thing in ("text", "question"):
        rated = Rating.objects.filter(
            **{f"{thing}__versions__in": versions},
            created__gt=F(f"{thing}__versions__replaced"),
        ).exclude(pk__in=brought.values("pk"))
        for rater, n in (
            rated.order_by("rater__name").values_list("rater__name").annotate(Count("pk"))
        ):
            found.append(Standing(f"Rater {rater}", n, f"grades of new words of a {thing}"))
        found += _said(versions, thing)
    shown = Q(items__text__versions__in=versions) | Q(items__asked__question__versions__in=versions)
    going_on = Campaign.objects.exclude(state=Campaign.State.CLOSED).filter(shown)
    for campaign, n in (
        going_on.order_by("pk").values_list("title").annotate(Count("items", distinct=True))
    ):
        found.append(
            Standing(f"Campaign {campaign}", n, "items with new words: close or discard it first")
        )
    return [standing for standing in found if standing.n]


def taken(versions: QuerySet[Version], brought: QuerySet[SubQuestion]) -> list[Standing]:
    """Words that another question of the topic has got since; `brought` are questions that go as well."""
    others = SubQuestion.objects.filter(topic=OuterRef("question__topic"), body=OuterRef("body"))
    others = others.exclude(pk__in=brought.values("pk")).exclude(versions__in=versions)
    n = versions.exclude(body="").filter(Exists(others)).count()
    return [Standing("Words", n, "that another question has by now")] if n else []


def _said(versions: QuerySet[Version], thing: str) -> list[Standing]:
    """Answers to the new wording, by campaign: also those that withdrew a grade and left no rating."""
    path = "assignment__item__text" if thing == "text" else "question"
    since = Answer.objects.filter(
        **{f"{path}__versions__in": versions},
        created__gt=F(f"{path}__versions__replaced"),
        late=Answer.Late.NO,
        question__isnull=False,
        assignment__item__campaign__is_pilot=False,
    ).exclude(assignment__item__purpose=Item.Purpose.TRAINING)
    by_campaign = since.order_by("assignment__item__campaign").values_list(
        "assignment__item__campaign", "assignment__item__campaign__title"
    )
    return [
        Standing(f"Campaign {title}", n, f"answers to new words of a {thing}")
        for _campaign, title, n in by_campaign.annotate(Count("pk"))
    ]
