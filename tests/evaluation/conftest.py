"""The small study, for every page of results."""

from copy import deepcopy

import pytest

from tests.toolbox.agreement_study import Study, make_study


@pytest.fixture(scope="module")
def small_study(shared_world) -> Study:
    return shared_world(make_study)


@pytest.fixture
def study(db, small_study) -> Study:
    return deepcopy(small_study)
