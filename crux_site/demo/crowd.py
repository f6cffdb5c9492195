"""Crowd study of the demo: its terms, and simulated participants who have begun it."""

import random
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation.builder import sampling
from annotation.models import (
    Answer,
    Assignment,
    AttentionCheck,
    Campaign,
    CheckQuestion,
    Dataset,
    Part,
    Participant,
    Rater,
    Rubric,
    Text,
)
from annotation.participation import assigning, entry, workflow
from annotation.task import saving
from annotation.task.cards import QuestionCard
from annotation.task.page import item_cards
from annotation.text.spans import Span, sentences

SLUG = "demo-crowd"
PEOPLE = ("demo-ann", "demo-ben", "demo-cleo", "demo-dan")
CONSENT = """\
This is a **demonstration**. Nobody is paid, and nothing leaves this computer.

- You read short passages and say how well each answers two questions. One part takes about ten minutes.
- We keep your answers, when you gave them, and the id that the platform sends. Your answers are
  published without the id.
- You may stop at any time, without a reason. What you have saved by then is kept, and you can ask us to
  delete everything that points to you.
"""


@transaction.atomic
def make_crowd(dataset: Dataset) -> Campaign:
    """Create an open crowd study in parts, with a few simulated participants at work.

    What they answer is drawn by chance, so that the pages on quality have something to show; it is
    of no scientific value.
    """
    graded = Rubric.objects.get(slug="graded")
    campaign = Campaign(
        dataset=dataset,
        rubric=graded,
        slug=SLUG,
        title="Passage grading by a crowd",
        selection={"kind": Text.Kind.PASSAGE, "systems": [], "topics": [], "sample": None},
        question_source=Rater.objects.get(name="lexical", dataset=dataset),
        question_rubric=graded,
        gold_source=Rater.objects.get(name="demo_rater1", dataset=dataset),
        n_training=1,
        n_gold=1,
        raters_per_item=3,
        items_per_part=4,
        max_parts=3,
        lease_hours=24,
        begun_lease_hours=72,
        attention_per_part=1,
        consent=CONSENT,
        consent_version="demo-1",
        pay_per_part=Decimal("1.50"),
        minutes_per_part=10,
        drop_out_percent=25,
        workers_a_day=8,
        platform=Campaign.Platform.PROLIFIC,
        code_done="DEMODONE",
        code_screened_out="DEMOOUT",
        code_failed_check="DEMOCHECK",
    )
    campaign.save()
    sampling.sample(campaign, sampling.choose_texts(campaign))
    CheckQuestion.objects.bulk_create(
        CheckQuestion(campaign=campaign, position=position, **fields)
        for position, fields in enumerate(_checks())
    )
    AttentionCheck.objects.create(
        campaign=campaign,
        position=0,
        body="This question checks that you are reading. Please choose grade 2.",
        expected=2,
    )
    sampling.publish(campaign)
    for number, name in enumerate(PEOPLE):
        _take_part(campaign, name, random.Random(number), parts=2 if number < 2 else 1)  # noqa: S311
    return campaign


def _checks() -> list[dict[str, object]]:
    return [
        {
            "purpose": CheckQuestion.Purpose.SCREENING,
            "body": "Do you read English easily?",
            "options": ["Yes", "No"],
            "correct": 0,
        },
        {
            "purpose": CheckQuestion.Purpose.COMPREHENSION,
            "body": "A passage is about the right subject, and does not say what the question asks. "
            "Which grades can it have?",
            "options": [
                "4 or 5: it is about the subject",
                "0 to 2: it does not answer the question",
            ],
            "correct": 1,
            "why": "The grade is about the answer to the question, and not about the subject.",
        },
    ]


def _take_part(campaign: Campaign, name: str, chance: random.Random, parts: int) -> None:
    """Simulate one person: consent, check, and parts an hour apart, the last half done."""
    joined_at = timezone.now() - parts * timedelta(hours=1)
    participant = entry.get_or_create_participant(campaign, name)
    workflow.consent(participant)
    Participant.objects.filter(pk=participant.pk).update(
        check_tries=1, joined=joined_at, consented_at=joined_at, checked_at=joined_at
    )
    for number in range(1, parts + 1):
        part = assigning.begin_part(participant, study_id="demo", session_id=f"{name}-{number}")
        if part:
            began = joined_at + (number - 1) * timedelta(hours=1)
            _work_through(part, chance, began, leave=2 if number == parts else 0)


def _work_through(part: Part, chance: random.Random, began: datetime, leave: int) -> None:
    """Do the texts of a part but the last few, as if it had begun at that moment."""
    part.began, current_time = began, began
    part.expires = began + timedelta(hours=part.participant.campaign.lease_hours or 0)
    part.save(update_fields=["began", "expires"])
    assignments = Assignment.objects.select_related(
        "item__text", "participant__campaign__rubric", "part", "check_asked"
    ).filter(part=part)
    for assignment in list(assignments)[: -leave or None]:
        Assignment.objects.filter(pk=assignment.pk).update(opened_at=current_time)
        for prompt in item_cards(assignment):
            grade = _grade(assignment.item.text, prompt, chance)
            answer = saving.save_answer(
                assignment,
                prompt.question,
                key=UUID(int=chance.getrandbits(128), version=4),
                grade=grade,
                spans=[]
                if prompt.is_check
                else _spans(assignment.item.text, grade, prompt, chance),
                active_ms=chance.randint(8_000, 45_000),
            )
            current_time += timedelta(milliseconds=answer.active_ms)
            Answer.objects.filter(pk=answer.pk).update(created=current_time)
        saving.submit(assignment, active_ms=2_000)
        current_time += timedelta(seconds=2)
        Assignment.objects.filter(pk=assignment.pk).update(submitted_at=current_time)
    Part.objects.filter(pk=part.pk, outcome=Part.Outcome.DONE).update(ended=current_time)


def _grade(text: Text, prompt: QuestionCard, chance: random.Random) -> int:
    """Near the expected grade, or near one that everybody has in mind for this pair."""
    if prompt.is_check:
        return 2
    pair = random.Random(f"{text.name}:{prompt.question}")  # noqa: S311
    near = pair.randint(0, 5) if prompt.expected is None else prompt.expected
    return min(5, max(0, near + chance.choice((-1, 0, 0, 0, 1))))


def _spans(text: Text, grade: int, prompt: QuestionCard, chance: random.Random) -> list[Span]:
    body = text.body or ""
    if not prompt.rubric.needs_spans(grade):
        return []
    start, end = chance.choice(sentences(body, 0, len(body)))
    return [Span(start, end, body[start:end])]
