"""The look over everything, the opening of a draft, and what may change after it."""

import pytest

from annotation.models import Campaign, LogEntry, Rubric
from tests.toolbox.campaign_builder import (
    CHECKS,
    NEW,
    PARTS,
    PROLIFIC,
    STEPS,
    SURVEY,
    TERMS,
    TEXTS,
    make_draft,
    open_it,
    read,
    remarks,
    stored,
    url,
    version,
)
from tests.toolbox.threads import in_threads


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parts": PARTS | {"attention_per_part": 2}}, "but there are none"),
        ({"terms": TERMS | {"closes_at": "2020-01-01T10:00"}}, "is in the past"),
        ({"terms": TERMS | {"platform": "prolific"}}, "needs a completion code"),
    ],
)
def test_draft_with_missing_settings_is_not_opened(admin, draft, changes, message):
    for step, sent in changes.items():
        admin.post(url(draft, step), sent)
    page = read(admin, draft, "review")
    assert message in page
    assert "disabled" in page
    response = open_it(admin, draft, follow=True)
    assert "The campaign was not opened." in response.content.decode()
    draft.refresh_from_db()
    assert draft.is_draft


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"terms": PROLIFIC}, "There is no consent text"),
        ({"terms": TERMS | {"admits_anyone": "on"}}, "There is no consent text"),
        ({}, "Nobody is invited"),
        ({"checks": CHECKS}, "1 attention check is written, and none is asked"),
        ({"terms": PROLIFIC}, "needs two failed attention checks"),
        ({"terms": PROLIFIC}, "paid people need short parts"),
        ({"terms": PROLIFIC}, "never return to the pool"),
        ({"terms": PROLIFIC, "checks": CHECKS}, "fail the comprehension check"),
        ({"terms": PROLIFIC | {"pay_per_part": ""}}, "no pay is stated"),
        ({"terms": TERMS | {"pay_per_part": "2.00"}}, "4.00 GBP an hour, less than 9"),
        ({"parts": PARTS | {"lease_hours": 30}, "terms": PROLIFIC}, "at most 24 hours"),
    ],
)
def test_draft_with_remarks_lists_them_and_can_be_opened(admin, draft, changes, message):
    for step, sent in changes.items():
        admin.post(url(draft, step), sent)
    assert message in read(admin, draft, "review")
    open_it(admin, draft)
    draft.refresh_from_db()
    assert draft.state == Campaign.State.OPEN


def test_opening_is_logged_and_its_people_see_it(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    response = open_it(admin, draft)
    assert response.url == f"/campaigns/{draft.slug}/invitations/"
    assert cast.worker.username in admin.get(response.url).content.decode()
    draft.refresh_from_db()
    assert draft.opened_at is not None
    entry = LogEntry.objects.get()
    assert (entry.action, entry.by) == ("opened", cast.admin)
    worker = cast.client("worker")
    assert draft.title in worker.get("/work/").content.decode()
    begun = worker.post(f"/work/in/{draft.slug}/begin/")
    assert worker.get(begun.url).status_code == 200
    assert (
        "The campaign was opened before."
        in admin.post(url(draft, "open"), follow=True).content.decode()
    )


@pytest.mark.parametrize("step", STEPS)
def test_opened_campaign_refuses_changes_of_steps(cast, admin, harbour, step):
    draft = make_draft(admin, harbour, cast.worker)
    for name, sent in STEPS.items():
        admin.post(url(draft, name), sent)
    open_it(admin, draft)
    before = stored(draft)
    change = {"title": "Other", "raters_per_item": 9, "guideline": "x", "pay_per_part": "1"}
    for state in ("open", "paused", "closed"):
        Campaign.objects.update(state=state)
        for response in (
            admin.get(url(draft, step), follow=True),
            admin.post(url(draft, step), STEPS[step] | change, follow=True),
        ):
            assert response.redirect_chain == [(url(draft, "review"), 302)]
            assert "of an opened campaign cannot change" in response.content.decode()
    Campaign.objects.update(state="open")
    assert stored(draft) == before


@pytest.mark.parametrize("action", ["discard", "open"])
def test_open_campaign_is_not_opened_again_or_thrown_away(cast, admin, harbour, action):
    draft = make_draft(admin, harbour, cast.worker)
    open_it(admin, draft)
    before = stored(draft)
    admin.post(url(draft, action))
    assert stored(draft) == before


@pytest.mark.django_db(transaction=True)
def test_save_during_the_opening_comes_before_it_or_is_refused(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    clients = [cast.client("admin") for _ in range(12)]

    def act(number):
        if number % 6 == 5:
            while (response := open_it(clients[number], draft)).status_code == 409:
                pass
            return response.url
        return clients[number].post(url(draft, "texts"), TEXTS | {"sample": number % 6 + 1}).url

    went = in_threads(act, range(12))
    draft.refresh_from_db()
    assert draft.state == Campaign.State.OPEN
    assert LogEntry.objects.filter(action="opened").count() == 1
    assert draft.items.count() == draft.selection.get("sample", 10)
    invitations = f"/campaigns/{draft.slug}/invitations/"
    assert set(went) <= {url(draft, "texts"), url(draft, "review"), invitations}


def test_frozen_state_is_readable(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    admin.post(url(draft, "checks"), CHECKS)
    open_it(admin, draft)
    page = read(cast.client("researcher"), draft, "review")
    for phrase in (
        "May you use what you know?",
        "Please choose grade 2.",
        "wil",
        "can no longer change",
    ):
        assert phrase in page
    assert "Edit open campaign" not in page  # for admins


def test_later_changes_are_few_and_logged(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    later = url(draft, "later")
    assert admin.get(later).url == url(draft, "terms")
    open_it(admin, draft)
    assert admin.get(later).status_code == 200
    sent = {
        "closes_at": "2099-05-01T12:00",
        "feedback": "closed",
        "code_done": "NEW1",
        "title": "Sneaked in",
        "people": [cast.other_worker.pk],
    }
    assert admin.post(later, sent).url == url(draft, "review")
    draft.refresh_from_db()
    assert (draft.closes_at.year, draft.code_done, draft.title) == (2099, "NEW1", "Grading")
    assert draft.participants.count() == 2
    logged = {entry.action: entry.detail for entry in LogEntry.objects.all()}
    assert draft.feedback == "closed"
    assert logged["changed terms"] == "closes_at, feedback, code_done"
    assert logged["invited"] == "1 account"
    Campaign.objects.update(platform="prolific")
    planned = {"platform_fee": "33.33", "drop_out_percent": 20, "workers_a_day": 5}
    sent |= planned | {"people": []}
    assert admin.post(later, sent).url == url(draft, "review")
    draft.refresh_from_db()
    assert {name: str(getattr(draft, name)) for name in planned} == {
        name: str(value) for name, value in planned.items()
    }
    assert LogEntry.objects.first().detail == ", ".join(
        ["drop_out_percent", "workers_a_day", "platform_fee"]
    )
    for change in ({"closes_at": "whenever"}, {"feedback": "always"}):
        assert admin.post(later, sent | change | {"people": []}).status_code == 422
    draft.refresh_from_db()
    assert draft.closes_at.year == 2099


def test_review_lists_every_remark_above_the_button(admin, draft):
    page = read(admin, draft, "review")
    all_remarks = remarks(admin, draft)
    assert all_remarks
    for remark in all_remarks:
        assert page.index(remark) < page.index(">Open campaign</button>")
    assert admin.get(url(draft, "open")).url == url(draft, "review")  # it asked to confirm


@pytest.mark.parametrize("sent", [{}, {"version": ""}, {"version": "0123456789abcdef"}])
def test_opening_without_the_version_of_the_draft_is_refused(admin, draft, sent):
    before = stored(draft)
    refused = admin.post(url(draft, "open"), sent)
    assert refused.status_code == 409
    assert "somebody changed the draft since" in refused.content.decode()
    assert stored(draft) == before
    second_reply = admin.post(url(draft, "open"), {"version": refused.context["version"]})
    assert second_reply.status_code == 302
    draft.refresh_from_db()
    assert not draft.is_draft


@pytest.mark.parametrize(
    ("step", "sent"),
    [
        ("terms", TERMS | {"pay_per_part": "1.00"}),
        ("parts", PARTS),
        ("texts", TEXTS | {"sample": 3}),
        ("checks", CHECKS),
        ("survey", SURVEY),
    ],
)
def test_draft_that_was_changed_since_is_displayed_again(admin, draft, step, sent):
    read_version = version(admin, draft)
    assert admin.post(url(draft, step), sent).status_code == 302
    refused = admin.post(url(draft, "open"), {"version": read_version})
    assert refused.status_code == 409
    draft.refresh_from_db()
    assert draft.is_draft


@pytest.mark.parametrize(
    ("rubric", "kind", "remark"),
    [
        ("answerable", "passage", "is made for reports, and these texts are passages"),
        ("graded", "report", "is made for passages, and these texts are reports"),
        ("answerable", "report", ""),
        ("graded", "passage", ""),
    ],
)
def test_rubric_for_another_kind_of_text_is_remarked(admin, harbour, rubric, kind, remark):
    draft = make_draft(admin, harbour, rubric=rubric, kind=kind)
    about_rubric = [text for text in remarks(admin, draft) if "is made for" in text]
    assert len(about_rubric) == bool(remark)
    assert remark in "".join(about_rubric)
    if remark:
        assert remark in read(admin, draft, "texts")
        assert remark in read(admin, draft, "review")


def test_rubric_that_was_retired_meanwhile_is_remarked(admin, draft):
    Rubric.objects.filter(pk=draft.rubric_id).update(is_retired=True)
    assert any("is retired" in remark for remark in remarks(admin, draft))


@pytest.mark.parametrize(("rubric", "kind"), [("answerable", "report"), ("graded", "passage")])
def test_rubric_decides_the_kind_of_text(admin, harbour, rubric, kind):
    draft = make_draft(admin, harbour, rubric=rubric, kind="")
    assert draft.selection["kind"] == kind
    assert {item.text.kind for item in draft.items.all()} == {kind}


def test_custom_rubric_has_no_remark_on_the_kind(admin, harbour):
    own_rubric = Rubric.objects.create(slug="own", title="Own", guideline="x", eta=1, span_from=1)
    sent = {"dataset": "harbour", "audience": "colleagues", "rubric": own_rubric.pk, "kind": ""}
    refused = admin.post(NEW, sent)
    assert refused.status_code == 422
    assert "choose which" in refused.content.decode()
    assert admin.post(NEW, sent | {"kind": "report"}).status_code == 302


def test_after_the_opening_comes_what_the_platform_asks_for(admin, draft):
    admin.post(url(draft, "parts"), PARTS | {"max_parts": 1})
    admin.post(url(draft, "terms"), PROLIFIC | {"code_screened_out": "S1"})
    response = open_it(admin, draft, follow=True)
    assert response.redirect_chain == [(f"/campaigns/{draft.slug}/invitations/", 302)]
    pasted = {setting.name: setting.value for setting in response.context["pasted"]}
    assert pasted.pop("Address of the study").startswith("http://testserver/start/grading/?PROL")
    assert pasted == {
        "Title": "Grading",
        "Places": "8",
        "Estimated time (minutes)": "30",
        "Pay (GBP)": "6.00",
        "Completion code": "C1",
        "Code after screening": "S1",
    }
    page = response.content.decode()
    for phrase in ("12.00 GBP an hour", ">C1</code>", "one for each part"):
        assert phrase in page
