"""The look over everything, the opening of a draft, and what may change after it."""

import pytest

from annotation.models import Campaign, LogEntry
from tests.annotation.builder_material import (
    CHECKS,
    PARTS,
    PROLIFIC,
    STEPS,
    TERMS,
    TEXTS,
    make_draft,
    read,
    stored,
    url,
)
from tests.threads import in_threads


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"parts": PARTS | {"attention_per_part": 2}}, "and none is written"),
        ({"terms": TERMS | {"closes_at": "2020-01-01T10:00"}}, "is over already"),
        ({"terms": TERMS | {"platform": "prolific"}}, "needs a completion code"),
    ],
)
def test_what_is_missing_keeps_it_from_opening(admin, draft, changes, says):
    for step, sent in changes.items():
        admin.post(url(draft, step), sent)
    page = read(admin, draft, "review")
    assert says in page
    assert "disabled" in page
    response = admin.post(url(draft, "open"), follow=True)
    assert "It is not opened." in response.content.decode()
    draft.refresh_from_db()
    assert draft.is_draft


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "There is no consent text"),
        ({}, "Nobody is invited"),
        ({"checks": CHECKS}, "1 attention check is written, and none is asked"),
        ({"terms": PROLIFIC}, "needs two attention checks"),
        ({"terms": PROLIFIC}, "people who are paid need short ones"),
        ({"terms": PROLIFIC}, "never return to the others"),
        ({"terms": PROLIFIC, "checks": CHECKS}, "fail the comprehension check"),
        ({"terms": PROLIFIC | {"pay_per_part": ""}}, "no pay is stated"),
        ({"terms": TERMS | {"pay_per_part": "2.00"}}, "4.00 GBP an hour, less than 9"),
        ({"parts": PARTS | {"lease_hours": 30}, "terms": PROLIFIC}, "24 hours at most"),
    ],
)
def test_what_is_odd_is_said_and_can_be_opened(admin, draft, changes, says):
    for step, sent in changes.items():
        admin.post(url(draft, step), sent)
    assert says in read(admin, draft, "review")
    admin.post(url(draft, "open"))
    draft.refresh_from_db()
    assert draft.state == Campaign.State.OPEN


def test_opening_is_logged_and_its_people_see_it(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    response = admin.post(url(draft, "open"))
    assert response.url == draft.get_absolute_url()
    draft.refresh_from_db()
    assert draft.opened_at is not None
    entry = LogEntry.objects.get()
    assert (entry.action, entry.by) == ("opened", cast.admin)
    worker = cast.client("worker")
    assert draft.title in worker.get("/work/").content.decode()
    begun = worker.post(f"/work/in/{draft.slug}/begin/")
    assert worker.get(begun.url).status_code == 200
    assert (
        "It has been opened before." in admin.post(url(draft, "open"), follow=True).content.decode()
    )


@pytest.mark.parametrize("step", STEPS)
def test_nothing_changes_after_the_opening(cast, admin, harbour, step):
    draft = make_draft(admin, harbour, cast.worker)
    for name, sent in STEPS.items():
        admin.post(url(draft, name), sent)
    admin.post(url(draft, "open"))
    before = stored(draft)
    change = {"title": "Other", "raters_per_item": 9, "guideline": "x", "pay_per_part": "1"}
    for state in ("open", "paused", "closed"):
        Campaign.objects.update(state=state)
        for response in (
            admin.get(url(draft, step), follow=True),
            admin.post(url(draft, step), STEPS[step] | change, follow=True),
        ):
            assert response.redirect_chain == [(url(draft, "review"), 302)]
            assert "what raters were shown stays as it is" in response.content.decode()
    Campaign.objects.update(state="open")
    assert stored(draft) == before


@pytest.mark.parametrize("action", ["discard", "open"])
def test_an_open_campaign_is_not_opened_again_or_thrown_away(cast, admin, harbour, action):
    draft = make_draft(admin, harbour, cast.worker)
    admin.post(url(draft, "open"))
    before = stored(draft)
    admin.post(url(draft, action))
    assert stored(draft) == before


@pytest.mark.django_db(transaction=True)
def test_who_saves_while_another_opens_is_before_it_or_refused(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    clients = [cast.client("admin") for _ in range(12)]

    def act(at):
        if at % 6 == 5:
            return clients[at].post(url(draft, "open")).url
        return clients[at].post(url(draft, "texts"), TEXTS | {"sample": at % 6 + 1}).url

    went = in_threads(act, range(12))
    draft.refresh_from_db()
    assert draft.state == Campaign.State.OPEN
    assert LogEntry.objects.filter(action="opened").count() == 1
    assert draft.items.count() == draft.selection.get("sample", 10)
    assert set(went) <= {url(draft, "texts"), url(draft, "review"), draft.get_absolute_url()}


def test_the_frozen_state_is_readable(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    admin.post(url(draft, "checks"), CHECKS)
    admin.post(url(draft, "open"))
    page = read(cast.client("researcher"), draft, "review")
    for words in ("May you use what you know?", "Please choose grade 2.", "wil", "stays as it is"):
        assert words in page
    assert "Later changes" not in page  # for admins


def test_later_changes_are_few_and_logged(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    later = url(draft, "later")
    assert admin.get(later).url == url(draft, "terms")
    admin.post(url(draft, "open"))
    assert admin.get(later).status_code == 200
    sent = {
        "closes_at": "2099-05-01T12:00",
        "code_done": "NEW1",
        "title": "Sneaked in",
        "people": [cast.other_worker.pk],
    }
    assert admin.post(later, sent).url == url(draft, "review")
    draft.refresh_from_db()
    assert (draft.closes_at.year, draft.code_done, draft.title) == (2099, "NEW1", "Grading")
    assert draft.participants.count() == 2
    logged = {entry.action: entry.detail for entry in LogEntry.objects.all()}
    assert logged["changed terms"] == "closes_at, code_done"
    assert logged["invited"] == "1 account"
    bad = admin.post(later, sent | {"closes_at": "whenever", "people": []})
    assert bad.status_code == 422
    draft.refresh_from_db()
    assert draft.closes_at.year == 2099
