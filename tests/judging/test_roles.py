"""Permissions of the judging pages, and wrong methods and ids."""

import pytest

from judging.models import Judge, JudgeRun

pytestmark = pytest.mark.any_database

READ = [
    "/judges/",
    "/judges/{judge}/",
    "/judge-runs/",
    "/judge-runs/{run}/",
    "/judge-runs/{run}/failures/all/",
    "/judge-runs/{run}/failures/several/",
]
FORMS = ["/judges/new/", "/judge-runs/new/?dataset=ferry", "/judge-runs/{run}/cancel/"]
ACTS = [
    "/judges/new/",
    "/judge-runs/new/?dataset=ferry",
    "/judge-runs/{run}/pause/",
    "/judge-runs/{run}/cancel/",
    "/judge-runs/{run}/resume/",
    "/judge-runs/{run}/retry/",
]


@pytest.fixture
def address(judge, run):
    return lambda path: path.format(judge=judge.pk, run=run.pk)


@pytest.mark.parametrize("path", READ)
def test_researchers_read_and_nobody_else(cast, address, path):
    for role, status in (("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(role).get(address(path)).status_code == status, role
    assert "/login/" in cast.client("stranger").get(address(path)).url
    assert cast.client("admin").delete(address(path)).status_code == 405


@pytest.mark.parametrize("path", FORMS)
def test_forms_are_for_admins(cast, address, path):
    for role, status in (("admin", 200), ("researcher", 403), ("worker", 403), ("stranger", 302)):
        assert cast.client(role).get(address(path)).status_code == status, role
    assert cast.client("admin").delete(address(path)).status_code == 405


@pytest.mark.parametrize("path", ACTS)
@pytest.mark.parametrize(
    ("role", "status"), [("researcher", 403), ("worker", 403), ("stranger", 302)]
)
def test_only_admins_act_and_nothing_changes_for_others(cast, address, run, path, role, status):
    assert cast.client(role).post(address(path)).status_code == status
    run.refresh_from_db()
    assert (run.state, JudgeRun.objects.count(), Judge.objects.count()) == ("running", 1, 1)


def test_acts_are_posts(cast, address):
    for act in ("pause", "resume", "retry"):
        assert (
            cast.client("admin").get(address("/judge-runs/{run}/" + act + "/")).status_code == 405
        )


@pytest.mark.parametrize(
    "path",
    [
        "/judges/999/",
        "/judges/new/?from=999",
        "/judges/new/?from=none",
        "/judges/new/?prompt=none",
        "/judge-runs/999/",
        "/judge-runs/999/cancel/",
        "/judge-runs/999/failures/all/",
        "/judge-runs/{run}/failures/bad/",
        "/judge-runs/new/",
        "/judge-runs/new/?dataset=nowhere",
        "/judge-runs/?dataset=nowhere",
    ],
)
def test_missing_objects_are_not_found(cast, address, path):
    assert cast.client("admin").get(address(path)).status_code == 404


def test_acts_on_a_missing_run_are_not_found(cast, db):
    for act in ("pause", "cancel", "resume", "retry"):
        assert cast.client("admin").post(f"/judge-runs/999/{act}/").status_code == 404


def test_researchers_are_offered_nothing_that_they_may_not_do(cast, address, judge):
    for path in (
        "/judges/",
        "/judges/{judge}/",
        "/judge-runs/",
        "/judge-runs/{run}/",
        "/datasets/ferry/",
    ):
        page = cast.client("researcher").get(address(path)).content.decode()
        for label in ("New judge", "Copy to a new judge", "Pause", "Cancel the run", "/new/"):
            assert label not in page, path


def test_way_to_judges_is_in_every_head_and_on_the_dataset(cast, dataset):
    page = cast.client("researcher").get("/datasets/ferry/").content.decode()
    assert 'href="/judges/"' in page
    assert 'href="/datasets/ferry/judges/"' in page
    assert 'href="/judges/"' not in cast.client("worker").get("/work/").content.decode()
    page = cast.client("admin").get("/datasets/ferry/").content.decode()
    assert 'href="/judge-runs/new/?dataset=ferry"' in page
