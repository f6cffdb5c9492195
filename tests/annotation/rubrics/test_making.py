"""/rubrics/new/ and what else makes, changes and retires a rubric in the browser."""

import re

import pytest
from django.test import Client

from annotation.models import Campaign, Rubric
from annotation.models.standard import READY_MADE, STANDARD, add_standard
from tests.factories import make_dataset
from tests.markup import markup

TONE = {
    "slug": "tone",
    "title": "Tone",
    "question": "How does it sound?",
    "scale": "nominal",
    "shows": ["text"],
    "eta": "",
    "span_from": "",
    "guideline": "Listen.",
}
LEVELS = [
    {"grade": "1", "label": "Warm", "name": "warm", "key": "w", "colour": "blue"},
    {"grade": "", "label": "", "name": "", "key": "", "colour": ""},  # left empty: no level
    {"grade": "0", "label": "Dry", "name": "", "key": "", "colour": ""},
]


def sent(levels=LEVELS, **changes):
    rows = {
        f"levels-{n}-{name}": value for n, row in enumerate(levels) for name, value in row.items()
    }
    return TONE | {"levels-TOTAL_FORMS": len(levels), "levels-INITIAL_FORMS": 0} | rows | changes


@pytest.fixture
def client(cast, db) -> Client:
    return cast.client("admin")


def test_a_rubric_is_made(client):
    response = client.post("/rubrics/new/", sent())
    assert (response.status_code, response["Location"]) == (302, "/rubrics/tone/")
    rubric = Rubric.objects.get(slug="tone")
    assert (rubric.is_nominal, rubric.shows, rubric.eta, rubric.span_from) == (
        True,
        ["text"],
        None,
        None,
    )
    assert list(rubric.levels.values_list("grade", "label", "name", "key", "colour")) == [
        (1, "Warm", "warm", "w", "blue"),
        (0, "Dry", "", "", ""),
    ]
    page = markup(client.get("/rubrics/tone/"))
    assert "Nominal; shows text." in page
    assert "It asks: How does it sound?" in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slug": "graded"}, "There is a rubric graded already."),
        ({"slug": "add"}, "add is a page of its own."),
        ({"shows": ["moon"]}, "moon is not one of the available choices"),
        (
            {"span_from": "1", "shows": ["question"]},
            "Words can be marked only in a text that is shown.",
        ),
        ({"eta": "3"}, "3 is no grade of the rubric."),
        ({"guideline": " "}, "This field is required."),
        ({"levels-0-key": "j"}, "Give a letter or sign other than t u j k ?."),
        ({"levels-0-key": "T"}, "Give a letter or sign other than t u j k ?."),
        ({"levels-0-key": "0"}, "0 is there twice."),
        ({"levels-0-key": "W", "levels-2-key": "w"}, "w is there twice."),
        ({"levels-0-grade": "0"}, "0 is there twice."),
        ({"levels-0-grade": "-1"}, "A grade is 0 to 1000."),
        ({"levels-0-label": ""}, "This field is required."),
        ({"levels-2-grade": "", "levels-2-label": ""}, "Give 2 to 101 levels, not 1."),
    ],
)
def test_what_breaks_a_rule_is_said_and_nothing_is_made(client, change, message):
    response = client.post("/rubrics/new/", sent(**change))
    assert response.status_code == 422
    assert message in markup(response)
    assert not Rubric.objects.filter(slug="tone").exists()


def test_more_rows_keep_what_was_typed(client):
    page = markup(client.post("/rubrics/new/", sent(more="1", title="Half a ti")))
    assert 'value="Half a ti"' in page
    assert len(re.findall(r'name="levels-\d+-grade"', page)) == 2 + 3
    assert "status failed" not in page
    assert not Rubric.objects.filter(slug="tone").exists()


def test_a_copy_begins_with_all_of_the_other(client):
    page = markup(client.get("/rubrics/new/?from=graded"))
    assert 'value="graded-copy"' in page
    assert 'value="Answers the question fully and plainly"' in page
    assert client.get("/rubrics/new/?from=nowhere").status_code == 404


def test_it_changes_until_it_is_used(client, cast):
    client.post("/rubrics/new/", sent())
    assert 'value="Warm"' in markup(client.get("/rubrics/tone/edit/"))
    response = client.post("/rubrics/tone/edit/", sent(title="The tone", **{"levels-0-grade": "5"}))
    assert response.status_code == 302
    rubric = Rubric.objects.get(slug="tone")
    assert (rubric.title, rubric.grades()) == ("The tone", [0, 5])
    Campaign.objects.create(dataset=make_dataset(), rubric=rubric, slug="c", title="C")
    for response in (
        client.get("/rubrics/tone/edit/", follow=True),
        client.post("/rubrics/tone/edit/", sent(title="Other"), follow=True),
    ):
        assert "This rubric is used, and stays as it is" in markup(response)
    assert Rubric.objects.get(slug="tone").title == "The tone"
    assert "Change it" not in markup(client.get("/rubrics/tone/"))


def test_it_is_retired_and_offered_again(client):
    assert client.post("/rubrics/graded/retire/").status_code == 302
    assert not Rubric.objects.offered().filter(slug="graded").exists()
    assert "retired" in markup(client.get("/rubrics/"))
    client.post("/rubrics/graded/retire/", {"restore": "1"})
    assert Rubric.objects.offered().filter(slug="graded").exists()


def test_a_retired_rubric_that_is_changed_stays_retired(client):
    client.post("/rubrics/new/", sent())
    client.post("/rubrics/tone/retire/")
    client.post("/rubrics/tone/edit/", sent(title="The tone"))
    rubric = Rubric.objects.get(slug="tone")
    assert (rubric.title, rubric.is_retired) == ("The tone", True)


def test_those_that_come_with_the_program_are_added_once(client):
    page = markup(client.get("/rubrics/"))
    assert page.count("Add<span") == len(READY_MADE)
    for standard in READY_MADE:
        response = client.post("/rubrics/add/", {"slug": standard.slug})
        assert response["Location"] == f"/rubrics/{standard.slug}/"
        rubric = Rubric.objects.get(slug=standard.slug)
        assert rubric.grades() == sorted(level.grade for level in standard.levels)
        assert client.get(rubric.get_absolute_url()).status_code == 200
    assert "Ready to add" not in markup(client.get("/rubrics/"))
    client.post("/rubrics/add/", {"slug": "umbrela"})  # twice is once
    assert client.post("/rubrics/add/", {"slug": "moon"}).status_code == 404


def test_every_rubric_that_comes_with_the_program_keeps_the_rules(client):
    """As a copy: it is stored through the rules, and not as it is made."""
    for slug in STANDARD:
        add_standard(STANDARD[slug])
        page = client.get(f"/rubrics/new/?from={slug}")
        form, rows = page.context["forms"].form, page.context["forms"].rows
        values = {
            name: form.get_initial_for_field(field, name) for name, field in form.fields.items()
        }
        levels = [{name: row.initial.get(name, "") for name in LEVELS[0]} for row in rows]
        data = {name: "" if value is None else value for name, value in values.items()}
        response = client.post("/rubrics/new/", sent(levels, **data))
        assert response.status_code == 302, (slug, markup(response))


@pytest.mark.parametrize(
    "path", ["/rubrics/new/", "/rubrics/add/", "/rubrics/graded/edit/", "/rubrics/graded/retire/"]
)
def test_admins_alone_make_rubrics(cast, db, path):
    for who in ("worker", "researcher"):
        assert cast.client(who).post(path, sent()).status_code == 403
    assert Client().post(path).status_code == 302  # to the log-in
    assert cast.client("admin").get("/rubrics/add/").status_code == 405
    assert cast.client("admin").get("/rubrics/nowhere/edit/").status_code == 404
