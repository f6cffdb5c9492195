"""The pages of statistics for reviewers, with numbers in them: axe finds nothing, nothing overflows."""

import pytest

from tests.browser.looks import faults

# The lexical judge of the demo tells no probabilities: for once it does, and a draft is there to be planned.
TELL = """
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
UNTELL = """
from annotation.models import Campaign
from judging.models import Attempt
Attempt.objects.filter(text__dataset__slug="coast").update(probabilities=None, expected_grade=None)
Campaign.objects.get(slug="to-come").delete()
"""
PAGES = {
    "/datasets/coast/calibration/?rubric=answerable&judge=lexical": "Probability of answerable",
    "/datasets/coast/calibration/?rubric=graded&judge=lexical": "Expected grade",
    "/datasets/coast/mixed-model/": "What varies",
    "/datasets/coast/mixed-model/?rubric=graded": "A comparison takes two systems",
    "/datasets/coast/retrieval/discriminative/": "Discriminative power",
    "/datasets/coast/retrieval/judges/": "τAP",
    "/campaigns/to-come/power/": "How it is computed",
    "/campaigns/t1/power/": "What varies is undefined",
}


@pytest.fixture
def told(site):
    site.run(TELL)
    yield
    site.run(UNTELL)


def test_pages_of_statistics_are_accessible(visit, site, told):
    page = visit("rosa").open("/")
    for path, says in PAGES.items():
        page.goto(site.url + path)
        assert says in page.locator("main").inner_text(), path
        assert faults(page) == [], path
