"""The databases of all tests, the cast of every test of a page, and a dataset for them to meet over."""

import os
from copy import deepcopy
from dataclasses import dataclass

import pytest
from django.conf import settings as of_the_site
from django.core.cache import caches
from django.db import connection, transaction
from django.test import Client, override_settings
from django.utils import timezone
from hypothesis import HealthCheck, settings

from annotation.models import Assignment, Campaign, Dataset, User
from annotation.models.projects import join_main
from evaluation.data.cache import UNPACKED
from tests import real_study as study_of_the_paper
from tests.clock import StandingClock
from tests.factories import make_campaign, make_dataset

# How long an example takes says how busy the machine is, and nothing about the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


OPENS_A_DATABASE = {"db", "transactional_db", "django_db_setup"}
SEEN_BY_OTHERS = {"transactional_db", "live_server"}


# Tests that need an environment of their own: their folder, the variable by which make names its Python, and
# which make runs them.
ELSEWHERE = {
    "tests/vllm/": ("VLLM_PYTHON", "a vLLM server: `make test-vllm` runs it"),
    "tests/writer/": ("WRITER_PYTHON", "a real writer: `make test-writer` runs it"),
    "tests/tools/": ("TOOLS_PYTHON", "annotation tools: `make test-tools` runs it"),
}


def _is_seen_by_others(item, used: set[str]) -> bool:
    marker = item.get_closest_marker("django_db")
    return bool(marker and marker.kwargs.get("transaction")) or bool(used & SEEN_BY_OTHERS)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    """Say of each test what it needs, so that no list of files has to.

    `database`: it opens the database that DATABASE_URL names, and so runs on PostgreSQL too. pytest-django
    refuses that to all others. `soak`: it meets the real study, whose import alone takes seconds.
    """
    lacking = {
        folder: reason
        for folder, (variable, reason) in ELSEWHERE.items()
        if not os.environ.get(variable)
    }
    for item in items:
        if reason := next(
            (lacking[folder] for folder in lacking if item.nodeid.startswith(folder)), None
        ):
            item.add_marker(pytest.mark.skip(reason=reason))
        used = set(getattr(item, "fixturenames", ()))
        if item.get_closest_marker("django_db") or used & OPENS_A_DATABASE:
            item.add_marker(pytest.mark.database)
        if "real_study_import" in used:
            item.add_marker(pytest.mark.soak)
        if "kept" in used and _is_seen_by_others(item, used):
            raise pytest.UsageError(f"{item.nodeid}: other connections do not see what is `kept`")
    yield
    # Soaks first, so that no process is left alone with one at the end: files are handed out in this order.
    # Tests that meet a world that is kept come last, so that no other test of their file is in it.
    items.sort(
        key=lambda item: (
            item.get_closest_marker("soak") is None,
            "kept" in getattr(item, "fixturenames", ()),
        )
    )


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix, tmp_path_factory):
    """SQLite in a file, as in life: in memory, threads would share one cache and lock each other out."""
    if connection.vendor == "sqlite":
        path = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(path)


@pytest.fixture(scope="session")
def real_study_import(django_db_setup, django_db_blocker):
    """The database with the real study, and what its import told. Skips, loudly, where there is none."""
    if not study_of_the_paper.IS_THERE:
        pytest.skip(study_of_the_paper.MISSING)
    with django_db_blocker.unblock(), study_of_the_paper.imported() as (name, summary):
        yield name, summary


@pytest.fixture
def _at_the_real_study(real_study_import, django_db_blocker):
    name, _ = real_study_import
    with django_db_blocker.unblock(), study_of_the_paper.visited(name):
        yield


@pytest.fixture
def real_study(_at_the_real_study, db) -> Dataset:
    """The real study, in a database without anything else. To be named before what opens a database."""
    return Dataset.objects.get(slug=study_of_the_paper.SLUG)


@pytest.fixture(scope="session", autouse=True)
def plain_static_files():
    """A manifest of static files exists only where they were collected."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES=of_the_site.STORAGES | {"staticfiles": plain},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ):
        yield


@pytest.fixture
def standing_clock(monkeypatch) -> StandingClock:
    """The site's clock, which moves only where the test moves it."""
    clock = StandingClock()
    monkeypatch.setattr(timezone, "now", clock.now)
    return clock


def keep_nothing() -> None:
    caches["default"].clear()
    caches["api"].clear()
    UNPACKED.clear()


@pytest.fixture(autouse=True)
def nothing_kept():
    """Keys begin anew in each test, so what one keeps by the data's version could fit another's data.

    And all tests come from the same address.
    """
    keep_nothing()


@pytest.fixture(scope="module")
def kept(django_db_setup, django_db_blocker):
    """`kept(make)` is a world that is made once for those tests of a file that meet it.

    It lies in a transaction that ends with the file, and what a test changes is rolled back within it. The
    objects are all tests' own: each takes a copy.
    """

    made = []

    def once(make):
        assert not made, "one world a file: tests of the one would meet the other, too"
        with django_db_blocker.unblock():
            made.append(make())
        return made[0]

    keep_nothing()
    whole = transaction.atomic()
    with django_db_blocker.unblock():
        whole.__enter__()
    yield once
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        whole.__exit__(None, None, None)


@dataclass
class Cast:
    """Who takes part. A stranger is not logged in; the researcher is in the project of new datasets."""

    admin: User
    researcher: User
    worker: User
    other_worker: User

    def client(self, name: str) -> Client:
        client = Client()
        if name != "stranger":
            client.force_login(getattr(self, name))
        return client


def make_cast() -> Cast:
    def person(name: str, role: str) -> User:
        made = User.objects.create_user(name, password="pass-word-1", role=role)
        join_main(made)
        return made

    return Cast(
        admin=person("ada", "admin"),
        researcher=person("rosa", "researcher"),
        worker=person("wil", "worker"),
        other_worker=person("uma", "worker"),
    )


@dataclass
class Lent:
    """T1 on both reports of a dataset, for both workers of the cast."""

    cast: Cast
    dataset: Dataset
    campaign: Campaign


def _lend() -> Lent:
    cast, dataset = make_cast(), make_dataset()
    return Lent(cast, dataset, make_campaign(dataset, cast.worker, cast.other_worker))


@pytest.fixture(scope="module")
def lent(kept) -> Lent:
    return kept(_lend)


@pytest.fixture
def own(db, lent) -> Lent:
    """A test's own copy."""
    return deepcopy(lent)


def _own(request) -> Lent | None:
    """For a test that asks for the campaign."""
    return request.getfixturevalue("own") if "own" in request.fixturenames else None


@pytest.fixture
def cast(request, db) -> Cast:
    own = _own(request)
    return own.cast if own else make_cast()


@pytest.fixture
def dataset(request, db) -> Dataset:
    own = _own(request)
    return own.dataset if own else make_dataset()


@pytest.fixture
def campaign(own) -> Campaign:
    """T1 on both reports, for both workers."""
    return own.campaign


@pytest.fixture
def assignment(cast, campaign) -> Assignment:
    """The first item of the first worker."""
    return Assignment.objects.filter(participant__rater__user=cast.worker).first()
