"""The small study, for every page of results."""

import pytest

from tests.evaluation.agreement.material import Study, make_study


@pytest.fixture
def study(db) -> Study:
    return make_study()
