"""campaigns/<slug>/reconcile/: the comparison with Prolific, reasons of Quality, rules."""

import base64
import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.html import escape

from annotation.models import Campaign, LogEntry, Part, Participant
from annotation.monitoring import reconciliation
from annotation.participation import assigning
from evaluation.quality.signals import profile
from tests.toolbox import participant_states
from tests.toolbox.prolific_list import export
from tests.toolbox.prolific_study import make_study

URL = "/campaigns/crowd/reconcile/"


@pytest.fixture
def study(db) -> Campaign:
    return make_study(texts=12)


@pytest.fixture
def done(study) -> Participant:
    """Has done one part, for the submission sub-1."""
    participant = participant_states.make_consented(study, "pid-1")
    participant_states.finish(participant, "sub-1")
    return participant


def upload(client, raw: bytes):
    return client.post(URL, {"export": SimpleUploadedFile("export.csv", raw)})


def test_page_compares_and_gives_the_comparison_as_a_csv(cast, study, done):
    Participant.objects.update(external_id="=cmd|' /c calc'!a0")
    before = [*Participant.objects.values(), *_work(Part.objects.get())]
    raw = export(
        ("sub-1", "=cmd|' /c calc'!a0", "AWAITING REVIEW", "@SUM(1)"), ("s", "p", "RETURNED", "")
    )
    response = upload(cast.client("admin"), raw)
    page = response.content.decode()
    assert response.status_code == 200
    assert "Another code" in page
    link = page.split('href="data:text/csv;charset=utf-8;base64,')[1].split('"')[0]
    rows = list(csv.reader(io.StringIO(base64.b64decode(link).decode())))
    assert rows[0] == list(reconciliation.OUT)
    assert rows[1][1] == "'=cmd|' /c calc'!a0"
    assert rows[1][4] == "'@SUM(1)"
    assert rows[1][-2:] == ["approve", "The work is done, whatever the code."]
    assert rows[2][:3] == ["s", "p", "RETURNED"]
    assert [*Participant.objects.values(), *_work(Part.objects.get())] == before
    assert LogEntry.objects.get().action == "loaded the list of Prolific"


def _work(part: Part) -> list[object]:
    """The fields of a part that a list does not change."""
    return [part.outcome, part.ended, part.expires, part.study_id, part.session_id]


def work(study, pid: str, grades: list[int], ms: int = 60_000) -> Participant:
    """Do a part: one grade for each text, on the same words."""
    participant = participant_states.make_consented(study, pid)
    assigning.begin_part(participant, study_id="st1", session_id=f"sub-{pid}")
    by_item = sorted(participant_states.open_assignments(participant), key=lambda a: a.item_id)
    for assignment, grade in zip(by_item, grades, strict=True):
        participant_states.submit_item(assignment, grade=grade, ms=ms)
    return participant


def make_long_study() -> Campaign:
    return make_study(texts=12, training=0, items_per_part=None, minutes_per_part=None)


def reasons_on_page(client, study, *participants) -> dict[str, list[tuple[str, list[str]]]]:
    """Upload the submissions, and return the reasons with their links by person."""
    rows = [
        (f"sub-{person.external_id}", person.external_id, "AWAITING REVIEW", "DONE1")
        for person in participants
    ]
    response = upload(client, export(*rows))
    page = response.content.decode()
    assert "reject" not in page.lower()
    assert ">Review: " in page
    compared = {}
    for row in response.context["compared"].rows:
        assert row.suggestion == "review"
        for reason in row.reasons:
            assert escape(reason.text) in page
            for link in reason.links:
                assert f'href="{link.url}"' in page
                assert client.get(link.url).status_code == 200
        compared[row.person] = [
            (reason.text, [link.label for link in reason.links]) for reason in row.reasons
        ]
    return compared


def test_signals_of_quality_are_reasons_for_review_with_links(cast, db):
    study = make_long_study()
    slow, quick = work(study, "pid-1", [1] * 12), work(study, "pid-2", [1] * 12, ms=2000)
    reasons = reasons_on_page(cast.client("admin"), study, slow, quick)
    qualities = f"Quality of {slow.rater.name}", f"Quality of {quick.rater.name}"
    # Three items of each, in the person's own order, which is drawn.
    for links in (links for of_person in reasons.values() for _, links in of_person):
        links[:] = [link for link in links if link.startswith("Quality")] + [
            "item" for link in links if not link.startswith("Quality")
        ]
    items = ["item"] * 3
    equal = "24 of 24 grades (24 by chance), 24 of 24 highlights"
    assert reasons == {
        "pid-1": [
            ("Straight-lining: 1 in 100% of 24 answers.", [qualities[0]]),
            (f"Copies: same as {quick.rater.name}: {equal}.", [*qualities, *items]),
        ],
        "pid-2": [
            ("Too fast: 6 s an item; typical: 93 s.", [qualities[1], *items]),
            ("Straight-lining: 1 in 100% of 24 answers.", [qualities[1]]),
            (f"Copies: same as {slow.rater.name}: {equal}.", [*qualities[::-1], *items]),
        ],
    }


def test_run_of_one_grade_links_to_its_items(cast, db, monkeypatch):
    monkeypatch.setattr(profile, "RARE_RUN", 1)
    study = make_long_study()
    person = work(study, "pid-1", [1, 0, 1, *[0] * 9])
    reasons = reasons_on_page(cast.client("admin"), study, person)
    labels = [f"Quality of {person.rater.name}", "r3 (s1)", "r4 (s0)", "r5 (s1)"]
    [(text, links)] = reasons["pid-1"]
    assert text.startswith("Straight-lining: 18 times 0 in a row")
    assert links == labels


def test_amounts_and_ids_to_paste_are_on_the_page(cast, study, done):
    Campaign.objects.update(platform_fee="33.33")  # 1.50 of 4.50
    raw = export(
        ("sub-1", "pid-1", "AWAITING REVIEW", "DONE1"),
        ("sub-8", "pid-8", "AWAITING REVIEW", "DONE1"),
        ("sub-9", "pid-9", "AWAITING REVIEW", "DONE1"),
    )
    page = " ".join(upload(cast.client("admin"), raw).content.decode().split())
    assert "The fee is 33.33% of it" in page
    assert '<td class="number">6.00</td>' in page
    assert ">sub-8 sub-9</textarea>" in page
    assert "2 or more failed attention checks" in page


def test_invalid_upload_is_refused_with_a_message(cast, study):
    client = cast.client("admin")
    response = upload(client, export(("s", "", "ACTIVE", ""), ("t", "", "NO", "")))
    assert response.status_code == 422
    page = response.content.decode()
    assert "Line 2: “Participant id” is empty." in page
    assert "Line 3: “Participant id” is empty." in page
    assert client.post(URL).status_code == 422
    assert upload(client, b"").status_code == 422
    assert upload(client, b"\xff" * 10).status_code == 422


def test_file_that_is_too_large_is_not_read(cast, study, monkeypatch):
    monkeypatch.setattr("crux_site.reconcile.forms.MAX_EXPORT", 100)
    response = upload(cast.client("admin"), export(("s", "p", "ACTIVE", "")))
    assert response.status_code == 422
    assert "larger than" in response.content.decode()


REVIEWED = {
    "look_skipped_percent": "",
    "look_checks_missed": 0,
    "look_gold_percent": 60,
    "look_gold_answers": 3,
    "look_active_percent": 10,
}


def test_rules_of_a_running_study_are_changed_and_logged(cast, study):
    admin = cast.client("admin")
    assert "under 10% of the stated minutes active" in admin.get(URL).content.decode()
    changed = REVIEWED | {"look_skipped_percent": 30, "look_active_percent": 25}
    assert admin.post(f"{URL}rules/", changed).url == URL
    study.refresh_from_db()
    assert (study.look_skipped_percent, study.look_active_percent) == (30, 25)
    [entry] = LogEntry.objects.all()
    assert (entry.action, entry.by) == ("changed review rules", cast.admin)
    assert entry.detail == "look_skipped_percent empty to 30, look_active_percent 10 to 25"
    page = admin.get(URL).content.decode()
    assert "more than 30% of the texts skipped" in page
    assert "under 25% of the stated minutes active" in page
    admin.post(f"{URL}rules/", changed)  # the same again is no change
    assert LogEntry.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("look_skipped_percent", "101"),
        ("look_checks_missed", "-1"),
        ("look_checks_missed", "40000"),
        ("look_gold_percent", ""),
        ("look_gold_answers", "0"),
        ("look_active_percent", "much"),
    ],
)
def test_rules_that_make_no_sense_are_refused(cast, study, name, value):
    response = cast.client("admin").post(f"{URL}rules/", REVIEWED | {name: value})
    assert response.status_code == 422
    page = response.content.decode()
    assert f'id="id_{name}_error"' in page
    assert "under 60% of 3 gold answers or more right" in page  # as they are stored
    assert not LogEntry.objects.exists()


def test_rules_are_for_admins_and_are_sent(cast, study):
    assert cast.client("researcher").post(f"{URL}rules/", REVIEWED).status_code == 403
    assert cast.client("worker").post(f"{URL}rules/", REVIEWED).status_code == 403
    assert cast.client("admin").get(f"{URL}rules/").status_code == 405
    assert (
        cast.client("admin").post("/campaigns/none/reconcile/rules/", REVIEWED).status_code == 404
    )
