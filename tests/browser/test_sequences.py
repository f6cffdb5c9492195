"""Label sequences: accessible at all widths, and a campaign in three acts."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import WIDTHS, faults

PLANS = "/datasets/tide/sequences/?rubric=graded&target=0.2"
LABEL_FIRST = (
    "from evaluation.models import LabelSequence;"
    "from annotation.models import Rater, Rating, Rubric;"
    "sequence = LabelSequence.objects.filter(target=0.2).first();"
    "rubric = Rubric.objects.get(slug='graded');"
    "ann = Rater.objects.get(dataset__slug='tide', name='ann');"
    "pairs = [(p[0], p[1]) for _, ps in sequence.units[:90] for p in ps];"
    "Rating.objects.bulk_create([Rating(rater=ann, rubric=rubric, text_id=t, question_id=q, grade=5)"
    " for t, q in pairs], ignore_conflicts=True)"
)


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_are_accessible_at(visit, site, width):
    page = visit("rosa", width=width, height=844).open(PLANS)
    assert faults(page, width) == []
    page.get_by_role("button", name="Start sequence").click()
    page.wait_for_url("**/sequences/*/")
    assert faults(page, width) == []
    site.run(LABEL_FIRST)
    page.reload()
    expect(page.locator("main")).to_contain_text("The vertical line is the stop.")
    assert faults(page, width) == []


def test_plan_becomes_an_open_campaign_in_three_acts(visit):
    page = visit("ada").open("/datasets/tide/label-next/?rubric=graded")
    assert faults(page) == []
    page.get_by_role("button", name="Compare plans").click()
    assert faults(page) == []
    page.get_by_role("button", name="Start sequence").click()
    page.get_by_label("Anyone with a link").check()
    page.get_by_role("button", name="Next").click()
    expect(page.locator("main")).to_contain_text("come next in the random order of label sequence")
    page.get_by_role("button", name="Open campaign").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Invitations")
