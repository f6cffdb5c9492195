"""Skipping has a limit in each part, and hidden gold is not passed by it."""

import csv
import io
import re
from collections import Counter
from copy import deepcopy
from uuid import uuid4

import pytest
from django.test import Client

from annotation.formats.prolific import Submission
from annotation.models import Assignment, Campaign, Rubric, User
from annotation.monitoring import actions, progress, reconciliation
from annotation.monitoring.export import files
from annotation.monitoring.participants import rows
from annotation.participation import assigning, withdrawal
from annotation.participation.skips import no_more_skips_message
from annotation.task import saving
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import Walker, make_study
from tests.toolbox.responses import markup
from tests.toolbox.threads import in_threads

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}
LIMIT = "You cannot skip more texts of this part."


def at_work(**options) -> Walker:
    """With a part of eight texts and a hidden gold one in hand, after the practice."""
    settings = {"texts": 12, "training": 2, "n_training": 1, "n_gold": 1, "items_per_part": 8}
    walker = Walker(Client(), make_study(**settings | options))
    walker.prepare()
    walker.begin()
    walker.do(walker.in_hand()[0])
    return walker


@pytest.fixture(scope="module")
def working(shared_world) -> Walker:
    return shared_world(at_work)


@pytest.fixture
def walker(db, working) -> Walker:
    return deepcopy(working)


def skip(
    walker: Walker,
    assignment: Assignment,
    note: str = "",
    *,
    broken: str = "",
    version: str = "",
    **extra,
):
    sent = {"note": note, "version": version} | ({"broken": broken} if broken else {})
    return walker.client.post(f"/work/{assignment.pk}/skip/", sent, **extra)


def study_items(walker: Walker) -> list[Assignment]:
    return [assignment for assignment in walker.in_hand() if assignment.item.purpose == "study"]


@pytest.mark.parametrize(
    ("setting", "texts", "limit"),
    [
        *((None, texts, limit) for texts, limit in [(0, 0), (1, 0), (2, 1), (7, 1), (8, 2)]),
        *((setting, 8, limit) for setting, limit in [(0, 0), (3, 3), (7, 7), (8, 7), (99, 7)]),
    ],
)
def test_default_skip_limit_is_a_quarter_and_never_all(setting, texts, limit):
    assert Campaign(skips_per_part=setting).skip_limit(texts) == limit


def test_skipping_all_but_one_text_earns_no_code(walker):
    *earlier, last = study_items(walker)
    for assignment in earlier:
        skip(walker, assignment)
    walker.do(last)
    page = walker.client.get(f"{ROOM}end/", follow=True)
    assert "DONE1" not in page.content.decode()
    assert walker.participant.parts.get().outcome == ""
    assert walker.participant.assignments.filter(state="skipped").count() == 2


def test_skip_beyond_the_limit_is_refused_and_loses_nothing(walker):
    first, second, third, *_ = study_items(walker)
    question_id = third.item.asked.first().question_id
    walker.client.post(
        f"/work/{third.pk}/answers/{question_id}/", {"key": uuid4(), "grade": 0, "spans": "[]"}
    )
    page = text_of_page(walker.client.get(f"/work/{first.pk}/"))
    assert "You may skip 2 more texts of this part." in page
    assert "You may have to answer a skipped text before the part is done." in page
    assert skip(walker, first).status_code == 302
    assert "You may skip 1 more text of this part." in text_of_page(
        walker.client.get(f"/work/{second.pk}/")
    )
    assert "1 of the 2 texts that you may skip in this part" in text_of_page(
        walker.client.get(ROOM)
    )
    skip(walker, second)
    page = text_of_page(walker.client.get(f"/work/{third.pk}/"))
    assert LIMIT in page
    assert "Send the note" in page
    refused = skip(walker, third, "It is cut off.", **BY_SCRIPT)
    assert refused.status_code == 422
    assert LIMIT in refused.content.decode()
    assert "Your note is kept." in refused.content.decode()
    third.refresh_from_db()
    assert (third.state, third.note, third.answers.count()) == ("open", "It is cut off.", 1)
    page = walker.client.post(f"/work/{third.pk}/skip/", {"note": ""}, follow=True)
    assert LIMIT in page.content.decode()


def test_text_is_reported_as_broken_for_staff_to_see(cast, walker):
    first, second, third, *_ = study_items(walker)
    skip(walker, first, "It ends in mid-sentence.", broken="on")
    skip(walker, second)
    skip(walker, third, "Cut off.", **BY_SCRIPT)
    skip(walker, third, broken="on", **BY_SCRIPT)  # refused, as there were two; the report is kept
    third.refresh_from_db()
    assert third.note == "Cut off."  # said before, on another device
    reported = walker.participant.assignments.filter(reported_broken=True)
    assert [assignment.pk for assignment in reported.order_by("pk")] == [first.pk, third.pk]
    page = walker.client.get(f"/work/{first.pk}/").content.decode()
    assert re.search(r'name="broken"\s+checked', page)
    rosa = cast.client("researcher")
    for address in ("/campaigns/crowd/", f"/campaigns/crowd/participants/{walker.participant.pk}/"):
        assert rosa.get(address).content.decode().count("reported as broken") == 2


def skip_version(walker, assignment):
    page = walker.client.get(f"/work/{assignment.pk}/").content.decode()
    return re.search(r'name="version" value="(\w+)"', page)[1]


@pytest.mark.parametrize("by_script", [{}, BY_SCRIPT])
def test_note_that_the_page_did_not_know_is_kept(walker, by_script):
    first, *_ = study_items(walker)
    stale = {"version": skip_version(walker, first)} | by_script
    skip(walker, first, "It is cut off.", broken="on", **stale)
    skip(walker, first, "", **stale)  # another device, or the page of before
    first.refresh_from_db()
    assert (first.note, first.reported_broken) == ("It is cut off.", True)
    skip(walker, first, "It is in French.", **stale)
    skip(walker, first, "It is in French.", **stale)
    first.refresh_from_db()
    assert (first.note, first.reported_broken) == ("It is cut off.\nIt is in French.", True)
    skip(walker, first, "", version=skip_version(walker, first))
    first.refresh_from_db()
    assert (first.note, first.reported_broken) == ("", False)


def test_stale_note_that_is_a_part_of_the_stored_one_is_kept(walker):
    first, *_ = study_items(walker)
    stale = skip_version(walker, first)
    skip(walker, first, "It is not cut off.", version=stale)
    skip(walker, first, "cut off.", version=stale)
    first.refresh_from_db()
    assert first.note == "It is not cut off.\ncut off."


def test_refused_note_is_still_of_its_page(walker):
    first, *_ = study_items(walker)
    stale = skip_version(walker, first)
    skip(walker, first, "It is cut off.", version=stale)
    refused = skip(walker, first, "x" * 2001, version=stale)
    assert refused.status_code == 422
    assert f'name="version" value="{stale}"' in refused.content.decode()


def test_refused_skip_keeps_the_note_that_was_stored_meanwhile(db):
    study = make_study(texts=12, items_per_part=8, skips_per_part=0)
    [mine, *_] = [
        assignment
        for assignment in participant_states.open_assignments(
            participant_states.make_working(study, "pid-1")
        )
        if assignment.item.purpose == "study"
    ]
    rows = Assignment.objects.select_related("item", "part", "participant__campaign__rubric")
    stale = rows.get(pk=mine.pk)
    for assignment, note in ((rows.get(pk=mine.pk), "It is cut off."), (stale, "")):
        with pytest.raises(saving.AnswerError):
            saving.skip(assignment, note)
    mine.refresh_from_db()
    assert mine.note == "It is cut off."


def test_submission_of_a_skipped_text_frees_its_skip(walker):
    first, second, third, *_ = study_items(walker)
    skip(walker, first)
    skip(walker, second)
    assert skip(walker, first, "A better note").status_code == 302  # the same one, again
    walker.do(first)
    assert skip(walker, third, **BY_SCRIPT).status_code == 200
    assert walker.participant.assignments.filter(was_skipped=True).count() == 2


def test_skipped_hidden_gold_returns_and_is_not_revealed(walker):
    gold = walker.participant.assignments.get(item__purpose="gold")
    assert skip(walker, gold).status_code == 302
    for assignment in study_items(walker):
        page = walker.do(assignment)
    assert page.redirect_chain[-1][0] == ROOM
    page_text = text_of_page(page)
    assert "You skipped a text that this part needs." in page_text
    assert f'href="/work/{gold.pk}/">Continue' in markup(page)
    assert "gold" not in page_text
    assert walker.participant.parts.get().outcome == ""
    assert skip(walker, gold).url == ROOM
    assert walker.participant.parts.get().outcome == ""
    assert walker.do(gold).redirect_chain[-1][0] == f"{ROOM}end/"
    assert walker.participant.parts.get().outcome == "done"


def test_practice_cannot_be_skipped(db):
    walker = Walker(Client(), make_study())
    walker.prepare()
    walker.begin()
    practice = walker.in_hand()[0]
    assert 'class="skip"' not in walker.client.get(f"/work/{practice.pk}/").content.decode()
    refused = skip(walker, practice, **BY_SCRIPT)
    assert refused.status_code == 422
    assert "Practice comes before the other texts" in refused.content.decode()
    practice.refresh_from_db()
    assert practice.state == "open"


def test_skips_are_counted_per_part_and_free_the_item(db):
    walker = at_work(items_per_part=2, skips_per_part=1)
    first, second = study_items(walker)
    skip(walker, first)
    walker.do(second)
    walker.do(walker.in_hand()[0])  # the gold one
    first.refresh_from_db()
    assert (first.state, first.was_skipped) == ("released", True)
    walker.arrive("sub2")
    walker.begin()
    third, _ = study_items(walker)
    assert first.item_id not in [assignment.item_id for assignment in walker.in_hand()]
    assert skip(walker, third, **BY_SCRIPT).status_code == 200


def test_participants_and_the_comparison_show_skips(cast, walker):
    skipped, *remaining = study_items(walker)
    skip(walker, skipped)
    for assignment in [*remaining, walker.participant.assignments.get(item__purpose="gold")]:
        walker.do(assignment)
    skipped.refresh_from_db()
    assert skipped.state == "released"  # it went back to the others
    [row] = rows(walker.campaign.participants.all().with_status())
    assert (row.skipped, row.submitted, row.released) == (1, 8, 0)
    walker.campaign.minutes_per_part = None  # no time is measured without scripts
    sent = [Submission("sub1", walker.pid, "AWAITING REVIEW", "DONE1")]
    [row] = reconciliation.reconcile(walker.campaign, sent).rows
    assert (row.skipped, row.finding, row.suggestion) == ("1", "agree", "approve")
    page = cast.client("admin").get(f"/campaigns/crowd/participants/{walker.participant.pk}/")
    assert "1 of 9" in page.content.decode()


@pytest.mark.parametrize("way", ["the part is done", "its time runs out", "they leave"])
def test_skipped_item_is_never_called_released(cast, walker, way):
    skipped, *remaining = study_items(walker)
    skip(walker, skipped, "It is cut off.")
    if way == "the part is done":
        for assignment in [*remaining, walker.participant.assignments.get(item__purpose="gold")]:
            walker.do(assignment)
    elif way == "its time runs out":
        participant_states.make_overdue(walker.participant)
        assigning.expire(walker.campaign)
    else:
        withdrawal.leave(walker.participant)
    skipped.refresh_from_db()
    assert (skipped.slot, skipped.shown_state) == (None, "skipped")  # others may have it
    mine = walker.participant.assignments
    states = Counter(assignment.shown_state.value for assignment in mine.all())
    assert states["skipped"] == mine.filter(was_skipped=True).count() >= 1
    counts = progress.handed_out(walker.campaign)
    assert counts == {state: states[state] - (state == "submitted") for state in counts}  # practice
    [row] = rows(walker.campaign.participants.all().with_status())
    assert (row.skipped, row.released) == (states["skipped"], states["released"])
    tables = {name: b"".join(lines) for name, lines in files(walker.campaign, anonymous=False)}
    exported = csv.DictReader(io.StringIO(tables["assignments.csv"].decode()))
    assert Counter(line["state"] for line in exported) == states
    admin = cast.client("admin")
    page = markup(admin.get(f"/campaigns/crowd/participants/{walker.participant.pk}/"))
    assert "skipped, returned to the pool" in page
    page = markup(admin.get(f"/campaigns/crowd/quality/raters/{walker.participant.rater.name}/"))
    assert len(re.findall(r"<td[^>]*>returned</td>", page)) == states["released"]
    page = admin.post(
        f"/campaigns/crowd/participants/{walker.participant.pk}/release/{skipped.pk}/",
        {"confirm": "on"},
        follow=True,
    )
    assert "The item is skipped, so it is not assigned to anybody." in page.content.decode()


def test_part_done_with_too_many_skips_is_flagged_for_review(cast, walker):
    """As before there was a limit."""
    Campaign.objects.update(skips_per_part=7)
    *earlier, last = study_items(walker)
    for assignment in earlier:
        skip(walker, assignment)
    for assignment in (last, walker.participant.assignments.get(item__purpose="gold")):
        walker.do(assignment)
    Campaign.objects.update(skips_per_part=None, minutes_per_part=None)
    sent = [Submission("sub1", walker.pid, "AWAITING REVIEW", "DONE1")]
    [row] = reconciliation.reconcile(Campaign.objects.get(), sent).rows
    assert (row.suggestion, row.reason) == (
        "review",
        "7 of 9 texts were skipped; the study allows 2.",
    )
    page = cast.client("admin").get(f"/campaigns/crowd/participants/{walker.participant.pk}/")
    assert "allowed: 2" in " ".join(page.content.decode().split())


@pytest.mark.django_db(transaction=True)
def test_concurrent_skips_stay_within_the_limit():
    study = make_study(texts=12, items_per_part=8)
    assignments = participant_states.open_assignments(
        participant_states.make_working(study, "pid-1")
    )
    mine = [assignment.pk for assignment in assignments if assignment.item.purpose == "study"]

    def act(pk):
        assignment = Assignment.objects.select_related(
            "item", "part", "participant__campaign__rubric"
        ).get(pk=pk)
        try:
            saving.skip(assignment, "")
        except saving.AnswerError:
            return False
        return True

    assert sum(in_threads(act, mine)) == 2


def test_part_that_waits_for_hidden_gold_is_not_ended_by_what_staff_take_back(walker):
    gold = walker.participant.assignments.get(item__purpose="gold")
    skip(walker, gold)
    *earlier, last = study_items(walker)
    for assignment in earlier:
        walker.do(assignment)
    actions.release_item(last, User.objects.create_user("ada", role="admin"))
    assert walker.participant.parts.get().outcome == ""
    assert walker.do(gold).redirect_chain[-1][0] == f"{ROOM}end/"
    assert walker.participant.parts.get().outcome == "done"


@pytest.mark.parametrize(
    ("eta", "shows_text", "message"),
    [
        (3, ["text", "question"], "choose “not answerable”"),
        (None, ["text", "question"], "as well as you can"),
        (2, ["request", "question"], "as well as you can"),
    ],
)
def test_no_more_skips_message_follows_the_rubric(eta, shows_text, message):
    advice = no_more_skips_message(Rubric(eta=eta, shows=shows_text))
    assert LIMIT in advice
    assert message in advice
