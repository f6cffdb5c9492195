"""datasets/<slug>/agreement/: every number opens what it counts."""

import pytest

from annotation.models import Rater, Rating, Rubric
from tests.evaluation.agreement.pair_links import count_pair_links
from tests.toolbox.agreement_study import make_study
from tests.toolbox.responses import markup


def add_third(study):
    """cat has rated one item, so that ratings are missing."""
    Rating.objects.create(
        rater=Rater.objects.create(dataset=study.dataset, name="cat", kind="human"),
        rubric=Rubric.objects.get(slug="answerable"),
        text=study.oracle,
        question=study.questions[0],
        grade=0,
    )


@pytest.mark.soak
@pytest.mark.any_database
def test_links_open_the_pairs_that_numbers_count(cast, subtests):
    study, rosa = make_study(), cast.client("researcher")
    add_third(study)
    for query in ("", "eta=5&truth=ben", "judge=", "rubric=graded&raters=judge"):
        with subtests.test(query):
            page = markup(rosa.get(study.url("agreement", query)))
            assert count_pair_links(rosa, page) > (3 if "graded" in query else 10)
