import pytest
from django.core.cache import cache

from tests.evaluation.scoring.material import make_study


@pytest.fixture
def study(db):
    # Keys are given out anew in each test: the same version may be of other data.
    cache.clear()
    return make_study()
