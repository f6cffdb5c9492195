"""Attempts of a judge or a run as files: every one of them, with all that came with it."""

import csv
import io
import json

import pytest

from judging.engine.storing import store
from judging.models import Attempt
from tests.toolbox.reply_study import PROBABILITIES, REFUSAL, reply, start


def sent(response) -> str:
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode()


def table(response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(sent(response))))


def lines(response) -> list[dict]:
    return [json.loads(line) for line in sent(response).splitlines()]


@pytest.fixture
def urls(reply_study) -> list[str]:
    return [
        f"/judges/{reply_study.first.pk}/attempts",
        f"/judge-runs/{reply_study.run.pk}/attempts",
    ]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_attempts_are_for_researchers(cast, urls, form):
    for url in urls:
        for role, status in (
            ("admin", 200),
            ("researcher", 200),
            ("worker", 403),
            ("stranger", 302),
        ):
            assert cast.client(role).get(f"{url}.{form}").status_code == status
        assert cast.client("admin").post(f"{url}.{form}").status_code == 405


def test_missing_objects_give_404(rosa, reply_study, urls):
    for path in (
        "/judges/999999/attempts.csv",
        "/judge-runs/999999/attempts.csv",
        f"{urls[0]}.xml",
        f"{urls[1]}.xml",
        f"{urls[0]}.csv?dataset=nowhere",
    ):
        assert rosa.get(path).status_code == 404, path


def test_attempts_have_their_probabilities(rosa, reply_study, urls):
    for url in urls:
        rows = table(rosa.get(f"{url}.csv"))
        assert len(rows) == 8  # four of the passage, two of each report
        graded = next(row for row in rows if row["kind"] == "passage" and row["grade"] == "5")
        assert [graded[f"p{grade}"] for grade in range(6)] == [
            "" if p is None else str(p) for p in PROBABILITIES
        ]
        assert graded["fingerprint"] == reply_study.first.fingerprint
        assert graded["prompt_hash"] == Attempt.objects.get(grade=5).prompt_hash
        assert (graded["judge"], graded["run"], graded["dataset"], graded["topic"]) == (
            "first",
            str(reply_study.run.pk),
            "ferry",
            "ferry-1",
        )
        assert (graded["question_index"], graded["text"]) == ("0", "ferry-1:0#0")
        assert graded["text_sha256"] == reply_study.texts["passage"].sha256
        assert (graded["worker"], graded["prompt_tokens"]) == ("host-1:77", "321")
        assert graded["created"].endswith("+00:00")


def test_reply_without_a_grade_has_empty_cells_and_never_a_zero(rosa, urls):
    failed = next(row for row in table(rosa.get(f"{urls[0]}.csv")) if row["state"] == "refused")
    assert (failed["failure"], failed["grade"], failed["expected_grade"]) == ("refusal", "", "")
    assert [failed[f"p{grade}"] for grade in range(6)] == [""] * 6
    assert failed["raw"] == REFUSAL


def test_copies_and_superseded_attempts_say_so(rosa, reply_study, urls):
    assert [row["copied"] for row in table(rosa.get(f"{urls[0]}.csv"))].count("1") == 2
    retry = start(reply_study, reply_study.first, selection={"retry": True})
    store(
        retry, None, "host-2:5", [reply(reply_study.first, reply_study.pair("passage", 3), 4)], {}
    )
    rows = table(rosa.get(f"{urls[0]}.csv"))
    assert len(rows) == 9
    assert [row["state"] for row in rows if row["counts"] == "0"] == ["refused"]
    assert len(table(rosa.get(f"/judge-runs/{retry.pk}/attempts.csv"))) == 1


def test_json_lines_hold_the_same_as_it_is(rosa, reply_study, urls):
    rows = lines(rosa.get(f"{urls[0]}.jsonl"))
    graded = next(row for row in rows if row["grade"] == 5)
    assert graded["probabilities"] == list(PROBABILITIES)
    assert graded["grades"] == [0, 1, 2, 3, 4, 5]
    assert graded["counts"] is True
    failed = next(row for row in rows if row["state"] == "refused")
    assert (failed["grade"], failed["probabilities"], failed["raw"]) == (None, None, REFUSAL)


def test_reply_like_a_formula_is_escaped(rosa, reply_study, urls):
    Attempt.objects.filter(judge=reply_study.first, grade=5).update(raw="=1+1", detail="@x")
    row = next(row for row in table(rosa.get(f"{urls[0]}.csv")) if row["grade"] == "5")
    assert (row["raw"], row["detail"]) == ("'=1+1", "'@x")
    row = next(row for row in lines(rosa.get(f"{urls[0]}.jsonl")) if row["grade"] == 5)
    assert row["raw"] == "=1+1"


def test_of_one_dataset_alone(rosa, reply_study, urls):
    assert len(table(rosa.get(f"{urls[0]}.csv?dataset=ferry"))) == 8
    response = rosa.get(f"{urls[0]}.jsonl?dataset=ferry")
    assert response["Content-Disposition"] == 'attachment; filename="ferry-first-attempts.jsonl"'


def test_they_are_sent_while_they_are_read(rosa, urls, django_assert_num_queries):
    response = rosa.get(f"{urls[0]}.csv")
    with django_assert_num_queries(0):
        first = next(iter(response.streaming_content))
    assert first.startswith(b"judge,fingerprint,run,dataset,topic")


def test_reasoning_is_a_column_wherever_it_was_told(rosa, reply_study, urls):
    one, second = Attempt.objects.filter(judge=reply_study.first, state="graded")[:2]
    Attempt.objects.filter(pk=one.pk).update(reasoning="Beside.")
    Attempt.objects.filter(pk=second.pk).update(raw="<think>Within.</think>3")
    reasonings = {row["reasoning"] for row in table(rosa.get(f"{urls[0]}.csv"))}
    assert reasonings == {"", "Beside.", "Within."}
    assert {row["reasoning"] for row in lines(rosa.get(f"{urls[0]}.jsonl"))} == reasonings
