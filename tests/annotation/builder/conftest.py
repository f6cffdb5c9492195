"""A draft of a campaign on a dataset with labels, and the admin who makes it."""

import pytest

from tests.toolbox.campaign_builder import make_draft, make_labelled


@pytest.fixture
def harbour(db):
    return make_labelled()


@pytest.fixture
def admin(cast):
    return cast.client("admin")


@pytest.fixture
def draft(admin, harbour):
    return make_draft(admin, harbour)
