"""The cast of every test of a page, and a dataset for them to meet over."""

from dataclasses import dataclass

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck, settings

from annotation.models import Assignment, Campaign, Dataset, User
from tests.factories import make_campaign, make_dataset

# How long an example takes says how busy the machine is, and nothing about the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory):
    """SQLite in a file, as in life: in memory, threads would share one cache and lock each other out."""
    if connection.vendor == "sqlite":
        path = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(path)


@pytest.fixture(autouse=True)
def plain_static_files(settings):
    """A manifest of static files exists only where they were collected."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def nothing_kept():
    """Keys begin anew in each test, so what one keeps by the data's version could fit another's data."""
    cache.clear()


@dataclass
class Cast:
    """Who takes part. A stranger is not logged in."""

    admin: User
    researcher: User
    worker: User
    other_worker: User

    def client(self, name: str) -> Client:
        client = Client()
        if name != "stranger":
            client.force_login(getattr(self, name))
        return client


@pytest.fixture
def cast(db) -> Cast:
    def person(name: str, role: str) -> User:
        return User.objects.create_user(name, password="pass-word-1", role=role)

    return Cast(
        admin=person("ada", "admin"),
        researcher=person("rosa", "researcher"),
        worker=person("wil", "worker"),
        other_worker=person("uma", "worker"),
    )


@pytest.fixture
def dataset(db) -> Dataset:
    return make_dataset()


@pytest.fixture
def campaign(cast, dataset) -> Campaign:
    """T1 on both reports, for both workers."""
    return make_campaign(dataset, cast.worker, cast.other_worker)


@pytest.fixture
def assignment(cast, campaign) -> Assignment:
    """The first item of the first worker."""
    return Assignment.objects.filter(participant__rater__user=cast.worker).first()
