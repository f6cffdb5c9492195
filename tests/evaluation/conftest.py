"""The small study, for every page of results."""

from copy import deepcopy

import pytest

from tests.evaluation.agreement.material import Study, make_study


@pytest.fixture(scope="module")
def small_study(kept) -> Study:
    return kept(make_study)


@pytest.fixture
def study(db, small_study) -> Study:
    return deepcopy(small_study)
