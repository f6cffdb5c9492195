"""Endings by state of the person: sentences that they read, counted work, and the code."""

from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client, RequestFactory
from django.utils import timezone

from annotation.models import Assignment, Part, User
from annotation.monitoring import actions
from annotation.monitoring.participants import rows
from annotation.participation import assigning, entry
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox.prolific_study import RIGHT, WRONG, Walker, make_study

STOPPED = "The researchers stopped your work in this study. What you did is kept."
ENDED = "The researchers ended your work in this study. We keep what you submitted."
APPEAL = "If you think this is a mistake, write to them before you return your submission."
RETURN = "Please return your submission on Prolific"
NO_BLAME = "This does not count against you."
WITHDREW = "You have left this study We keep what you submitted."
DECIDE = "The researchers see your work, and decide about pay. Please write to them on Prolific"


def ready(walker: Walker, admin: User) -> None:
    walker.prepare()


def practised(walker: Walker, admin: User) -> None:
    walker.prepare()
    walker.begin()
    walker.do(walker.in_hand()[0])


def one_done(walker: Walker, admin: User) -> None:
    practised(walker, admin)
    walker.do(walker.in_hand()[0])


def part_done(walker: Walker, admin: User) -> None:
    walker.prepare()
    walker.do_part()


def all_done(walker: Walker, admin: User) -> None:
    part_done(walker, admin)
    walker.arrive("sub2")
    walker.do_part()


def declined(walker: Walker, admin: User) -> None:
    walker.arrive()
    walker.answer_terms("decline")


def screened_out(walker: Walker, admin: User) -> None:
    walker.arrive()
    walker.agree(1 - RIGHT[0])


def failed_check(walker: Walker, admin: User) -> None:
    walker.arrive()
    walker.agree()
    walker.check(*WRONG)
    walker.check(*WRONG)


def withdrew(walker: Walker, admin: User) -> None:
    one_done(walker, admin)
    walker.client.post(f"{ROOM}leave/")


def withdrew_after_a_part(walker: Walker, admin: User) -> None:
    part_done(walker, admin)
    walker.client.post(f"{ROOM}leave/")


def readmitted(walker: Walker, admin: User) -> None:
    withdrew(walker, admin)
    actions.readmit(walker.participant, admin)


def returned(walker: Walker, admin: User) -> None:
    one_done(walker, admin)
    actions.return_participant(walker.participant, admin)


def returned_after_a_part(walker: Walker, admin: User) -> None:
    part_done(walker, admin)
    actions.return_participant(walker.participant, admin)


def returned_before_the_check(walker: Walker, admin: User) -> None:
    walker.arrive()
    walker.agree()
    actions.return_participant(walker.participant, admin)


def excluded(walker: Walker, admin: User) -> None:
    one_done(walker, admin)
    actions.exclude_work(walker.participant, admin)


def excluded_after_a_part(walker: Walker, admin: User) -> None:
    part_done(walker, admin)
    actions.exclude_work(walker.participant, admin)


def excluded_after_all(walker: Walker, admin: User) -> None:
    all_done(walker, admin)
    actions.exclude_work(walker.participant, admin)


def items_released(walker: Walker, admin: User) -> None:
    one_done(walker, admin)
    actions.release_untouched(walker.participant, admin)


def items_released_and_paused(walker: Walker, admin: User) -> None:
    items_released(walker, admin)
    put(walker, state="paused")


def timed_out_in_practice(walker: Walker, admin: User) -> None:
    practised(walker, admin)
    run_out(walker)
    put(walker, state="paused")


def timed_out_with_work(walker: Walker, admin: User) -> None:
    one_done(walker, admin)
    run_out(walker)
    put(walker, state="paused")


def closed_with_work(walker: Walker, admin: User) -> None:
    one_done(walker, admin)
    put(walker, state="closed")


def paused(walker: Walker, admin: User) -> None:
    walker.prepare()
    put(walker, state="paused")


def texts_taken(walker: Walker, admin: User) -> None:
    walker.prepare()
    walker.campaign.items.filter(purpose="study").update(purpose="gold")


def account_closed(walker: Walker, admin: User) -> None:
    one_done(walker, admin)
    User.objects.filter(pk=walker.participant.rater.user_id).update(is_active=False)


def put(walker: Walker, **change: str) -> None:
    type(walker.campaign).objects.filter(pk=walker.campaign.pk).update(**change)


def run_out(walker: Walker) -> None:
    Part.objects.update(expires=timezone.now() - timedelta(minutes=1))
    assigning.expire(walker.campaign)


# State: sentences that are read, sentences that are not, submitted texts, code.
TABLE: dict[Callable[[Walker, User], None], tuple[list[str], list[str], int, str]] = {
    ready: (["2 texts to read, after 1 to practise on"], [RETURN], 0, ""),
    practised: (["0 of 2 submitted", "0 texts submitted in total"], [RETURN], 0, ""),
    one_done: (["1 of 2 submitted", "1 text submitted in total"], [RETURN], 1, ""),
    part_done: (["Your part is done"], [RETURN], 2, "DONE1"),
    all_done: (["You have done all of it"], [RETURN], 4, "DONE1"),
    declined: (["You did not agree, and that is fine", RETURN, NO_BLAME], [ENDED], 0, ""),
    screened_out: (["You cannot take part in this study"], [RETURN, ENDED], 0, "SCREEN1"),
    failed_check: (["Your visit ends here"], [RETURN, ENDED], 0, "FAILED1"),
    withdrew: ([WITHDREW, "Pay is for finished parts.", RETURN, NO_BLAME], [ENDED, APPEAL], 1, ""),
    withdrew_after_a_part: ([WITHDREW, "It has a completion code:"], [RETURN, ENDED], 2, "DONE1"),
    readmitted: (["Your last part ended on", "You can start again."], ["researchers ended"], 1, ""),
    returned: ([ENDED, APPEAL, "Pay is for finished parts."], [RETURN, NO_BLAME, WITHDREW], 1, ""),
    returned_after_a_part: ([ENDED, "write to them."], [RETURN, NO_BLAME], 2, "DONE1"),
    returned_before_the_check: ([ENDED, APPEAL], ["You did not agree", RETURN], 0, ""),
    excluded: ([f"{STOPPED} {APPEAL}"], [RETURN, NO_BLAME, "Other people have all"], 1, ""),
    excluded_after_a_part: ([STOPPED, "It has a completion code:"], [RETURN], 2, "DONE1"),
    excluded_after_all: ([STOPPED, "It has a completion code:"], ["done all"], 4, "DONE1"),
    items_released: (
        ["The researchers ended your last part on", "Kept: 1 submitted, 0 started.", "shorter"],
        [RETURN, "come first"],
        1,
        "",
    ),
    items_released_and_paused: (
        ["The researchers ended your last part on", DECIDE],
        [RETURN, NO_BLAME],
        1,
        "",
    ),
    timed_out_in_practice: (
        ["Kept: 0 submitted, 0 started. Returned without an answer: 2.", RETURN],
        [DECIDE],
        0,
        "",
    ),
    timed_out_with_work: (
        ["The time for your last part ended on", "Kept: 1 submitted, 0 started.", DECIDE],
        [RETURN, NO_BLAME],
        1,
        "",
    ),
    closed_with_work: (["The study was closed before", DECIDE], [RETURN, NO_BLAME], 1, ""),
    paused: (["is paused", RETURN], ["Other people have"], 0, ""),
    texts_taken: (["Other people have all the texts", RETURN], [], 0, ""),
    account_closed: (
        ["The researchers closed your account", "What you did is kept.", APPEAL],
        [RETURN, NO_BLAME, "stored nothing"],
        1,
        "",
    ),
}


@pytest.mark.parametrize("state", TABLE, ids=lambda state: state.__name__)
def test_person_reads_what_is_true_for_their_state(db, cast, state):
    sentences, absent, submitted, code = TABLE[state]
    walker = Walker(Client(), make_study())
    state(walker, cast.admin)
    text = text_of_page(walker.client.get(walker.came_by, follow=True))
    end = walker.client.get(f"{ROOM}end/", follow=True)
    assert [sentence for sentence in sentences if sentence not in text] == []
    assert [sentence for sentence in absent if sentence in text + text_of_page(end)] == []
    codes = [name for name in ("DONE1", "SCREEN1", "FAILED1") if name in text_of_page(end)]
    assert codes == [code] * bool(code)
    [row] = rows(walker.campaign.participants.with_status())
    assert row.submitted == submitted


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (withdrew, "You left this study."),
        (returned, "The researchers ended your work in this study."),
        (excluded, "The researchers stopped your work in this study."),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_open_page_is_told_why_its_answer_does_not_count(db, cast, state, reason):
    walker = Walker(Client(), make_study())
    state(walker, cast.admin)
    item = Assignment.objects.get(item__purpose="study", submitted_at=None)
    question = item.item.asked.first().question_id
    script = {"X-Requested-With": "fetch"}
    url = f"/work/{item.pk}/"
    fields = {"key": uuid4(), "grade": 0}
    saved = walker.client.post(f"{url}answers/{question}/", fields, headers=script)
    assert saved.json()["says"] == f"Your answer is kept, but does not count. {reason}"
    skipped = walker.client.post(f"{url}skip/", {"note": "Why?"}, headers=script)
    assert (skipped.status_code, reason in skipped.content.decode()) == (422, True)
    walker.do(item)
    refused = walker.client.post(f"{url}submit/", headers=script)
    assert refused.content.decode() == f"{reason} Your answers are kept."


def test_revoked_link_does_not_claim_that_nothing_is_stored(db, cast):
    campaign = make_study(platform="", code_done="")
    (participant,) = entry.make_links(campaign, ["Ann"])
    link = entry.link_of(participant, RequestFactory().get("/"))
    actions.revoke_link(participant, cast.admin)
    text = text_of_page(Client().get(link))
    assert "This link has ended." in text
    assert "What you did is kept." in text
    assert "stored nothing" not in text
