"""/work/in/<study>/feedback/: decisions of an expert beside a person's own answers."""

import csv
import io
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.cache import caches
from django.test import Client
from django.utils import timezone

from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    Decision,
    Item,
    ItemQuestion,
    Message,
    Participant,
)
from annotation.monitoring import actions
from annotation.monitoring.export import files
from annotation.participation.feedback import decided_pairs
from annotation.throttling import WorkerMessages
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox.concurrent_clients import at_once, rounds, while_uncommitted
from tests.toolbox.feedback_study import (
    QUOTE,
    give,
    make_decided_study,
    make_feedback_study,
    send_answer,
    settle,
    start,
)
from tests.toolbox.german_study import find_english
from tests.toolbox.prolific_study import QUESTIONS, Walker
from tests.toolbox.users import make_cast

PAGE = f"{ROOM}feedback/"
LINK = "See the feedback"


@pytest.fixture(autouse=True)
def empty_counts():
    caches["api"].clear()
    yield
    caches["api"].clear()


@pytest.fixture
def decided(cast) -> tuple[Campaign, Walker, Walker]:
    return make_decided_study(cast.admin)


def grades_of(walker: Walker) -> list[tuple[int | None, int | None]]:
    """Return the person's and the expert's grades, in the order of the page."""
    participant = Participant.objects.select_related("campaign").get(pk=walker.participant.pk)
    return [(pair.answer.grade, pair.decision.grade) for pair in decided_pairs(participant)]


def refused(walker: Walker) -> bool:
    """Return whether the page leads back to the study, which has no link to it."""
    page = walker.client.get(PAGE, follow=True)
    has_link = LINK in walker.client.get(ROOM).content.decode()
    is_refused = page.redirect_chain == [(ROOM, 302)] and not has_link
    assert is_refused == (walker.participant.feedback_opened_at is None)
    return is_refused


def first_pair(campaign: Campaign) -> ItemQuestion:
    return ItemQuestion.objects.filter(item__campaign=campaign).order_by("item", "position")[0]


def write(walker: Walker, item_question: ItemQuestion, body: str, **change):
    """Send a note of disagreement as the form of the pair sends it."""
    newest = Decision.objects.filter(
        item=item_question.item, question=item_question.question
    ).last()
    newest_message = Message.objects.order_by("pk").last()
    sent = {
        "body": body,
        "newest": newest_message.pk if newest_message else 0,
        "decision": newest.key if newest else uuid4(),
    }
    url = f"{PAGE}{item_question.item_id}/{item_question.question_id}/"
    return walker.client.post(url, sent | change, follow=True)


def test_page_has_both_answers_those_that_differ_first(decided, cast):
    _campaign, first, second = decided
    assert "An expert has decided 4 questions that you answered. See the feedback" in text_of_page(
        first.client.get(ROOM)
    )
    assert grades_of(first) == [(0, 1), (0, 1), (0, 0), (0, 0)]
    page = text_of_page(first.client.get(PAGE))
    assert "Your answers to 2 questions are different. They come first." in page
    pairs = page.split(QUESTIONS[0])
    assert "You differ" in pairs[1]
    assert "You 0 not answerable no words marked Decision 1 answerable" in pairs[1]
    assert QUOTE in pairs[1]
    assert "Why: The pier is the reason." in pairs[1]
    assert page.index(QUESTIONS[1]) > page.rindex(QUESTIONS[0])
    assert "Guideline" in page
    agreed = text_of_page(second.client.get(PAGE))
    assert "You agree with all decisions." in agreed
    assert f"You 1 answerable {QUOTE} Decision 1 answerable {QUOTE}" in agreed


def test_page_names_nobody_else(decided, cast):
    campaign, first, second = decided
    settle(first_pair(campaign), 0, cast.admin)
    page = first.client.get(PAGE).content.decode()
    assert second.participant.rater.name not in page
    assert cast.admin.username not in page.partition("<main")[2]
    # The second person's words are nowhere once the expert decides otherwise.
    assert page.count(QUOTE) == 1


def test_first_opening_is_recorded_once(decided):
    _campaign, first, second = decided
    first.client.head(PAGE)
    assert first.participant.feedback_opened_at is None
    first.client.get(PAGE)
    opened = first.participant.feedback_opened_at
    assert opened is not None
    first.client.get(PAGE)
    assert first.participant.feedback_opened_at == opened
    assert second.participant.feedback_opened_at is None


def test_campaign_with_never_gives_no_feedback(cast):
    campaign, first, _second = make_decided_study(cast.admin, feedback="never")
    assert refused(first)
    Campaign.objects.update(state="closed")
    assert refused(first)
    assert write(first, first_pair(campaign), "But").status_code == 404
    assert not Message.objects.exists()


def test_feedback_at_closing_waits_for_the_end(cast):
    campaign, first, _second = make_decided_study(cast.admin, feedback="closed")
    assert refused(first)
    Campaign.objects.update(state="paused")
    assert refused(first)
    actions.set_state(campaign, "closed", cast.admin)
    assert not refused(first)
    assert len(grades_of(first)) == 4


@pytest.mark.parametrize("feedback", ["part", "closed"])
def test_item_that_another_rater_has_not_finished_is_left_out(cast, feedback):
    campaign = make_feedback_study(feedback=feedback)
    first, second = start(campaign, "first"), start(campaign, "second")
    for assignment in first.in_hand():
        give(first, assignment, 0, 0)
    begun, ended = second.in_hand()
    give(second, ended, 1, 0)
    send_answer(second, begun, begun.item.asked.first(), 1)
    for item in (begun.item, ended.item):
        settle(item.asked.order_by("position")[0], 1, cast.admin)
    Campaign.objects.update(state="closed" if feedback == "closed" else "open")
    assert grades_of(first) == [(0, 1)]
    pair = begun.item.asked.order_by("position")[0]
    assert write(first, pair, "But").status_code == 404
    Campaign.objects.update(state="open")
    give(second, begun, 1, 0)
    Campaign.objects.update(state="closed" if feedback == "closed" else "open")
    assert len(grades_of(first)) == 2


def test_item_with_a_free_place_is_left_out_until_the_study_is_closed(decided, cast):
    _campaign, first, second = decided
    actions.exclude_work(second.participant, cast.admin)
    assert grades_of(first) == []
    assert second.client.get(PAGE, follow=True).redirect_chain[-1][0] == f"{ROOM}end/"
    Campaign.objects.update(state="closed")
    assert len(grades_of(first)) == 4


def test_item_with_an_open_repeat_is_left_out(decided):
    _campaign, first, second = decided
    repeated = second.participant.assignments.first()
    Assignment.objects.create(
        participant=second.participant, item=repeated.item, repeats=repeated, position=99
    )
    assert len(grades_of(first)) == 2


def test_part_that_is_not_done_has_no_feedback(cast):
    campaign = make_feedback_study()
    first, second = start(campaign, "first"), start(campaign, "second")
    for assignment in second.in_hand():
        give(second, assignment, 1, 0)
    submitted, open_one = first.in_hand()
    give(first, submitted, 0, 0)
    settle(submitted.item.asked.order_by("position")[0], 1, cast.admin)
    assert refused(first)
    assert not refused(second)
    give(first, open_one, 0, 0)
    assert not refused(first)


def test_gold_undecided_and_withdrawn_pairs_are_left_out(decided, cast):
    campaign, first, _second = decided
    Decision.objects.filter(question__position=1).delete()
    assert grades_of(first) == [(0, 1), (0, 1)]
    settle(first_pair(campaign), None, cast.admin)
    assert grades_of(first) == [(0, 1)]
    Item.objects.filter(campaign=campaign).update(purpose=Item.Purpose.GOLD)
    assert grades_of(first) == []


def test_page_takes_the_same_queries_for_many_pairs(decided, django_assert_max_num_queries):
    _campaign, first, _second = decided
    participant = Participant.objects.select_related("campaign").get(pk=first.participant.pk)
    with django_assert_max_num_queries(5):
        decided_pairs(participant)


def test_decided_answer_cannot_change_after_the_feedback(decided, cast):
    campaign, first, _second = decided
    item_question = first_pair(campaign)
    assignment = first.participant.assignments.get(item=item_question.item)
    assert send_answer(first, assignment, item_question, 1).status_code == 302
    assert send_answer(first, assignment, item_question, 0).status_code == 302
    first.client.get(PAGE)
    reply = send_answer(first, assignment, item_question, 1)
    assert reply.status_code == 422
    assert "You can see the decision on this question." in text_of_page(reply)
    assert grades_of(first)[0] == (0, 1)
    undecided = item_question.item.asked.order_by("position")[1]
    Decision.objects.filter(item=item_question.item, question=undecided.question).delete()
    assert send_answer(first, assignment, undecided, 1).status_code == 302
    # In a closed study nothing changes that counts, so late answers are stored as ever.
    Campaign.objects.update(state="closed")
    send_answer(first, assignment, item_question, 1)
    assert Answer.objects.latest("pk").late == Answer.Late.CLOSED


def test_answers_after_the_feedback_are_marked_in_the_export(cast):
    campaign, first, _second = make_decided_study(cast.admin, texts=4)
    first.client.get(PAGE)
    Participant.objects.filter(pk=first.participant.pk).update(
        feedback_opened_at=timezone.now() - timedelta(microseconds=1)
    )
    start_again = Walker(first.client, campaign, "first")
    start_again.arrive(session="sub2")
    start_again.begin()
    for assignment in start_again.in_hand():
        give(start_again, assignment, 1, 0)
    exported = {name: b"".join(lines).decode() for name, lines in files(campaign, anonymous=False)}
    answers = list(csv.DictReader(io.StringIO(exported["answers.csv"])))
    assert sorted(row["exposure"] for row in answers) == ["feedback"] * 4 + ["none"] * 8
    people = csv.DictReader(io.StringIO(exported["participants.csv"]))
    assert sum(bool(row["feedback_opened_at"]) for row in people) == 1
    assert '"feedback": "part"' in exported["provenance.json"]


def test_note_of_disagreement_reaches_staff_with_the_pair(decided, cast):
    campaign, first, _second = decided
    item_question = first_pair(campaign)
    page = write(first, item_question, "The text <b>never</b> says so.")
    assert page.redirect_chain[-1][0] == f"{PAGE}#pair-{item_question.pk}"
    assert "Your note is sent." in page.content.decode()
    assert "The text &lt;b&gt;never&lt;/b&gt; says so." in page.content.decode()
    message = Message.objects.get()
    assert (message.about, message.is_from_participant) == (item_question, True)
    admin = cast.client("admin")
    staff = admin.get(f"/campaigns/{campaign.slug}/messages/").content.decode()
    url = f"/campaigns/{campaign.slug}/adjudication/{item_question.item_id}/{item_question.question_id}/"
    assert "Disagrees with the decision on" in staff
    assert f'href="{url}"' in staff
    assert f'href="{url}"' in admin.get(f"/campaigns/{campaign.slug}/").content.decode()
    study_page = text_of_page(first.client.get(ROOM))
    assert f"You disagree with the decision on this question: {QUESTIONS[0]}" in study_page
    actions.erase(first.participant, cast.admin, with_notes=False)
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"body": " "}, "This field is required."),
        ({"body": "x" * 2001}, "at most 2000 characters"),
        ({"body": "a\0b"}, "Null characters"),
        ({"decision": "no-key"}, ""),
        ({"newest": "x"}, ""),
    ],
)
def test_bad_note_is_refused_beside_its_pair(decided, change, message):
    campaign, first, _second = decided
    page = write(first, first_pair(campaign), **{"body": "But"} | change)
    assert page.status_code == 422
    assert message in page.content.decode()
    assert page.content.decode().count('<details class="act" open>') == 1
    assert not Message.objects.exists()


def test_note_about_a_decision_that_changed_is_not_sent(decided, cast):
    campaign, first, _second = decided
    item_question = first_pair(campaign)
    old = Decision.objects.get(item=item_question.item, question=item_question.question).key
    settle(item_question, 0, cast.admin)
    page = write(first, item_question, "It moved", decision=old)
    assert page.status_code == 409
    assert "This decision has changed." in page.content.decode()
    assert "It moved</textarea>" in page.content.decode()
    newest = Decision.objects.latest("pk").key
    assert f'value="{newest}"' in page.content.decode()
    assert not Message.objects.exists()
    write(first, item_question, "It moved", decision=newest)
    assert Message.objects.count() == 1


def test_note_counts_as_a_message_of_the_person(decided, monkeypatch):
    campaign, first, _second = decided
    monkeypatch.setattr(WorkerMessages, "rate", "1/hour", raising=False)
    item_question = first_pair(campaign)
    assert write(first, item_question, "One").status_code == 200
    page = write(first, item_question, "Two")
    assert page.status_code == 429
    assert int(page.headers["Retry-After"]) > 0
    assert "Two</textarea>" in page.content.decode()


def test_pages_are_only_for_their_own_person(decided, cast):
    campaign, first, _second = decided
    item_question = first_pair(campaign)
    url = f"{PAGE}{item_question.item_id}/{item_question.question_id}/"
    assert first.client.post(PAGE).status_code == 405
    assert first.client.get(url).status_code == 405
    for client in (cast.client("worker"), cast.client("researcher")):
        assert client.get(PAGE).status_code == 404
        assert client.post(url, {"body": "x"}).status_code == 404
    assert Client().get(PAGE).status_code == 302  # to the log-in
    assert (
        first.client.post(f"{PAGE}{item_question.item_id}/999999/", {"body": "x"}).status_code
        == 404
    )
    assert first.client.get("/work/in/missing/feedback/").status_code == 404


def test_pair_of_another_person_or_study_is_refused(decided, cast):
    _campaign, first, _second = decided
    another_study, *_people = make_decided_study(cast.admin, slug="other")
    assert write(first, first_pair(another_study), "But").status_code == 404
    assert not Message.objects.exists()


def test_german_page_has_no_english(decided):
    campaign, first, _second = decided
    first.client.get(ROOM)  # shows what the English pages have reported
    Campaign.objects.update(
        language="de",
        title="Brücken",
        guideline="Nur der Text zählt.",
        wording=campaign.wording
        | {"question": "Steht es da?", "levels": {"0": "nein", "1": "ja"}, "examples": {}},
    )
    ItemQuestion.objects.update(shown_body="Warum?")
    Decision.objects.update(note="So steht es da.", spans=[])
    Answer.objects.update(spans=[])
    page = first.client.get(PAGE).content.decode()
    assert "Rückmeldung" in page
    assert find_english(page) == []
    write(first, first_pair(campaign), "Nein.")
    for url in (PAGE, ROOM):
        assert find_english(first.client.get(url).content.decode()) == []


@pytest.mark.django_db(transaction=True)
def test_notes_of_two_tabs_at_once_are_stored_once_if_they_are_equal():
    campaign, first, _second = make_decided_study(make_cast().admin)
    item_question = first_pair(campaign)
    tabs = [Walker(Client(), campaign, "first") for _ in range(2)]
    for tab in tabs:
        tab.client.cookies = first.client.cookies

    def notes(number: int):
        bodies = [f"Note {number}"] * 2 if number else ["One", "Two"]
        newest = getattr(Message.objects.order_by("pk").last(), "pk", 0)
        return [
            lambda tab=tab, body=body: write(tab, item_question, body, newest=newest)
            for tab, body in zip(tabs, bodies, strict=True)
        ]

    totals = []
    for outcomes in rounds(3, notes, after_reading=Participant):
        assert [outcome.status for outcome in outcomes] == [200, 200]
        totals.append(Message.objects.count())
    assert totals == [2, 3, 4]


@pytest.mark.django_db(transaction=True)
def test_note_while_the_expert_decides_again_is_not_sent():
    cast = make_cast()
    campaign, first, _second = make_decided_study(cast.admin)
    item_question = first_pair(campaign)
    old = Decision.objects.get(item=item_question.item, question=item_question.question).key
    outcome = while_uncommitted(
        lambda: settle(item_question, 0, cast.admin),
        lambda: write(first, item_question, "But", decision=old),
    )
    assert outcome.status == 409
    assert not Message.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_page_opened_twice_at_once_records_one_time():
    _campaign, first, _second = make_decided_study(make_cast().admin)
    tab = Client()
    tab.cookies = first.client.cookies
    outcomes = at_once(
        lambda: first.client.get(PAGE), lambda: tab.get(PAGE), after_reading=Participant
    )
    assert [outcome.status for outcome in outcomes] == [200, 200]
    opened = first.participant.feedback_opened_at
    assert opened is not None
    tab.get(PAGE)
    assert first.participant.feedback_opened_at == opened
