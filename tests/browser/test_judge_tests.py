"""Repeat test of a judge in the browser: two clicks, a worker, and the result on the page."""

import pytest
from playwright.sync_api import expect

from tests.browser.mock_judging import PATIENT, served_with_mock_model, worker
from tests.browser.page_audit import WIDTHS, faults


@pytest.fixture(scope="module")
def site(tmp_path_factory, prepared):
    seed = "from tests.browser.judge_test_seed import seed; seed()"
    with served_with_mock_model(tmp_path_factory.mktemp("judge-tests"), seed, prepared) as running:
        yield running


def test_repeat_test_is_two_clicks_from_the_judge(visit, site):
    visitor = visit("ada", java_script_enabled=False)
    page = visitor.open("/judges/1/")
    page.get_by_role("link", name="Tests").click()
    expect(page.get_by_label("Server")).to_have_value("mock")
    page.get_by_role("button", name="Estimate").click()
    expect(page.locator("#counted")).to_contain_text("150 requests: 50 pairs, 3 times each.")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="Judge run 3")).to_be_visible()
    page.get_by_role("link", name="result of the test").click()
    expect(page.get_by_text("None of the grades differs.")).to_be_visible()
    with worker(site):
        page = visit("ada").open("/judge-runs/3/")
        expect(page.locator("#run-state")).to_have_text("finished", timeout=PATIENT)
    page.get_by_role("link", name="result of the test").click()
    expect(page.get_by_text("150 replies, 0 without a grade")).to_be_visible()
    expect(page.get_by_role("row", name="Grades that change")).to_contain_text("n")
    expect(page.locator(".replies tbody tr").first).to_contain_text("question")
    page.get_by_role("link", name="Tests").click()
    expect(page.get_by_role("row", name="Repeat")).to_contain_text("finished")
    [(replies, ratings)] = site.rows(
        "select count(*), (select count(*) from annotation_rating where rater_id ="
        " (select rater_id from judging_judge)) from judging_judgetestreply"
        " where run_id = 3"
    )
    assert (replies, ratings) == (150, 60)


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_of_tests_are_accessible_at(visit, site, width):
    visitor = visit("ada", width=width, height=844)
    for path in ("/judges/1/tests/", "/judge-runs/2/test/", "/judge-runs/2/"):
        page = visitor.open(path)
        assert faults(page, width) == [], path
        page.close()
