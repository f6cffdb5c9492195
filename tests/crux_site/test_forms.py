"""Every form of every page as a browser sends it: as it is, and with each thing that it offers chosen once."""

from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from django.db import transaction
from lxml import html

from tests.crux_site.projects.test_strangers import World, addresses, client_of, make_world

Sent = list[tuple[str, str]]
SHOWN = (200, 204, 302, 303)


@pytest.fixture(scope="module", autouse=True)
def _world(kept):
    return kept(make_world)


@pytest.fixture
def world(_world, db) -> World:
    return _world


def forms(client, address: str) -> Iterator[html.FormElement]:
    """Those of the page at an address; none where it is no page."""
    page = client.get(address)
    if page.status_code == 200 and page["Content-Type"].startswith("text/html"):
        yield from html.fromstring(page.content.decode()).forms


def offered(form: html.FormElement) -> Iterator[Sent]:
    """The form as it stands; then with each option of its lists, each choice and each button."""
    stands = form.form_values()
    yield stands
    for field in form.inputs:
        name = getattr(field, "name", None)
        if not name:
            continue
        others = [pair for pair in stands if pair[0] != name]
        if isinstance(field, html.SelectElement | html.RadioGroup):
            yield from ([*others, (name, value)] for value in field.value_options)
        elif isinstance(field, html.CheckboxGroup):
            yield others
            yield from ([*others, (name, value)] for value in field.value_options)
        elif field.get("type") == "checkbox":
            yield others if field.checked else [*stands, (name, field.get("value", "on"))]
    for button in form.xpath(".//button[@name]"):
        yield [*stands, (button.get("name"), button.get("value", ""))]


def compares_with_itself(sent: Sent) -> bool:
    """Two lists of systems cannot know of each other what is chosen: the page says so."""
    chosen = dict(sent)
    return "a" in chosen and chosen["a"] == chosen.get("b")


def as_query(sent: Sent) -> dict[str, list[str]]:
    query: dict[str, list[str]] = {}
    for name, value in sent:
        query.setdefault(name, []).append(value)
    return query


@pytest.mark.soak
@pytest.mark.any_database
def test_whatever_a_form_offers_can_be_chosen(world):
    client = client_of(world.cast.admin.username)
    seen: set[str] = set()
    refused = []
    for address, _ in addresses(world):
        for form in forms(client, address):
            where = urljoin(address, form.action or "")
            for sent in offered(form) if form.method == "GET" else ():
                if (asked := f"{where} {sorted(sent)}") in seen or compares_with_itself(sent):
                    continue
                seen.add(asked)
                status = client.get(where, as_query(sent)).status_code
                if status not in SHOWN:
                    refused.append(f"{status} {asked}")
    assert refused == []
    assert len(seen) > 200


@pytest.mark.soak
@pytest.mark.any_database
@pytest.mark.parametrize("who", ["ada", "owner", "wil"])
def test_a_form_that_is_sent_as_it_is_is_answered(world, who):
    """By an admin, an owner and a worker; what it does is taken back before the next."""
    client = client_of(who)
    seen: set[str] = set()
    for address, _ in addresses(world):
        for form in forms(client, address):
            where = urljoin(address, form.action or "")
            if form.method != "POST" or where in seen or where.endswith("logout/"):
                continue
            seen.add(where)
            for sent in offered(form):
                with transaction.atomic():
                    status = client.post(where, as_query(sent)).status_code
                    transaction.set_rollback(True)
                assert status < 500, where
    assert len(seen) > 5
