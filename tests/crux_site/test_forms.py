"""Forms of all pages as a browser sends them: unchanged, and with options of each field."""

from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import pytest
from django.db import transaction
from django.test import Client
from django.urls import resolve
from lxml import html

from tests.crux_site.projects.site_addresses import World, addresses, client_of, make_world
from tests.toolbox.form_data import FormPairs, as_query
from tests.toolbox.samples import ALL_CASES, sample

ACCEPTED = (200, 204, 302, 303)


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def world(_world, db) -> World:
    return _world


def forms(client: Client, address: str) -> Iterator[html.FormElement]:
    """Return the forms of the page at an address; none if it is no page."""
    page = client.get(address)
    if page.status_code == 200 and page["Content-Type"].startswith("text/html"):
        yield from html.fromstring(page.content.decode()).forms


def offered(form: html.FormElement) -> Iterator[FormPairs]:
    """The form as it stands; then with options of its lists, its choices and its buttons."""
    initial = form.form_values()
    yield initial
    for field in form.inputs:
        name = getattr(field, "name", None)
        if not name:
            continue
        unchanged = [pair for pair in initial if pair[0] != name]
        if isinstance(field, html.SelectElement | html.RadioGroup):
            yield from ([*unchanged, (name, value)] for value in sample(field.value_options))
        elif isinstance(field, html.CheckboxGroup):
            yield unchanged
            yield from ([*unchanged, (name, value)] for value in sample(field.value_options))
        elif field.get("type") == "checkbox":
            yield unchanged if field.checked else [*initial, (name, field.get("value", "on"))]
    for button in sample(form.xpath(".//button[@name]")):
        yield [*initial, (button.get("name"), button.get("value", ""))]


def compares_with_itself(sent: FormPairs) -> bool:
    """Two lists of systems cannot know of each other what is chosen: the page says so."""
    chosen = dict(sent)
    return "a" in chosen and chosen["a"] == chosen.get("b")


class GetForms:
    """Sender of GET forms: each option of a view once, wherever its form stands."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.sent: set[tuple[str, frozenset[tuple[str, str]]]] = set()
        self.refused: list[str] = []

    def send(self, target: str, form: html.FormElement) -> None:
        initial: set[tuple[str, str]] = set()
        for pairs in offered(form):
            changed = frozenset(set(pairs) - initial) if initial else frozenset(pairs)
            initial = initial or set(pairs)
            key = (target if ALL_CASES else resolve(urlsplit(target).path).route, changed)
            if key in self.sent or compares_with_itself(pairs):
                continue
            self.sent.add(key)
            status = self.client.get(target, as_query(pairs)).status_code
            if status not in ACCEPTED:
                self.refused.append(f"{status} {target} {sorted(pairs)}")


def send_and_roll_back(client: Client, target: str, sent: FormPairs) -> None:
    """Send a POST form; what it does is taken back before the next."""
    with transaction.atomic():
        status = client.post(target, as_query(sent)).status_code
        transaction.set_rollback(True)
    assert status < 500, target


@pytest.mark.soak
@pytest.mark.parametrize(
    "account",
    [
        pytest.param("ada", marks=pytest.mark.any_database),
        "owner",
        pytest.param("wil", marks=pytest.mark.any_database),
    ],
)
def test_forms_are_answered(world, account):
    """By an admin, with all that a form offers, and unchanged by an owner and a worker."""
    client = client_of(account)
    is_admin = account == "ada"
    get_forms = GetForms(client)
    visited: set[str] = set()
    for address, _ in addresses(world):
        for form in forms(client, address):
            target = urljoin(address, form.action or "")
            if form.method == "GET":
                if is_admin:
                    get_forms.send(target, form)
            elif target not in visited and not target.endswith("logout/"):
                visited.add(target)
                for sent in offered(form) if is_admin or ALL_CASES else [form.form_values()]:
                    send_and_roll_back(client, target, sent)
    assert len(visited) > 5
    if is_admin:
        assert get_forms.refused == []
        assert len(get_forms.sent) > 150
