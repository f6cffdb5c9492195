"""New retrieval runs from a recipe, and the page of a run."""

import pytest

from evaluation.models import RetrievalRun
from tests.toolbox.factories import make_dataset
from tests.toolbox.generation_pages import check_access
from tests.toolbox.responses import markup

NEW = "/datasets/ferry/building/new-run/"


def test_only_admins_make_runs(cast, passages):
    check_access(cast, NEW, researcher=403)


def test_run_is_made_and_shown(cast, passages):
    response = cast.client("admin").post(NEW, {"name": "mine", "recipe": "bm25 % 2"}, follow=True)
    run = RetrievalRun.objects.get(name="mine")
    assert response.redirect_chain[-1][0] == "/datasets/ferry/building/runs/mine/"
    page = markup(response)
    assert "The run mine is created." in page
    assert "bm25 % 2" in page
    assert run.fingerprint in page
    second = cast.client("admin").post(NEW, {"name": "x", "recipe": "bm25 % 2"}, follow=True)
    assert "The run mine with the same recipe and data exists already" in markup(second)
    assert RetrievalRun.objects.count() == 1


FIELDS = {"recipe": "bm25 % 2", "was": "bm25 % 2", "first-step": "bm25", "first-cut": "2"}


def test_run_is_made_from_fields(cast, passages):
    client = cast.client("admin")
    page = markup(client.get(NEW))
    assert 'name="first-bm25-k1"' in page
    assert "have no current index" in page
    sent = {**FIELDS, "name": "mine", "then1-step": "xquad", "then1-xquad-lambda": "0.3"}
    page = markup(client.post(NEW, {**sent, "look": ""}))
    assert 'value="bm25 % 2 &gt; xquad(lambda=0.3)"' in page
    assert not RetrievalRun.objects.exists()
    client.post(NEW, sent)
    assert RetrievalRun.objects.get().recipe == "bm25 % 2 > xquad(lambda=0.3)"
    page = markup(client.post(NEW, {**sent, "look": ""}))
    assert "A run with this recipe exists: " in page
    assert "no current index" not in page
    client.post(NEW, {"name": "again", "recipe": "run(name=mine) % 1"})
    assert RetrievalRun.objects.get(name="again").origin["steps"][0]["name"] == "mine"


def test_field_that_is_wrong_says_so_and_nothing_is_made(cast, passages):
    client = cast.client("admin")
    response = client.post(NEW, {**FIELDS, "name": "mine", "first-bm25-b": "2"})
    assert response.status_code == 422
    page = markup(response)
    assert 'id="id_first-bm25-b_error"' in page
    assert "b is a number from 0 to 1, not “2”" in page
    response = client.post(NEW, {**FIELDS, "name": "a", "recipe": "bm25 % 3", "first-cut": "4"})
    assert response.status_code == 422
    assert "were both changed" in markup(response)
    assert not RetrievalRun.objects.exists()


def test_empty_line_shows_the_fields_again(cast, passages):
    client = cast.client("admin")
    assert (
        "first-step"
        not in client.post(NEW, {"recipe": "fuse(bm25, bm25, bm25)", "look": ""}).content.decode()
    )
    page = markup(client.post(NEW, {"recipe": "", "look": ""}))
    assert 'name="first-step"' in page
    assert 'name="recipe" value="bm25 % 100"' in page


def test_script_gets_what_a_choice_changes(cast, passages):
    client = cast.client("admin")
    for part, has_fields in (("needs", False), ("fields", True)):
        response = client.post(NEW, {**FIELDS, "look": "1"}, headers={"HX-Target": part})
        page = response.content.decode()
        assert "<html" not in page
        assert ('id="fields"' in page) is has_fields
        assert 'id="line" hx-swap-oob="true"' in page


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("embed(server=gpu, model=m)", "gpu computes vectors: 3 of passages,"),
        (
            "bm25 % 50 > rerank(server=gpu, model=m)",
            "gpu computes the scores of at most 50 passages",
        ),
        # 50 passages, 20 at a time, 10 further each time: 30-50, 20-40, 10-30, 0-20.
        (
            "bm25 % 50 > listwise(server=gpu, model=m)",
            "gpu ranks at most 4 lists of 20 passages",
        ),
        (
            "fuse(bm25, bm25, bm25(b=0))",
            "The fields cannot express this recipe: fuse fuses 3 rankings",
        ),
    ],
)
def test_requirements_of_a_recipe_are_reported(cast, passages, line, message):
    page = markup(cast.client("admin").post(NEW, {"recipe": line, "name": "x", "look": ""}))
    assert message in page
    is_asking = "server" in line
    assert ("manage.py retrieve ferry --name x --recipe" in page) is is_asking


@pytest.mark.parametrize(
    ("sent", "field", "message"),
    [
        ({"name": "", "recipe": "bm25"}, "name", "required"),
        ({"name": "a b", "recipe": "bm25"}, "name", "must have at most 120 letters"),
        ({"name": "mine", "recipe": ""}, "recipe", "required"),
        ({"name": "mine", "recipe": "bm25 %"}, "recipe", "expected a whole number from 1"),
        (
            {"name": "mine", "recipe": "bm25(background=/etc/passwd)"},
            "recipe",
            "only with manage.py",
        ),
        ({"name": "mine", "recipe": "bm25\x00"}, "recipe", "Null characters"),
        ({"name": "mine", "recipe": "x" * 3_000}, "recipe", "at most 2000"),
    ],
)
def test_error_is_shown_at_its_field(cast, passages, sent, field, message):
    response = cast.client("admin").post(NEW, sent)
    assert response.status_code == 422
    page = markup(response)
    assert message in page
    assert f'id="id_{field}_error"' in page
    assert not RetrievalRun.objects.exists()


def test_run_from_a_file_says_that_it_came_in_one(cast, passages):
    RetrievalRun.objects.create(dataset=passages, name="from/file")
    page = markup(cast.client("researcher").get("/datasets/ferry/building/runs/from/file/"))
    assert "It came in a file" in page
    assert cast.client("worker").get("/datasets/ferry/building/runs/from/file/").status_code == 403
    assert cast.client("researcher").get("/datasets/ferry/building/runs/none/").status_code == 404
    make_dataset("other")
    assert (
        cast.client("researcher").get("/datasets/other/building/runs/from/file/").status_code == 404
    )
