"""Simulation of a crowd that leaves, spams and skips: the study completes, pay is right."""

import random
from collections import Counter, defaultdict
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db.models import F

from annotation.models import Answer, Assignment, Campaign, Part, Rating
from annotation.monitoring import actions, progress
from annotation.participation import assigning
from annotation.task import saving
from tests.toolbox.assignment_pool import answer, make_pool, newcomer

PAY = Decimal("2.35")
CROWD = {
    "leaves untouched": 15,
    "leaves after an answer": 9,
    "spammer": 1,
    "copy-cat": 1,
    "skipper": 2,
    "works": 32,
}
# By hand: 24 texts x 3 places are 72, in parts of 4. The spammer's 4 are done again by others. Each of the two
# skippers submits 3 of 4, so 66 are for the rest: 16 parts of 4, and one of 2, or two of 1 where the last two
# places are of one text. Paid are these, one of them the copy-cat's, the two skippers' and the spammer's.
PAID = {20: Decimal("47.00"), 21: Decimal("49.35")}


@pytest.fixture
def study(db) -> Campaign:
    study = make_pool(
        texts=24,
        raters_per_item=3,
        items_per_part=4,
        max_parts=1,
        lease_hours=1,
        begun_lease_hours=2,
    )
    study.pay_per_part = PAY
    study.save()
    study.refresh_from_db()
    return study


def ten_minutes_pass() -> None:
    earlier = timedelta(minutes=10)
    Part.objects.update(began=F("began") - earlier, expires=F("expires") - earlier)


def skip_one(part: Part) -> None:
    broken, *remaining = part.assignments.select_related("participant__campaign").order_by(
        "position"
    )
    saving.skip(broken, "It is cut off.")
    for assignment in remaining:
        answer(assignment, 1)
        hand_in(assignment)


def hand_in(assignment: Assignment) -> None:
    saving.submit(Assignment.objects.select_related("participant__campaign").get(pk=assignment.pk))


def act(role: str, part: Part, order: random.Random) -> None:
    if role == "leaves after an answer":
        answer(part.assignments.first(), 1)
    elif role == "skipper":
        skip_one(part)
    elif role != "leaves untouched":
        for assignment in part.assignments.order_by("position"):
            grade = 1 if role == "spammer" else order.randint(0, 1)
            if role == "copy-cat":
                answers = Answer.objects.filter(assignment__item=assignment.item).order_by("pk")
                grade = getattr(answers.last(), "grade", 0)
            answer(assignment, grade)
            hand_in(assignment)


@pytest.mark.soak
def test_study_completes_with_the_crowd_that_comes(cast, study):
    order = random.Random(11)
    roles = [role for role, n in CROWD.items() for _ in range(n)]
    order.shuffle(roles)
    # Whoever is worth looking at comes before the study is full.
    roles.sort(key=lambda role: role == "works")
    head, tail = roles[:28], roles[28:]
    order.shuffle(head)
    parts: dict[str, list[Part]] = defaultdict(list)
    refused = 0
    for number, role in enumerate([*head, *tail]):
        ten_minutes_pass()
        if number == 40:  # somebody has looked at the quality page
            actions.exclude_work(parts["spammer"][0].participant, cast.admin)
        part = assigning.begin_part(newcomer(study, f"{role.replace(' ', '-')}-{number}"))
        if part is None:
            refused += 1
            continue
        parts[role].append(part)
        act(role, part, order)
    assert {role: len(role_parts) for role, role_parts in parts.items() if role != "works"} == {
        role: n for role, n in CROWD.items() if role != "works"
    }
    paid = 60 - 24 - refused  # all who did not leave, and whom there was work for
    assert paid in PAID

    counted = Counter(Rating.objects.values_list("text", flat=True))
    assert sorted(counted.values()) == [3] * 24
    complete = study.items.filter(assignments__slot__isnull=False, assignments__state="submitted")
    assert sorted(Counter(complete.values_list("pk", flat=True)).values()) == [3] * 24
    total, *_ = progress.items(study)
    assert (total.complete, total.slots, total.submitted) == (24, 72, 72)
    assert progress.abandoned(study) == {"items": 0, "slots": 0, "people": 0}

    done = Part.objects.filter(outcome="done")
    assert Counter(part.participant.rater.name.rsplit("-", 1)[0] for part in done) == {
        "spammer": 1,
        "skipper": 2,
        "copy-cat": 1,
        "works": paid - 4,
    }
    dues = progress.pay_due(study)
    assert (dues[0].outcome, dues[0].parts) == ("done", paid)
    assert progress.total_due(dues).total == dues[0].amount.pay == PAID[paid]
    # Nothing that anybody said is gone.
    assert (
        Answer.objects.filter(assignment__participant__rater__name__startswith="leaves").count()
        == 9
    )
    assert Answer.objects.filter(late="set_aside").count() > 3
