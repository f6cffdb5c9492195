"""Forms of all pages as a browser sends them: unchanged, and with each option once."""

from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from django.db import transaction
from lxml import html

from tests.crux_site.projects.site_addresses import World, addresses, client_of, make_world
from tests.toolbox.form_data import FormPairs, as_query

ACCEPTED = (200, 204, 302, 303)


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def world(_world, db) -> World:
    return _world


def forms(client, address: str) -> Iterator[html.FormElement]:
    """Return the forms of the page at an address; none if it is no page."""
    page = client.get(address)
    if page.status_code == 200 and page["Content-Type"].startswith("text/html"):
        yield from html.fromstring(page.content.decode()).forms


def offered(form: html.FormElement) -> Iterator[FormPairs]:
    """The form as it stands; then with each option of its lists, each choice and each button."""
    initial = form.form_values()
    yield initial
    for field in form.inputs:
        name = getattr(field, "name", None)
        if not name:
            continue
        unchanged = [pair for pair in initial if pair[0] != name]
        if isinstance(field, html.SelectElement | html.RadioGroup):
            yield from ([*unchanged, (name, value)] for value in field.value_options)
        elif isinstance(field, html.CheckboxGroup):
            yield unchanged
            yield from ([*unchanged, (name, value)] for value in field.value_options)
        elif field.get("type") == "checkbox":
            yield unchanged if field.checked else [*initial, (name, field.get("value", "on"))]
    for button in form.xpath(".//button[@name]"):
        yield [*initial, (button.get("name"), button.get("value", ""))]


def compares_with_itself(sent: FormPairs) -> bool:
    """Two lists of systems cannot know of each other what is chosen: the page says so."""
    chosen = dict(sent)
    return "a" in chosen and chosen["a"] == chosen.get("b")


@pytest.mark.soak
@pytest.mark.any_database
def test_whatever_a_form_offers_can_be_chosen(world):
    client = client_of(world.cast.admin.username)
    visited: set[str] = set()
    refused = []
    for address, _ in addresses(world):
        for form in forms(client, address):
            target = urljoin(address, form.action or "")
            for sent in offered(form) if form.method == "GET" else ():
                if (request_key := f"{target} {sorted(sent)}") in visited or compares_with_itself(
                    sent
                ):
                    continue
                visited.add(request_key)
                status = client.get(target, as_query(sent)).status_code
                if status not in ACCEPTED:
                    refused.append(f"{status} {request_key}")
    assert refused == []
    assert len(visited) > 200


@pytest.mark.soak
@pytest.mark.any_database
@pytest.mark.parametrize("account", ["ada", "owner", "wil"])
def test_form_that_is_sent_as_it_is_is_answered(world, account):
    """By an admin, an owner and a worker; what it does is taken back before the next."""
    client = client_of(account)
    visited: set[str] = set()
    for address, _ in addresses(world):
        for form in forms(client, address):
            target = urljoin(address, form.action or "")
            if form.method != "POST" or target in visited or target.endswith("logout/"):
                continue
            visited.add(target)
            for sent in offered(form):
                with transaction.atomic():
                    status = client.post(target, as_query(sent)).status_code
                    transaction.set_rollback(True)
                assert status < 500, target
    assert len(visited) > 5
