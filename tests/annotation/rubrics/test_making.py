"""Pages that create, edit, retire and add rubrics."""

import re

import pytest
from django.test import Client

from annotation.models import Campaign, Rubric
from annotation.models.standard import GRADED, OPTIONAL_RUBRICS, STANDARD, add_standard
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import markup
from tests.toolbox.rubric_form import EXAMPLES, LEVELS, rubric_form_data


@pytest.fixture
def client(cast, db) -> Client:
    return cast.client("admin")


def test_rubric_is_created(client):
    response = client.post("/rubrics/new/", rubric_form_data(examples=EXAMPLES))
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
    assert [level.examples for level in rubric.levels.all()] == [
        [
            {"text": "So good to see you!", "question": "", "reason": "It is a welcome."},
            {"text": "Dear all,\nthank you!", "question": "Is it kind?", "reason": "Thanks."},
        ],
        [],
    ]
    page = markup(client.get("/rubrics/tone/"))
    assert "Nominal; shows text." in page
    assert "Question: How does it sound?" in page
    assert "Why: It is a welcome." in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slug": "graded"}, "A rubric graded exists already."),
        ({"slug": "add"}, "add is reserved for a page."),
        ({"shows": ["moon"]}, "moon is not one of the available choices"),
        (
            {"span_from": "1", "shows": ["question"]},
            "Highlights need a visible text.",
        ),
        ({"eta": "3"}, "3 is not a grade of the rubric."),
        ({"guideline": " "}, "This field is required."),
        ({"levels-0-key": "j"}, "Give a letter or sign other than t u j k ?."),
        ({"levels-0-key": "T"}, "Give a letter or sign other than t u j k ?."),
        ({"levels-0-key": "0"}, "0 is there twice."),
        ({"levels-0-key": "W", "levels-2-key": "w"}, "w is there twice."),
        ({"levels-0-grade": "0"}, "0 is there twice."),
        ({"levels-0-grade": "-1"}, "A grade must be from 0 to 1000."),
        ({"levels-0-label": ""}, "This field is required."),
        ({"levels-2-grade": "", "levels-2-label": ""}, "Give 2 to 101 levels, not 1."),
        ({"impossible": "warm"}, "“warm” is not a grade, a rubric and its grades"),
        ({"impossible": "1 graded"}, "“1 graded” is not a grade, a rubric and its grades"),
        ({"impossible": "1 graded x"}, "“1 graded x” is not a grade, a rubric and its grades"),
        ({"impossible": "7 graded 5"}, "“7 graded 5”: 7 is not a grade of the rubric."),
        ({"impossible": "0 answerable 1\n1 graded 9"}, "“1 graded 9”: 9 is not a grade of graded."),
        ({"impossible": "1 graded 5 5"}, "Give grades of the other rubric, each once."),
        ({"impossible": "1 graded 5\n1 graded 4"}, "1 with graded is there twice."),
        ({"impossible": "1 tone 0"}, "Give the name of another rubric, as in its URL."),
        ({"impossible": "1 a/b 0"}, "Give the name of another rubric, as in its URL."),
        (
            {"impossible": "\n".join(f"1 other-{n} 0" for n in range(201))},
            "Give 200 at most, not 201.",
        ),
        ({"examples": EXAMPLES, "examples-2-grade": "7"}, "7 is not a grade of the rubric."),
        ({"examples": EXAMPLES, "examples-2-reason": " "}, "This field is required."),
        ({"examples": EXAMPLES, "examples-2-text": "x" * 1001}, "at most 1000 characters"),
        ({"examples": EXAMPLES[:1] * 4}, "Give 3 examples of a grade at most, not 4."),
        ({"examples-TOTAL_FORMS": "x"}, "ManagementForm data is missing"),
    ],
)
def test_invalid_rubric_is_refused_with_message(client, change, message):
    response = client.post("/rubrics/new/", rubric_form_data(**change))
    assert response.status_code == 422
    assert message in markup(response)
    assert not Rubric.objects.filter(slug="tone").exists()


def test_impossible_combinations_are_stored_and_displayed_by_both_rubrics(client):
    typed = "0, graded, 5, 4\r\n\r\n1 unknown-yet 7"
    assert client.post("/rubrics/new/", rubric_form_data(impossible=typed)).status_code == 302
    rubric = Rubric.objects.get(slug="tone")
    assert rubric.impossible == [
        {"grade": 0, "rubric": "graded", "grades": [5, 4]},
        {"grade": 1, "rubric": "unknown-yet", "grades": [7]},
    ]
    page = client.get("/rubrics/tone/")
    assert "Grade 0 with grade 4 or 5 of <a" in markup(page)
    assert "Grade 1 with grade 7 of unknown-yet, which is not on this site" in markup(page)
    second_page = markup(client.get("/rubrics/graded/"))
    assert 'Grade 5 with grade 0 of <a href="/rubrics/tone/">Tone</a>' in second_page
    assert 'Grade 4 with grade 0 of <a href="/rubrics/tone/">Tone</a>' in second_page
    assert ">0 graded 5 4\n1 unknown-yet 7</textarea>" in client.get(
        "/rubrics/tone/edit/"
    ).content.decode().replace("\r", "").replace(">\n", ">")
    assert "Impossible combinations" not in markup(client.get("/rubrics/new/"))


def test_impossible_combinations_of_a_used_rubric_stay(client):
    client.post("/rubrics/new/", rubric_form_data(impossible="0 graded 5"))
    Campaign.objects.create(
        dataset=make_dataset(), rubric=Rubric.objects.get(slug="tone"), slug="c", title="C"
    )
    client.post("/rubrics/tone/edit/", rubric_form_data(impossible=""))
    assert Rubric.objects.get(slug="tone").impossible[0]["grades"] == [5]


def test_changed_combinations_of_another_edit_are_a_conflict_with_both_values(client):
    client.post("/rubrics/new/", rubric_form_data())
    version = client.get("/rubrics/tone/edit/").context["forms"].form.version
    theirs = rubric_form_data(impossible="1 graded 0", version=version)
    assert client.post("/rubrics/tone/edit/", theirs).status_code == 302
    mine = rubric_form_data(impossible="0 graded 5", version=version)
    page = client.post("/rubrics/tone/edit/", mine)
    assert page.status_code == 409
    assert [
        (conflict.stored, conflict.sent) for conflict in page.context["forms"].form.conflicts
    ] == [("1 graded 0", "0 graded 5")]


def test_more_rows_keep_what_was_typed(client):
    data = rubric_form_data(examples=EXAMPLES, more="1", title="Half a ti", impossible="0 gra")
    page = markup(client.post("/rubrics/new/", data))
    assert 'value="Half a ti"' in page
    assert "0 gra</textarea>" in page
    assert len(re.findall(r'name="levels-\d+-grade"', page)) == 2 + 3
    assert len(re.findall(r'name="examples-\d+-grade"', page)) == 2 + 3
    assert "It is a welcome.</textarea>" in page
    assert "status failed" not in page
    assert not Rubric.objects.filter(slug="tone").exists()


def test_copy_begins_with_all_of_the_other(client):
    page = markup(client.get("/rubrics/new/?from=graded"))
    assert 'value="graded-copy"' in page
    assert 'value="Answers the question fully and plainly"' in page
    assert all(example["reason"] in page for example in GRADED.examples[5])
    assert client.get("/rubrics/new/?from=nowhere").status_code == 404


def test_rubric_is_editable_until_used(client, cast):
    client.post("/rubrics/new/", rubric_form_data())
    assert 'value="Warm"' in markup(client.get("/rubrics/tone/edit/"))
    response = client.post(
        "/rubrics/tone/edit/", rubric_form_data(title="The tone", **{"levels-0-grade": "5"})
    )
    assert response.status_code == 302
    rubric = Rubric.objects.get(slug="tone")
    assert (rubric.title, rubric.grades()) == ("The tone", [0, 5])
    Campaign.objects.create(dataset=make_dataset(), rubric=rubric, slug="c", title="C")
    for response in (
        client.get("/rubrics/tone/edit/", follow=True),
        client.post("/rubrics/tone/edit/", rubric_form_data(title="Other"), follow=True),
    ):
        assert "This rubric is in use and cannot be edited" in markup(response)
    assert Rubric.objects.get(slug="tone").title == "The tone"
    assert "Edit rubric" not in markup(client.get("/rubrics/tone/"))


def test_cleared_rows_are_removed(client):
    levels = [*LEVELS, {"grade": "2", "label": "Hot", "name": "", "key": "", "colour": ""}]
    client.post("/rubrics/new/", rubric_form_data(levels, EXAMPLES))
    page = client.get("/rubrics/tone/edit/")
    version = page.context["forms"].form.version
    data = rubric_form_data(examples=EXAMPLES, version=version)
    data |= {"levels-INITIAL_FORMS": 3, "examples-INITIAL_FORMS": 2}
    data |= {f"examples-0-{name}": "" for name in EXAMPLES[0]}
    assert client.post("/rubrics/tone/edit/", data).status_code == 302
    levels = Rubric.objects.get(slug="tone").levels.all()
    assert [(level.grade, len(level.examples)) for level in levels] == [(1, 1), (0, 0)]


def test_rubric_is_retired_and_restored(client):
    assert client.post("/rubrics/graded/retire/").status_code == 302
    assert not Rubric.objects.offered().filter(slug="graded").exists()
    assert "retired" in markup(client.get("/rubrics/"))
    client.post("/rubrics/graded/retire/", {"restore": "1"})
    assert Rubric.objects.offered().filter(slug="graded").exists()


def test_retired_rubric_that_is_changed_stays_retired(client):
    client.post("/rubrics/new/", rubric_form_data())
    client.post("/rubrics/tone/retire/")
    client.post("/rubrics/tone/edit/", rubric_form_data(title="The tone"))
    rubric = Rubric.objects.get(slug="tone")
    assert (rubric.title, rubric.is_retired) == ("The tone", True)


def test_built_in_rubrics_are_added_once(client):
    page = markup(client.get("/rubrics/"))
    assert page.count("Add<span") == len(OPTIONAL_RUBRICS)
    for standard in OPTIONAL_RUBRICS:
        response = client.post("/rubrics/add/", {"slug": standard.slug})
        assert response["Location"] == f"/rubrics/{standard.slug}/"
        rubric = Rubric.objects.get(slug=standard.slug)
        assert rubric.grades() == sorted(level.grade for level in standard.levels)
        assert client.get(rubric.get_absolute_url()).status_code == 200
    assert "Standard rubrics" not in markup(client.get("/rubrics/"))
    client.post("/rubrics/add/", {"slug": "umbrela"})  # twice is once
    assert client.post("/rubrics/add/", {"slug": "moon"}).status_code == 404


def test_built_in_rubrics_are_valid(client):
    """A copy of each is stored through the form's rules, unlike the built-in rubric itself."""
    for slug in STANDARD:
        add_standard(STANDARD[slug])
        page = client.get(f"/rubrics/new/?from={slug}")
        form, rows = page.context["forms"].form, page.context["forms"].rows
        values = {name: form[name].value() for name in form.fields}
        levels = [{name: row.initial.get(name, "") for name in LEVELS[0]} for row in rows]
        rows = page.context["forms"].examples
        examples = [{name: row.initial.get(name, "") for name in EXAMPLES[0]} for row in rows]
        data = {name: "" if value is None else value for name, value in values.items()}
        response = client.post("/rubrics/new/", rubric_form_data(levels, examples, **data))
        assert response.status_code == 302, (slug, markup(response))
        copied = Rubric.objects.get(slug=data["slug"])
        assert copied.impossible == STANDARD[slug].declarations
        assert {level.grade: level.examples for level in copied.levels.all()} == STANDARD[
            slug
        ].examples


@pytest.mark.parametrize(
    "path", ["/rubrics/new/", "/rubrics/add/", "/rubrics/graded/edit/", "/rubrics/graded/retire/"]
)
def test_only_admins_create_rubrics(cast, db, path):
    for role in ("worker", "researcher"):
        assert cast.client(role).post(path, rubric_form_data()).status_code == 403
    assert Client().post(path).status_code == 302  # to the log-in
    assert cast.client("admin").get("/rubrics/add/").status_code == 405
    assert cast.client("admin").get("/rubrics/nowhere/edit/").status_code == 404
