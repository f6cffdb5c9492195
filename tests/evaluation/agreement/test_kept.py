"""datasets/<slug>/agreement/: what it reads, and what is kept until the data change."""

import pytest
from django.test import Client

from annotation.models import Rater, Rating, Rubric


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


def test_queries_do_not_grow_with_the_ratings(rosa, study, django_assert_max_num_queries):
    for rubric in Rubric.objects.all():
        rubric.grades()  # read once in a process, whatever test comes first
    # session, user, dataset, rubrics, levels, campaigns, raters, judges, the five of the data's version,
    # ratings, questions, texts, spans, the judge's spans, twice whether there are any, the texts' lengths,
    # the judge's ratings, words that have changed
    with django_assert_max_num_queries(32):
        rosa.get(study.url("agreement"))
    for number in range(20):
        rater = Rater.objects.create(dataset=study.dataset, name=f"more{number}", kind="human")
        Rating.objects.bulk_create(
            Rating(rater=rater, rubric_id=row[0], text_id=row[1], question_id=row[2], grade=row[3])
            for row in Rating.objects.filter(rater=study.ann).values_list(
                "rubric_id", "text_id", "question_id", "grade"
            )
        )
    with django_assert_max_num_queries(32):
        rosa.get(study.url("agreement"))


def test_report_is_kept_until_the_data_change(rosa, study, django_assert_max_num_queries):
    first = rosa.get(study.url("agreement")).context["report"]
    with django_assert_max_num_queries(17):  # no rating is read
        second = rosa.get(study.url("agreement")).context["report"]
    assert second.all == first.all
    assert rosa.get(study.url("agreement", "eta=2")).context["report"].judge != first.judge
    study.rating(study.ben, study.oracle, 2).delete()
    assert rosa.get(study.url("agreement")).context["report"].n_missing == 1
