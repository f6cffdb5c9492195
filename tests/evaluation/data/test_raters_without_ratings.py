"""Raters without ratings: an import may leave them, and no number of a result changes."""

import pytest

from annotation.models import Rater
from tests.toolbox.agreement_study import make_study
from tests.toolbox.caches import clear_caches
from tests.toolbox.retrieval_study import make_retrieval_study

pytestmark = pytest.mark.any_database

KINDS = ("human", "model", "baseline")
# Names before and after those of the raters with ratings, in the order of the alphabet.
NAMES = ("aa", "zz")
FERRY = [
    "agreement/numbers.csv",
    "agreement/numbers.csv?judge=",
    "agreement/raters.csv",
    "agreement/pairs.csv",
    "agreement.json",
    "pairs.csv",
    "judges.csv",
    "judges.json",
    "calibration.json",
    "matrix.csv",
]
ROOM = [
    "systems/systems.csv",
    "systems/topics.csv",
    "matrix.csv",
]


@pytest.fixture
def two_datasets(db):
    return make_study().dataset, make_retrieval_study()


def contents(client, dataset, files):
    """Return the files, computed again: nothing comes from a cache."""
    clear_caches()
    return {file: content_of(client, f"/datasets/{dataset.slug}/{file}") for file in files}


def content_of(client, url):
    response = client.get(url)
    body = b"".join(response) if response.streaming else response.content
    return response.status_code, body


def test_raters_without_ratings_change_no_number(cast, two_datasets):
    client = cast.client("researcher")
    before = [contents(client, *pair) for pair in zip(two_datasets, (FERRY, ROOM), strict=True)]
    for dataset in (*two_datasets, None):
        for kind in KINDS:
            for name in NAMES:
                Rater.objects.create(dataset=dataset, name=f"{name}-{kind}", kind=kind)
    contents_later = [
        contents(client, *pair) for pair in zip(two_datasets, (FERRY, ROOM), strict=True)
    ]
    assert contents_later == before
    for files in before:
        assert {status for status, _ in files.values()} == {200}, {
            file: status for file, (status, _) in files.items()
        }
