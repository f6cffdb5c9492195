import pytest

from tests.judging.pages.material import a_judge, a_run, filled


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
