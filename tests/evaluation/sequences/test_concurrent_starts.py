"""Two people who start the same sequence at the same time get one order."""

import pytest

from annotation.models import Dataset
from evaluation.models import LabelSequence
from tests.toolbox.concurrent_clients import at_once
from tests.toolbox.sequence_study import make_sequence_study


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_two_presses_at_once_store_one_sequence(cast):
    make_sequence_study(n_topics=4)
    clients = [cast.client("admin"), cast.client("researcher")]
    calls = [
        lambda client=client: client.post(
            "/datasets/tide/sequences/", {"rubric": "graded", "plan": "sequence"}
        )
        for client in clients
    ]
    outcomes = at_once(*calls, after_reading=Dataset)
    assert [outcome.status for outcome in outcomes] == [302, 302]
    assert LabelSequence.objects.count() == 1
