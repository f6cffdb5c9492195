"""Messages between people and staff: who writes, reads and answers them, and their limits."""

import pytest
from django.core.cache import caches
from django.test import Client

from annotation.models import Campaign, LogEntry, Membership, Message, Participant, User
from annotation.monitoring import actions
from annotation.monitoring.export import files
from annotation.throttling import WorkerMessages
from crux_site.home.work import to_review
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox.concurrent_clients import rounds
from tests.toolbox.prolific_study import Walker, make_study

WRITE = f"{ROOM}messages/write/"
HOME = "/campaigns/crowd/"


@pytest.fixture(autouse=True)
def empty_counts():
    caches["api"].clear()
    yield
    caches["api"].clear()


@pytest.fixture
def walker(db) -> Walker:
    walker = Walker(Client(), make_study())
    walker.prepare()
    return walker


def write(walker: Walker, body: str, page_key: object = 0):
    return walker.client.post(WRITE, {"body": body, "newest": page_key}, follow=True)


def answer(client: Client, walker: Walker, body: str, newest: object):
    url = f"{HOME}participants/{walker.participant.pk}/answer/"
    return client.post(url, {"body": body, "newest": newest}, follow=True)


def newest() -> int:
    return Message.objects.latest("pk").pk


def test_person_writes_and_reads_the_answer(cast, walker):
    assert "Write to the researchers" in text_of_page(walker.client.get(ROOM))
    page = write(walker, "Is <b>2</b> right?\r\nThank you.")
    assert "Your message is sent." in page.content.decode()
    assert "Is &lt;b&gt;2&lt;/b&gt; right?" in page.content.decode()
    admin = cast.client("admin")
    page = text_of_page(admin.get(HOME))
    assert "Unread messages from 1 person" in page
    assert "Is <b>2</b> right?" in page
    page = answer(admin, walker, "Yes, it is.", newest())
    assert "is sent." in page.content.decode()
    assert "Unread messages" not in text_of_page(admin.get(HOME))
    text = text_of_page(walker.client.get(ROOM))
    assert text.count("Yes, it is.") == 2  # as news until it is dismissed, and in the conversation
    walker.client.post(f"{ROOM}messages/", {"newest": newest()})
    assert text_of_page(walker.client.get(ROOM)).count("Yes, it is.") == 1
    walker.begin()
    entry_ = LogEntry.objects.first()
    assert (entry_.action, entry_.detail) == ("answered a message", f"message {newest()}")


def test_conversation_is_of_one_person(cast, walker):
    stranger = Walker(Client(), walker.campaign, "other")
    stranger.prepare()
    write(walker, "Only mine")
    answer(cast.client("admin"), walker, "Only yours", newest())
    page = text_of_page(stranger.client.get(ROOM))
    assert "Only" not in page
    assert stranger.client.post(f"{ROOM}messages/", {"newest": newest()}).status_code == 404
    assert Client().get(WRITE).status_code == 302  # visitors
    assert cast.client("worker").post(WRITE, {"body": "x", "newest": 0}).status_code == 404
    url = f"{HOME}participants/{walker.participant.pk}/answer/"
    assert cast.client("researcher").post(url, {"body": "x", "newest": 9}).status_code == 403
    assert "Only mine" not in text_of_page(cast.client("researcher").get(f"{HOME}messages/"))
    make_study("elsewhere")
    url = f"/campaigns/elsewhere/participants/{walker.participant.pk}/answer/"
    assert cast.client("admin").post(url, {"body": "x", "newest": 9}).status_code == 404
    assert cast.client("admin").get(f"{HOME}participants/9999/answer/").status_code == 405
    assert walker.client.delete(WRITE).status_code == 405
    assert Message.objects.count() == 2


def excluded(walker, admin):
    actions.exclude_work(walker.participant, admin)


def returned(walker, admin):
    actions.return_participant(walker.participant, admin)


def closed(walker, admin):
    actions.set_state(walker.campaign, "closed", admin)


def finished(walker, admin):
    walker.do_part()


@pytest.mark.parametrize("state", [excluded, returned, closed, finished])
def test_people_can_write_after_the_end(cast, walker, state):
    state(walker, cast.admin)
    page = walker.client.get(ROOM, follow=True).content.decode()
    assert f'action="{WRITE}"' in page
    assert "Why?" in text_of_page(write(walker, "Why?"))
    answer(cast.client("admin"), walker, "Because.", newest())
    assert "Because." in text_of_page(walker.client.get(ROOM, follow=True))


@pytest.mark.parametrize(
    ("body", "page_key", "message"),
    [
        ("", 0, "This field is required."),
        ("  \n", 0, "This field is required."),
        ("x" * 2001, 0, "at most 2000 characters"),
        ("a\0b", 0, "Null characters are not allowed."),
    ],
)
def test_bad_message_is_refused_with_the_reason(walker, body, page_key, message):
    page = write(walker, body, page_key)
    assert page.status_code == 422
    assert message in page.content.decode()
    assert not Message.objects.exists()
    assert write(walker, "x", "nonsense").status_code == 422
    assert not Message.objects.exists()


def test_many_messages_are_throttled_and_the_text_stays(walker, monkeypatch):
    monkeypatch.setattr(WorkerMessages, "rate", "2/hour", raising=False)
    for number in range(2):
        assert write(walker, f"Message {number}", 0).status_code == 200
    page = write(walker, "One more", 0)
    assert page.status_code == 429
    assert int(page.headers["Retry-After"]) > 0
    assert "One more</textarea>" in page.content.decode()
    assert Message.objects.count() == 2


def test_form_that_is_sent_twice_counts_once_and_a_later_one_again(walker):
    write(walker, "Hello?", 0)
    write(walker, "Hello?", 0)
    assert Message.objects.count() == 1
    write(walker, "Hello?", newest())
    assert Message.objects.count() == 2


def test_answer_to_an_old_page_shows_what_is_new_and_sends_nothing(cast, walker):
    write(walker, "First")
    first_key = newest()
    write(walker, "Second", first_key)
    admin = cast.client("admin")
    page = answer(admin, walker, "My answer", first_key)
    assert page.status_code == 409
    html = page.content.decode()
    assert "Nothing was sent" in html
    assert "My answer</textarea>" in html
    assert "Second" in html
    assert f'name="newest" value="{newest()}"' in html
    assert Message.objects.unread().count() == 2
    assert answer(admin, walker, "", newest()).status_code == 422
    assert answer(admin, walker, "x", "y").status_code == 422
    assert answer(admin, walker, "My answer", newest()).status_code == 200
    assert Message.objects.unread().count() == 0


def test_reading_marks_only_what_was_displayed(cast, walker):
    write(walker, "First")
    first_key = newest()
    write(walker, "Second", first_key)
    admin = cast.client("admin")
    url = f"{HOME}participants/{walker.participant.pk}/read/"
    page = admin.post(url, {"newest": first_key}, follow=True)
    assert "1 message of" in page.content.decode()
    assert Message.objects.unread().get().body == "Second"
    assert "Nothing was marked" in admin.post(url, {"newest": "x"}, follow=True).content.decode()
    assert cast.client("researcher").post(url, {"newest": first_key}).status_code == 403


def test_home_counts_unread_messages_for_those_who_answer(cast, walker):
    write(walker, "Hello?")
    titles = [item.title for item in to_review(cast.admin)]
    assert "1 unread message from people" in titles
    researcher = Membership.objects.filter(user=cast.researcher)
    assert to_review(cast.researcher) == []
    researcher.update(role="coordinator")
    assert [item.url for item in to_review(cast.researcher)] == [f"{HOME}messages/"]


def test_messages_are_deleted_with_the_person_and_not_exported(cast, walker):
    write(walker, "My name is Maria.")
    exported = b"".join(
        line for _name, lines in files(walker.campaign, anonymous=False) for line in lines
    )
    assert b"Maria" not in exported
    participant = walker.participant
    actions.erase(participant, cast.admin, with_notes=False)
    assert not Message.objects.exists()
    url = f"{HOME}participants/{participant.pk}/answer/"
    page = cast.client("admin").post(url, {"body": "x", "newest": 0}, follow=True)
    assert "already deleted" in page.content.decode()
    assert not Message.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_members_of_staff_answer_at_once_one_is_told(cast):
    walker = Walker(Client(), make_study())
    walker.prepare()
    write(walker, "Question")
    second = Client()
    second.force_login(User.objects.create_user("ben", password="pass-word-1", role="admin"))
    first = cast.client("admin")

    def answers(_number: int):
        newest_key = newest()
        return (
            lambda: answer(first, walker, "From ada", newest_key),
            lambda: answer(second, walker, "From ben", newest_key),
        )

    for outcomes in rounds(3, answers):
        assert sorted(outcome.status for outcome in outcomes) == [200, 409]
    assert Message.objects.filter(is_from_participant=False).count() == 3


@pytest.mark.django_db(transaction=True)
def test_message_sent_from_two_tabs_at_once_is_stored_once():
    walker = Walker(Client(), make_study())
    walker.prepare()
    tabs = [Walker(Client(), walker.campaign, walker.pid) for _ in range(2)]
    for tab in tabs:
        tab.client.cookies = walker.client.cookies
    for number, outcomes in enumerate(
        rounds(3, lambda number: [lambda tab=tab: write(tab, f"Message {number}") for tab in tabs])
    ):
        assert [outcome.status for outcome in outcomes] == [200, 200]
        assert Message.objects.count() == number + 1


@pytest.mark.django_db(transaction=True)
def test_messages_of_staff_that_are_sent_twice_at_once_are_sent_once(cast):
    walker = Walker(Client(), make_study())
    walker.prepare()
    write(walker, "Question")
    admin = cast.client("admin")
    page_key = newest()

    def reply():
        return answer(admin, walker, "An answer", page_key)

    for outcomes in rounds(1, lambda _number: [reply, reply], after_reading=Participant):
        assert [outcome.status for outcome in outcomes] == [200, 200]
    assert Message.objects.filter(is_from_participant=False).count() == 1

    def press_of_new_page():
        page_key = admin.get(f"{HOME}messages/").context["form"]["newest"].value()
        return lambda: admin.post(f"{HOME}messages/", {"body": "News", "newest": page_key})

    for number in (1, 2):  # sent from a new page, the same words are another message
        press = press_of_new_page()
        [outcomes] = rounds(1, lambda _number, act=press: [act, act], after_reading=Campaign)
        assert [outcome.status for outcome in outcomes] == [302, 302]
        assert Message.objects.addressed_to_all().count() == number


@pytest.mark.django_db(transaction=True)
def test_message_while_the_person_is_erased_does_not_stay(cast):
    walker = Walker(Client(), make_study())
    walker.prepare()
    participant = walker.participant
    for _ in rounds(
        1,
        lambda _: (
            lambda: write(walker, "My name is Maria."),
            lambda: actions.erase(participant, cast.admin, with_notes=False),
        ),
    ):
        assert not Message.objects.exists()
