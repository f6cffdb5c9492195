"""Access to the building pages and actions by role, and missing objects."""

import pytest

from annotation.models import SubQuestion, Text
from building.models import Product
from tests.toolbox.generation_pages import a_writing, first_of
from tests.toolbox.generation_runs import make_collection

pytestmark = pytest.mark.any_database

READ, ACT = (200, 403, 302), (403, 403, 302)  # researcher, worker, stranger

PAGES = {
    "/datasets/built/building/": READ,
    "/datasets/built/building/new-writing/questions/": ACT,
    "/datasets/built/building/new-writer/questions/": ACT,
    "/datasets/built/building/writers/extractive-report/": READ,
    "/datasets/built/building/writings/{run}/": READ,
    "/datasets/built/building/writings/{run}/review/1/": READ,
    "/datasets/built/building/filter/": READ,
    "/datasets/built/building/reports/": READ,
    "/datasets/built/building/reports/{report}/": READ,
}
ACTS = (
    *("writings/{run}/pause/", "writings/{run}/resume/", "writings/{run}/cancel/"),
    *("writings/{run}/ask-again/", "writings/{run}/accept-rest/", "products/{product}/decide/"),
)


@pytest.fixture
def keys(cast):
    """A writing of reports, one of which is in the collection."""
    run = a_writing("report")
    product = first_of(run)
    cast.client("admin").post(
        f"/datasets/built/building/products/{product.pk}/decide/", {"decision": "accept"}
    )
    report = Text.objects.get(kind="report")
    second = Product.objects.exclude(pk=product.pk).get()
    return {"run": run.pk, "report": report.pk, "product": second.pk}


@pytest.mark.parametrize("page", PAGES)
def test_page_access_depends_on_the_role(cast, keys, page):
    address = page.format(**keys)
    assert cast.client("admin").get(address).status_code == 200
    for user, status in zip(("researcher", "worker", "stranger"), PAGES[page], strict=True):
        assert cast.client(user).get(address).status_code == status
    assert cast.client("admin").delete(address).status_code == 405


@pytest.mark.parametrize("page", PAGES)
def test_unknown_object_is_not_found(cast, keys, page):
    """Objects of another dataset, missing objects, and a missing dataset."""
    admin = cast.client("admin")
    address = page.format(**keys)
    assert admin.get(address.replace("built", "nowhere")).status_code == 404
    make_collection(slug="other")
    elsewhere = admin.get(address.replace("built", "other"))
    is_of_this = "{" in page
    assert elsewhere.status_code == (404 if is_of_this else 200)
    for number in (0, 987_654, 10**30):
        if is_of_this:
            nobody = page.format(**dict.fromkeys(keys, number))
            assert admin.get(nobody).status_code == 404


@pytest.mark.parametrize("act", ACTS)
def test_action_access_depends_on_the_role(cast, keys, act):
    address = f"/datasets/built/building/{act.format(**keys)}"
    before = list(Product.objects.values_list("decision"))
    for user, status in zip(("researcher", "worker", "stranger"), ACT, strict=True):
        response = cast.client(user).post(address, {"decision": "accept"})
        assert response.status_code == status
    assert cast.client("admin").get(address).status_code == 405
    make_collection(slug="other")
    admin = cast.client("admin")
    for elsewhere in (
        address.replace("built", "other"),
        address.replace("built", "nowhere"),
        f"/datasets/built/building/{act.format(**dict.fromkeys(keys, 987_654))}",
    ):
        assert admin.post(elsewhere, {"decision": "accept"}).status_code == 404
    assert list(Product.objects.values_list("decision")) == before


@pytest.mark.parametrize("page", ["new-writing", "new-writer"])
def test_unknown_task_is_not_found(cast, keys, page):
    address = f"/datasets/built/building/{page}/poems/"
    assert cast.client("admin").get(address).status_code == 404


def test_researcher_reads_and_sees_nothing_to_press(cast, keys):
    client = cast.client("researcher")
    for page in ("writings/{run}/", "writings/{run}/review/1/", "filter/", ""):
        content = client.get(f"/datasets/built/building/{page.format(**keys)}").content.decode()
        main = content.split("<main")[1]
        assert 'method="post"' not in main


def test_review_leads_to_what_is_to_be_decided(cast, keys):
    address = f"/datasets/built/building/writings/{keys['run']}/review/"
    for user in ("admin", "researcher"):
        response = cast.client(user).get(address)
        assert response.url == f"{address}2/"
    assert cast.client("worker").get(address).status_code == 403
    assert cast.client("admin").get(f"{address}3/").status_code == 404
    assert SubQuestion.objects.count() == 0
