"""Survey answers for staff: the page of counts, and the tables of both exports."""

import csv
import io
import json

import pytest
from django.test import Client

from annotation.monitoring import actions
from annotation.monitoring.export import files
from tests.annotation.study_material import text_of_page
from tests.toolbox.prolific_study import Walker
from tests.toolbox.survey import make_surveyed_study, send
from tests.toolbox.users import Cast, make_cast

HOME = "/campaigns/crowd/"


@pytest.fixture
def cast(db) -> Cast:
    return make_cast()


@pytest.fixture
def study(db):
    """Two people answered both pages; the first is 30 or older."""
    study = make_surveyed_study()
    for pid, age, languages, unclear in (
        ("pid-1", "1", ["0", "2"], "=Jo of Leeds"),
        ("pid-2", "0", ["0"], ""),
    ):
        walker = Walker(Client(), study, pid)
        walker.prepare()
        send(walker, "before", age, languages)
        walker.do_part()
        send(walker, "after", "4", unclear)
    return study


def tables(study, *, anonymous: bool) -> dict[str, str]:
    return {name: b"".join(lines).decode() for name, lines in files(study, anonymous=anonymous)}


def rows_of(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table)))


def test_full_export_has_answers_by_worker_and_demographics_as_counts(study):
    exported = tables(study, anonymous=False)
    rows = rows_of(exported["survey.csv"])
    first = study.participants.get(external_id=Walker(None, study, "pid-1").pid).rater.name
    assert [
        (row["page"], row["number"], row["answer"]) for row in rows if row["worker"] == first
    ] == [
        ("before", "2", "English"),
        ("before", "2", "Welsh"),
        ("after", "1", "4"),
        ("after", "2", "'=Jo of Leeds"),
    ]
    assert len(rows) == 6
    assert "How old are you?" not in exported["survey.csv"]
    demographics = rows_of(exported["demographics.csv"])
    assert {row["answer"]: row["people"] for row in demographics} == {
        "under 30": "1",
        "30 or older": "1",
    }
    assert list(demographics[0]) == ["page", "number", "question", "answer", "people"]
    assert "How hard was the work?" in exported["words.csv"]


def test_anonymous_export_has_hashed_workers_and_no_text_answers(study):
    full, anonymous = tables(study, anonymous=False), tables(study, anonymous=True)
    rows = rows_of(anonymous["survey.csv"])
    workers = {row["worker"] for row in rows_of(anonymous["participants.csv"])}
    assert {row["worker"] for row in rows} == workers
    assert workers.isdisjoint(row["worker"] for row in rows_of(full["survey.csv"]))
    assert "What was unclear?" not in anonymous["survey.csv"]
    assert "Leeds" not in "".join(anonymous.values())
    assert anonymous["demographics.csv"] == full["demographics.csv"]
    left_out = json.loads(anonymous["provenance.json"])["left_out"]
    assert "answers to the survey in words, which are free text" in left_out


def test_text_kept_apart_is_only_in_the_full_demographics(study):
    study.survey_questions.filter(kind="text").update(is_separate=True)
    full, anonymous = tables(study, anonymous=False), tables(study, anonymous=True)
    assert "'=Jo of Leeds" in full["demographics.csv"]
    assert "Leeds" not in full["survey.csv"] + "".join(anonymous.values())


def test_staff_page_has_counts_only(cast, study):
    client = cast.client("researcher")
    page = client.get(f"{HOME}survey/")
    text = text_of_page(page)
    assert (
        "Before the work, question 1 How old are you? 2 answered; one choice; required; demographic"
        in text
    )
    assert "English 2 German 0 Welsh 1" in text
    assert "What was unclear? 1 answered; text" in text
    names = list(study.participants.values_list("rater__name", flat=True))
    assert not [secret for secret in (*names, "Leeds") if secret in page.content.decode()]
    participant = study.participants.first()
    of_person = client.get(f"{HOME}participants/{participant.pk}/").content.decode()
    assert "30 or older" not in of_person
    assert client.post(f"{HOME}survey/").status_code == 405
    assert client.get("/campaigns/nowhere/survey/").status_code == 404
    assert cast.client("worker").get(f"{HOME}survey/").status_code == 403


def test_erased_person_is_in_no_count_and_no_table(cast, study):
    participant = study.participants.get(external_id=Walker(None, study, "pid-1").pid)
    actions.erase(participant, cast.admin, with_notes=False)
    exported = tables(study, anonymous=False)
    assert participant.rater.name not in exported["survey.csv"]
    assert [row["answer"] for row in rows_of(exported["demographics.csv"])] == ["under 30"]
    assert "How old are you? 1 answered; one choice" in text_of_page(
        cast.client("admin").get(f"{HOME}survey/")
    )
