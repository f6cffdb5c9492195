"""Rubrics are made, and retired, by programs of admins."""

import pytest

from annotation.models import Rubric

URL = "/api/v1/rubrics/"
TONE = {
    "slug": "tone",
    "title": "Tone",
    "scale": "nominal",
    "shows": ["text"],
    "guideline": "Listen.",
    "levels": [
        {"grade": 1, "label": "Warm", "name": "warm", "key": "w"},
        {"grade": 0, "label": "Dry", "name": "dry", "colour": "blue"},
    ],
}


def test_what_is_made_is_told_as_it_was_sent(api):
    answer = api("admin").post(URL, TONE, format="json")
    assert answer.status_code == 201
    made = answer.json()
    assert {name: made[name] for name in TONE if name != "levels"} == {
        name: TONE[name] for name in TONE if name != "levels"
    }
    assert made["levels"] == [
        {"grade": 1, "label": "Warm", "name": "warm", "key": "w", "colour": ""},
        {"grade": 0, "label": "Dry", "name": "dry", "key": "", "colour": "blue"},
    ]
    assert (made["eta"], made["is_retired"]) == (None, False)
    assert api("researcher").get(URL + "tone/").json() == made


@pytest.mark.parametrize(
    ("change", "status", "field", "message"),
    [
        ({"slug": "graded"}, 409, "slug", "there is a rubric called graded already"),
        ({"slug": "new"}, 422, "slug", "new is a page of its own."),
        ({"eta": 4}, 422, "eta", "4 is no grade of the rubric."),
        ({"levels": TONE["levels"] * 2}, 422, "levels.grade", "1 is there twice."),
        ({"levels": TONE["levels"][:1]}, 400, "levels", ""),
        ({"colour": "blue"}, 400, "colour", "There is no field of this name."),
    ],
)
def test_what_breaks_a_rule_is_told_and_not_made(api, change, status, field, message):
    before = Rubric.objects.count()
    answer = api("admin").post(URL, TONE | change, format="json")
    assert answer.status_code == status
    problem = answer.json()["errors"][0]
    assert problem["field"] == field
    assert message in problem["message"]
    assert Rubric.objects.count() == before


def test_a_rubric_is_retired_and_offered_again(api):
    for is_retired in (True, False):
        change = {"is_retired": is_retired, "guideline": "Read on."}
        answer = api("admin").post(URL + "graded/", change, format="json")
        assert answer.status_code == 200
        rubric = Rubric.objects.get(slug="graded")
        assert (rubric.is_retired, rubric.guideline) == (is_retired, "Read on.")
    assert api("admin").post(URL + "graded/", {"eta": 1}, format="json").status_code == 400
    assert api("admin").get(URL + "nowhere/").status_code == 404
