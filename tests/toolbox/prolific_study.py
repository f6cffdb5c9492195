"""Prolific study with all steps, and a walker that completes it."""

import json
import re
from copy import deepcopy
from hashlib import sha256
from typing import Any
from uuid import uuid4

from django.test import Client, RequestFactory

from annotation.builder import sampling
from annotation.models import (
    Assignment,
    AttentionCheck,
    Campaign,
    CheckQuestion,
    Dataset,
    NuggetSpan,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    Topic,
)
from annotation.participation import entry, workflow

PID = "5f1d2c3b4a59687786950413"
QUESTIONS = ["Why was the bridge shut?", "Who paid for the repair?"]
PRACTICE = "The bridge was shut because a pier had moved. Nobody has said who paid."
CHECKS = [
    ("screening", "Do you read English every week?", ["No", "Yes"], 1, ""),
    (
        "comprehension",
        "May you use what you know?",
        ["Yes", "No"],
        1,
        "The text alone counts, not what you know.",
    ),
    ("comprehension", "What does a 1 need?", ["Marked words", "Nothing"], 0, "Every 1 has words."),
]
RIGHT, WRONG = (1, 1, 0), (1, 0, 0)


def make_study(slug: str = "crowd", *, texts: int = 6, training: int = 1, **options) -> Campaign:
    """Create an open campaign on Prolific.

    Consent, checks, a practice text, parts of two, two raters each.
    """
    dataset = Dataset.objects.create(slug=slug, title="Bridges")
    topic = Topic.objects.create(dataset=dataset, name="bridge", request="Write.", position=0)
    questions = [
        SubQuestion.objects.create(topic=topic, position=position, body=body)
        for position, body in enumerate(QUESTIONS)
    ]
    reports = [
        Text.objects.create(
            dataset=dataset,
            topic=topic,
            kind="report",
            system=f"s{number % 2}",
            name=f"r{number}",
            body=f"Report {number} says that the bridge was shut. A pier had moved.",
        )
        for number in range(texts)
    ]
    rubric = Rubric.objects.get(slug="answerable")
    gold = Rater.objects.create(dataset=dataset, name="gold", kind=Rater.Kind.HUMAN)
    for number in range(training):
        _practice(dataset, topic, questions, gold, rubric, number)
    campaign = Campaign.objects.create(
        **{
            "dataset": dataset,
            "rubric": rubric,
            "slug": slug,
            "title": "Reading about bridges",
            "raters_per_item": 2,
            "items_per_part": 2,
            "max_parts": 2,
            "lease_hours": 20,
            "attention_per_part": 1,
            "n_training": training,
            "gold_source": gold,
            "consent": "You read **reports** and are paid for each part.",
            "consent_version": "2",
            "pay_per_part": "4.50",
            "minutes_per_part": 30,
            "platform": "prolific",
            "code_done": "DONE1",
            "code_screened_out": "SCREEN1",
            "code_failed_check": "FAILED1",
        }
        | options
    )
    for position, (purpose, body, choices, correct, explanation) in enumerate(CHECKS):
        CheckQuestion.objects.create(
            campaign=campaign,
            purpose=purpose,
            position=position,
            body=body,
            options=choices,
            correct=correct,
            why=explanation,
        )
    AttentionCheck.objects.create(
        campaign=campaign, position=0, body="To show that you read this, choose 0.", expected=0
    )
    sampling.sample(campaign, reports)
    sampling.publish(campaign)
    return campaign


def _practice(
    dataset: Dataset,
    topic: Topic,
    questions: list[SubQuestion],
    gold: Rater,
    rubric: Rubric,
    number: int,
) -> None:
    text = Text.objects.create(
        dataset=dataset,
        topic=topic,
        kind="report",
        system="practice",
        name=f"practice{number}",
        body=PRACTICE,
    )
    for question, quote in zip(questions, ["a pier had moved", ""], strict=True):
        rating = Rating.objects.create(
            rater=gold, rubric=rubric, text=text, question=question, grade=1 if quote else 0
        )
        if quote:
            start = PRACTICE.index(quote)
            NuggetSpan.objects.create(
                rating=rating, position=0, start=start, end=start + len(quote), quote=quote
            )


def prolific_id(name: str) -> str:
    """Return an id in Prolific's format, always the same for one name."""
    return name if re.fullmatch("[0-9a-f]{24}", name) else sha256(name.encode()).hexdigest()[:24]


def arrival_url(
    campaign: Campaign, pid: str = PID, session: str = "sub1", study: str = "st1"
) -> str:
    participant_param = f"PROLIFIC_PID={prolific_id(pid)}"
    return f"/start/{campaign.slug}/?{participant_param}&STUDY_ID={study}&SESSION_ID={session}"


def join(campaign: Campaign, pid: str = PID, client: Client | None = None, **ids: str):
    """Arrive from Prolific and agree to the terms."""
    client = client or Client()
    return client.post(arrival_url(campaign, pid, **ids), terms(campaign))


def terms(campaign: Campaign, decision: str = "agree", choice: int = RIGHT[0]) -> dict[str, Any]:
    """Return the form of the consent page: the decision, and the answers to screening."""
    screening = campaign.check_questions.filter(purpose="screening")
    return {"decision": decision} | {f"check-{question.pk}": choice for question in screening}


class Walker:
    """Prolific participant with a test client of their own."""

    def __init__(self, client, campaign: Campaign, pid: str = PID) -> None:
        self.client = client
        self.campaign = campaign
        self.pid = prolific_id(pid)
        self.room = f"/work/in/{campaign.slug}/"
        self.came_by = arrival_url(campaign, self.pid)

    def __deepcopy__(self, memo) -> "Walker":
        """Copy the participant with the same cookies in another client."""
        walker = Walker(Client(), deepcopy(self.campaign, memo), self.pid)
        walker.client.cookies = deepcopy(self.client.cookies)
        walker.came_by = self.came_by
        return walker

    @property
    def participant(self):
        return self.campaign.participants.get(external_id=self.pid)

    def arrive(self, session: str = "sub1", study: str = "st1"):
        self.came_by = arrival_url(self.campaign, self.pid, session, study)
        return self.client.get(self.came_by, follow=True)

    def agree(self, choice: int = RIGHT[0]):
        return self.answer_terms("agree", choice)

    def answer_terms(self, decision: str, choice: int = RIGHT[0]):
        """Answer the terms on the page that the platform's link opens.

        Participants with a link of ours are in the study by then.
        """
        url = self.came_by if self.campaign.platform else f"{self.room}consent/"
        return self.client.post(url, terms(self.campaign, decision, choice), follow=True)

    def on_another_device(self):
        """Come back with another session, which does not know that screening was passed."""
        self.client = Client()
        return self.arrive()

    def screening(self, choice: int = RIGHT[0]):
        return self.check(choice, step="screening", tries=0)

    def check(self, *choices: int, step: str = "comprehension", tries: int | None = None):
        """Answer the check questions of a step; the second step includes screening."""
        questions = self.campaign.check_questions.order_by("position")
        data = {
            f"check-{question.pk}": choice
            for question, choice in zip(questions, choices, strict=False)
        }
        data |= {"step": step, "tries": self.participant.check_tries if tries is None else tries}
        return self.client.post(f"{self.room}check/", data, follow=True)

    def prepare(self):
        """Pass all steps before the work; return the study's page, before the first part.

        A check that is answered on its page begins that part.
        """
        self.arrive()
        self.agree()
        workflow.pass_check(self.participant)
        return self.client.get(self.room)

    def begin(self):
        return self.client.post(f"{self.room}begin/", follow=True)

    def in_hand(self) -> list[Assignment]:
        return list(self.participant.assignments.filter(state="open").select_related("item"))

    def do(self, assignment: Assignment, grade: int = 0):
        """Give all questions of an item the same answer, and submit it."""
        urls = [
            f"/work/{assignment.pk}/answers/{item_question.question_id}/"
            for item_question in assignment.item.asked.all()
        ]
        if assignment.check_asked_id:
            urls.append(f"/work/{assignment.pk}/checks/{assignment.check_asked_id}/")
        for url in urls:
            response = self.client.post(
                url, {"key": uuid4(), "grade": grade, "spans": json.dumps([])}
            )
            assert response.status_code in (204, 302), response.content
        return self.client.post(f"/work/{assignment.pk}/submit/", follow=True)

    def do_part(self):
        """Begin a part and submit all of it; return the last page."""
        page = self.begin()
        for assignment in self.in_hand():
            page = self.do(assignment)
        return page


def open_link(study):
    """Return the open link of a campaign."""
    return entry.open_link_of(study, RequestFactory().get("/")).removeprefix("http://testserver")


def join_by_open_link(study, client=None):
    """Agree to the terms at the open link; return the browser of the new guest."""
    client = client or Client()
    client.get(open_link(study))  # sets the secret of the browser
    response = client.post(open_link(study), {"decision": "agree"})
    assert (response.status_code, response.url) == (302, f"/work/in/{study.slug}/")
    return client
