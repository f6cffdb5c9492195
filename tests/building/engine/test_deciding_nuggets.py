"""Nuggets that were written, and what they become once a person has decided."""

import pytest

from annotation.models import Rater, Rating, SubQuestion, Text
from building.engine.generation_spec import GenerationSpec
from building.engine.review import ReviewError, accept, reject
from building.engine.sources import planned_orders
from building.writing.tasks import TASKS
from tests.toolbox.generation_runs import REQUEST, in_tags, make_collection, run_with_replies

pytestmark = pytest.mark.django_db
REPLY = in_tags("n", "[vital] The ferry Aurora sank.", "[okay] It was red.", "[okay] It was old.")


@pytest.fixture
def proposed():
    dataset = make_collection("a", request=REQUEST)
    return run_with_replies("nuggets", REPLY, dataset=dataset, spec={"n": 3})


def weights() -> list[tuple]:
    rows = Rating.objects.filter(rubric__slug="importance").order_by("question__position")
    return list(
        rows.values_list("rater__name", "rater__kind", "text__name", "question__body", "grade")
    )


def test_accepted_ones_are_sub_questions_with_a_weight(proposed, cast):
    first, second, third = proposed
    accept(first, cast.admin)
    reject(second, cast.admin)
    accept(third, None, unseen=True)
    assert weights() == [
        ("writer", "model", "a:request", "The ferry Aurora sank.", 2),
        ("writer", "model", "a:request", "It was old.", 1),
    ]
    assert Text.objects.get(name="a:request").body is None
    first.refresh_from_db()
    assert first.question == SubQuestion.objects.get(position=0)


def test_person_may_change_words_and_weight(proposed, cast):
    first, second, _ = proposed
    accept(first, cast.admin, "The ferry Aurora sank off Halden.")
    accept(second, cast.admin, "[vital] It was red.")
    assert [row[3:] for row in weights()] == [
        ("The ferry Aurora sank off Halden.", 2),
        ("It was red.", 2),
    ]
    second.refresh_from_db()
    # What the writer had proposed stays with the draft.
    assert (second.decision, second.body) == ("edited", "[okay] It was red.")


def test_nugget_without_a_place_is_refused_and_changes_nothing(proposed, cast):
    first, second, third = proposed
    accept(first, cast.admin)
    with pytest.raises(ReviewError, match="already has this question"):
        accept(second, cast.admin, "[okay] The ferry Aurora sank.")
    Rater.objects.filter(name="writer").update(kind="human")
    with pytest.raises(ReviewError, match="writer is a person here"):
        accept(third, cast.admin)
    assert SubQuestion.objects.count() == Rating.objects.count() == 1


def test_topic_without_a_request_or_with_enough_nuggets_is_not_written():
    dataset = make_collection("a")
    assert [
        candidate.why_not
        for candidate in planned_orders(TASKS["nuggets"], dataset, GenerationSpec())
    ] == ["it has no request yet"]
    topic = dataset.topics.get()
    dataset.topics.update(request="What?")
    for position in range(2):
        SubQuestion.objects.create(topic=topic, position=position, body=f"Nugget {position}")
    plans = [next(planned_orders(TASKS["nuggets"], dataset, GenerationSpec(n=n))) for n in (2, 3)]
    assert [candidate.why_not for candidate in plans] == ["it has 2 nuggets", ""]
    assert plans[1].inputs["have"] == ["Nugget 0", "Nugget 1"]
