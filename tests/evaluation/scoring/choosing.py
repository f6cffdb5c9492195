"""Helper that makes scoring options from their names."""

from annotation.models import Dataset
from evaluation.scoring.options import Options, ScoringQuery


def choose(dataset: Dataset, **query: str) -> Options:
    assert query.keys() <= ScoringQuery.base_fields.keys()
    return ScoringQuery(dataset, query).options
