"""Rubrics created and retired over the API by admins."""

import pytest
from lxml import html

from annotation.models import Rubric
from tests.toolbox.concurrent_clients import at_once

URL = "/api/v1/rubrics/"
EXAMPLE = {"text": "Well done!", "reason": "It is praise."}
TONE = {
    "slug": "tone",
    "title": "Tone",
    "scale": "nominal",
    "shows": ["text"],
    "impossible": [{"grade": 0, "rubric": "graded", "grades": [5, 4]}],
    "guideline": "Listen.",
    "levels": [
        {"grade": 1, "label": "Warm", "name": "warm", "key": "w", "examples": [EXAMPLE]},
        {"grade": 0, "label": "Dry", "name": "dry", "colour": "blue"},
    ],
}


def with_examples(*examples):
    return {"levels": [TONE["levels"][0] | {"examples": examples}, TONE["levels"][1]]}


def impossible(**change):
    return {"impossible": [TONE["impossible"][0] | change]}


def test_created_rubric_equals_the_request(api):
    answer = api("admin").post(URL, TONE, format="json")
    assert answer.status_code == 201
    created = answer.json()
    assert {name: created[name] for name in TONE if name != "levels"} == {
        name: TONE[name] for name in TONE if name != "levels"
    }
    assert created["levels"] == [
        {
            "grade": 1,
            "label": "Warm",
            "name": "warm",
            "key": "w",
            "colour": "",
            "examples": [{"text": "Well done!", "question": "", "reason": "It is praise."}],
        },
        {"grade": 0, "label": "Dry", "name": "dry", "key": "", "colour": "blue", "examples": []},
    ]
    assert (created["eta"], created["is_retired"]) == (None, False)
    assert api("researcher").get(URL + "tone/").json() == created


@pytest.mark.parametrize(
    ("change", "status", "field", "message"),
    [
        ({"slug": "graded"}, 409, "slug", "there is a rubric called graded already"),
        ({"slug": "new"}, 422, "slug", "new is reserved for a page."),
        ({"eta": 4}, 422, "eta", "4 is not a grade of the rubric."),
        ({"levels": TONE["levels"] * 2}, 422, "levels.grade", "1 is there twice."),
        ({"levels": TONE["levels"][:1]}, 400, "levels", ""),
        ({"colour": "blue"}, 400, "colour", "There is no field of this name."),
        (impossible(grade=9), 422, "impossible.grade", "9 is not a grade of the rubric."),
        (impossible(grades=[9]), 422, "impossible.grades", "9 is not a grade of graded."),
        (impossible(rubric="tone"), 422, "impossible.rubric", "the name of another rubric"),
        (impossible(grades=[]), 400, "grades", "at least 1"),
        (impossible(grades=["5"]), 400, "grades.0", "integer"),
        (impossible(why="x"), 400, "why", "There is no field of this name."),
        (with_examples(EXAMPLE, EXAMPLE, EXAMPLE, EXAMPLE), 400, "examples", "3 elements"),
        (with_examples({"text": "Hm."}), 400, "examples.0.reason", "required"),
        (with_examples(EXAMPLE | {"reason": " "}), 422, "levels.examples.0.reason", "why it has"),
    ],
)
def test_invalid_rubric_is_refused_with_message(api, change, status, field, message):
    before = Rubric.objects.count()
    answer = api("admin").post(URL, TONE | change, format="json")
    assert answer.status_code == status
    problem = answer.json()["errors"][0]
    assert problem["field"] == field
    assert message in problem["message"]
    assert Rubric.objects.count() == before


GRADED = URL + "graded/"


def read(client):
    """The fields of the rubric that a client may change, with the version that it read."""
    row = client.get(GRADED).json()
    return {name: row[name] for name in ("guideline", "is_retired", "version")}


def stored():
    rubric = Rubric.objects.get(slug="graded")
    return rubric.guideline, rubric.is_retired


def test_rubric_is_retired_and_restored(api):
    client = api("admin")
    for is_retired in (True, False):
        change = read(client) | {"is_retired": is_retired, "guideline": "Read on."}
        answer = client.post(GRADED, change, format="json")
        assert answer.status_code == 200
        assert answer.json()["version"] == read(client)["version"] != change["version"]
        assert stored() == ("Read on.", is_retired)
    assert client.post(GRADED, {"eta": 1}, format="json").status_code == 400
    assert client.get(URL + "nowhere/").status_code == 404
    assert client.post(URL + "nowhere/", read(client), format="json").status_code == 404


def test_change_without_a_version_is_refused_with_what_to_send(api):
    before = stored()
    for version in ({}, {"version": ""}):
        body = {"guideline": "Read on.", "is_retired": False} | version
        answer = api("admin").post(GRADED, body, format="json")
        assert answer.status_code == 422
        message = "is missing: read /api/v1/rubrics/graded/, and send its version with the change"
        assert answer.json()["errors"] == [{"index": None, "field": "version", "message": message}]
        assert stored() == before


@pytest.mark.parametrize("version", [7, None, "x" * 65, "a\x00b"])
def test_version_of_another_kind_is_refused(api, version):
    before = stored()
    body = {"guideline": "Read on.", "is_retired": False, "version": version}
    answer = api("admin").post(GRADED, body, format="json")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "version"
    assert stored() == before


@pytest.mark.parametrize("version", [None, "", "of-an-earlier-day"])
def test_body_that_changes_nothing_needs_no_version(api, version):
    before = stored()
    body = {"guideline": before[0], "is_retired": before[1]}
    body |= {} if version is None else {"version": version}
    answer = api("admin").post(GRADED, body, format="json")
    assert (answer.status_code, stored()) == (200, before)


def test_change_of_an_old_version_is_a_conflict_with_both_values(api):
    client, second_client = api("admin"), api("admin")
    mine, theirs = read(client), read(second_client) | {"guideline": "Theirs."}
    assert second_client.post(GRADED, theirs, format="json").status_code == 200
    mine |= {"guideline": "Mine.", "is_retired": True}
    answer = client.post(GRADED, mine, format="json")
    assert answer.status_code == 409
    refused = answer.json()
    assert refused["conflicts"] == [
        {"field": "guideline", "stored": "Theirs.", "sent": "Mine."},
        {"field": "is_retired", "stored": False, "sent": True},
    ]
    assert [error["field"] for error in refused["errors"]] == ["guideline", "is_retired"]
    assert stored() == ("Theirs.", False)
    # The next request with the new version replaces what is stored.
    answer = client.post(GRADED, mine | {"version": refused["version"]}, format="json")
    assert (answer.status_code, stored()) == (200, ("Mine.", True))


@pytest.mark.parametrize("edit", ["title", "level"])
def test_edit_of_other_fields_is_a_conflict_too(api, edit):
    """A guideline for other grades is not what the client has read."""
    client = api("admin")
    change = read(client) | {"guideline": "Mine."}
    rubric = Rubric.objects.get(slug="graded")
    if edit == "title":
        Rubric.objects.filter(pk=rubric.pk).update(title="Another")
    else:
        rubric.levels.filter(grade=0).update(label="Another")
    answer = client.post(GRADED, change, format="json")
    assert answer.status_code == 409
    assert stored()[0] == rubric.guideline


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sent", [("Mine.", "Theirs."), ("Same.", "Same.")])
def test_of_two_clients_at_once_none_overwrites_the_other(api, sent):
    clients = api("admin"), api("admin")
    bodies = [
        read(client) | {"guideline": text} for client, text in zip(clients, sent, strict=True)
    ]
    calls = [
        lambda client=client, body=body: client.post(GRADED, body, format="json")
        for client, body in zip(clients, bodies, strict=True)
    ]
    outcomes = at_once(*calls, after_reading=Rubric)
    assert [outcome.error for outcome in outcomes] == [None, None]
    statuses = [outcome.status for outcome in outcomes]
    if sent[0] == sent[1]:
        assert statuses == [200, 200]  # it was sent twice
        assert stored()[0] == "Same."
        return
    assert sorted(statuses) == [200, 409]
    winner, loser = statuses.index(200), statuses.index(409)
    assert stored()[0] == sent[winner]
    assert outcomes[loser].value.json()["conflicts"] == [
        {"field": "guideline", "stored": sent[winner], "sent": sent[loser]}
    ]


@pytest.mark.django_db(transaction=True)
def test_change_while_the_page_saves_the_guideline_overwrites_nothing(api, cast):
    page, client = cast.client("admin"), api("admin")
    by_page = {"guideline": "Of the page.", "version": page_version(page)}
    by_api = read(client) | {"guideline": "Of the API."}
    outcomes = at_once(
        lambda: page.post("/rubrics/graded/", by_page),
        lambda: client.post(GRADED, by_api, format="json"),
        after_reading=Rubric,
    )
    assert [outcome.error for outcome in outcomes] == [None, None]
    assert ([outcome.status for outcome in outcomes], stored()[0]) in [
        ([302, 409], "Of the page."),
        ([409, 200], "Of the API."),
    ]


def page_version(page):
    forms = html.fromstring(page.get("/rubrics/graded/").content.decode()).forms
    [form] = [form for form in forms if "guideline" in form.fields]
    return form.fields["version"]
