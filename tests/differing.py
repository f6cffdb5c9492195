"""A study whose raters differ, for the pages of quality and adjudication in the browser."""

from annotation.models import Campaign, User
from tests.browser.material import T1_BODY
from tests.factories import make_campaign, make_dataset
from tests.labels import hand_in, label

CLAY = "buried both tracks under four metres of clay"
NOBODY = "Nobody was on the line at the time"
# By rater and question: the grade and the words. The third rater is a hurried one.
SAID = {
    "dora": [(1, CLAY), (1, NOBODY), (0,)],
    "emil": [(1, "four metres of clay"), (0,), (0,)],
    "finn": [(1, "Engineers blamed a culvert"), (0,), (1, T1_BODY)],
}


def fill() -> Campaign:
    """Three raters of one report: the first question differs in words, the others in label."""
    people = [User.objects.create(username=name, role="worker") for name in SAID]
    campaign = make_campaign(make_dataset("differ", body=T1_BODY), *people)
    for number, person in enumerate(people):
        for question_number, (grade, *quotes) in enumerate(SAID[person.username], start=1):
            label(
                campaign,
                person,
                "oracle",
                question_number,
                grade,
                *quotes,
                ms=40_000 - 18_000 * number,
            )
        hand_in(campaign, person, "oracle", ms=2_000)
    return campaign
