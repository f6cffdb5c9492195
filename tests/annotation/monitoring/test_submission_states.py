"""States of submissions from Prolific's list: stored on parts, read by their people."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from annotation.formats.prolific import KNOWN_STATUSES, read
from annotation.models import Campaign, LogEntry, Part, User
from annotation.monitoring import actions, reconciliation
from annotation.monitoring.submission_states import STATES, store_submission_states
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox.concurrent_clients import rounds
from tests.toolbox.prolific_list import export
from tests.toolbox.prolific_study import PID, Walker, make_study

URL = "/campaigns/crowd/reconcile/"
NOT_LOADED = "The researchers have not loaded the list of submissions yet."


@pytest.fixture
def walker(db) -> Walker:
    """Somebody from Prolific who has done a part, for the submission sub1."""
    walker = Walker(Client(), make_study())
    walker.prepare()
    walker.do_part()
    return walker


def upload(client: Client, status: str, reviewed: str = ""):
    raw = export(("sub1", PID, status, "DONE1")).replace(b",,,1150", f",{reviewed},,1150".encode())
    return client.post(URL, {"export": SimpleUploadedFile("prolific.csv", raw)})


def study_page(walker: Walker) -> str:
    return text_of_page(walker.client.get(ROOM))


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("AWAITING REVIEW", "Your submission waits for review."),
        ("APPROVED", "Your submission was approved on 2 March 2026."),
        ("PARTIALLY APPROVED", "A part of the pay was approved."),
        ("RETURNED", "Your submission was returned."),
        ("REJECTED", "Your submission was rejected."),
        ("TIMED-OUT", "The time on Prolific ended."),
        ("SCREENED OUT", "Prolific lists you as screened out."),
        ("ACTIVE", "Enter the completion code on Prolific."),
        ("ON HOLIDAY", NOT_LOADED),
    ],
)
def test_person_reads_the_state_of_their_pay(cast, walker, status, sentence):
    assert NOT_LOADED in study_page(walker)
    page = upload(cast.client("admin"), status, "2026-03-02T12:46:18Z")
    has_state = sentence != NOT_LOADED
    assert page.context["n_stored"] == has_state
    text = study_page(walker)
    assert sentence in text
    assert ("The researchers loaded the list on" in text) is has_state
    assert (NOT_LOADED in text) is not has_state


def test_state_needs_a_list_of_prolific_and_finished_work(cast, walker):
    Part.objects.update(outcome="", ended=None)
    upload(cast.client("admin"), "ACTIVE")
    assert "State of your pay" not in study_page(walker)
    Part.objects.update(outcome="done", ended=timezone.now() + timedelta(minutes=1))
    assert NOT_LOADED in study_page(walker)  # the list is older than the work
    Campaign.objects.update(platform="sona")
    assert "State of your pay" not in study_page(walker)


def test_person_whose_work_was_excluded_reads_it_at_the_end(cast, walker):
    upload(cast.client("admin"), "REJECTED")
    actions.exclude_work(walker.participant, cast.admin)
    text = text_of_page(walker.client.get(ROOM, follow=True))
    assert "Your submission was rejected." in text


def test_only_state_and_review_are_stored_and_are_deleted_with_the_person(cast, walker):
    compared = reconciliation.reconcile(
        walker.campaign,
        read(export(("sub1", PID, "APPROVED", "DONE1"), ("sub9", "p9", "ACTIVE", ""))),
    )
    assert store_submission_states(walker.campaign, compared, cast.admin) == 1
    part = Part.objects.get()
    assert (part.submission, part.submission_reviewed_at) == ("approved", None)
    entry = LogEntry.objects.latest("pk")
    assert (entry.action, entry.detail) == ("loaded the list of Prolific", "1 part")
    actions.erase(walker.participant, cast.admin, with_notes=False)
    part.refresh_from_db()
    assert (part.submission, part.submission_listed_at) == ("", None)
    assert store_submission_states(walker.campaign, compared, cast.admin) == 0  # of before
    assert Part.objects.get().submission == ""


def test_broken_list_and_people_without_the_right_store_nothing(cast, walker):
    broken = SimpleUploadedFile("prolific.csv", b"Status\nAPPROVED\n")
    assert cast.client("admin").post(URL, {"export": broken}).status_code == 422
    assert upload(cast.client("researcher"), "APPROVED").status_code == 403
    assert upload(walker.client, "APPROVED").status_code in (403, 404)
    assert cast.client("admin").get(URL).status_code == 200
    assert set(Part.objects.values_list("submission", flat=True)) == {""}


def test_known_statuses_all_have_a_state():
    assert set(STATES) == set(KNOWN_STATUSES)


@pytest.mark.django_db(transaction=True)
def test_two_lists_at_once_leave_one_of_them_as_a_whole(cast):
    walker = Walker(Client(), make_study())
    walker.prepare()
    walker.do_part()
    second = Client()
    second.force_login(User.objects.create_user("ben", password="pass-word-1", role="admin"))
    first = cast.client("admin")
    for outcomes in rounds(
        3,
        lambda _: (
            lambda: upload(first, "APPROVED", "2026-03-02T12:46:18Z"),
            lambda: upload(second, "AWAITING REVIEW"),
        ),
        after_reading=Part,
    ):
        assert [outcome.status for outcome in outcomes] == [200, 200]
        part = Part.objects.get()
        assert (part.submission == "approved") is (part.submission_reviewed_at is not None)
        assert part.submission in ("approved", "waiting")
