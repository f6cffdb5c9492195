"""The table of a running study: its numbers, its people, its log; who may see which of it."""

from copy import deepcopy
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Answer, Assignment, Campaign, Item, LogEntry, Participant, User
from annotation.monitoring import actions, participants, progress
from tests.annotation.monitoring.filled_material import new_study
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import make_study
from tests.toolbox.responses import markup

HOME = "/campaigns/crowd/"


@pytest.fixture(scope="module")
def filled(shared_world):
    return shared_world(lambda: participant_states.fill(new_study()))


@pytest.fixture
def people(db, filled):
    return deepcopy(filled)


@pytest.fixture
def study(request, db) -> Campaign:
    """With the people, or where a test has none without anybody."""
    if "people" in request.fixturenames:
        return Campaign.objects.get(pk=request.getfixturevalue("people")["done"].campaign_id)
    return new_study()


def text(client, url: str, **headers) -> str:
    response = client.get(url, headers=headers)
    assert response.status_code == 200, response
    return markup(response)


def test_everybody_has_the_status_that_they_have_come_to(study, people):
    participants = study.participants.all().with_status()
    statuses = {participant.pk: participant.status for participant in participants}
    assert statuses == {participant.pk: status for status, participant in people.items()}


def test_participant_is_counted_once(study, people):
    counted = participants.statuses(study)
    assert [status.key for status in counted] == list(Participant.STATUSES)
    assert {status.n for status in counted} == {1}
    assert {status.of for status in counted} == {11}


def test_study_without_participants_counts_zero(study):
    assert {(status.n, status.of, status.percent) for status in participants.statuses(study)} == {
        (0, 0, 0)
    }


def test_items_are_complete_under_way_or_waiting(study, people):
    total, *systems = progress.items(study)
    assert [row.system for row in systems] == ["s0", "s1"]
    slots = Assignment.objects.filter(
        participant__campaign=study, slot__isnull=False, item__purpose="study"
    )
    assert total.submitted == slots.filter(state="submitted").count() == 6
    assert total.held == slots.exclude(state="submitted").count()
    assert total.items == 12
    assert total.slots == 24
    assigned_items = set(slots.values_list("item", flat=True))
    assert (
        total.waiting == study.items.filter(purpose="study").exclude(pk__in=assigned_items).count()
    )
    whole = [
        item
        for item in study.items.filter(purpose="study")
        if slots.filter(item=item, state="submitted").count() == 2
    ]
    assert total.complete == len(whole)
    for name in ("complete", "under_way", "waiting", "submitted", "held"):
        assert getattr(total, name) == sum(getattr(row, name) for row in systems)


def test_training_and_gold_are_no_study_items(study, people):
    assert study.items.filter(purpose=Item.Purpose.TRAINING).count() == 1
    assert progress.items(study)[0].items == 12
    counts = progress.handed_out(study)
    assert counts["submitted"] == 6  # without the practice of two people
    work = Assignment.objects.exclude(item__purpose=Item.Purpose.TRAINING)
    assert sum(counts.values()) == work.count() < Assignment.objects.count()


def test_day_has_its_answers_its_items_and_its_people(study, people):
    Answer.objects.update(created=datetime(2026, 3, 2, 23, 59, tzinfo=UTC))
    late = Answer.objects.filter(assignment__item__purpose="study", check_asked=None).last()
    Answer.objects.filter(pk=late.pk).update(created=datetime(2026, 3, 3, 0, 1, tzinfo=UTC))
    Assignment.objects.filter(state="submitted").update(
        submitted_at=datetime(2026, 3, 4, 12, tzinfo=UTC)
    )
    answers = Answer.objects.filter(question__isnull=False)
    n_answers = answers.exclude(assignment__item__purpose=Item.Purpose.TRAINING).count()
    days = [(day.day, day.answers, day.submitted, day.raters) for day in progress.by_day(study)]
    assert days == [
        ("2026-03-02", n_answers - 1, 0, 2),
        ("2026-03-03", 1, 0, 1),
        ("2026-03-04", 0, 6, 0),
    ]
    assert Answer.objects.filter(check_asked__isnull=False).exists()


def test_pay_is_due_for_parts_that_are_done(study, people):
    study.platform_fee = Decimal("33.33")  # 1.50 for a part of 4.50
    dues = progress.pay_due(study)
    nothing = Decimal("0.00"), Decimal("0.00")
    assert [
        (row.source, row.outcome, row.parts, row.amount.pay, row.amount.fee) for row in dues
    ] == [
        ("Prolific", "done", 3, Decimal("13.50"), Decimal("4.50")),
        ("Prolific", "under way", 2, *nothing),
        ("Prolific", "time ran out", 1, *nothing),
        ("Prolific", "returned", 1, *nothing),
        ("Prolific", "screened out", 1, *nothing),
        ("Prolific", "failed the check", 1, *nothing),
    ]
    assert progress.total_due(dues).total == Decimal("18.00")
    study.pay_per_part = None
    dues = progress.pay_due(study)
    assert (dues[0].parts, dues[0].amount) == (3, None)
    assert progress.total_due(dues).total == 0


def test_pay_and_fee_are_shown_for_each_part_and_in_total(cast, study, people):
    Campaign.objects.update(platform_fee=Decimal("33.33"))
    client = cast.client("admin")
    page = text(client, HOME)
    assert "33.33% of it, 1.50 for a part" in page
    assert "18.00</td>" in page
    page = text(client, f"{HOME}participants/{people['done'].pk}/")
    assert page.count('<td class="number">4.50</td>') == 2
    assert page.count('<td class="number">1.50</td>') == 2
    page = text(client, f"{HOME}participants/{people['lapsed'].pk}/")
    assert page.count('<td class="number">0.00</td>') == 2


def test_time_is_the_median_of_the_parts_that_were_measured(study, people):
    # A first part has practice (3 minutes) and two items (3 each), one with a check; a later one less.
    time = progress.time_of_parts(study)
    assert (time.minutes, time.measured, time.parts) == (10, 3, 3)
    part = people["part_done"].parts.get()
    part.assignments.update(active_ms=0)
    Answer.objects.filter(assignment__part=part).update(active_ms=0)
    time = progress.time_of_parts(study)
    assert (time.measured, time.parts) == (2, 3)
    Answer.objects.update(active_ms=0)
    Assignment.objects.update(active_ms=0)
    assert progress.time_of_parts(study).minutes is None


def test_row_tells_what_somebody_has_done(study, people):
    everybody = study.participants.all().with_status()
    rows = {row.status: row for row in participants.rows(everybody)}
    working = rows["working"]
    assert (working.in_hand, working.skipped, working.submitted) == (1, 1, 0)
    assert (working.answers, working.minutes) == (0, 1)  # of practice, so only its time counts
    assert working.expires is not None
    assert (rows["done"].parts, rows["done"].submitted) == (2, 4)
    assert rows["invited"].last_seen is None
    assert rows["invited"].minutes is None
    assert rows["lapsed"].expires is None


@pytest.mark.parametrize("path", ["", "participants/", "log/"])
def test_number_of_queries_does_not_grow_with_the_people(cast, study, path):
    client = cast.client("admin")
    text(client, HOME + path)
    participant_states.fill(study)
    LogEntry.record(study, None, "returned overdue items", "1 part ended")
    with CaptureQueriesContext(connection) as few:
        text(client, HOME + path)
    for number in range(5):
        LogEntry.record(study, None, "returned overdue items", "1 part ended")
        participant = participant_states.make_consented(study, f"pid-more-{number}")
        participant_states.finish(participant)
    with CaptureQueriesContext(connection) as queries_of_many:
        text(client, HOME + path)
    assert len(queries_of_many) == len(few)


def test_page_of_a_study_tells_its_numbers(cast, study, people):
    page = text(cast.client("researcher"), HOME)
    for phrase in ("1 of 11", "13.50", "3 of 3 parts measured", "30 minutes", "Labels by day"):
        assert phrase in page
    assert "Close campaign" not in page
    assert "pid-" not in page
    assert "Close campaign" in text(cast.client("admin"), HOME)


def test_empty_study_shows_a_message(cast, study):
    page = text(cast.client("researcher"), HOME)
    assert "There are no answers yet" in page
    assert "No part is finished yet." in page
    study.pay_per_part = None
    study.save()
    assert "No pay is stated" in text(cast.client("researcher"), HOME)
    assert "There are no participants yet" in text(
        cast.client("researcher"), f"{HOME}participants/"
    )


def test_pilot_a_draft_and_a_study_past_its_end_say_so(cast, study):
    Campaign.objects.update(is_pilot=True, closes_at=datetime(2026, 1, 1, tzinfo=UTC))
    page = text(cast.client("researcher"), HOME)
    assert "pilot" in page
    assert "outside its dates" in page
    Campaign.objects.update(state="draft")
    page = text(cast.client("admin"), HOME)
    assert "no work is assigned before the opening" in page
    assert "Close campaign" not in page


def test_script_of_the_page_is_given_the_numbers_alone(cast, study, people):
    part = text(cast.client("researcher"), HOME, **{"HX-Request": "true"})
    assert "<html" not in part
    assert "Participants" in part
    response = cast.client("researcher").get(HOME)
    assert "HX-Request" in response.headers["Vary"]


def test_participants_are_listed_by_status(cast, study, people, subtests):
    client = cast.client("researcher")
    names = {participant.rater.name for participant in people.values()}
    for status, participant in people.items():
        with subtests.test(status=status):
            page = text(client, f"{HOME}participants/?status={status}")
            assert {name for name in names if name in page} == {participant.rater.name}


def test_deactivated_account_is_marked(cast, study, people):
    client = cast.client("researcher")
    assert "disabled" not in text(client, f"{HOME}participants/")
    User.objects.filter(pk=people["working"].rater.user_id).update(is_active=False)
    assert text(client, f"{HOME}participants/").count("disabled") == 1


def test_participants_come_in_pages(cast, study):
    for number in range(53):
        participant_states.arrive(study, f"pid-{number}")
    client = cast.client("researcher")
    assert text(client, f"{HOME}participants/").count("/participants/") > 50
    second = text(client, f"{HOME}participants/?status=invited&page=2")
    assert "51 to 53 of 53" in second
    assert "?status=invited&amp;page=1" in second.replace("&page", "&amp;page")
    # A page that is not there is the nearest one; a status that is none means all.
    assert "51 to 53" in text(client, f"{HOME}participants/?page=99")
    assert "1 to 50" in text(client, f"{HOME}participants/?page=x&status=nonsense")


def test_only_admins_see_the_ids_of_platforms(cast, study, people):
    person_url = f"{HOME}participants/{people['working'].pk}/"
    for url in (f"{HOME}participants/", person_url):
        assert "pid-working" in text(cast.client("admin"), url)
        assert "pid-working" not in text(cast.client("researcher"), url)
    assert "sub-working" not in text(cast.client("researcher"), person_url)


def test_participant_has_a_page(cast, study, people, subtests):
    ada, rosa = cast.client("admin"), cast.client("researcher")
    assert people.keys() == set(Participant.STATUSES)
    for status, participant in people.items():
        with subtests.test(status=status):
            url = f"{HOME}participants/{participant.pk}/"
            assert "Actions" in text(ada, url)
            page = text(rosa, url)
            assert "Actions" not in page
            assert participant.rater.name in page


def test_log_tells_who_did_what_about_whom(cast, study, people):
    participant = people["working"]
    actions.extend(participant, 5, cast.admin)
    actions.set_state(study, "paused", cast.admin)
    page = text(cast.client("researcher"), f"{HOME}log/")
    for phrase in ("ada", "extended", "part 1 by 5 h", participant.rater.name, "paused"):
        assert phrase in page
    participant_page = text(cast.client("researcher"), f"{HOME}participants/{participant.pk}/")
    assert "extended" in participant_page
    assert "it was open" not in participant_page


def test_log_comes_in_pages(cast, study):
    LogEntry.objects.bulk_create(
        LogEntry(campaign=study, by=None, action=f"act {number}") for number in range(60)
    )
    page = text(cast.client("researcher"), f"{HOME}log/?page=2")
    assert "51 to 60 of 60" in page
    assert "act 0" in page


PAGES = ["", "participants/", "participants/{}/", "log/", "messages/"]
ADMIN_PAGES = ["invitations/", "reconcile/"]


@pytest.mark.parametrize(
    ("role", "read", "admin"),
    [
        ("admin", 200, 200),
        ("researcher", 200, 403),
        ("worker", 403, 403),
        ("stranger", 302, 302),
    ],
)
def test_monitoring_permissions_by_role(cast, study, role, read, admin):
    participant = participant_states.arrive(study, "pid")
    client = cast.client(role)
    for path in PAGES:
        assert client.get(HOME + path.format(participant.pk)).status_code == read, path
    for path in ADMIN_PAGES:
        assert client.get(HOME + path).status_code == admin, path


def test_wrong_methods_and_missing_things(cast, study):
    participant = participant_states.arrive(study, "pid")
    make_study("other")
    client = cast.client("admin")
    for path in ("", "participants/", f"participants/{participant.pk}/", "log/"):
        assert client.post(HOME + path).status_code == 405, path
    for path in [*PAGES, *ADMIN_PAGES]:
        path = path.format(participant.pk)
        assert client.get(f"/campaigns/nowhere/{path}").status_code == 404, path
        assert client.delete(HOME + path).status_code == 405, path
    assert client.get(f"{HOME}participants/{participant.pk + 99}/").status_code == 404
    assert client.get(f"/campaigns/other/participants/{participant.pk}/").status_code == 404
