"""The study of the pages about judges, and the runs of one."""

import pytest

from tests.toolbox.judging_runs import a_judge, a_run, filled
from tests.toolbox.reply_study import ReplyStudy, make_reply_study


@pytest.fixture
def judge(db):
    return a_judge()


@pytest.fixture
def run(judge, dataset):
    """Planned and running; no worker</small>."""
    return a_run(judge, dataset)


@pytest.fixture
def done(run):
    """Return the same run after a worker has asked all pairs.

    Eight pairs are sent, twelve cells filled, one reply failed.
    """
    return filled(run)


@pytest.fixture
def reply_study(db) -> ReplyStudy:
    return make_reply_study()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def ada(cast):
    return cast.client("admin")
