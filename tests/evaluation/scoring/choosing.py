"""How a test scores: the options by their names."""

from annotation.models import Dataset
from evaluation.scoring.options import Options, ScoringForm


def choose(dataset: Dataset, **query: str) -> Options:
    assert query.keys() <= ScoringForm.base_fields.keys()
    return ScoringForm(dataset, query).options()
