"""Pairs on which raters differ, and decisions as the form sends them."""

from uuid import uuid4

from annotation.models import Campaign
from tests.toolbox.answers import item_of, label
from tests.toolbox.factories import REPORT

LIST = "/campaigns/ferry-answerable/adjudication/"


def make_differing(cast, campaign) -> Campaign:
    """oracle 1: words apart; 2: label; 3: agreed. bm25 1: the same words; 2: wil alone."""
    label(campaign, cast.worker, "oracle", 1, 1, "lost steering")
    label(campaign, cast.other_worker, "oracle", 1, 1, "Investigators found")
    label(campaign, cast.worker, "oracle", 2, 1, "was hurt")
    label(campaign, cast.other_worker, "oracle", 2, 0)
    label(campaign, cast.worker, "oracle", 3, 0)
    label(campaign, cast.other_worker, "oracle", 3, 0)
    label(campaign, cast.worker, "bm25", 1, 1, "lost steering")
    label(campaign, cast.other_worker, "bm25", 1, 1, "steering off")
    label(campaign, cast.worker, "bm25", 2, 1, "was hurt")
    return campaign


def pair(campaign, name="oracle", number=2):
    item = item_of(campaign, name)
    return item, item.asked.order_by("position")[number - 1].question


def url(campaign, name="oracle", number=2, query=""):
    item, question = pair(campaign, name, number)
    return f"/campaigns/{campaign.slug}/adjudication/{item.pk}/{question.pk}/{query}"


def span_position(quote):
    start = REPORT.index(quote)
    return f"{start}:{start + len(quote)}"


def decision(campaign, **change):
    item, _ = pair(campaign)
    sent = {
        "key": uuid4(),
        "base": "",
        "grade": "1",
        "keep": [span_position("was hurt")],
        "note": "the first sentence says so",
        "text_sha256": item.text.sha256,
    } | change
    return {name: value for name, value in sent.items() if value is not None}
