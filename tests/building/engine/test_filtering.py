"""Filtering of unanswered questions: proposed when fully graded, applied on request."""

import pytest

from annotation.models import Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.standard import STANDARD, add_standard
from building.engine.filtering import FilterError, apply, filter_of, judges_of
from evaluation.data.selection import SelectionError
from tests.toolbox.scoring_study import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    """Passages of ferry-1, two with a body and one without, with partial grades.

    passage          q0 q1 q2
    ferry-1:0#0       5  0  0
    ferry-1:2#2       4  2  .
    ferry-1:0#1       0  3  0   (no words)
    """
    study = make_study()
    remove("ferry-1:10#10", "ferry-1:11#11")
    of_2 = Rating.objects.filter(text__name="ferry-1:2#2", rater__name="judge")
    of_2.filter(question=study.questions[2]).delete()
    return study


def remove(*names):
    Rating.objects.filter(text__name__in=names).delete()
    Text.objects.filter(name__in=names).delete()


def of(study, eta="", judge="judge"):
    return filter_of(study.dataset, judge, eta)


def rate(study, text, question, grade, rater="judge"):
    Rating.objects.create(
        rater=study.raters[rater],
        rubric=Rubric.objects.get(slug="graded"),
        text=study.passages[text],
        question=question,
        grade=grade,
    )


def grade_all(study):
    rate(study, "ferry-1:2#2", study.questions[2], 0)


def only_judged(study):
    """Without what people graded."""
    Rating.objects.filter(rater__kind="human").delete()


def test_missing_grades_are_counted_over_passages_with_a_body(study):
    # Two passages with words and three questions, one of which 2#2 has no grade on.
    first, second = of(study).topics
    assert (first.n_passages, first.n_unrated) == (2, 1)
    assert (second.topic, second.n_passages, second.n_unrated) == ("ferry-2", 1, 0)
    assert first.proposed == ()
    with pytest.raises(
        FilterError, match="No grade of judge for 1 pair of a passage and a question"
    ):
        apply(study.dataset, of(study))
    assert not SubQuestion.objects.filter(filtered_eta__isnull=False).exists()


def test_questions_that_no_passage_answers_are_left_out_with_the_reason(study):
    grade_all(study)
    only_judged(study)
    proposal = of(study)
    # q0 has a 5, q1 the 3 of the passage without words, q2 nothing; the other topic's has a 0.
    assert [[question.body for question in topic.proposed] for topic in proposal.topics] == [
        ["Who was prosecuted?"],
        ["And then?"],
    ]
    assert [(question.best, question.n_answering) for question in proposal.topics[0].questions] == [
        (5, 2),
        (3, 1),
        (0, 0),
    ]
    assert apply(study.dataset, proposal) == 2
    left_out = SubQuestion.objects.get(body="And then?")
    assert left_out.filtered_because == "no passage of its topic has a grade of 3 from judge"
    assert left_out.filtered_eta == 3
    # What was filtered before keeps its own reason.
    assert SubQuestion.objects.get(position=3).filtered_because == "no passage answers it"
    assert of(study).n_proposed == 0
    assert apply(study.dataset, of(study)) == 0


def test_threshold_decides(study):
    grade_all(study)
    only_judged(study)
    assert [len(of(study, eta).topics[0].proposed) for eta in ("1", "3", "4", "5")] == [1, 1, 2, 2]


def test_questions_that_people_graded_stay(study):
    grade_all(study)
    only_judged(study)
    rate(study, "ferry-1:0#0", study.questions[2], 0, "ann")
    proposal = of(study)
    assert [question.by_people for question in proposal.topics[0].questions] == [False, False, True]
    assert apply(study.dataset, proposal) == 1
    assert not SubQuestion.objects.get(body="Who was prosecuted?").is_filtered


def test_question_that_somebody_grades_meanwhile_stays(study):
    grade_all(study)
    only_judged(study)
    proposal = of(study)
    rate(study, "ferry-1:0#0", study.questions[2], 0, "ann")
    assert apply(study.dataset, proposal) == 1
    assert not SubQuestion.objects.get(body="Who was prosecuted?").is_filtered


def test_topic_without_passages_proposes_nothing(study):
    grade_all(study)
    only_judged(study)
    remove("ferry-2:0#0")
    second = of(study).topics[1]
    assert (second.n_passages, second.n_unrated, second.proposed) == (0, 0, ())


@pytest.mark.parametrize(
    ("judge", "eta", "message"),
    [
        ("nobody", "3", "There is no judge “nobody”. There are: judge, strict."),
        ("ann", "3", "There is no judge “ann”"),
        ("majority", "3", "There is no judge “majority”"),
        ("judge", "0", "There is no eta “0”"),
        ("judge", "6", "There is no eta “6”"),
        ("judge", "three", "There is no eta “three”"),
        ("judge", "9" * 5_000, "There is no eta"),
    ],
)
def test_grades_that_are_not_there(study, judge, eta, message):
    with pytest.raises(SelectionError) as refused:
        of(study, eta, judge)
    assert message in str(refused.value)


def test_dataset_nobody_judged(dataset):
    assert judges_of(dataset) == []
    with pytest.raises(SelectionError):
        filter_of(dataset, "", "")


def test_judge_of_another_rubric_alone_is_no_choice(study):
    rater = Rater.objects.create(dataset=study.dataset, name="aaa", kind="model")
    Rating.objects.create(
        rater=rater,
        rubric=add_standard(STANDARD["answered"]),
        text=study.passages["ferry-1:0#0"],
        question=study.questions[0],
        grade=1,
    )
    assert judges_of(study.dataset) == ["judge", "strict"]
