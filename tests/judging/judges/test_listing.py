"""The list of judges: filtered, sorted, page by page; and judges that are archived."""

import re

import pytest
from django.test import Client

from annotation.models import Dataset, Membership, Project, User
from annotation.models.projects import main_project
from judging.engine import runs
from judging.engine.foreground import fill_lexical
from judging.engine.selection import Selection
from judging.execution.states import RunStateError
from judging.judges import listing
from judging.models import Judge
from judging.runs.forms import judges_for
from tests.toolbox.judging_runs import a_judge, a_run, filled


@pytest.fixture
def judges(dataset):
    """Two models of which one has graded, and the baseline."""
    amber, zeal = a_judge("amber", model="org/large"), a_judge("zeal", model="org/small")
    filled(a_run(zeal, dataset))
    fill_lexical(dataset)
    return {"amber": amber, "zeal": zeal}


def names(response) -> list[str]:
    return re.findall(
        r'<a href="/judges/\d+/">(\S+?)(?: \(baseline\))?</a>', response.content.decode()
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["lexical", "zeal", "amber"]),
        ("?sort=name", ["amber", "lexical", "zeal"]),
        ("?sort=-name", ["zeal", "lexical", "amber"]),
        ("?sort=-graded", ["lexical", "zeal", "amber"]),
        ("?sort=graded&kind=model", ["amber", "zeal"]),
        ("?q=LARGE", ["amber"]),
        ("?q=question-first&sort=name", ["amber", "zeal"]),
        ("?kind=baseline", ["lexical"]),
        ("?rubric=graded&sort=name", ["amber", "lexical", "zeal"]),
        ("?rubric=none", []),
        ("?shown=archived", []),
        ("?q=%20&sort=nothing&kind=human&shown=no&page=x", ["lexical", "zeal", "amber"]),
    ],
)
def test_list_is_filtered_and_sorted_by_its_address(cast, judges, query, expected):
    response = cast.client("admin").get(f"/judges/{query}")
    assert response.status_code == 200
    assert names(response) == expected
    if not expected:
        assert "No judge matches the filter" in response.content.decode()


def test_headings_sort_and_keep_the_filter(cast, judges):
    page = cast.client("admin").get("/judges/?q=org&sort=-graded").content.decode()
    assert re.search(
        r'aria-sort="descending"\s*>\s*<a href="\?q=org&amp;sort=graded">Pairs graded', page
    )
    assert '<a href="?q=org&amp;sort=name">Judge' in page
    assert '<a href="?q=org&amp;sort=-failed">' in page


def test_pages_keep_filter_and_order(cast, judges, monkeypatch):
    monkeypatch.setattr(listing, "PER_PAGE", 2)
    client = cast.client("admin")
    first = client.get("/judges/?sort=name")
    assert names(first) == ["amber", "lexical"]
    assert 'href="?sort=name&amp;page=2"' in first.content.decode()
    assert names(client.get("/judges/?sort=name&page=2")) == ["zeal"]


def archive(client, judge: Judge, **data: str):
    return client.post(f"/judges/{judge.pk}/archive/", data, follow=True)


def test_archived_judge_leaves_the_list_and_new_runs_and_comes_back(cast, judges, dataset):
    admin, amber = cast.client("admin"), judges["amber"]
    page = archive(admin, amber).content.decode()
    assert "archived; its grades and replies are kept" in page
    assert names(admin.get("/judges/")) == ["lexical", "zeal"]
    assert names(admin.get("/judges/?shown=archived")) == ["amber"]
    assert names(admin.get("/judges/?shown=all&sort=name")) == ["amber", "lexical", "zeal"]
    assert amber not in judges_for(dataset, cast.admin)
    amber.refresh_from_db()
    with pytest.raises(RunStateError, match="archived"):
        runs.start(amber, dataset, Selection(), endpoint="")
    since = amber.archived
    archive(admin, amber)
    assert Judge.objects.get(pk=amber.pk).archived == since
    archive(admin, amber, restore="1")
    assert names(admin.get("/judges/?sort=name")) == ["amber", "lexical", "zeal"]
    assert Judge.objects.get(pk=amber.pk).fingerprint == amber.fingerprint


def test_judge_with_a_run_under_way_is_not_archived(cast, judges, dataset):
    run = a_run(judges["amber"], dataset)
    page = archive(cast.client("admin"), judges["amber"]).content.decode()
    assert f"Judge run {run.pk} is in progress" in page
    assert Judge.objects.get(pk=judges["amber"].pk).archived is None


@pytest.fixture
def olga(judges):
    """Return an owner of the main project, which has amber."""
    olga = User.objects.create_user("olga", role="researcher")
    Membership.objects.create(project_id=main_project(), user=olga, role="owner")
    judges["amber"].projects.set([main_project()])
    Judge.objects.filter(pk=judges["amber"].pk).update(is_site_wide=False)
    client = Client()
    client.force_login(olga)
    return client


def test_owner_archives_a_judge_of_the_own_project(olga, judges):
    address = f"/judges/{judges['amber'].pk}/"
    assert "Archive" in olga.get(address).content.decode()
    assert (
        "archived; its grades and replies are kept"
        in archive(olga, judges["amber"]).content.decode()
    )
    archive(olga, judges["amber"], restore="1")
    assert Judge.objects.get(pk=judges["amber"].pk).archived is None


@pytest.mark.parametrize("reason", ["site", "project", "run", "role"])
def test_judge_that_others_have_is_archived_by_admins_only(olga, judges, dataset, reason):
    amber = judges["amber"]
    other_project = Project.objects.create(slug="other", title="Another group")
    if reason == "site":
        Judge.objects.filter(pk=amber.pk).update(is_site_wide=True)
    elif reason == "project":
        amber.projects.add(other_project)
    elif reason == "run":
        a_run(amber, dataset)
        Dataset.objects.filter(pk=dataset.pk).update(project=other_project)
    else:
        Membership.objects.filter(user__username="olga").update(role="coordinator")
    assert ">Archive" not in olga.get(f"/judges/{amber.pk}/").content.decode()
    assert archive(olga, amber).status_code == 403
    assert Judge.objects.get(pk=amber.pk).archived is None


def test_only_admins_archive(cast, judges):
    address = f"/judges/{judges['amber'].pk}/archive/"
    assert cast.client("researcher").post(address).status_code == 404  # of no project of theirs
    assert cast.client("admin").get(address).status_code == 405
    assert cast.client("admin").post("/judges/0/archive/").status_code == 404
    assert Judge.objects.filter(archived=None).count() == 3
