"""No address of an item shows or takes anything before the steps that come first."""

from copy import deepcopy
from uuid import uuid4

import pytest
from django.test import Client

from annotation.models import Answer, Assignment, Participant, Rating, Text
from annotation.participation import entry
from tests.annotation.study_material import ROOM
from tests.toolbox.prolific_study import RIGHT, Walker, make_study
from tests.toolbox.survey import add_survey, send

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}
ADDRESSES = ["", "state/", "answers/{question}/", "checks/{check}/", "submit/", "skip/"]
VISIBLE = ("", "state/")
STEPS = {
    "consent": ({"consented_at": None}, f"{ROOM}consent/", "read the terms"),
    "check": ({"checked_at": None}, f"{ROOM}check/", "answer the questions"),
    "survey": ({"surveyed_at": None}, f"{ROOM}questions-before/", "answer the questions"),
    "practice": ({}, "/work/{practice}/", "submit the practice texts"),
}


@pytest.fixture(scope="module")
def begun(shared_world):
    """With a part in hand, and nothing of it begun."""

    def make() -> Walker:
        walker = Walker(Client(), make_study())
        walker.prepare()
        add_survey(walker.campaign)
        send(walker, "before", "1", None)
        walker.begin()
        return walker

    return shared_world(make)


@pytest.fixture
def walker(db, begun):
    return deepcopy(begun)


def bearer(walker: Walker) -> Assignment:
    """The text of the part that asks an attention check."""
    return walker.participant.assignments.get(check_asked__isnull=False)


def practice(walker: Walker) -> Assignment:
    return walker.participant.assignments.get(item__purpose="training")


def call(walker: Walker, assignment: Assignment, address: str, **extra):
    question = assignment.item.asked.first().question_id
    url = f"/work/{assignment.pk}/{address.format(question=question, check=assignment.check_asked_id)}"
    if address in VISIBLE:
        return walker.client.get(url, **extra)
    return walker.client.post(url, {"key": uuid4(), "grade": 0, "spans": "[]"}, **extra)


@pytest.mark.parametrize("step", STEPS)
def test_item_is_refused_before_its_prerequisites(walker, step):
    change, leads, message = STEPS[step]
    Participant.objects.update(**change)
    assignment, url = bearer(walker), leads.format(practice=practice(walker).pk)
    for address in ADDRESSES:
        response = call(walker, assignment, address)
        assert (response.status_code, response.url) == (302, url), address
        refused = call(walker, assignment, address, **BY_SCRIPT)
        assert refused.status_code == 422, address
        assert message in refused.content.decode()
    assignment.refresh_from_db()
    assert (assignment.state, assignment.note) == ("open", "")
    assert not Answer.objects.exists()
    assert message in walker.client.get(url).content.decode()  # a form that came too early is told


@pytest.mark.parametrize("step", ["consent", "check", "survey"])
def test_practice_itself_waits_for_consent_check_and_survey(walker, step):
    Participant.objects.update(**STEPS[step][0])
    assignment = practice(walker)
    for address in ("", "state/", "answers/{question}/", "submit/", "skip/"):
        assert call(walker, assignment, address, **BY_SCRIPT).status_code == 422
    assert not Answer.objects.exists()


def test_after_the_practice_every_address_is_open(walker):
    walker.do(practice(walker))
    assignment = bearer(walker)
    for address in ADDRESSES:
        reply = call(walker, assignment, address, **BY_SCRIPT).content.decode()
        assert not any(message in reply for _, _, message in STEPS.values()), address
    assignment.refresh_from_db()
    assert (assignment.state, assignment.answers.count()) == ("skipped", 2)


def test_practice_that_is_open_again_keeps_nobody_from_the_work(walker):
    """An answer that was given offline must not be refused because of it."""
    assignment = practice(walker)
    walker.do(assignment)
    Assignment.objects.filter(pk=assignment.pk).update(state="open")
    assert call(walker, bearer(walker), "answers/{question}/", **BY_SCRIPT).status_code == 204


def test_practice_that_the_lease_took_back_is_still_to_be_done(walker):
    """Or who waits until a part is over could leave it out."""
    walker.participant.assignments.update(state="released", slot=None)
    assert call(walker, bearer(walker), "answers/{question}/", **BY_SCRIPT).status_code == 422
    walker.do(practice(walker))
    assert call(walker, bearer(walker), "answers/{question}/", **BY_SCRIPT).status_code == 204


def test_practice_that_was_skipped_when_it_could_be_keeps_nobody_from_the_work(walker):
    Assignment.objects.filter(pk=practice(walker).pk).update(state="skipped")
    assert call(walker, bearer(walker), "answers/{question}/", **BY_SCRIPT).status_code == 204


def test_person_cannot_be_graded_for_by_the_api(cast, walker):
    participant, text = walker.participant, Text.objects.filter(system="s0").first()
    body = {
        "rater": participant.rater.name,
        "rubric": "answerable",
        "ratings": [
            {"text": text.pk, "question": text.topic.questions.first().pk, "grade": 1},
        ],
    }
    admin = cast.client("admin")
    sent = admin.post("/api/v1/datasets/crowd/ratings/", body, content_type="application/json")
    assert sent.status_code == 409
    assert not Rating.objects.filter(rater=participant.rater).exists()


def test_participant_without_consent_cannot_begin(db):
    study = make_study(platform="", code_done="")
    (participant,) = entry.make_links(study, ["Ann"])
    walker = Walker(Client(), study)
    walker.pid = participant.external_id
    walker.client.force_login(participant.rater.user)
    assert walker.begin().redirect_chain[-1][0] == f"{ROOM}consent/"
    walker.agree()
    assert walker.begin().redirect_chain[-1][0] == f"{ROOM}check/"
    assert not Assignment.objects.exists()
    walker.check(*RIGHT)
    assert Assignment.objects.exists()
