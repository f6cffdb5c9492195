"""Hidden gold: which of it a person meets, in which part, with the attention check or without."""

import pytest
from django.db import IntegrityError, transaction

from annotation.models import Assignment
from annotation.participation import assigning, gold, journey
from tests import field
from tests.crowd import make_study


@pytest.mark.parametrize(
    ("drawn", "per_person", "items", "in_part", "at_most", "of_each"),
    [
        # Nothing said: one in each part until all are met, or all in the one part.
        (2, None, 12, 4, 3, [1, 1, 0]),
        (5, None, 12, 4, 3, [1, 1, 1]),
        (5, None, 12, None, None, [5]),
        # Said: as even as it goes over the parts that one may do, earlier ones first.
        (6, 6, 12, 4, 3, [2, 2, 2]),
        (9, 4, 12, 4, 3, [2, 1, 1]),
        (9, 2, 12, 4, 3, [1, 1, 0]),
        (9, 1, 12, 4, 3, [1, 0, 0]),
        (9, 5, 12, None, 3, [5]),
        # Without a limit of parts: over as many as hold every text once, here 12 / 5, so 3.
        (9, 3, 12, 5, None, [1, 1, 1]),
        # The limit is larger than what there is to do.
        (9, 3, 4, 4, 3, [3]),
        (0, None, 12, 4, 3, [0, 0, 0]),
    ],
)
def test_as_many_in_each_part_as_the_campaign_says(
    drawn, per_person, items, in_part, at_most, of_each
):
    terms = gold.terms(
        drawn=drawn, per_person=per_person, items=items, items_per_part=in_part, max_parts=at_most
    )
    had = []
    for number in range(1, len(of_each) + 1):
        had.append(terms.due(number, sum(had)))
    assert had == of_each
    assert (terms.parts, terms.met) == (len(of_each), sum(of_each))


def test_nothing_is_due_twice_and_what_was_missed_is_made_up_for():
    terms = gold.terms(drawn=9, per_person=6, items=12, items_per_part=4, max_parts=3)
    assert terms.due(2, 4) == 0
    assert terms.due(2, 0) == 4
    assert terms.due(7, 0) == 6  # beyond the parts that were expected


def test_everybody_has_an_order_of_their_own_that_can_be_redone():
    drawn = list(range(100, 106))
    orders = [gold.next_of(seed, drawn, (), 6) for seed in range(8)]
    assert all(sorted(order) == drawn for order in orders)
    assert len({tuple(order) for order in orders}) > 5
    assert gold.next_of(3, drawn, (), 6) == orders[3]
    first, second, third = orders[3][:3]
    assert gold.next_of(3, drawn, [first], 2) == [second, third]


@pytest.fixture
def study(db):
    """Two parts of two texts; of five gold texts a person meets three."""
    return make_study(texts=4, training=5, n_training=0, n_gold=5, gold_per_person=3)


def gold_of(part):
    return list(part.assignments.filter(item__purpose="gold").values_list("item", flat=True))


def test_gold_is_spread_over_the_parts_in_the_order_of_each_person(study):
    drawn = list(study.items.filter(purpose="gold").values_list("pk", flat=True))
    for pid, parts in (("pid-a", 2), ("pid-b", 1), ("pid-c", 1)):  # eight places in all
        person = field.agreed(study, pid)
        own = gold.next_of(person.seed, drawn, (), 3)
        offered = journey.next_part(person).texts
        first = field.finish(person)
        assert first.assignments.count() == offered == 2 + 2
        assert set(gold_of(first)) == set(own[:2])
        if parts == 2:
            offered = journey.next_part(person).texts
            second = field.finish(person)
            assert second.assignments.count() == offered == 2 + 1
            assert gold_of(second) == own[2:]
    # Gold takes no place: every text of the study has its two raters.
    held = Assignment.objects.filter(item__purpose="gold")
    assert not held.filter(slot__isnull=False).exists()


def test_a_part_cut_short_by_what_is_unpaid_counts_study_texts_alone(study):
    """One gold text handed in, then the part ran out: two texts of the study are still to do."""
    person = field.begun(study, "pid-a")
    before = gold_of(person.parts.get())
    field.hand_in(person.assignments.get(item=before[0]))
    field.make_overdue(person)
    assigning.expire(study)
    assert assigning.unpaid(person) == 0
    part = assigning.begin_part(person)
    assert part.assignments.filter(item__purpose="study").count() == 2
    # The one that nobody touched went back, and is still the next one of this person.
    assert gold_of(part) == before[1:]


def test_an_attention_check_may_be_on_gold(db):
    """With as many checks as texts every text carries one, gold among them, and practice none."""
    study = make_study(texts=1, training=2, n_training=1, n_gold=1, attention_per_part=2)
    part = assigning.begin_part(field.agreed(study, "pid-a"))
    bearers = part.assignments.filter(check_asked__isnull=False)
    assert set(bearers.values_list("item__purpose", flat=True)) == {"study", "gold"}


@pytest.mark.parametrize("per_person", [0, 6])
def test_nobody_is_promised_what_is_not_drawn(study, per_person):
    with pytest.raises(IntegrityError), transaction.atomic():
        type(study).objects.filter(pk=study.pk).update(gold_per_person=per_person)
