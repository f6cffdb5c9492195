from copy import deepcopy

import pytest

from tests.toolbox.scoring_study import Study, make_study


@pytest.fixture(scope="module")
def scored_study(shared_world) -> Study:
    return shared_world(make_study)


@pytest.fixture
def study(db, scored_study) -> Study:
    return deepcopy(scored_study)
