import pytest

from tests.judging.looking.material import Looked, make_looked


@pytest.fixture
def looked(db) -> Looked:
    return make_looked()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def ada(cast):
    return cast.client("admin")
