"""campaigns/<slug>/adjudication/: the list of where raters differ."""

from uuid import uuid4

import pytest

from annotation.adjudication.differences import differences
from annotation.models import Assignment, Item, Rating
from annotation.models.standard import STANDARD, add_standard
from annotation.participation.assigning import rater_of
from annotation.task.saving import save_answer
from tests.toolbox.adjudication_study import LIST, decision, make_differing, url
from tests.toolbox.answers import label, label_item
from tests.toolbox.factories import make_campaign
from tests.toolbox.responses import markup
from tests.toolbox.rubric_studies import make_locks_study, open_study


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def differing(cast, campaign):
    return make_differing(cast, campaign)


def listed(campaign, **filters):
    names = dict(campaign.items.values_list("pk", "text__system"))
    numbers = {
        item_question.question_id: item_question.position + 1
        for item in campaign.items.all()
        for item_question in item.asked.all()
    }
    return [
        (names[difference.item].removeprefix("annotated."), numbers[difference.question])
        for difference in differences(campaign, **filters)
    ]


def test_list_holds_what_differs_the_strongest_first(differing):
    assert listed(differing) == [("oracle", 2), ("oracle", 1)]
    assert listed(differing, kind="label") == [("oracle", 2)]
    assert listed(differing, kind="spans") == [("oracle", 1)]
    assert listed(differing, kind="grade") == []


def test_grades_two_apart_differ_on_one_side_of_eta(cast, dataset):
    people = [cast.worker, cast.other_worker]
    campaign = make_campaign(dataset, *people, rubric="graded", kind="passage")
    for person, grades in zip(people, [(0, 3, 2), (2, 5, 1)], strict=True):
        label_item(campaign, person, "#0", *grades)
    two_apart = differences(campaign)
    assert [difference.kinds for difference in two_apart] == [("grade",), ("grade",)]
    assert [difference.far for difference in two_apart] == pytest.approx([0.4, 0.4])


def test_only_the_newest_answers_differ(cast, differing):
    label(differing, cast.worker, "oracle", 2, 0)
    label(differing, cast.worker, "oracle", 1, None)
    assert listed(differing) == []


def test_training_is_not_adjudicated_from_the_list_and_gold_is(differing):
    differing.items.update(purpose=Item.Purpose.GOLD)
    assert len(listed(differing)) == 2
    differing.items.update(purpose=Item.Purpose.TRAINING)
    assert listed(differing) == []


def test_list_page_filters_by_its_address(cast, rosa, differing):
    page = rosa.get(LIST).content.decode()
    assert page.index("Was anybody hurt?") < page.index("What failed on the Halden?")
    assert "What failed" not in rosa.get(f"{LIST}?kind=label").content.decode()
    rosa.post(url(differing), decision(differing))
    assert "decided: answerable" in markup(rosa.get(LIST))
    assert "Was anybody hurt?" not in rosa.get(f"{LIST}?state=open").content.decode()
    assert "What failed" not in rosa.get(f"{LIST}?state=decided").content.decode()
    assert (
        "No question matches the filters"
        in rosa.get(f"{LIST}?kind=spans&state=decided").content.decode()
    )
    assert rosa.get(f"{LIST}?kind=grade").status_code == 422  # yes and no are never two apart


def test_unknown_filter_is_reported(rosa, differing):
    response = rosa.get(f"{LIST}?kind=nonsense")
    assert response.status_code == 422
    assert "There is no list with these filters" in response.content.decode()
    assert rosa.get(url(differing, query="?kind=nonsense")).status_code == 200


def test_empty_list(rosa, campaign):
    assert "Raters do not disagree on any question so far" in rosa.get(LIST).content.decode()


def test_queries_of_the_list_do_not_grow(cast, rosa, differing, django_assert_max_num_queries):
    # session, user, campaign, levels, answers, decisions, questions asked; items, questions shown
    with django_assert_max_num_queries(11):
        rosa.get(LIST)
    label(differing, cast.other_worker, "bm25", 2, 0)
    with django_assert_max_num_queries(11):
        rosa.get(LIST)


@pytest.mark.parametrize(
    ("slug", "visible", "hidden"),
    [
        ("question-type", ["The lock at Wend was drained"], ["Say what became of the lock"]),
        ("importance", ["Say what became of the lock"], ["The lock at Wend was drained"]),
        ("critique-qa_tautology", ["a crack in the lower gate"], ["The lock at Wend was drained"]),
    ],
)
def test_under_other_rubrics_it_shows_what_raters_saw(cast, rosa, db, slug, visible, hidden):
    wend = make_locks_study()
    raters = [rater_of(cast.worker), rater_of(cast.other_worker)]
    campaign = open_study(wend, add_standard(STANDARD[slug]), raters)
    grades = campaign.rubric.grades()
    labels = {level.grade: level.label for level in campaign.rubric.levels.all()}
    for rater, grade in zip(raters, (grades[0], grades[-1]), strict=True):
        assignment = Assignment.objects.filter(participant__rater=rater).first()
        question = assignment.item.asked.first().question
        save_answer(assignment, question, key=uuid4(), grade=grade, spans=[])
    page = markup(rosa.get(f"/campaigns/{slug}/adjudication/"))
    assert "different grades" in page
    assert "Distance of spans" not in page
    names = [labels[grades[0]], labels[grades[-1]]] if campaign.rubric.is_nominal else []
    assert all(name in page for name in names)
    address = f"/campaigns/{slug}/adjudication/{assignment.item_id}/{question.pk}/"
    page = markup(rosa.get(address))
    assert all(phrase in page for phrase in [*visible, labels[grades[0]]])
    assert not any(phrase in page for phrase in hidden)
    assert not any(phrase in page for phrase in ("Evidence in the text", "copied from the text"))
    sent = {"key": uuid4(), "grade": grades[0], "text_sha256": assignment.item.text.sha256}
    assert rosa.post(address, sent | {"base": ""}).status_code == 302
    page = markup(rosa.get(address))
    assert f"{grades[0]} ({labels[grades[0]]}) by rosa" in page
    decided = Rating.objects.get(rater__name=f"{slug}-adjudicated")
    assert (decided.grade, decided.rubric.slug) == (grades[0], slug)
