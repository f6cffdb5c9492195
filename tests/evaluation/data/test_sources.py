import pytest

from annotation.models import Rater, Rating
from evaluation.data.selection import SelectionError
from evaluation.data.sources import source, sources


def test_sources_of_a_study_are_listed(study, django_assert_num_queries):
    with django_assert_num_queries(2):
        all_sources = sources(study.dataset)
    assert [(option.name, option.kind, option.title) for option in all_sources] == [
        ("judge", "rater", "judge"),
        ("strict", "rater", "strict"),
        ("ann", "rater", "ann"),
        ("ben", "rater", "ben"),
        ("cay", "rater", "cay"),
        ("majority", "majority", "majority of 3 people"),
        ("people:judge", "people over", "people over judge"),
        ("people:strict", "people over", "people over strict"),
    ]


def test_baseline_is_called_one(study):
    Rater.objects.filter(name="strict").update(kind="baseline")
    titles = {option.name: option.title for option in sources(study.dataset)}
    assert titles["strict"] == "strict (baseline)"
    assert titles["people:strict"] == "people over strict (baseline)"


def test_raters_without_ratings_and_adjudicators(study, cast):
    # Who has rated nothing is no source; an adjudicator is one, but is not among the people.
    Rater.objects.create(dataset=study.dataset, name="idle", kind="model")
    Rater.objects.filter(name="cay").update(is_adjudicator=True)
    by_name = {option.name: option for option in sources(study.dataset)}
    assert "idle" not in by_name
    assert "cay" in by_name
    assert by_name["majority"].title == "majority of 2 people"


def test_by_default_the_first_model(study):
    # The judge rated 20 cells, then strict 12.
    assert source(study.dataset).name == "judge"
    Rater.objects.filter(name="judge").update(name="zeal")
    assert source(study.dataset, "").name == "zeal"
    # How it was taken makes it no other source.
    assert source(study.dataset) == source(study.dataset, "zeal")
    assert source(study.dataset).why
    assert not source(study.dataset, "zeal").why


def test_without_a_judge_a_person(study):
    Rating.objects.filter(rater__kind="model").delete()
    assert source(study.dataset).name == "ann"


def test_unknown_source_is_refused_with_the_choices(study):
    with pytest.raises(
        SelectionError, match=r"“eve”\. There are: judge, strict, ann, ben, cay, maj"
    ):
        source(study.dataset, "eve")


@pytest.mark.django_db
def test_dataset_without_ratings_has_no_source(dataset):
    assert sources(dataset) == ()
    with pytest.raises(SelectionError, match="This dataset has no ratings"):
        source(dataset)
