"""Shared fixtures: test databases, cached worlds, users, a dataset and a campaign."""

import gc
import os
import shutil
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest
from django.conf import settings as of_the_site
from django.db import connection, transaction
from django.test import override_settings
from django.utils import timezone
from hypothesis import HealthCheck, settings

from annotation.models import Assignment, Campaign, Dataset
from evaluation import http
from evaluation.data import process_cache
from tests.toolbox import real_study as study_of_the_paper
from tests.toolbox import run_files
from tests.toolbox.caches import clear_caches
from tests.toolbox.clock import FakeClock
from tests.toolbox.databases import is_any_database
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.quick_flush import QuickFlush
from tests.toolbox.samples import ALL_CASES
from tests.toolbox.users import Cast, make_cast
from tests.toolbox.write_count import WriteCount

# No deadline: the duration of an example depends on the load of the machine.
settings.register_profile(
    "patient",
    deadline=None,
    max_examples=200 if ALL_CASES else 40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("patient")


# A process holds 13,000 tests and all that they import: with the usual thresholds, garbage collection takes
# a tenth of its time.
gc.set_threshold(20_000, 20, 20)

OPENS_A_DATABASE = {"db", "transactional_db", "django_db_setup"}
TRANSACTIONAL_FIXTURES = {"transactional_db", "live_server"}


# Tests that need an environment of their own: their folder, the variable by which make names its Python, and
# which make runs them.
ELSEWHERE = {
    "tests/vllm/": ("VLLM_PYTHON", "a vLLM server: `make test-vllm` runs it"),
    "tests/writer/": ("WRITER_PYTHON", "a real writer: `make test-writer` runs it"),
    "tests/tools/": ("TOOLS_PYTHON", "annotation tools: `make test-tools` runs it"),
}


def _uses_transactions(item, used: set[str]) -> bool:
    marker = item.get_closest_marker("django_db")
    return bool(marker and marker.kwargs.get("transaction")) or bool(used & TRANSACTIONAL_FIXTURES)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    """Mark tests by the fixtures that they use, so that no list of files has to.

    `database`: it opens the database that DATABASE_URL names, and so runs on PostgreSQL too. pytest-django
    refuses that to all others. `any_database`: SQLite alone runs it, by the lists of
    `tests/toolbox/databases.py`; never a test with transactions of its own. `soak`: it uses the real study,
    whose import alone takes seconds.
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
            if is_any_database(item.nodeid) and not _uses_transactions(item, used):
                item.add_marker(pytest.mark.any_database)
        if "real_study_import" in used:
            item.add_marker(pytest.mark.soak)
        if "shared_world" in used and _uses_transactions(item, used):
            raise pytest.UsageError(f"{item.nodeid}: other connections do not see a `shared_world`")
    yield
    # Soaks first, so that no process is left alone with one at the end: files are handed out in this order.
    # Tests in a shared world come last, so that no other test of their file is in it.
    items.sort(
        key=lambda item: (
            item.get_closest_marker("soak") is None,
            "shared_world" in getattr(item, "fixturenames", ()),
        )
    )


def pytest_sessionstart(session):
    """Migrate while the tests are collected, in the first of several processes."""
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw0" and connection.vendor == "sqlite":
        base = Path(session.config.option.basetemp)
        Thread(target=run_files.migrated_database, args=[base], daemon=True).start()


def pytest_collection_finish():
    """Leave the collected tests out of later garbage collections."""
    gc.freeze()


@pytest.fixture(scope="session")
def migrated_database(tmp_path_factory) -> Path:
    """Return an SQLite file with all tables and no rows, to copy."""
    return run_files.migrated_database(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def prepared(tmp_path_factory) -> Path:
    """Return the folder of a site without data, with static files, to copy."""
    return run_files.prepared_site(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    request, django_db_modify_db_settings_parallel_suffix, tmp_path_factory
):
    """Put SQLite into a file, as in production.

    In memory, threads would share one cache and lock each other out.
    """
    if connection.vendor == "sqlite":
        path = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(path)
        if run_files.IS_WORKER:
            shutil.copyfile(request.getfixturevalue("migrated_database"), path)


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_keepdb) -> bool:
    """Use the copy of the migrated database: only the first of several processes migrates."""
    return django_db_keepdb or (connection.vendor == "sqlite" and run_files.IS_WORKER)


@pytest.fixture(scope="session")
def real_study_import(django_db_setup, django_db_blocker):
    """Yield the name of the database with the real study, and the summary of its import.

    Skips with a message if the data are missing.
    """
    if not study_of_the_paper.IS_AVAILABLE:
        pytest.skip(study_of_the_paper.MISSING)
    with django_db_blocker.unblock(), study_of_the_paper.imported_study() as (name, summary):
        yield name, summary


@pytest.fixture
def _at_the_real_study(real_study_import, django_db_blocker):
    name, _ = real_study_import
    with django_db_blocker.unblock(), study_of_the_paper.connected_to(name):
        yield


@pytest.fixture
def real_study(_at_the_real_study, db) -> Dataset:
    """Return the real study, in a database without anything else.

    A test must name this fixture before those that open a database.
    """
    return Dataset.objects.get(slug=study_of_the_paper.SLUG)


@pytest.fixture(scope="session", autouse=True)
def plain_static_files():
    """Use static files without a manifest, which exists only after collectstatic."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES=of_the_site.STORAGES | {"staticfiles": plain},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ):
        yield


@pytest.fixture(scope="session", autouse=True)
def counted_writes():
    """Let caches and snapshots work within the transaction of a test, too."""
    count = WriteCount()
    with connection.execute_wrapper(count), pytest.MonkeyPatch.context() as patch:
        patch.setattr(process_cache, "db_version", count)
        patch.setattr(http, "snapshot", count.snapshot)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_flush():
    """Delete rows instead of truncating all tables, on PostgreSQL."""
    if connection.vendor != "postgresql":
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection.ops, "sql_flush", QuickFlush())
        yield


@pytest.fixture
def fake_clock(monkeypatch) -> FakeClock:
    """Replace the site's clock by one that only the test moves."""
    clock = FakeClock()
    monkeypatch.setattr(timezone, "now", clock.now)
    return clock


@pytest.fixture(autouse=True)
def empty_caches():
    """Clear all caches before each test.

    Primary keys start again in each test, so that cached values of one test could match the data of another.
    All tests come from the same address, too.
    """
    clear_caches()


@pytest.fixture(scope="module")
def shared_world(django_db_setup, django_db_blocker):
    """Return a function that creates a world once for the tests of a file.

    A fixture calls it: `shared_world(make)`. The world is in a transaction that ends with the file, and
    the changes of a test are rolled back within it. All tests share the objects: each takes a copy.
    """

    worlds = []

    def once(make):
        assert not worlds, "one world a file: tests of the one would meet the other, too"
        with django_db_blocker.unblock():
            worlds.append(make())
        return worlds[0]

    clear_caches()
    whole = transaction.atomic()
    whole._from_testcase = True  # as the blocks of Django's TestCase
    with django_db_blocker.unblock():
        whole.__enter__()
    yield once
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        whole.__exit__(None, None, None)


@dataclass
class SharedStudy:
    """Campaign T1 on both reports of a dataset, assigned to both workers of the cast."""

    cast: Cast
    dataset: Dataset
    campaign: Campaign


def _make_shared_study() -> SharedStudy:
    cast, dataset = make_cast(), make_dataset()
    return SharedStudy(cast, dataset, make_campaign(dataset, cast.worker, cast.other_worker))


@pytest.fixture(scope="module")
def shared_study(shared_world) -> SharedStudy:
    return shared_world(_make_shared_study)


@pytest.fixture
def study_copy(db, shared_study) -> SharedStudy:
    """Return a copy of the shared study for this test."""
    return deepcopy(shared_study)


def _study_copy(request) -> SharedStudy | None:
    """Return the copy of the shared study if the test uses the campaign."""
    return request.getfixturevalue("study_copy") if "study_copy" in request.fixturenames else None


@pytest.fixture
def cast(request, db) -> Cast:
    copy = _study_copy(request)
    return copy.cast if copy else make_cast()


@pytest.fixture
def dataset(request, db) -> Dataset:
    copy = _study_copy(request)
    return copy.dataset if copy else make_dataset()


@pytest.fixture
def campaign(study_copy) -> Campaign:
    """Return campaign T1 on both reports, assigned to both workers."""
    return study_copy.campaign


@pytest.fixture
def assignment(cast, campaign) -> Assignment:
    """Return the first item of the first worker."""
    return Assignment.objects.filter(participant__rater__user=cast.worker).first()
