"""manage.py aggregate with judges: committees, and a judge calibrated on people."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rater, Rating, Rubric, SubQuestion, Text, Topic
from judging.models import Attempt
from tests.toolbox.factories import make_dataset
from tests.toolbox.reply_study import make_reply_study


def aggregate(*options, dataset="ferry", rubric="graded"):
    out = StringIO()
    call_command("aggregate", dataset, "--rubric", rubric, *options, stdout=out)
    return out.getvalue()


def grades_of(name):
    ratings = Rater.objects.get(name=name).ratings.order_by("text_id", "question_id")
    return list(ratings.values_list("grade", flat=True))


@pytest.fixture
def reply_study(db):
    """On the passage: first 5 0 - 1, second 3 0 2 4; on a report question 2: 2 2, copied."""
    return make_reply_study()


def test_committee_of_judges_by_median(reply_study):
    output = aggregate("--method", "median", "--raters", "first,second")
    prints = [judge.short for judge in (reply_study.first, reply_study.second)]
    assert output.startswith("median-judges.graded: 4 ratings, 2 pairs without one.")
    assert "between two middle grades their mean, rounded half up" in output
    assert f"of first (fingerprint {prints[0]}), second (fingerprint {prints[1]}), n = 4" in output
    # The reports: 2, copied. The passage: between 5 and 3, 4; 0; one grade, none; between 1 and 4, 2.5, up.
    assert sorted(grades_of("median-judges.graded")) == [0, 2, 2, 3, 4]
    rater = Rater.objects.get(name="median-judges.graded")
    assert (rater.kind, rater.dataset) == ("aggregate", reply_study.dataset)


def test_committee_by_the_mean_of_expected_grades(reply_study):
    # All were told to expect 4.1; second tells nothing any more: its grades are taken.
    Attempt.objects.filter(judge=reply_study.second).update(expected_grade=None)
    output = aggregate(
        "--method", "mean-expected", "--raters", "first,second", "--name", "both.mean"
    )
    assert output.startswith("both.mean: 4 ratings, 2 pairs without one.")
    # The first has 3 grades of the passage and 2 of a report, the second 4 and 1; copies are left out.
    assert "expected grades known for 5 of 10 grades" in output
    # The reports: (4.1 + 2) / 2 = 3.05; the passage: with 3, 3.55; with 0, 2.05; with 4, 4.05.
    assert sorted(grades_of("both.mean")) == [2, 3, 3, 4, 4]


def test_failed_reply_that_counts_as_0_expects_nothing(reply_study):
    Attempt.objects.filter(failure="refusal").update(expected_grade=5)
    output = aggregate("--method", "mean-expected", "--raters", "first,second")
    assert "expected grades known for 10 of 10 grades" in output


def test_majority_of_judges_leaves_that_of_people_alone(reply_study):
    assert aggregate("--method", "majority", "--raters", "first,second").startswith(
        "majority-judges.graded: 2 ratings, 4 pairs without one."
    )


@pytest.fixture
def topics(reply_study):
    """Two more topics of ten questions; on one text, second and two people agree on the order."""
    graded = Rubric.objects.get(slug="graded")
    people = [Rater.objects.create(name=name, kind="human") for name in ("ann", "ben")]
    for number in (1, 2):
        topic = Topic.objects.create(
            dataset=reply_study.dataset, name=f"more-{number}", request="More.", position=number
        )
        text = Text.objects.create(
            dataset=reply_study.dataset,
            topic=topic,
            kind="passage",
            name=f"more-{number}",
            body="A.",
        )
        for position in range(10):
            question = SubQuestion.objects.create(topic=topic, position=position, body="Which?")
            high = position % 2
            for rater, grade in (
                (reply_study.second.rater, 4 * high),
                (people[0], 1 + 2 * high),
                (people[1], 1 + high),
            ):
                Rating.objects.create(
                    rater=rater, rubric=graded, text=text, question=question, grade=grade
                )
    return reply_study


def test_judge_calibrated_on_people(topics):
    Attempt.objects.update(expected_grade=None)
    Attempt.objects.filter(judge=topics.second, question=topics.questions[2]).update(
        expected_grade=1.2
    )
    output = aggregate("--method", "calibrated", "--raters", "second")
    # The judge: 20 pairs of the further topics, 4 of the passage, 1 of the reports.
    assert output.startswith("calibrated-second.graded: 25 ratings, 0 pairs without one.")
    assert f"of second (fingerprint {topics.second.short})" in output
    assert "expected grades known for 1 of 25" in output
    assert "of ann, ben, fitted for each topic on the others (20 pairs of 2 topics)" in output
    # The map: 0 is 1, 4 is 2.5, and 0.375 a grade between. The passage: 3 is 2.125; 0 is 1; 1.2 is
    # 1.45; 4 is 2.5, up. The reports: 2 is 1.75.
    ratings = Rater.objects.get(name="calibrated-second.graded").ratings
    passage = ratings.filter(text=topics.texts["passage"]).order_by("question__position")
    assert list(passage.values_list("grade", flat=True)) == [2, 1, 1, 3]
    assert [r.grade for r in ratings.filter(text=topics.texts["oracle"])] == [2]
    assert set(ratings.filter(text__name="more-1").values_list("grade", flat=True)) == {1, 3}


def test_people_may_be_named(topics):
    aggregate("--method", "calibrated", "--raters", "second,ben")
    rater = Rater.objects.get(name="calibrated-second.graded")
    assert "on the mean grades of ben, fitted" in rater.made_from
    # 4 is ben's 2.
    assert set(rater.ratings.filter(text__name="more-1").values_list("grade", flat=True)) == {1, 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "calibrated"), "takes one judge, and here there are 0"),
        (("--method", "calibrated", "--raters", "first,second"), "and here there are 2"),
        (("--method", "calibrated", "--raters", "first"), "of first is undefined, .* pairs of 0"),
        (("--method", "median", "--raters", "first"), "takes two raters, and here there are 1"),
        (("--method", "calibrated", "--raters", "eve"), "There are: ann, ben, first, second"),
        (("--method", "majority", "--name", "no name"), "letters, digits, hyphens, dots"),
        (("--method", "median", "--raters", "ann,ben", "--name", "x" * 121), "than 120 characters"),
        (("--method", "median", "--raters", "ann,ben", "--name", "ann"), "of a person already"),
    ],
)
def test_impossible_aggregate_is_refused(topics, options, message):
    n = Rating.objects.count()
    with pytest.raises(CommandError, match=message):
        aggregate(*options)
    assert Rating.objects.count() == n
    assert not Rater.objects.filter(kind="aggregate").exists()


def test_too_few_pairs_and_too_few_topics(topics):
    people = Rating.objects.filter(rater__kind="human", question__topic__name="more-2")
    people.filter(question__position=9).delete()
    with pytest.raises(CommandError, match="only 9 pairs were rated by people and the judge"):
        aggregate("--method", "calibrated", "--raters", "second")
    people.delete()
    with pytest.raises(CommandError, match="rated the same pairs of 1"):
        aggregate("--method", "calibrated", "--raters", "second")


def test_names_have_no_middle(db):
    dataset = make_dataset("mill")
    rubric = Rubric.objects.create(slug="kinds", title="Kinds", guideline="", scale="nominal")
    for grade in (0, 1, 2):
        rubric.levels.create(grade=grade, label=f"kind {grade}")
    text, question = dataset.texts.first(), SubQuestion.objects.filter(topic__dataset=dataset)[0]
    for name, kind in (("ann", "human"), ("ben", "human"), ("model", "model")):
        rater = Rater.objects.create(dataset=dataset, name=name, kind=kind)
        Rating.objects.create(rater=rater, rubric=rubric, text=text, question=question, grade=1)
    for method, raters in (
        ("median", "ann,ben"),
        ("mean-expected", "ann,ben"),
        ("calibrated", "model"),
    ):
        with pytest.raises(CommandError, match=f"{method} takes grades with an order"):
            aggregate("--method", method, "--raters", raters, dataset="mill", rubric="kinds")
