"""Pages of raters in another language: the translation is complete and stays."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone, translation

from annotation.builder.attention_checks import add_ready_made
from annotation.models import Campaign, User
from annotation.models.standard import STANDARD
from annotation.participation import assigning
from tests.toolbox import participant_states
from tests.toolbox.factories import labels_of, make_campaign, make_dataset
from tests.toolbox.german_study import find_english, make_german_study
from tests.toolbox.prolific_study import PID, RIGHT, Walker, make_study
from tests.toolbox.responses import markup

pytestmark = pytest.mark.any_database


@pytest.fixture
def walker(db):
    return Walker(Client(), make_study(language="de"))


def test_study_is_german_from_the_door_to_the_task(walker):
    for page, sentence in (
        (walker.arrive(), "Bevor Sie beginnen"),
        (walker.agree(), "Ist die Aufgabe klar?"),
        (walker.check(*RIGHT), "Abgeben"),
    ):
        content = markup(page)
        assert '<html lang="de"' in content
        assert sentence in content
    assert "Bericht 1 von" in content
    assert "Wird gespeichert" in content  # for the scripts


def test_somebody_who_cannot_come_in_reads_why_in_german(db):
    make_study(language="de")
    Campaign.objects.update(state=Campaign.State.PAUSED)
    page = Client().get("/start/crowd/", {"PROLIFIC_PID": PID})
    assert page.status_code == 403
    assert "Diese Studie ruht" in page.content.decode()
    assert '<html lang="de"' in markup(page)


@pytest.fixture
def german(cast, dataset):
    campaign = make_campaign(dataset, cast.researcher)
    Campaign.objects.filter(pk=campaign.pk).update(language="de")
    return Campaign.objects.get(pk=campaign.pk)


def test_next_page_of_the_same_person_is_english_again(cast, german):
    client = cast.client("researcher")
    for path in (f"/work/in/{german.slug}/", "/work/", f"/campaigns/{german.slug}/preview/"):
        assert '<html lang="de"' in markup(client.get(path)), path
        for staff_page in (f"/campaigns/{german.slug}/", "/", "/nowhere/"):
            assert '<html lang="en-gb"' in markup(client.get(staff_page))
        assert translation.get_language() == settings.LANGUAGE_CODE


def test_studies_in_two_languages_are_listed_in_the_sites_own(cast, dataset, german):
    make_campaign(dataset, cast.researcher, rubric="graded")
    assert '<html lang="en-gb"' in markup(cast.client("researcher").get("/work/"))


def test_form_errors_are_german(cast, german):
    assignment = german.participants.get().assignments.first()
    question = assignment.item.asked.first().question_id
    refused = cast.client("researcher").post(
        f"/work/{assignment.pk}/answers/{question}/",
        {"key": uuid4(), "grade": 7},
        headers={"X-Requested-With": "fetch"},
    )
    assert refused.status_code == 422
    assert refused.content.decode() == "Möglich sind die Stufen 0, 1, nicht 7."


def test_not_found_page_is_german(cast, german):
    page = cast.client("researcher").post(f"/work/in/{german.slug}/messages/", {"newest": "x"})
    assert page.status_code == 404
    assert "Unter dieser Adresse steht nichts" in page.content.decode()
    assert '<html lang="de"' in markup(page)


def test_ready_made_check_is_in_the_language_of_its_campaign(german):
    assert add_ready_made(german).body.startswith("Diese Frage prüft")
    german.language = "en-gb"
    assert add_ready_made(german).body.startswith("This question checks")


# A study wholly in German


def is_german(page, *sentences: str):
    """The page, once nothing of it is English; `says` is what it has to say."""
    content = page.content.decode()
    assert find_english(content) == []
    assert '<html lang="de"' in markup(page)
    for sentence in sentences:
        assert sentence in content, sentence
    return page


def test_english_of_a_page_is_seen():
    page = '<p>Die Brücke</p><p aria-label="Site">Wait for it</p><h1>Help</h1><td>Text</td>'
    assert find_english(page) == ["Help", "Site", "Wait for it"]


@pytest.mark.parametrize(
    ("rubric", "label"),
    [
        ("answerable", "nicht beantwortbar"),
        ("graded", "Nennt Fakten, die dafür von Bedeutung sind, aber keine Antwort"),
    ],
)
def test_pages_of_german_study_are_german(db, rubric, label):
    study = make_german_study(rubric=rubric)
    walker = Walker(Client(), study)
    get = walker.client.get
    is_german(walker.arrive(), "Fassung 2 dieser Bedingungen.")
    is_german(walker.agree())
    facts = ("4,50 EUR", "9,00 EUR", "Etwa 30 Minuten")
    is_german(walker.check(1, 0, 0), "Sie haben noch einen Versuch.", *facts)
    task = is_german(walker.check(*RIGHT, tries=1), label, "Zur Übung")
    assert not any(label_text in task.content.decode() for label_text in english_labels(rubric))
    practice = walker.in_hand()[0]
    url = f"/work/{practice.pk}/"
    lacking = walker.client.post(f"{url}submit/")
    is_german(lacking, "Vor dem Abgeben fehlen noch 2 Fragen")
    question = practice.item.asked.first().question_id
    sent = {"key": uuid4(), "grade": 1, "keep": "3:3"}
    is_german(
        walker.client.post(f"{url}answers/{question}/", sent, follow=True), "Eine Stelle passt"
    )
    feedback = is_german(walker.do(practice), "Erwartete Antworten", "Sie stimmen bei 1 von 2")
    assert not any(label_text in feedback.content.decode() for label_text in english_labels(rubric))
    first, second = walker.in_hand()
    is_german(get(f"/work/{first.pk}/"), "Abgeben", label)
    is_german(walker.client.post(f"/work/{first.pk}/skip/", {"note": "?"}, follow=True))
    is_german(get(walker.room), "1 von 1 Texten", "ausgelassen")
    is_german(walker.do(second), "FERTIG1", "Ihr Abschlusscode")
    title = {"answerable": "T1, beantwortbar oder nicht", "graded": "T2, Stufen 0 bis 5"}
    is_german(get("/work/"), title[rubric])
    is_german(walker.arrive("sub2"), "Als Nächstes kommt Teil 2 von 2")
    is_german(walker.begin())
    Campaign.objects.update(state=Campaign.State.CLOSED)
    is_german(get(walker.room), "Die Studie wurde geschlossen")
    is_german(
        get(f"/work/{walker.in_hand()[0].pk}/"), "Antworten bleiben erhalten, zählen aber nicht"
    )


def english_labels(rubric: str) -> list[str]:
    return [label for _grade, label in labels_of(STANDARD[rubric])]


def test_end_pages_of_german_study_are_german(db):
    study = make_german_study()
    declines, finishes, fails, leaves, lapses = (
        Walker(Client(), study, f"pid-{name}")
        for name in ("declines", "other", "fails", "leaves", "lapses")
    )
    declines.arrive()
    is_german(declines.answer_terms("decline"), "Sie sind nicht einverstanden")
    finishes.arrive()
    is_german(finishes.agree(0), "AUS1")
    for walker in (fails, leaves, lapses):
        walker.arrive()
        walker.agree()
    fails.check(1, 0, 0)
    is_german(fails.check(1, 0, 0), "FALSCH1")
    leaves.check(*RIGHT)
    is_german(leaves.client.post(f"{leaves.room}leave/", follow=True), "verlassen")
    lapses.check(*RIGHT)
    lapses.begin()
    participant_states.answer(lapses.in_hand()[0], 0)
    lapses.participant.parts.update(expires=timezone.now() - timedelta(hours=1))
    is_german(lapses.client.get(lapses.room), "Die Zeit für Ihren letzten Teil endete")
    is_german(lapses.client.get(f"/work/{lapses.participant.assignments.first().pk}/"))
    is_german(lapses.client.post("/logout/", {"next": "/"}, follow=True), "Sie sind abgemeldet")
    is_german(Client().get("/start/crowd/"), "PROLIFIC_PID fehlt.")
    for state in (Campaign.State.PAUSED, Campaign.State.CLOSED):
        Campaign.objects.update(state=state)
        is_german(Walker(Client(), study, "pid-late").arrive(), "Sie können jetzt nicht teilnehmen")


# Pages that belong to no study


def breaks(*args, **kwargs):
    raise RuntimeError


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/work/987654/", 404, "Unter dieser Adresse steht nichts"),
        ("/nowhere/", 404, "Unter dieser Adresse steht nichts"),
        ("/datasets/", 403, "Diese Seite ist für Forschende."),
        ("/people/", 403, "Diese Seite ist für die Verwaltung."),
        ("/work/?a=%00", 400, "Der Browser hat etwas gesendet"),
        ("/broken/", 500, "Der Fehler liegt bei uns"),
    ],
)
def test_error_pages_use_study_language(cast, german, monkeypatch, path, status, sentence):
    """For a person in a German study; the next to log in on this browser reads English."""
    assigning.invite(german, assigning.rater_of(cast.worker))
    client = cast.client("worker")
    client.raise_request_exception = False
    monkeypatch.setattr("annotation.participation.views.workflow.required_step_url", breaks)
    if path == "/broken/":
        path = f"/work/in/{german.slug}/"
    else:
        client.get("/work/")
        assert client.cookies["language"].value == "de"
    page = client.get(path)
    assert page.status_code == status
    is_german(page, sentence)
    client.force_login(cast.researcher)
    client.get("/")
    assert '<html lang="en-gb"' in markup(client.get("/nowhere/"))


def test_form_that_is_too_old_is_refused_in_german(cast, german):
    assigning.invite(german, assigning.rater_of(cast.worker))
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.worker)
    client.get("/work/")
    page = client.post(f"/work/in/{german.slug}/leave/")
    assert page.status_code == 403
    is_german(page, "Diese Seite ist zu alt")


def test_log_in_after_german_study_is_german(cast, german):
    assigning.invite(german, assigning.rater_of(cast.worker))
    login_url = f"/login/?next=/work/in/{german.slug}/"
    is_german(Client().get(login_url), "Anmelden")  # by the address of the study
    client = cast.client("worker")
    client.get("/work/")
    is_german(client.post("/logout/", follow=True), "Passwort")  # by what was read last
    wrong = {"username": cast.worker.username, "password": "x"}
    is_german(client.post("/login/", wrong), "Name und Passwort passen nicht zusammen.")
    User.objects.update(is_active=False)
    right = {"username": cast.worker.username, "password": "pass-word-1"}
    is_german(client.post("/login/", right), "Dieses Konto wurde gesperrt.")
    for _try in range(10):
        last = client.post("/login/", wrong)
    assert last.status_code == 429
    is_german(last, "Zu viele falsche Versuche. Bitte versuchen Sie es in 10 Minuten noch einmal.")
    for elsewhere in ("/login/", "/login/?next=/nowhere/", "/login/?next=/work/in/nowhere/"):
        assert '<html lang="en-gb"' in markup(Client().get(elsewhere))


def test_english_study_read_since_is_the_last_one(cast, german):
    english = make_campaign(make_dataset("other"), cast.worker)
    assigning.invite(german, assigning.rater_of(cast.worker))
    client = cast.client("worker")
    for campaign, language in ((german, "de"), (english, "en-gb")):
        client.get(f"/work/in/{campaign.slug}/")
        assert f'<html lang="{language}"' in markup(client.get("/nowhere/"))
    client.cookies["language"] = "xx"
    assert '<html lang="en-gb"' in markup(client.get("/nowhere/"))
