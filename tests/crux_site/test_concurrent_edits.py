"""Concurrent edits by two people: the second sees the first edit, and none is lost."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from lxml import html

from annotation.models import (
    AttentionCheck,
    Campaign,
    Decision,
    LogEntry,
    Part,
    Participant,
    Rubric,
    RubricLevel,
    SubQuestion,
    User,
)
from annotation.models.projects import main_project
from annotation.models.rubric_wording import campaign_wording
from annotation.monitoring import actions
from annotation.participation import assigning, entry
from building.models import Product
from judging.engine.judges import JudgeError, make_judge
from judging.models import Judge, JudgeRun
from tests.toolbox import adjudication_study as adjudication
from tests.toolbox import participant_states
from tests.toolbox.campaign_builder import make_draft, make_labelled, version
from tests.toolbox.concurrent_clients import at_once, rounds
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.generation_pages import a_writing, first_of
from tests.toolbox.judging_runs import a_judge, a_run
from tests.toolbox.prolific_study import make_study

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 3


@pytest.fixture
def admins(cast) -> tuple[Client, Client]:
    """Two admins, each with a browser."""
    second = Client()
    second.force_login(User.objects.create_user("ben", password="pass-word-1", role="admin"))
    return cast.client("admin"), second


def opened(client: Client, address: str, name: str) -> dict[str, list[str]]:
    """The values of the form with a field of this name, as a browser would send them."""
    return values(client.get(address).content.decode(), name)


def values(page: str, name: str) -> dict[str, list[str]]:
    [form] = [form for form in html.fromstring(page).forms if name in form.fields]
    sent: dict[str, list[str]] = {}
    for key, value in form.form_values():
        # Of a text area a browser leaves out the first line break.
        sent.setdefault(key, []).append(value.removeprefix("\n"))
    return sent


def statuses(outcomes) -> list[int]:
    assert [outcome.error for outcome in outcomes] == [None] * len(outcomes)
    return sorted(outcome.status for outcome in outcomes)


@dataclass
class Edit:
    """Form of an edit: its page, its target, the field both change, and the stored value."""

    page: str
    name: str
    sent: tuple[str, str]
    stored: Callable[[], Any]
    to: str = ""
    labels: tuple[str, str] = ("", "")  # in the comparison, where it is not what is sent


def draft_edit(step: str, name: str, sent: tuple[str, str], stored: str) -> Callable[[Any], Edit]:
    def make(cast) -> Edit:
        draft = make_draft(cast.client("admin"), make_labelled())

        def read():
            return str(getattr(Campaign.objects.get(pk=draft.pk), stored))

        return Edit(f"/campaigns/{draft.slug}/edit/{step}/", name, sent, read)

    return make


def topics_edit(cast) -> Edit:
    draft = make_draft(cast.client("admin"), make_labelled())

    def read():
        return ", ".join(Campaign.objects.get(pk=draft.pk).selection["topics"])

    page = f"/campaigns/{draft.slug}/edit/texts/"
    return Edit(page, "topics", ("harbour-0", "harbour-1"), read)


def wording_edit(cast) -> Edit:
    draft = make_draft(cast.client("admin"), make_labelled())

    def read():
        return campaign_wording(Campaign.objects.get(pk=draft.pk)).title

    page = f"/campaigns/{draft.slug}/edit/guideline/"
    return Edit(page, "rubric_title", ("Answers", "Support"), read)


def people_edit(cast) -> Edit:
    draft = make_draft(cast.client("admin"), make_labelled())
    people = cast.worker, cast.other_worker

    def read():
        return str(draft.participants.get().rater.user_id)

    return Edit(
        f"/campaigns/{draft.slug}/edit/terms/",
        "people",
        (str(people[0].pk), str(people[1].pk)),
        read,
        labels=(people[0].username, people[1].username),
    )


def checks_edit(cast) -> Edit:
    draft = make_draft(cast.client("admin"), make_labelled())
    AttentionCheck.objects.create(campaign=draft, position=0, body="Choose 0.", expected=0)
    page = f"/campaigns/{draft.slug}/edit/checks/"
    sent = ("Please choose 0.", "Take the lowest grade.")
    return Edit(page, "attention-0-body", sent, lambda: AttentionCheck.objects.get().body)


def open_edit(page: str, name: str, to: str = "") -> Callable[[Any], Edit]:
    def make(cast) -> Edit:
        campaign = make_campaign(make_dataset(), cast.worker)

        def read():
            return str(getattr(Campaign.objects.get(pk=campaign.pk), name))

        begin = f"/campaigns/{campaign.slug}/"
        return Edit(begin + page, name, ("7", "9"), read, begin + to if to else "")

    return make


def guideline_edit(cast) -> Edit:
    def read():
        return Rubric.objects.get(slug="graded").guideline

    return Edit("/rubrics/graded/", "guideline", ("Look for facts.", "Look for words."), read)


def rubric_edit(cast) -> Edit:
    make_rubric()
    read = Rubric.objects.filter(slug="tone").get
    return Edit("/rubrics/tone/edit/", "title", ("Warmth", "Coldness"), lambda: read().title)


def make_rubric() -> Rubric:
    tone = Rubric.objects.create(slug="tone", title="Tone", guideline="Listen.")
    for grade, label in enumerate(("cold", "warm")):
        RubricLevel.objects.create(rubric=tone, grade=grade, label=label)
    return tone


def person_edit(cast) -> Edit:
    def read():
        return User.objects.get(pk=cast.worker.pk).role

    page, labels = f"/people/{cast.worker.pk}/", ("researcher", "admin")
    return Edit(page, "role", ("researcher", "admin"), read, labels=labels)


def family_edit(cast) -> Edit:
    judge = a_judge()

    def read():
        return Judge.objects.get(pk=judge.pk).family

    return Edit(f"/judges/{judge.pk}/", "family_override", ("llama", "qwen"), read)


EDITS = {
    "texts of a draft": draft_edit("texts", "title", ("Grading A", "Grading B"), "title"),
    "parts of a draft": draft_edit("parts", "max_parts", ("7", "9"), "max_parts"),
    "guideline of a draft": draft_edit(
        "guideline", "consent_version", ("A1", "B1"), "consent_version"
    ),
    "terms of a draft": draft_edit(
        "terms", "contact", ("a@example.org", "b@example.org"), "contact"
    ),
    "topics of a draft": topics_edit,
    "wording of a draft": wording_edit,
    "people of a draft": people_edit,
    "checks of a draft": checks_edit,
    "terms of an open campaign": open_edit("edit/later/", "drop_out_percent"),
    "rules of a comparison": open_edit("reconcile/", "look_checks_missed", "reconcile/rules/"),
    "guideline of a rubric": guideline_edit,
    "rubric": rubric_edit,
    "account": person_edit,
    "family of a judge": family_edit,
}


@pytest.mark.parametrize("kind", EDITS)
def test_second_of_two_saves_is_shown_both_values_and_changes_nothing(cast, admins, kind):
    edit = EDITS[kind](cast)
    to = edit.to or edit.page
    before = [opened(client, edit.page, edit.name) for client in admins]
    calls = [
        lambda client=client, sent=sent, value=value: client.post(to, sent | {edit.name: value})
        for client, sent, value in zip(admins, before, edit.sent, strict=True)
    ]
    outcomes = at_once(*calls, after_reading=Campaign)
    assert statuses(outcomes) == [302, 409]
    won = next(number for number in (0, 1) if outcomes[number].status == 302)
    assert edit.stored() == edit.sent[won]

    page = outcomes[1 - won].value.content.decode()
    labels = edit.labels if edit.labels[0] else edit.sent
    assert "Somebody else (or another tab) has saved this form since you opened it." in page
    cells = [cell.text_content().strip() for cell in html.fromstring(page).xpath("//td")]
    [stored] = [number for number, cell in enumerate(cells) if labels[won] in cell.splitlines()]
    assert labels[1 - won] in cells[stored + 1].splitlines()
    # What was typed is still in the form, and the next save replaces what is stored.
    data = values(page, edit.name)
    assert data[edit.name] == [edit.sent[1 - won]]
    assert admins[1 - won].post(to, data).status_code == 302
    assert edit.stored() == edit.sent[1 - won]


@pytest.mark.parametrize("kind", ["parts of a draft", "checks of a draft", "rubric"])
def test_form_that_is_sent_twice_is_saved_once_without_a_conflict(cast, admins, kind):
    edit = EDITS[kind](cast)
    client, _ = admins
    sent = opened(client, edit.page, edit.name) | {edit.name: edit.sent[0]}
    outcomes = at_once(lambda: client.post(edit.page, sent), lambda: client.post(edit.page, sent))
    assert statuses(outcomes) == [302, 302]
    assert edit.stored() == edit.sent[0]


def test_list_of_checks_that_was_refused_still_notices_the_save_of_another(cast, admins):
    edit = checks_edit(cast)
    mine, theirs = (opened(client, edit.page, edit.name) for client in admins)
    assert admins[1].post(edit.page, theirs | {edit.name: edit.sent[1]}).status_code == 302
    refused = admins[0].post(edit.page, mine | {edit.name: ""})
    assert refused.status_code == 422
    corrected = values(refused.content.decode(), edit.name) | {edit.name: edit.sent[0]}
    conflict = admins[0].post(edit.page, corrected)
    assert conflict.status_code == 409
    assert edit.sent[1] in conflict.content.decode()
    assert edit.stored() == edit.sent[1]
    data = values(conflict.content.decode(), edit.name)
    assert admins[0].post(edit.page, data).status_code == 302
    assert edit.stored() == edit.sent[0]


@pytest.mark.parametrize("kind", ["parts of a draft", "wording of a draft", "terms of a draft"])
def test_form_that_was_previewed_still_notices_the_save_of_another(cast, admins, kind):
    edit = EDITS[kind](cast)
    mine, theirs = (opened(client, edit.page, edit.name) for client in admins)
    assert admins[1].post(edit.page, theirs | {edit.name: edit.sent[1]}).status_code == 302
    preview = admins[0].post(edit.page, mine | {edit.name: edit.sent[0], "look": "1"})
    assert preview.status_code == 200
    data = values(preview.content.decode(), edit.name)
    assert data[edit.name] == [edit.sent[0]]
    assert admins[0].post(edit.page, data).status_code == 409
    assert edit.stored() == edit.sent[1]


# ---------------------------------------------------------------------------- acts


@dataclass
class Acts:
    """Two acts on one participant, of which the second is refused."""

    to: str
    sent: dict[str, str]
    n: Callable[[Participant], int]  # how often it was done
    by_link: bool = False


def hours(participant: Participant) -> int:
    part = participant.parts.get()
    return round((part.expires - part.began) / timedelta(hours=24) - 20 / 24)


ACTS = {
    "extend": Acts("extend", {"hours": "24"}, hours),
    "renew the link": Acts(
        "link", {"days": "3"}, lambda person: person.link_serial - 1, by_link=True
    ),
    "exclude": Acts("exclude", {}, lambda person: bool(person.set_aside_at)),
    "return": Acts("return", {"confirm": "on"}, lambda person: person.outcome == "returned"),
}


@pytest.mark.parametrize("kind", ACTS)
def test_second_of_two_acts_on_a_participant_is_told_of_the_first(admins, kind):
    act, study = ACTS[kind], make_study()
    participant = (
        entry.make_links(study, ["Ann"])[0]
        if act.by_link
        else participant_states.make_working(study, "p1")
    )
    serial = participant.link_serial
    page = f"/campaigns/{study.slug}/participants/{participant.pk}/"
    sent = act.sent | {"seen": opened(admins[0], page, "days" if act.by_link else "hours")["seen"]}
    calls = [
        lambda client=client: client.post(f"{page}{act.to}/", sent, follow=True)
        for client in admins
    ]
    outcomes = at_once(*calls, after_reading=Participant)
    assert statuses(outcomes) == [200, 200]
    pages = [outcome.value.content.decode() for outcome in outcomes]
    assert sum("has acted since you opened the page" in page for page in pages) == 1
    participant.refresh_from_db()
    assert LogEntry.objects.filter(participant=participant).count() == 1
    if act.by_link:
        assert participant.link_serial == serial + 1
    else:
        assert act.n(participant) == 1


def test_second_of_two_states_of_a_campaign_is_refused(cast, admins):
    campaign = make_campaign(make_dataset(), cast.worker)
    to = f"/campaigns/{campaign.slug}/state/"
    calls = [
        lambda client=client, state=state: client.post(
            to, {"state": state, "seen": "open"}, follow=True
        )
        for client, state in zip(admins, ("paused", "closed"), strict=True)
    ]
    outcomes = at_once(*calls, after_reading=Campaign)
    assert statuses(outcomes) == [200, 200]
    pages = [outcome.value.content.decode() for outcome in outcomes]
    [refused] = [number for number in (0, 1) if "Nothing was done" in pages[number]]
    campaign.refresh_from_db()
    assert campaign.state == ("closed", "paused")[refused]
    assert LogEntry.objects.count() == 1


def test_concurrently_excluded_person_begins_no_part(cast):
    study = make_study(texts=8)

    def prepare(number):
        participant = participant_states.make_consented(study, f"p{number}")

        def begin():
            return assigning.begin_part(Participant.objects.get(pk=participant.pk))

        def exclude():
            return actions.exclude_work(Participant.objects.get(pk=participant.pk), cast.admin)

        return [begin, exclude]

    for outcomes in rounds(ROUNDS, prepare, after_reading=Participant):
        assert [outcome.error for outcome in outcomes] == [None, None]
    excluded = Part.objects.exclude(participant__set_aside_at=None)
    assert not excluded.filter(outcome=Part.Outcome.UNDER_WAY).exists()


# ---------------------------------------------------------------------------- made at once


def test_name_that_gets_two_links_at_once_gets_one(admins):
    study = make_study()
    to = f"/campaigns/{study.slug}/invitations/"
    calls = [lambda client=client: client.post(to, {"names": "Ann"}) for client in admins]
    assert statuses(at_once(*calls, after_reading=Campaign)) == [302, 302]
    assert Participant.objects.filter(external_id="Ann").count() == 1


def test_campaign_that_is_made_or_copied_twice_at_once_is_no_error(admins):
    source = make_draft(admins[0], make_labelled())
    calls = [
        lambda client=client: client.post(f"/campaigns/{source.slug}/copy/") for client in admins
    ]
    for outcomes in rounds(ROUNDS, lambda _: calls, after_reading=Campaign):
        assert statuses(outcomes) == [302, 302]
    sent = {
        "dataset": "harbour",
        "audience": "colleagues",
        "title": "Twice",
        "rubric": Rubric.objects.get(slug="graded").pk,
        "kind": "passage",
    }
    calls = [lambda client=client: client.post("/campaigns/new/", sent) for client in admins]
    # The form reads campaigns before it looks for a free address.
    outcomes = at_once(*calls, after_reading='"annotation_campaign"."slug" = ')
    assert statuses(outcomes) == [302, 422]
    assert Campaign.objects.filter(title="Twice").count() == 1


def test_draft_that_is_opened_and_thrown_away_at_once_is_no_error(admins):
    draft = make_draft(admins[0], make_labelled())
    page = f"/campaigns/{draft.slug}/edit/open/"
    sent = {"version": version(admins[0], draft)}
    outcomes = at_once(
        lambda: admins[0].post(page, sent),
        lambda: admins[1].post(f"/campaigns/{draft.slug}/edit/discard/"),
        after_reading=Campaign,
    )
    # The rights are read first: on a slow machine the draft may be gone before it is read itself.
    assert statuses(outcomes) in ([302, 302], [302, 404])


def test_rubric_that_is_made_twice_at_once_is_made_once(admins):
    make_rubric()
    sent = opened(admins[0], "/rubrics/new/?from=tone", "slug")
    calls = [lambda client=client: client.post("/rubrics/new/", sent) for client in admins]
    assert statuses(at_once(*calls, after_reading=Rubric)) == [302, 422]
    assert Rubric.objects.filter(slug="tone-copy").count() == 1


def test_rubric_that_is_shared_while_its_guideline_is_saved_has_both(admins):
    def prepare(number):
        if number == 0:
            make_rubric()
        Rubric.objects.filter(slug="tone").update(project=main_project())
        guideline = {"guideline": f"Listen {number} times."}
        data = opened(admins[1], "/rubrics/tone/", "guideline") | guideline
        return [
            lambda: admins[0].post("/rubrics/tone/publish/"),
            lambda: admins[1].post("/rubrics/tone/", data),
        ]

    for number, outcomes in enumerate(rounds(ROUNDS, prepare, after_reading=Rubric)):
        assert [outcome.status for outcome in outcomes] == [302, 302]
        tone = Rubric.objects.get(slug="tone")
        assert (tone.project, tone.guideline) == (None, f"Listen {number} times.")


def test_rubric_that_is_replaced_while_its_guideline_is_saved_is_no_error(admins):
    make_rubric()
    whole = opened(admins[0], "/rubrics/tone/edit/", "title") | {"title": "Warmth"}
    data = opened(admins[1], "/rubrics/tone/", "guideline") | {"guideline": "Listen twice."}
    outcomes = at_once(
        lambda: admins[0].post("/rubrics/tone/edit/", whole),
        lambda: admins[1].post("/rubrics/tone/", data),
        after_reading=Rubric,
    )
    got = [outcome.status for outcome in outcomes]
    stored = Rubric.objects.get(slug="tone")
    # The guideline was saved first, and the other is told; or it was saved under what had just been stored.
    assert (stored.title, stored.guideline, got) in [
        ("Tone", "Listen twice.", [409, 302]),
        ("Warmth", "Listen twice.", [302, 302]),
    ]


@pytest.mark.parametrize("changed", ["guideline", "levels"])
def test_edit_of_a_rubric_that_was_changed_since_it_was_opened_is_a_conflict(admins, changed):
    """The row is the same one here, and no replacement: only its version tells."""
    tone = make_rubric()
    sent = opened(admins[0], "/rubrics/tone/edit/", "title") | {"title": "Warmth"}
    if changed == "guideline":
        data = opened(admins[1], "/rubrics/tone/", "guideline") | {"guideline": "Listen twice."}
        assert admins[1].post("/rubrics/tone/", data).status_code == 302
    else:
        tone.levels.filter(grade=0).update(label="icy")
    answer = admins[0].post("/rubrics/tone/edit/", sent)
    assert answer.status_code == 409
    assert ("Listen twice." if changed == "guideline" else "icy") in answer.content.decode()
    tone.refresh_from_db()
    assert tone.title == "Tone"
    assert tone.guideline == ("Listen twice." if changed == "guideline" else "Listen.")


def test_rubric_that_is_retired_while_it_is_edited_stays_retired(admins):
    make_rubric()

    def prepare(number):
        Rubric.objects.update(is_retired=False)
        sent = opened(admins[0], "/rubrics/tone/edit/", "title") | {"title": f"Warmth {number}"}
        return [
            lambda: admins[0].post("/rubrics/tone/edit/", sent),
            lambda: admins[1].post("/rubrics/tone/retire/"),
        ]

    for number, outcomes in enumerate(rounds(ROUNDS, prepare, after_reading=Rubric)):
        assert statuses(outcomes) == [302, 302]
        stored = Rubric.objects.get(slug="tone")
        assert (stored.title, stored.is_retired) == (f"Warmth {number}", True)


def test_account_that_is_made_twice_at_once_is_made_once(admins):
    sent = {
        "username": "zoe",
        "role": "worker",
        "password1": "a-long-one-7",
        "password2": "a-long-one-7",
    }
    calls = [lambda client=client: client.post("/people/", sent) for client in admins]
    assert statuses(at_once(*calls, after_reading=User)) == [302, 422]
    assert User.objects.filter(username="zoe").count() == 1


def test_password_that_is_changed_while_an_admin_edits_the_account_stays_changed(cast, admins):
    page = f"/people/{cast.worker.pk}/"

    def prepare(number):
        sent = opened(admins[0], page, "role")
        sent["role"] = ["researcher" if sent["role"] == ["worker"] else "worker"]

        def change_password():
            account = User.objects.get(pk=cast.worker.pk)
            account.set_password(f"new-word-{number}")
            account.save(update_fields=["password"])

        return [lambda: admins[0].post(page, sent), change_password]

    for number, outcomes in enumerate(rounds(ROUNDS, prepare, after_reading=User)):
        assert [outcome.error for outcome in outcomes] == [None, None]
        assert outcomes[0].status == 302
        assert User.objects.get(pk=cast.worker.pk).check_password(f"new-word-{number}")


# ---------------------------------------------------------------------------- decided at once


def test_second_of_two_experts_is_shown_the_decision_of_the_first(cast, admins):
    campaign = make_campaign(make_dataset(), cast.worker, cast.other_worker)
    adjudication.make_differing(cast, campaign)
    sent = [
        adjudication.decision(campaign, grade=grade, keep=keep, key=uuid4())
        for grade, keep in (("1", [adjudication.span_position("was hurt")]), ("0", None))
    ]
    to = adjudication.url(campaign)
    calls = [
        lambda client=client, sent=sent: client.post(to, sent)
        for client, sent in zip(admins, sent, strict=True)
    ]
    outcomes = at_once(*calls, after_reading=Campaign)
    assert statuses(outcomes) == [302, 409]
    [refused] = [outcome.value for outcome in outcomes if outcome.status == 409]
    assert "has decided this question in the meantime: see the history" in refused.content.decode()
    assert Decision.objects.count() == 1


def test_second_of_two_reviewers_is_told_and_keeps_the_typed_words(cast, admins):
    run = a_writing(n=2)
    product = first_of(run)
    to = f"/datasets/{run.dataset.slug}/building/products/{product.pk}/decide/"
    typed = ("What did it cost?", "Who paid for it?")
    calls = [
        lambda client=client, body=body: client.post(
            to, {"decision": "accept", "words": body}, follow=True
        )
        for client, body in zip(admins, typed, strict=True)
    ]
    outcomes = at_once(*calls, after_reading=Product)
    assert statuses(outcomes) == [200, 200]
    stored = SubQuestion.objects.get().body
    refused_body = typed[1 - typed.index(stored)]
    page = outcomes[typed.index(refused_body)].value.content.decode()
    assert re.search(r"This output is already [a-z ]+, by", page)
    assert f"Your text is not stored: {refused_body}" in page


def test_judging_run_and_judge_that_are_made_twice_at_once_are_made_once(cast):
    judge, dataset = a_judge(), make_dataset()
    run = a_run(judge, dataset)
    JudgeRun.objects.filter(pk=run.pk).update(state="paused", started=run.created)
    clients = [cast.client("admin"), cast.client("admin")]
    to = f"/judge-runs/{run.pk}/resume/"
    calls = [lambda client=client: client.post(to, follow=True) for client in clients]
    outcomes = at_once(*calls, after_reading=JudgeRun)
    assert statuses(outcomes) == [200, 200]
    pages = [outcome.value.content.decode() for outcome in outcomes]
    assert sum("The run continues." in page for page in pages) == 1

    fields = {
        "rubric": judge.rubric,
        "backend": "openai",
        "model": "m",
        "prompt": "{text} {question}",
    }
    outcomes = at_once(
        lambda: make_judge("twin", **fields),
        lambda: make_judge("twin", **fields),
        after_reading=Judge,
    )
    refused = [outcome.error for outcome in outcomes if outcome.error]
    assert [type(error) for error in refused] == [JudgeError]
    assert Judge.objects.filter(rater__name="twin").count() == 1
