"""Study with disagreeing raters, for the pages of quality and adjudication."""

from annotation.models import Campaign, User
from tests.toolbox.answers import label, submit_item
from tests.toolbox.browser_texts import T1_BODY
from tests.toolbox.factories import make_campaign, make_dataset

CLAY = "buried both tracks under four metres of clay"
NOBODY = "Nobody was on the line at the time"
# By rater and question: the grade and the quotes. The third rater is a hurried one.
ANSWERS = {
    "dora": [(1, CLAY), (1, NOBODY), (0,)],
    "emil": [(1, "four metres of clay"), (0,), (0,)],
    "finn": [(1, "Engineers blamed a culvert"), (0,), (1, T1_BODY)],
}


def fill() -> Campaign:
    """Create three raters of one report: they differ in span on question 1, then in label."""
    people = [User.objects.create(username=name, role="worker") for name in ANSWERS]
    campaign = make_campaign(make_dataset("differ", body=T1_BODY), *people)
    for number, person in enumerate(people):
        for question_number, (grade, *quotes) in enumerate(ANSWERS[person.username], start=1):
            label(
                campaign,
                person,
                "oracle",
                question_number,
                grade,
                *quotes,
                ms=40_000 - 18_000 * number,
            )
        submit_item(campaign, person, "oracle", ms=2_000)
    return campaign
