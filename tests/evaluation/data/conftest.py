from copy import deepcopy

import pytest

from tests.evaluation.scoring.material import Study, make_study


@pytest.fixture(scope="module")
def scored_study(kept) -> Study:
    return kept(make_study)


@pytest.fixture
def study(db, scored_study) -> Study:
    return deepcopy(scored_study)
