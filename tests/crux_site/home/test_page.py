"""/: the first page of each role; a researcher's datasets, one row computed at a time."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Dataset, Membership, Project
from crux_site.home import row as module
from tests.toolbox.agreement_study import Study, make_study
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import text_of_page

HTMX = {"HX-Request": "true"}


@pytest.fixture(scope="module")
def small_world(shared_world) -> Study:
    return shared_world(make_study)


def test_home_leads_each_role_to_its_page(cast, dataset):
    for account in ("admin", "researcher"):
        assert cast.client(account).get("/").status_code == 200
    assert cast.client("worker").get("/").url == "/work/"
    assert cast.client("stranger").get("/").status_code == 302
    assert cast.client("admin").post("/").status_code == 405


def test_former_list_of_datasets_leads_home(cast, dataset):
    assert cast.client("researcher").get("/datasets/").url == "/"
    assert cast.client("worker").get("/datasets/").status_code == 403
    assert cast.client("researcher").post("/datasets/").status_code == 405


def test_rows_are_requested_one_by_one_and_none_is_computed(cast, small_world, monkeypatch):
    monkeypatch.setattr(module, "dataset_summary", None)
    page = cast.client("researcher").get("/").content.decode()
    assert 'hx-get="/?dataset=ferry" hx-trigger="revealed"' in page
    assert 'href="/?dataset=ferry#dataset-ferry"' in page  # where no script runs


def test_row_has_shares_kappa_and_next_step(cast, small_world):
    client = cast.client("researcher")
    row = client.get("/?dataset=ferry", headers=HTMX)
    assert row.content.decode().strip().startswith("<tr>")
    text = text_of_page(row)
    # ann and ben graded all six pairs of reports; the judge's five are under the graded rubric,
    # where a filtered question of each of two reports counts, too.
    assert "The ferry study Studies of this site 1 4" in text
    assert "6 of 6 5 of 8 0.66" in text
    assert "Read disagreements" in text
    assert "HX-Request" in client.get("/")["Vary"]


def test_row_without_scripts_is_on_the_whole_page(cast, small_world):
    make_dataset("harbour")
    page = cast.client("researcher").get("/?dataset=ferry")
    assert "6 of 6 5 of 8 0.66" in text_of_page(page)
    assert 'hx-get="/?dataset=harbour"' in page.content.decode()
    assert 'hx-get="/?dataset=ferry"' not in page.content.decode()


def test_row_of_an_unrated_dataset_gives_reasons(cast, dataset):
    text = text_of_page(cast.client("admin").get("/?dataset=ferry", headers=HTMX))
    assert "none none – Two people must grade the same pairs. New campaign" in text


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_row_of_another_project_is_not_found(cast, dataset, headers):
    project = Project.objects.create(slug="other", title="Other")
    make_dataset("harbour")
    Dataset.objects.filter(slug="harbour").update(project=project)
    client = cast.client("researcher")
    for slug in ("harbour", "nowhere"):
        assert client.get(f"/?dataset={slug}", headers=headers).status_code == 404
    assert "harbour" not in client.get("/").content.decode()


def test_more_datasets_take_no_more_queries(cast, dataset):
    def n_queries() -> int:
        client = cast.client("researcher")
        with CaptureQueriesContext(connection) as queries:
            client.get("/")
        return len(queries)

    before = n_queries()
    for number in range(50):
        make_dataset(f"another-{number}")
    assert n_queries() == before


def test_empty_site_offers_three_doors_to_an_admin(cast):
    page = cast.client("admin").get("/").content.decode()
    assert 'href="/import/">Import a table</a>' in page
    assert '<form method="post" action="/demo/">' in page
    assert 'href="/work/">Open My work</a>' in page
    assert 'href="/people/">People</a>' in page


def test_owner_without_datasets_has_doors_without_the_demo(cast):
    client = cast.client("researcher")
    assert "A table is imported into a project that you own" in text_of_page(client.get("/"))
    assert 'href="/import/"' not in client.get("/").content.decode()
    project = Project.objects.create(slug="mine", title="Mine")
    Membership.objects.create(project=project, user=cast.researcher, role="owner")
    page = client.get("/").content.decode()
    assert 'href="/import/">Import a table</a>' in page
    assert "/demo/" not in page
    assert client.get("/import/").status_code == 200


def test_member_of_no_project_is_told_so(cast):
    Membership.objects.filter(user=cast.researcher).delete()
    assert "You are in no project yet" in text_of_page(cast.client("researcher").get("/"))


def test_site_with_datasets_has_no_doors(cast, dataset):
    page = cast.client("admin").get("/").content.decode()
    assert "Where do you want to start?" not in page
    assert "/demo/" not in page


@pytest.mark.parametrize(
    ("role", "actions"),
    [("researcher", []), ("coordinator", ["/campaigns/"]), ("owner", ["/import/", "/campaigns/"])],
)
def test_actions_depend_on_the_role(cast, dataset, role, actions):
    Membership.objects.filter(user=cast.researcher).update(role=role)
    page = cast.client("researcher").get("/").content.decode()
    head = page[page.index("<h1>") : page.index('class="columns"')]
    assert [url for url in ("/import/", "/campaigns/") if f'href="{url}"' in head] == actions
