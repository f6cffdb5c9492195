"""A dataset that has labels to draw by, and drafts on it as their makers fill them in."""

from django.core import serializers

from annotation.models import (
    AttentionCheck,
    Campaign,
    CheckQuestion,
    Dataset,
    Item,
    ItemQuestion,
    NuggetSpan,
    Participant,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    SurveyQuestion,
    Text,
    Topic,
)
from annotation.models.standard import GRADED
from tests.toolbox.factories import labels_of
from tests.toolbox.responses import markup

BODY = "The ferry Halden lost steering on 9 March. Nobody was hurt, and the coupling was replaced."
NEW = "/campaigns/new/"


def make_labelled(slug: str = "harbour", passages: int = 10) -> Dataset:
    """Make a dataset of two topics with four questions each, passages, and orla's labels.

    All but the last two passages are labelled. By orla's labels passage i answers its first
    question and no other, but passages 0 and 1: the one answers everything, the other nothing.
    """
    dataset = Dataset.objects.create(slug=slug, title=f"The {slug} study")
    topics = [
        Topic.objects.create(
            dataset=dataset, name=f"{slug}-{number}", request="Write.", position=number
        )
        for number in range(2)
    ]
    for topic in topics:
        SubQuestion.objects.bulk_create(
            SubQuestion(topic=topic, position=position, body=f"Question {position + 1} of {topic}?")
            for position in range(4)
        )
        for system in ("annotated.oracle", "annotated.bm25"):
            Text.objects.create(
                dataset=dataset,
                topic=topic,
                kind="report",
                system=system,
                name=topic.name,
                body=f"{BODY} {system}",
            )
    orla = Rater.objects.create(dataset=dataset, name="orla", kind=Rater.Kind.HUMAN)
    graded = Rubric.objects.get(slug="graded")
    for number in range(passages):
        topic = topics[number % 2]
        text = Text.objects.create(
            dataset=dataset,
            topic=topic,
            kind="passage",
            name=f"{topic}:{number}",
            body=f"{BODY} {number}",
        )
        if number >= passages - 2:
            continue
        for question in topic.questions.all():
            answers = number == 0 or (question.position == 0 and number != 1)
            rating = Rating.objects.create(
                rater=orla, rubric=graded, text=text, question=question, grade=4 if answers else 1
            )
            if answers:
                NuggetSpan.objects.create(
                    rating=rating, position=0, start=4, end=9, quote=BODY[4:9]
                )
    Text.objects.create(dataset=dataset, topic=topics[0], kind="passage", name="lost")
    Text.objects.create(dataset=dataset, kind="passage", name="no topic", body=BODY)
    return dataset


def make_draft(client, dataset: Dataset, *people, rubric: str = "graded", **change) -> Campaign:
    """A draft as the form for a new campaign makes it."""
    sent = {
        "dataset": dataset.slug,
        "audience": "colleagues",
        "title": "Grading",
        "rubric": Rubric.objects.get(slug=rubric).pk,
        "kind": "passage" if rubric == "graded" else "report",
        "people": [person.pk for person in people],
    }
    response = client.post(NEW, sent | change)
    assert response.status_code == 302, response.content.decode()
    return Campaign.objects.latest("id")


def url(campaign: Campaign, step: str) -> str:
    return f"/campaigns/{campaign.slug}/edit/{step}/"


def stored(campaign):
    """Everything that a campaign consists of, as it is in the database."""
    return serializers.serialize(
        "json",
        [
            Campaign.objects.get(pk=campaign.pk),
            *Item.objects.filter(campaign=campaign),
            *ItemQuestion.objects.filter(item__campaign=campaign),
            *CheckQuestion.objects.filter(campaign=campaign),
            *AttentionCheck.objects.filter(campaign=campaign),
            *SurveyQuestion.objects.filter(campaign=campaign),
            *Participant.objects.filter(campaign=campaign),
        ],
    )


def remarks(client, campaign) -> list[str]:
    """Return the remarks that stand above the button that opens the draft."""
    steps = client.get(url(campaign, "review")).context["steps"]
    return [remark for step in steps for remark in step.odd]


def version(client, campaign) -> str:
    """Return the version of a draft that its review page carries."""
    return client.get(url(campaign, "review")).context["version"]


def open_it(client, campaign, **extra):
    """Open a draft as its review page displays it."""
    context = client.get(url(campaign, "review")).context
    sent = {"version": context["version"]} if "version" in context else {}
    return client.post(url(campaign, "open"), sent, **extra)


def orla():
    return Rater.objects.get(name="orla")


def labels():
    return f"{orla().pk}:{Rubric.objects.get(slug='graded').pk}"


def read(client, campaign, step):
    response = client.get(url(campaign, step))
    assert response.status_code == 200
    return markup(response)


TEXTS = {"title": "Grading", "kind": "passage", "questions": "all", "seed": 1}
PARTS = {"raters_per_item": 3, "items_per_part": 4, "attention_per_part": 0}
GOLD = {"n_training": 0, "n_gold": 0}
WORDING = {
    "language": "en-gb",
    "rubric_title": GRADED.title,
    "question": "How well does this passage answer each question?",
    **{f"level_{grade}": label for grade, label in labels_of(GRADED)},
    "guideline": "## Read\n\nThen grade.",
    "consent": "You may stop.",
    "consent_version": "1",
}
TERMS = {
    "currency": "GBP",
    "pay_per_part": "6.00",
    "minutes_per_part": 30,
    "feedback": "never",
}
PROLIFIC = TERMS | {"platform": "prolific", "code_done": "C1"}


def rows(prefix: str, *checks: dict, before: int = 0) -> dict:
    """The rows of a list of checks as its form sends them; `before` of them were there."""
    sent = {
        f"{prefix}-TOTAL_FORMS": len(checks),
        f"{prefix}-INITIAL_FORMS": before,
        f"{prefix}-MIN_NUM_FORMS": 0,
        f"{prefix}-MAX_NUM_FORMS": 50,
    }
    for index, row in enumerate(checks):
        sent |= {f"{prefix}-{index}-{name}": value for name, value in row.items()}
    return sent


QUESTION = {
    "purpose": "comprehension",
    "body": "May you use what you know?",
    "options": "yes\nno",
    "correct": 2,
    "why": "The passage alone counts.",
}
CHECK = {"body": "Please choose grade 2.", "expected": 2}
CHECKS = rows("questions", QUESTION) | rows("attention", CHECK)
AGE = {
    "kind": "single",
    "body": "How old are you?",
    "options": "under 30\n30 or older",
    "is_required": "on",
    "is_demographic": "on",
}
HARD = {
    "kind": "scale",
    "body": "How hard was the work?",
    "options": "very easy\nvery hard",
    "points": 5,
}
SURVEY = rows("before", AGE) | rows("after", HARD)
STEPS = {
    "texts": TEXTS,
    "parts": PARTS,
    "gold": GOLD,
    "guideline": WORDING,
    "checks": CHECKS,
    "survey": SURVEY,
    "terms": TERMS,
}
