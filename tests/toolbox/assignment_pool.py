"""An open campaign of many small reports, and people who come and work in it."""

from uuid import uuid4

from annotation.builder import sampling
from annotation.models import Assignment, Campaign, Rater, Rubric, SubQuestion, Text, Topic
from annotation.participation import assigning
from annotation.task import saving
from annotation.text.spans import Span
from tests.toolbox.factories import make_dataset

SYSTEMS = ("bm25", "dense", "oracle")


def make_pool(slug: str = "pool", *, texts: int = 12, **options) -> Campaign:
    """An open campaign of reports by three systems, one question each, for whoever comes."""
    dataset = make_dataset(slug)
    topic = Topic.objects.create(dataset=dataset, name="t", request="Write.", position=1)
    SubQuestion.objects.create(topic=topic, position=0, body="What?")
    participants = [
        Text.objects.create(
            dataset=dataset,
            topic=topic,
            kind="report",
            system=SYSTEMS[number % 3],
            name=f"r{number}",
            body=f"Report {number}.",
        )
        for number in range(texts)
    ]
    campaign = Campaign.objects.create(
        dataset=dataset,
        rubric=Rubric.objects.get(slug="answerable"),
        slug=slug,
        title="Pool",
        **{"raters_per_item": 2, "items_per_part": 4} | options,
    )
    sampling.sample(campaign, participants)
    sampling.publish(campaign)
    return campaign


def newcomer(campaign, name):
    rater, _ = Rater.objects.get_or_create(name=name, dataset=None, defaults={"kind": "human"})
    return assigning.invite(campaign, rater)


def items(part):
    return [assignment.item_id for assignment in part.assignments.order_by("position")]


def work_through(part, grade=0):
    for assignment in part.assignments.filter(state="open").order_by("position"):
        answer(assignment, grade)
        saving.submit(assignment)


def answer(assignment, grade=0, **more):
    assignment = Assignment.objects.select_related("item__text", "participant__campaign").get(
        pk=assignment.pk
    )
    question = assignment.item.asked.get().question
    spans = [Span(0, 6, "Report")] if grade else []
    return saving.save_answer(assignment, question, key=uuid4(), grade=grade, spans=spans, **more)
