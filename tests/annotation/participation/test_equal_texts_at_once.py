"""Answers and their copies while somebody else edits, excludes or answers."""

import json
from uuid import uuid4

import pytest

from annotation.builder import drafts
from annotation.builder.equal_texts import count_edited
from annotation.models import Answer, Campaign, Membership, NuggetSpan, Rating
from annotation.monitoring import actions
from annotation.text.versions import TextEditError
from crux_site.versions.text_edits import edit_text
from tests.toolbox.answers import assignment_of, label, submit_item
from tests.toolbox.campaign_builder import make_draft, version
from tests.toolbox.concurrent_clients import at_once, rounds
from tests.toolbox.equal_texts import COPIES, WHEEL, grades_of, make_copying, make_mill, text_named

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 3


@pytest.fixture
def campaign(cast):
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    return make_copying(make_mill(), cast.worker, cast.other_worker)


def answer(client, assignment, grade):
    question = assignment.item.asked.get(position=0).question_id
    spans = [{"start": 4, "end": 9, "quote": "wheel"}]
    data = {"key": uuid4(), "grade": grade, "spans": json.dumps(spans)}
    return client.post(f"/work/{assignment.pk}/answers/{question}/", data)


def assert_spans_are_in_their_texts():
    for span in NuggetSpan.objects.filter(start__isnull=False).select_related("rating__text"):
        assert span.rating.text.body[span.start : span.end] == span.quote


def test_answer_is_copied_while_an_equal_text_is_edited(campaign, cast):
    """The campaign is open, so that the edit is refused in whichever order they come."""
    worker, owner = cast.client("worker"), cast.client("researcher")
    assignment, text = assignment_of(campaign, cast.worker, "m1:0"), text_named("m1:1")
    edit = {"body": f"New. {text.body}", "counts": "yes", "seen": text.sha256}
    address = f"/datasets/mill/text-history/text/{text.pk}/"
    for number, (saved, edited) in enumerate(
        rounds(
            ROUNDS,
            lambda number: (
                lambda: answer(worker, assignment, number + 1),
                lambda: owner.post(address, edit),
            ),
        )
    ):
        assert (saved.error, edited.error) == (None, None)
        assert saved.status < 400
        assert edited.status in (409, 422)
        grades = grades_of("wil")
        assert {name: grade for name, (grade, *_) in grades.items()} == dict.fromkeys(
            ("m1:0", *COPIES), number + 1
        )
        assert_spans_are_in_their_texts()
    text.refresh_from_db()
    assert text.body == f" \n{WHEEL}"


@pytest.mark.parametrize("counts", [True, False])
def test_answer_is_copied_or_late_while_the_campaign_is_closed_and_edited(campaign, cast, counts):
    """Original and copies come together; a superseded copy is lost alone."""
    worker = cast.client("worker")
    assignment = assignment_of(campaign, cast.worker, "m1:0")

    def close_and_edit():
        actions.set_state(campaign, "closed", cast.researcher)
        edit_text(text_named("m1:1"), f"Old: {WHEEL}", by=None, why="", counts=counts)

    saved, edited = at_once(lambda: answer(worker, assignment, 3), close_and_edit)
    assert (saved.error, edited.error) == (None, None)
    late = Answer.objects.get().late
    grades = grades_of("wil")
    expected = {"m1:0", *COPIES} - ({"m1:1"} if not counts else set())
    assert set(grades) == (set() if late else expected)
    assert_spans_are_in_their_texts()


def test_copies_follow_an_exclusion_while_an_equal_text_is_edited(campaign, cast):
    for name in ("m1:0", "m1:3"):
        for number in (1, 2):
            label(campaign, cast.worker, name, number, 0)
        submit_item(campaign, cast.worker, name)
    actions.set_state(campaign, "closed", cast.researcher)
    participant = campaign.participants.get(rater__user=cast.worker)
    for number in range(ROUNDS):
        act = actions.include_work if number % 2 else actions.exclude_work
        changed, edited = at_once(
            lambda act=act: act(participant, cast.researcher),
            lambda number=number: edit_text(
                text_named("m1:2"), f"{number} {WHEEL}", by=None, why="", counts=True
            ),
        )
        assert (changed.error, edited.error) == (None, None)
        assert len(grades_of("wil", 1)) == (4 if number % 2 else 0)
        assert Rating.objects.count() == (8 if number % 2 else 0)


def test_own_grade_stays_while_a_copy_of_another_answer_comes(campaign, cast):
    campaign.slug = "first"
    campaign.save(update_fields=["slug"])
    later = make_copying(campaign.dataset, cast.worker, copies_equal_texts=False)
    for number in range(ROUNDS):
        outcomes = at_once(
            lambda number=number: label(campaign, cast.worker, "m1:0", 1, number),
            lambda number=number: label(later, cast.worker, "m1:2", 1, number + 3),
        )
        assert [outcome.error for outcome in outcomes] == [None, None]
        grades = grades_of("wil")
        assert grades["m1:2"][:2] == (number + 3, "")
        assert grades["m1:1"][:2] == (number, "m1:0")
        assert Rating.objects.count() == 3


def test_draft_is_opened_or_its_equal_text_is_edited(cast):
    """The two lock the campaign in turn; never is an opened campaign left with other words."""
    client = cast.client("admin")
    draft = make_draft(client, make_mill())
    read_version = version(client, draft)
    opened, edited = at_once(
        lambda: drafts.open_draft(draft, cast.admin, read_version),
        lambda: edit_text(text_named("m1:1"), "Other.", by=None, why="", counts=True),
    )
    assert (opened.error is None) != (edited.error is None)
    assert edited.error is None or isinstance(edited.error, TextEditError)
    stored = Campaign.objects.get(pk=draft.pk)
    assert stored.is_draft == (opened.error is not None)
    assert count_edited(stored) == (1 if stored.is_draft else 0)
