"""Each test has a copy of the world of material.py."""

import pytest

from annotation.models import (
    Campaign,
)
from tests.crux_site.versions.shown.material import make_world
from tests.toolbox.answers import item_of


@pytest.fixture(scope="module")
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def cast(_world, db):
    return _world


@pytest.fixture
def campaign(cast):
    return Campaign.objects.get()


@pytest.fixture
def text(campaign):
    return item_of(campaign, "oracle").text


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")
