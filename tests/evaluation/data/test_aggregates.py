"""Tests of manage.py aggregate: raters that count as neither a person nor a judge."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rater, Rating, Rubric
from evaluation.data.selection import select
from evaluation.data.sources import source, sources
from tests.toolbox.agreement_study import make_study
from tests.toolbox.responses import text_of_page


def aggregate_output(*options, dataset="ferry", method="majority"):
    out = StringIO()
    call_command("aggregate", dataset, "--method", method, *options, stdout=out)
    return out.getvalue()


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def three(study):
    """cat says 1 to oracle 2, on which ann says 1 and ben 0, and nothing else."""
    cat = Rater.objects.create(dataset=study.dataset, name="cat", kind="human")
    answerable = Rubric.objects.get(slug="answerable")
    Rating.objects.create(
        rater=cat, rubric=answerable, text=study.oracle, question=study.questions[1], grade=1
    )
    return study


def test_majority_as_a_rater(three):
    printed = aggregate_output()
    assert printed.startswith(
        "majority.answerable: 6 ratings, 0 pairs without one. Made by majority, of "
    )
    rater = Rater.objects.get(name="majority.answerable")
    assert (rater.kind, rater.dataset) == ("aggregate", three.dataset)
    assert "of ann, ben, cat" in rater.made_from
    grades = rater.ratings.order_by("text__system", "question__position").values_list(
        "grade", flat=True
    )
    # bm25: 1 0 1 by both; oracle: 1, two of three for 1, 0.
    assert list(grades) == [1, 0, 1, 1, 1, 0]


def test_tie_has_no_rating_and_making_it_again_replaces(study):
    assert "5 ratings, 1 pair without one" in aggregate_output("--raters", "ann,ben")
    study.rating(study.ben, study.oracle, 2).delete()
    Rating.objects.create(
        rater=study.ben,
        rubric=Rubric.objects.get(slug="answerable"),
        text=study.oracle,
        question=study.questions[1],
        grade=1,
    )
    assert "6 ratings, 0 pairs" in aggregate_output()
    assert Rating.objects.filter(rater__name="majority.answerable").count() == 6


def test_aggregate_is_neither_a_person_nor_a_judge(study):
    aggregate_output()
    selection = select(study.dataset, rubric="answerable", judge_by_default=True)
    assert [rater.name for rater in selection.raters] == ["ann", "ben"]
    assert selection.everyone[-1].title == "majority.answerable (aggregate)"
    assert [judge.name for judge in selection.judges] == ["judge"]
    names = [choice.name for choice in sources(study.dataset)]
    assert "majority.answerable" in names
    assert "people:majority.answerable" not in names
    assert source(study.dataset).name == "judge"
    chosen = select(study.dataset, raters=["majority.answerable"], judge="judge")
    assert [rater.kind for rater in chosen.raters] == ["aggregate"]


def test_pages_show_its_kind_and_what_it_was_made_from(rosa, study):
    aggregate_output()
    response = rosa.get("/datasets/ferry/")
    assert "majority.answerable by majority, of ann, ben," in text_of_page(response)
    assert "majority.answerable (aggregate) T1, answerable or not reports" in text_of_page(response)
    page = rosa.get("/datasets/ferry/agreement/?raters=majority.answerable&judge=judge")
    assert page.context["report"].judge.n == 4  # five ratings, one of them without the judge's
    rater = Rater.objects.get(kind="aggregate")
    assert rosa.get(f"/datasets/ferry/agreement/with/{rater.pk}/").status_code == 404
    assert "majority.answerable" not in text_of_page(rosa.get("/judges/"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dataset": "nowhere"}, "no dataset “nowhere”. There are: ferry"),
        ({"options": ["--rubric", "nope"]}, "no rubric “nope”"),
        ({"options": ["--raters", "ann,eve"]}, "called “eve”. There are: ann, ben"),
        ({"options": ["--raters", "ann"]}, "takes two raters, and here there are 1"),
    ],
)
def test_wrong_words_change_nothing(study, options, message):
    n = Rating.objects.count()
    with pytest.raises(CommandError, match=message):
        aggregate_output(*options.pop("options", ()), **options)
    assert Rating.objects.count() == n
    assert not Rater.objects.filter(kind="aggregate").exists()


def test_name_that_is_taken_and_an_aggregate_of_aggregates(study):
    aggregate_output()
    with pytest.raises(CommandError, match="is an aggregate already: name who rated"):
        aggregate_output("--raters", "ann,majority.answerable")
    Rater.objects.filter(kind="aggregate").update(kind="model")
    with pytest.raises(CommandError, match="is the name of a model already"):
        aggregate_output()


@pytest.mark.any_database
def test_model_of_the_raters(study):
    pytest.importorskip(
        "crowdkit", reason="DAWID-SKENE IS NOT CHECKED: make env EXTRAS=aggregation"
    )
    assert "dawid-skene.answerable: 6 ratings" in aggregate_output(method="dawid-skene")
    assert ", seed 7, of ann, ben" in aggregate_output("--seed", "7", method="mace")


def test_folder_of_an_export_leaves_it_out_and_says_so(study, tmp_path):
    aggregate_output()
    out = StringIO()
    call_command("export_dataset", "ferry", "--out", str(tmp_path / "away"), stdout=out, stderr=out)
    assert not list(tmp_path.rglob("*majority*"))
    assert "majority.answerable" in out.getvalue()
