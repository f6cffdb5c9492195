"""A judge with a finished repeat test on a dataset of two topics."""

import pytest

from annotation.models import Project
from judging.engine.fill import pump
from tests.toolbox.judge_test_study import graded_study, planned_test, prompted_judge
from tests.toolbox.judging_study import WORKER, Scripted, failed, graded


@pytest.fixture
def judge(db):
    return prompted_judge()


@pytest.fixture
def dataset(judge):
    study = graded_study(judge)
    study.project = Project.objects.get(slug="main")
    study.save()
    return study


@pytest.fixture
def run(judge, dataset):
    """12 pairs, 2 times each: every third reply rises from 3 to 4, and one of 24 has no grade."""
    run = planned_test(judge, dataset, pairs=12, repeats=2)
    n = 0

    def answer(pair):
        nonlocal n
        n += 1
        return failed(pair) if n == 1 else graded(pair, 4 if n % 3 == 0 else 3)

    pump(run, Scripted(answer), WORKER)
    run.refresh_from_db()
    return run


@pytest.fixture
def page_of(judge, dataset):
    return f"/judges/{judge.pk}/tests/"
