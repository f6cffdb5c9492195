"""Export of a study: contents of the tables, anonymity, and reproducible bytes."""

import csv
import hashlib
import io
import json
import re
import tomllib
import zipfile
from copy import deepcopy

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from annotation.models import (
    Answer,
    Campaign,
    LogEntry,
    Part,
    Participant,
    Rating,
    RubricLevel,
)
from annotation.models.standard import ANSWERABLE
from annotation.monitoring import actions
from annotation.monitoring.export import archive, files
from annotation.monitoring.export_tables import PRIVATE, escape_formula
from tests.annotation.monitoring.filled_material import make_filled, new_study
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import make_study
from tests.toolbox.users import Cast, make_cast

HOME = "/campaigns/crowd/"


@pytest.fixture(scope="module")
def filled(shared_world):
    return shared_world(make_filled)


@pytest.fixture
def people(db, filled):
    return deepcopy(filled[0])


@pytest.fixture
def cast(request, db) -> Cast:
    if "people" in request.fixturenames:
        return deepcopy(request.getfixturevalue("filled")[1])
    return make_cast()


@pytest.fixture
def study(request, db) -> Campaign:
    """With the people, or where a test has none without anybody."""
    if "people" in request.fixturenames:
        return Campaign.objects.get(pk=request.getfixturevalue("people")["done"].campaign_id)
    return new_study()


def written(study, *, anonymous: bool = False) -> dict[str, bytes]:
    return {name: b"".join(lines) for name, lines in files(study, anonymous=anonymous)}


def table(study, name: str, *, anonymous: bool = False) -> list[dict[str, str]]:
    raw = written(study, anonymous=anonymous)[name].decode()
    return list(csv.DictReader(io.StringIO(raw)))


def test_export_has_all_participants_parts_items_and_answers(study, people):
    assert len(table(study, "participants.csv")) == 11
    assert len(table(study, "items.csv")) == 13
    assert len(table(study, "questions.csv")) == 26
    parts = table(study, "sittings.csv")
    assert sorted((row["outcome"], row["pay_due"], row["fee_due"]) for row in parts) == [
        *([("", "0.00", "0.00")] * 2),
        *([("done", "4.50", "0.00")] * 3),
        ("expired", "0.00", "0.00"),
    ]
    assert len(table(study, "answers.csv")) == Answer.objects.count()
    [check] = table(study, "attention_checks.csv")
    assert check["expected"] == "0"
    assert {row["check"] for row in table(study, "answers.csv")} == {"", "1"}
    skipped = [row for row in table(study, "assignments.csv") if row["state"] == "skipped"]
    assert [row["note"] for row in skipped] == ["'=1+1 is cut off in the middle"]


def test_labels_are_the_newest_answers(study, people):
    participant = people["working"]
    assignment = participant_states.open_assignments(participant)[0]
    participant_states.answer(assignment, grade=0)
    participant_states.answer(assignment, grade=1)
    rows = table(study, "labels.csv")
    keys = [(row["worker"], row["rubric"], row["text"], row["question"]) for row in rows]
    assert len(keys) == len(set(keys))
    mine = [row for row in rows if row["worker"] == participant.rater.name]
    assert [(row["grade"], row["item"]) for row in mine] == [
        ("1", str(assignment.item.position + 1))
    ]
    labelled = [row for row in rows if row["purpose"] == "study"]
    assert len(labelled) == Rating.objects.filter(rater__participations__campaign=study).count()
    history = [
        row for row in table(study, "answers.csv") if row["worker"] == participant.rater.name
    ]
    assert [row["grade"] for row in history] == ["1", "0", "1"]


def test_answer_to_a_released_item_is_no_label(study, people):
    participant = people["working"]
    participant_states.answer(participant_states.open_assignments(participant)[0], grade=None)
    assert participant.rater.name not in {row["worker"] for row in table(study, "labels.csv")}
    assert [row["grade"] for row in table(study, "answers.csv")].count("") == 1


def test_spans_are_the_words_of_the_text(study, people):
    rows = table(study, "spans.csv")
    assert rows
    for row in rows:
        assert (row["start"], row["end"], row["quote"]) == ("0", "6", "Report")


def test_decisions_and_the_log_are_there(study, people):
    [decision] = table(study, "decisions.csv")
    assert (decision["by"], decision["note"], decision["grade"]) == ("ada", "'-plain to see", "1")
    [entry] = table(study, "log.csv")
    assert (entry["by"], entry["action"], entry["worker"]) == (
        *("ada", "extended"),
        people["working"].rater.name,
    )


def test_pilot_has_its_labels_too(study):
    Campaign.objects.update(is_pilot=True)
    study.refresh_from_db()
    participant_states.finish(participant_states.make_consented(study, "pid"))
    assert not Rating.objects.exclude(rater__name="gold").exists()
    assert len(table(study, "labels.csv")) == 6


def test_empty_study_has_its_tables_with_nothing_in_them(study):
    assert table(study, "answers.csv") == []
    assert len(table(study, "items.csv")) == 13


def test_provenance_has_the_hashes_of_the_files(study, people):
    raw = written(study)
    provenance = json.loads(raw.pop("provenance.json"))
    assert provenance["campaign"] == "crowd"
    assert provenance["anonymous"] is False
    assert set(provenance["files"]) == set(raw)
    for name, data in raw.items():
        assert provenance["files"][name]["sha256"] == hashlib.sha256(data).hexdigest()
        rows = list(csv.reader(io.StringIO(data.decode())))
        assert provenance["files"][name]["rows"] == len(rows) - 1
    assert study.salt not in json.dumps(provenance)


def test_anonymous_export_leads_back_to_nobody(study, people, cast):
    everything = b"\n".join(written(study, anonymous=True).values()).decode()
    for participant in people.values():
        assert participant.rater.name not in everything
        assert not participant.external_id or participant.external_id not in everything
        assert f",{participant.seed}," not in everything
    submissions = set(Part.objects.values_list("session_id", flat=True)) - {""}
    assert submissions
    for secret in (
        *submissions,
        "pid-",
        "st1",
        "Maria",
        ",ada,",
        "cut off",
        "plain to see",
        study.salt,
    ):
        assert secret not in everything, secret
    assert not re.search(r"\d\d:\d\d", everything)
    for key in Answer.objects.values_list("key", flat=True):
        assert str(key) not in everything
    for data in written(study, anonymous=True).values():
        assert not PRIVATE.keys() & set(data.decode().splitlines()[0].split(","))
    secret = json.loads(written(study, anonymous=True)["provenance.json"])
    assert secret["anonymous"] is True
    assert any("notes" in reason for reason in secret["left_out"])


def test_anonymous_export_has_the_same_work(study, people):
    for name in ("labels.csv", "spans.csv", "answers.csv"):
        full, anonymous = table(study, name), table(study, name, anonymous=True)
        assert len(full) == len(anonymous)
        workers = {row["worker"] for row in anonymous}
        assert len(workers) == len({row["worker"] for row in full})
        assert all(re.fullmatch("[0-9a-f]{16}", worker) for worker in workers)
    grades = sorted(row["grade"] for row in table(study, "labels.csv"))
    assert grades == sorted(row["grade"] for row in table(study, "labels.csv", anonymous=True))


def test_order_of_arrival_does_not_show(study, people):
    rows = table(study, "participants.csv", anonymous=True)
    assert [row["worker"] for row in rows] == sorted(row["worker"] for row in rows)


def test_pseudonyms_differ_between_campaigns(study, people):
    before = table(study, "participants.csv", anonymous=True)
    Campaign.objects.update(salt="another")
    study.refresh_from_db()
    renamed = table(study, "participants.csv", anonymous=True)
    assert not {row["worker"] for row in before} & {row["worker"] for row in renamed}


def test_erased_data_is_in_no_export(study, people, cast):
    actions.erase(people["part_done"], cast.admin, with_notes=True)
    everything = b"\n".join(written(study).values()).decode()
    assert "pid-part" not in everything
    assert "sub-part-1" not in everything
    assert people["part_done"].rater.name in everything


@pytest.mark.parametrize("anonymous", [False, True])
def test_same_database_gives_the_same_bytes(study, people, anonymous):
    first = b"".join(archive(study, anonymous=anonymous))
    assert first == b"".join(archive(study, anonymous=anonymous))


def test_answers_that_come_during_an_export_are_in_none_of_its_tables(study, people):
    assignment = participant_states.open_assignments(people["working"])[0]
    before = len(table(study, "labels.csv"))
    contents = {}
    for name, lines in files(study, anonymous=False):
        contents[name] = b"".join(lines).decode()
        if name == "participants.csv":
            participant_states.answer(assignment, grade=1)
    assert contents["answers.csv"].count("\r\n") == Answer.objects.count()  # the head, and one less
    assert contents["labels.csv"].count("\r\n") == before + 1


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("a=1", "a=1"),
        ("", ""),
    ],
)
def test_exported_cell_is_never_a_formula(cell, expected):
    assert escape_formula(cell) == expected


def run(*arguments: object) -> str:
    out = io.StringIO()
    call_command("export_campaign", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_command_writes_a_folder_or_an_archive(tmp_path, study, people):
    assert "is in" in run("crowd", tmp_path / "new" / "folder")
    raw = written(study)
    assert {p.name: p.read_bytes() for p in (tmp_path / "new" / "folder").iterdir()} == raw
    run("crowd", tmp_path / "a.zip", "--anonymous")
    with zipfile.ZipFile(tmp_path / "a.zip") as zipped:
        assert zipped.testzip() is None
        inside = {name: zipped.read(name) for name in zipped.namelist()}
    expected = written(study, anonymous=True)
    assert inside == {f"crowd/{name}": data for name, data in expected.items()}


def test_command_overwrites_nothing(tmp_path, study):
    (tmp_path / "a.zip").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("mine")
    with pytest.raises(CommandError, match="is there already"):
        run("crowd", tmp_path / "a.zip")
    with pytest.raises(CommandError, match="not an empty folder"):
        run("crowd", tmp_path / "full")
    with pytest.raises(CommandError, match="There is no campaign nowhere"):
        run("nowhere", tmp_path / "new")
    assert (tmp_path / "a.zip").read_text() == "mine"
    assert not (tmp_path / "new").exists()


def fetched(response) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def test_page_gives_both_exports_and_notes_who_took_them(cast, study, people):
    LogEntry.objects.all().delete()
    response = cast.client("admin").post(f"{HOME}export/", {"kind": "full"})
    assert response["Content-Disposition"] == 'attachment; filename="crowd.zip"'
    assert b"pid-working" in fetched(response)["crowd/participants.csv"]
    response = cast.client("researcher").post(f"{HOME}export/", {"kind": "anonymous"})
    assert response["Content-Disposition"] == 'attachment; filename="crowd.anonymous.zip"'
    assert b"pid-working" not in fetched(response)["crowd/participants.csv"]
    noted = [(entry.action, entry.detail, str(entry.by)) for entry in LogEntry.objects.all()]
    assert noted == [("exported", "anonymous", "rosa"), ("exported", "full", "ada")]


@pytest.mark.parametrize(
    ("role", "full", "anonymous"),
    [
        ("admin", 200, 200),
        ("researcher", 403, 200),
        ("worker", 403, 403),
        ("stranger", 302, 302),
    ],
)
def test_export_permissions_by_role(cast, study, role, full, anonymous):
    client = cast.client(role)
    for kind, status in (("full", full), ("anonymous", anonymous)):
        assert client.post(f"{HOME}export/", {"kind": kind}).status_code == status


def test_wrong_methods_and_missing_things(cast, study):
    client = cast.client("admin")
    assert client.get(f"{HOME}export/").status_code == 405
    assert client.post(f"{HOME}export/", {"kind": "half"}).status_code == 404
    assert client.post(f"{HOME}export/").status_code == 404
    assert client.post("/campaigns/nowhere/export/", {"kind": "full"}).status_code == 404
    assert not LogEntry.objects.exists()


def test_participants_of_other_campaigns_are_in_no_export(study, people):
    other_study = make_study("other", texts=2)
    participant_states.finish(participant_states.make_consented(other_study, "pid-elsewhere"))
    everything = b"\n".join(written(study).values()).decode()
    assert "pid-elsewhere" not in everything
    assert Participant.objects.count() == 12


# The words that were shown

LEVELS = {"grade 1": "answerable", "grade 0": "not answerable"}
ANSWERABLE_SHA256 = "330a188c3038afc210c82bdff2dca9f0bc0e8713a9e206be6bf4c069b155ca96"


def test_displayed_texts_are_exported_with_hashes(study):
    RubricLevel.objects.update(label="Edited since")
    rows = table(study, "words.csv")
    text_of_name = {row["name"]: row["text"] for row in rows}
    assert list(text_of_name) == [
        *("title", "rubric", "question", "grade 1", "grade 0", "guideline"),
        *(
            f"grade {grade}, example {number}{part}"
            for grade in (1, 0)
            for number in (1, 2)
            for part in ("", ", question", ", reason")
        ),
        "consent",
        *("check question 1", "check question 1, choice 1", "check question 1, choice 2"),
        *("check question 2", "check question 2, choice 1", "check question 2, choice 2"),
        "check question 2, why",
        *("check question 3", "check question 3, choice 1", "check question 3, choice 2"),
        *("check question 3, why", "attention check 1"),
    ]
    assert text_of_name.items() >= LEVELS.items()
    assert text_of_name["question"] == "Can each question be answered from this report alone?"
    assert text_of_name["check question 2, why"] == "The text alone counts, not what you know."
    assert text_of_name["guideline"] == study.guideline
    assert text_of_name["grade 0, example 2, reason"] == ANSWERABLE.examples[0][1]["reason"]
    assert {row["language"] for row in rows} == {"en-gb"}
    # printf 'answerable' | sha256sum
    assert next(row["sha256"] for row in rows if row["name"] == "grade 1") == ANSWERABLE_SHA256
    for row in rows:
        assert row["sha256"] == hashlib.sha256(row["text"].encode()).hexdigest()
    assert text_of_name == {
        row["name"]: row["text"] for row in table(study, "words.csv", anonymous=True)
    }


def test_provenance_has_program_version_and_catalogue_hash(db):
    german = make_study(language="de")
    provenance = json.loads(written(german)["provenance.json"])
    catalogue = (settings.BASE_DIR / "locale/de/LC_MESSAGES/django.mo").read_bytes()
    assert provenance["language"] == "de"
    assert provenance["words_frozen"] is True
    assert provenance["program_at_export"]["catalogue"] == "locale/de/LC_MESSAGES/django.mo"
    assert (
        provenance["program_at_export"]["catalogue_sha256"] == hashlib.sha256(catalogue).hexdigest()
    )
    assert provenance["program_at_opening"] == provenance["program_at_export"]
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    assert provenance["program_at_export"]["version"] == project["version"]
    german.wording["program"]["version"] = "0.1.0"  # it opened under another one
    provenance = json.loads(written(german)["provenance.json"])
    assert provenance["program_at_opening"]["version"] == "0.1.0"
    assert [row["text"] for row in table(german, "words.csv")][1:5] == [
        "T1, beantwortbar oder nicht",
        "Lässt sich jede Frage allein aus diesem Bericht beantworten?",
        *("beantwortbar", "nicht beantwortbar"),
    ]


def test_unfrozen_wording_is_the_rubrics_present_one(study):
    study.wording = {}
    RubricLevel.objects.filter(grade=0).update(label="Edited since")
    rows = {row["name"]: row for row in table(study, "words.csv")}
    assert (rows["grade 0"]["text"], rows["grade 0"]["language"]) == ("Edited since", "")
    assert rows["consent"]["language"] == "en-gb"
    provenance = json.loads(written(study)["provenance.json"])
    assert (provenance["words_frozen"], provenance["program_at_opening"]) == (False, None)
    english = provenance["program_at_export"]
    assert (english["catalogue"], english["catalogue_sha256"]) == ("", None)
