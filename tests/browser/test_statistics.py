"""Statistics pages for reviewers, with numbers: axe and overflow."""

import pytest

from tests.browser.page_audit import faults

# The lexical judge of the demo tells no probabilities: for once it does, and a draft is there to be planned.
ADD_PROBABILITIES = """
from annotation.models import Campaign, Dataset, Rubric
from judging.models import Attempt
coast = Dataset.objects.get(slug="coast")
for attempt in Attempt.objects.filter(text__dataset=coast, counts=True, state="graded"):
    shares = [0.4 if grade == attempt.grade else 0.12 for grade in range(6)]
    attempt.probabilities = shares
    attempt.expected_grade = sum(grade * share for grade, share in enumerate(shares))
    attempt.save(update_fields=["probabilities", "expected_grade"])
Campaign.objects.create(
    dataset=coast, rubric=Rubric.objects.get(slug="answerable"), slug="to-come", title="To come",
    selection={"kind": "report"},
)
"""
REMOVE_PROBABILITIES = """
from annotation.models import Campaign
from judging.models import Attempt
Attempt.objects.filter(text__dataset__slug="coast").update(probabilities=None, expected_grade=None)
Campaign.objects.get(slug="to-come").delete()
"""
PAGES = {
    "/datasets/coast/calibration/?rubric=answerable&judge=lexical": "Probability of answerable",
    "/datasets/coast/calibration/?rubric=graded&judge=lexical": "Expected grade",
    "/datasets/coast/calibration/figure/?rubric=graded&judge=lexical": "Expected grade",
    "/datasets/coast/mixed-model/": "Variance components",
    "/datasets/coast/mixed-model/?rubric=graded": "A comparison needs two systems",
    "/datasets/coast/systems/discriminative/": "Discriminative power",
    "/datasets/coast/systems/judges/": "τAP",
    "/campaigns/to-come/power/": "Method",
    "/campaigns/t1/power/": "The variances are undefined",
}


@pytest.fixture
def with_probabilities(site):
    site.run(ADD_PROBABILITIES)
    yield
    site.run(REMOVE_PROBABILITIES)


def test_pages_of_statistics_are_accessible(visit, site, with_probabilities):
    page = visit("rosa").open("/")
    for path, expected_text in PAGES.items():
        page.goto(site.url + path)
        assert expected_text in page.locator("main").inner_text(), path
        assert faults(page) == [], path
