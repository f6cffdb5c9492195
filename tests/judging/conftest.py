"""The study of the pages about judges, and the runs of one."""

import pytest

from tests.judging.replies.material import Looked, make_looked
from tests.judging.runs.material import a_judge, a_run, filled


@pytest.fixture
def judge(db):
    return a_judge()


@pytest.fixture
def run(judge, dataset):
    """Planned and running; nobody works at it."""
    return a_run(judge, dataset)


@pytest.fixture
def done(run):
    """The same after a worker has asked everything: eight pairs sent, twelve cells, one reply failed."""
    return filled(run)


@pytest.fixture
def looked(db) -> Looked:
    return make_looked()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def ada(cast):
    return cast.client("admin")
