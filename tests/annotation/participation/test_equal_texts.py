"""Ratings of texts of equal words: copied from the assigned one, and updated with it."""

from uuid import uuid4

import pytest

from annotation.adjudication.decisions import adjudicator_of, decide
from annotation.models import NuggetSpan, Rating
from annotation.monitoring import actions
from annotation.text.spans import Span
from annotation.text.versions import TextEditError, anchor_span
from crux_site.versions.text_edits import edit_text, set_grades_valid, undo_text_edit
from tests.toolbox.answers import assignment_of, label, submit_item
from tests.toolbox.equal_texts import (
    BODIES,
    COPIES,
    WHEEL,
    grades_of,
    make_copying,
    make_mill,
    text_named,
)

WIL = "wil"


@pytest.fixture
def campaign(cast):
    return make_copying(make_mill(), cast.worker, cast.other_worker)


def close(campaign):
    campaign.state = campaign.State.CLOSED
    campaign.save(update_fields=["state"])


def hand_in(campaign, user, name, grade, *quotes):
    label(campaign, user, name, 1, grade, *quotes)
    label(campaign, user, name, 2, 0)
    submit_item(campaign, user, name)


def participant(campaign, user):
    return campaign.participants.get(rater__user=user)


def second_study(campaign, *people):
    """Open another study of the same texts, which hands out each."""
    campaign.slug = "first"
    campaign.save(update_fields=["slug"])
    return make_copying(campaign.dataset, *people, copies_equal_texts=False)


def test_item_is_drawn_once_for_equal_texts(campaign):
    items = {item.text.name: item for item in campaign.items.select_related("text")}
    assert list(items) == ["m1:0", "m1:3"]
    equal = items["m1:0"].equal_texts.values_list("text__name", flat=True)
    assert tuple(equal) == COPIES
    assert not items["m1:3"].equal_texts.exists()


def test_answer_is_copied_with_its_spans_at_the_same_words(campaign, cast):
    label(campaign, cast.worker, "m1:0", 1, 3, "wheel", "Marsh")
    grades = grades_of(WIL)
    assert grades == {
        "m1:0": (3, "", [(4, "wheel"), (24, "Marsh")]),
        "m1:1": (3, "m1:0", [(6, "wheel"), (26, "Marsh")]),
        "m1:2": (3, "m1:0", [(4, "wheel"), (24, "Marsh")]),
    }
    for rating in Rating.objects.prefetch_related("spans"):
        for span in rating.spans.all():
            assert BODIES[rating.text.name][span.start : span.end] == span.quote


def test_change_and_withdrawal_of_an_answer_change_its_copies(campaign, cast):
    label(campaign, cast.worker, "m1:0", 1, 3, "wheel")
    label(campaign, cast.worker, "m1:0", 1, 5, "mended")
    assert {grade for grade, *_ in grades_of(WIL).values()} == {5}
    assert grades_of(WIL)["m1:1"] == (5, "m1:0", [(16, "mended")])
    label(campaign, cast.worker, "m1:0", 1, None)
    assert grades_of(WIL) == {}


def test_answer_that_was_sent_twice_is_copied_once(campaign, cast):
    for grade in (3, 3, 4):
        label(campaign, cast.worker, "m1:0", 1, grade, "wheel")
    assert Rating.objects.count() == 3
    assert [len(spans) for *_, spans in grades_of(WIL).values()] == [1, 1, 1]


def test_campaign_that_hands_out_each_copies_nothing(cast):
    campaign = make_copying(make_mill(), cast.worker, copies_equal_texts=False)
    assert campaign.items.count() == 4
    label(campaign, cast.worker, "m1:0", 1, 3, "wheel")
    assert list(grades_of(WIL)) == ["m1:0"]


def test_pilot_copies_nothing(cast):
    campaign = make_copying(make_mill(), cast.worker, is_pilot=True)
    label(campaign, cast.worker, "m1:0", 1, 3, "wheel")
    assert not Rating.objects.exists()


def test_excluded_work_takes_its_copies_along_and_brings_them_back(campaign, cast):
    hand_in(campaign, cast.worker, "m1:0", 3, "wheel")
    label(campaign, cast.other_worker, "m1:0", 1, 1)
    before = grades_of(WIL)
    actions.exclude_work(participant(campaign, cast.worker), cast.admin)
    assert grades_of(WIL) == {}
    assert len(grades_of("uma")) == 3
    actions.include_work(participant(campaign, cast.worker), cast.admin)
    assert grades_of(WIL) == before


def test_released_item_takes_its_copies_along(campaign, cast):
    label(campaign, cast.worker, "m1:0", 1, 3, "wheel")
    actions.release_item(assignment_of(campaign, cast.worker, "m1:0"), cast.admin)
    assert grades_of(WIL) == {}


def test_own_grade_of_an_equal_text_goes_before_a_copy(campaign, cast):
    """In both orders; and the copy counts again when the own grade does not."""
    hand_in(campaign, cast.worker, "m1:0", 3, "wheel")
    later = second_study(campaign, cast.worker)
    hand_in(later, cast.worker, "m1:2", 5, "Marsh")
    grade = (5, "", [(24, "Marsh")])
    assert grades_of(WIL)["m1:2"] == grade
    hand_in(campaign, cast.worker, "m1:0", 0)
    assert (grades_of(WIL)["m1:1"], grades_of(WIL)["m1:2"]) == ((0, "m1:0", []), grade)
    actions.exclude_work(participant(later, cast.worker), cast.admin)
    assert grades_of(WIL)["m1:2"] == (0, "m1:0", [])
    actions.include_work(participant(later, cast.worker), cast.admin)
    assert grades_of(WIL)["m1:2"] == grade
    actions.exclude_work(participant(campaign, cast.worker), cast.admin)
    assert list(grades_of(WIL)) == ["m1:2"]


def test_decision_is_copied_and_its_withdrawal_too(campaign, cast):
    item = campaign.items.get(text__name="m1:0")
    question = item.asked.first().question
    span = Span(4, 9, "wheel")
    decision = decide(
        *(item, question),
        key=uuid4(),
        grade=4,
        spans=[span],
        note="",
        by=cast.admin,
        base=None,
    )
    name = adjudicator_of(campaign).name
    assert grades_of(name) == {
        "m1:0": (4, "", [(4, "wheel")]),
        "m1:1": (4, "m1:0", [(6, "wheel")]),
        "m1:2": (4, "m1:0", [(4, "wheel")]),
    }
    decide(
        *(item, question),
        key=uuid4(),
        grade=None,
        spans=[],
        note="",
        by=cast.admin,
        base=decision.key,
    )
    assert grades_of(name) == {}


@pytest.mark.parametrize("name", ["m1:0", "m1:1"])
def test_text_of_an_open_campaign_is_not_edited(campaign, name):
    with pytest.raises(TextEditError, match="close it first"):
        edit_text(text_named(name), "New words.", by=None, why="", counts=True)


@pytest.mark.parametrize("counts", [True, False])
def test_edit_of_an_equal_text_changes_its_copies_alone(campaign, cast, counts):
    hand_in(campaign, cast.worker, "m1:0", 3, "wheel")
    before = grades_of(WIL)
    close(campaign)
    version = edit_text(text_named("m1:1"), f"Old: {WHEEL}", by=None, why="", counts=counts)
    moved = {"m1:1": (3, "m1:0", [(9, "wheel")])} if counts else {}
    unchanged = {name: before[name] for name in ("m1:0", "m1:2")}
    assert grades_of(WIL) == unchanged | moved
    actions.exclude_work(participant(campaign, cast.worker), cast.admin)
    assert grades_of(WIL) == {}
    actions.include_work(participant(campaign, cast.worker), cast.admin)
    assert grades_of(WIL) == unchanged | moved
    set_grades_valid(version, counts=not counts, by=None)
    assert ("m1:1" in grades_of(WIL)) is not counts
    assert all(grades_of(WIL)[name] == grade for name, grade in unchanged.items())
    if not counts:
        assert grades_of(WIL)["m1:1"][:2] == (3, "m1:0")
    undo_text_edit(version)
    assert grades_of(WIL) == before


@pytest.mark.parametrize("counts", [True, False])
def test_edit_of_the_text_that_was_read_leaves_the_copies(campaign, cast, counts):
    hand_in(campaign, cast.worker, "m1:0", 3, "wheel")
    before = grades_of(WIL)
    close(campaign)
    version = edit_text(text_named("m1:0"), "A wheel.", by=None, why="", counts=counts)
    copies = {name: before[name] for name in COPIES}
    assert {name: grades_of(WIL)[name] for name in COPIES} == copies
    assert ("m1:0" in grades_of(WIL)) is counts
    actions.exclude_work(participant(campaign, cast.worker), cast.admin)
    actions.include_work(participant(campaign, cast.worker), cast.admin)
    assert {name: grades_of(WIL)[name] for name in COPIES} == copies
    undo_text_edit(version)
    assert grades_of(WIL) == before


def test_edit_of_the_question_supersedes_original_and_copies(campaign, cast):
    label(campaign, cast.worker, "m1:0", 1, 3, "wheel")
    before = grades_of(WIL)
    close(campaign)
    question = campaign.items.first().asked.first().question
    version = edit_text(question, "Who did it?", by=None, why="", counts=False)
    assert grades_of(WIL) == {}
    set_grades_valid(version, counts=True, by=None)
    assert grades_of(WIL) == before


def test_decision_follows_an_edit_of_an_equal_text(campaign, cast):
    item = campaign.items.get(text__name="m1:0")
    fields = {
        "grade": 4,
        "spans": [Span(4, 9, "wheel")],
        "note": "",
        "by": cast.admin,
        "base": None,
    }
    decide(item, item.asked.first().question, key=uuid4(), **fields)
    name = adjudicator_of(campaign).name
    before = grades_of(name)
    close(campaign)
    version = edit_text(text_named("m1:2"), "No words.", by=None, why="", counts=False)
    assert list(grades_of(name)) == ["m1:0", "m1:1"]
    set_grades_valid(version, counts=True, by=None)
    assert grades_of(name)["m1:2"] == (4, "m1:0", [(None, "")])
    undo_text_edit(version)
    assert grades_of(name) == before


def test_span_of_a_copy_that_was_placed_by_hand_keeps_its_place(campaign, cast):
    hand_in(campaign, cast.worker, "m1:0", 3, "wheel")
    close(campaign)
    edit_text(text_named("m1:1"), "A rotor. No rotor.", by=None, why="", counts=True)
    [span] = NuggetSpan.objects.filter(rating__text__name="m1:1")
    anchor_span(span, "A rotor")
    placed = grades_of(WIL)["m1:1"]
    assert placed == (3, "m1:0", [(0, "A rotor")])
    actions.exclude_work(participant(campaign, cast.worker), cast.admin)
    actions.include_work(participant(campaign, cast.worker), cast.admin)
    assert grades_of(WIL)["m1:1"] == placed
