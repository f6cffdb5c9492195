"""What becomes of people who leave and of people who spam: time that ran out, and work that is set aside."""

from playwright.sync_api import expect

from tests.browser.hands import answer_all, grade, settled
from tests.browser.looks import faults

RUN_OUT = """
from datetime import timedelta
from django.utils import timezone
from annotation.models import Part
parts = Part.objects.filter(participant__rater__name='worker13', participant__campaign__slug='crowd')
parts.update(expires=timezone.now() - timedelta(hours=1))
"""


def participant(site, campaign: str, rater: str) -> str:
    [(key,)] = site.rows(
        "select p.id from annotation_participant p"
        " join annotation_campaign c on c.id = p.campaign_id"
        " join annotation_rater r on r.id = p.rater_id where c.slug = ? and r.name = ?",
        campaign,
        rater,
    )
    return f"/campaigns/{campaign}/participants/{key}/"


def test_a_part_whose_time_ran_out_is_told_extended_and_finished(visit, site):
    [item] = site.assignments("worker13", "crowd")
    page = visit("worker13").open(f"/work/{item}/")
    grade(page, 1, 0)
    settled(page)
    site.run(RUN_OUT)
    page.goto(f"{site.url}/work/in/crowd/")
    expect(page.get_by_text("You can still finish this part")).to_be_visible()
    assert faults(page) == []
    admins = visit("ada").open(participant(site, "crowd", "worker13"))
    admins.get_by_label("Hours more").fill("3")
    admins.get_by_role("button", name="Extend").click()
    expect(admins.get_by_text("Part 1 runs until")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Yours until")).to_be_visible()
    expect(page.get_by_text("You can still finish this part")).to_have_count(0)
    page.get_by_role("link", name="Go on").click()
    answer_all(page)
    settled(page)
    page.click("#submit button")
    page.wait_for_url(lambda url: f"/work/{item}/" not in url)
    expect(page.get_by_text("Thank you")).to_be_visible()
    assert site.state(item) == "submitted"


def test_work_is_set_aside_after_a_look_and_counts_again(visit, site):
    [(rater,)] = site.rows(
        "select r.name from annotation_participant p join annotation_rater r on r.id = p.rater_id"
        " join annotation_campaign c on c.id = p.campaign_id"
        " where c.slug = 'field' and p.external_id = 'pid-part'"
    )
    before = site.ratings(rater, "answerable")
    assert before
    page = visit("ada").open(participant(site, "field", rater))
    page.get_by_role("link", name="Set this work aside").click()
    page.get_by_text("Set this work aside…").click()
    expect(page.get_by_text("What changes in this campaign")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("button", name="Set it aside").click()
    expect(page.get_by_text("handed in can go to others")).to_be_visible()
    assert site.ratings(rater, "answerable") == {}
    assert faults(page) == []
    page.get_by_role("button", name="Count this work again").click()
    expect(page.get_by_text("count again.")).to_be_visible()
    assert site.ratings(rater, "answerable") == before
