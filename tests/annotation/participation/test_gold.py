"""Hidden gold: items by person and part, with and without the attention check."""

import pytest
from django.db import IntegrityError, transaction

from annotation.models import Assignment
from annotation.participation import assigning, gold, workflow
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import make_study


@pytest.mark.parametrize(
    ("n_gold", "per_person", "items", "in_part", "max_parts", "per_part"),
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
def test_gold_per_part_follows_the_settings(
    n_gold, per_person, items, in_part, max_parts, per_part
):
    terms = gold.terms(
        n_gold=n_gold,
        per_person=per_person,
        items=items,
        items_per_part=in_part,
        max_parts=max_parts,
    )
    had = []
    for number in range(1, len(per_part) + 1):
        had.append(terms.n_new(number, sum(had)))
    assert had == per_part
    assert (terms.parts, terms.n_met) == (len(per_part), sum(per_part))


def test_gold_is_due_once_and_missed_gold_follows():
    terms = gold.terms(n_gold=9, per_person=6, items=12, items_per_part=4, max_parts=3)
    assert terms.n_new(2, 4) == 0
    assert terms.n_new(2, 0) == 4
    assert terms.n_new(7, 0) == 6  # beyond the parts that were expected


def test_gold_order_is_personal_and_reproducible():
    gold_items = list(range(100, 106))
    orders = [gold.next_items(seed, gold_items, (), 6) for seed in range(8)]
    assert all(sorted(order) == gold_items for order in orders)
    assert len({tuple(order) for order in orders}) > 5
    assert gold.next_items(3, gold_items, (), 6) == orders[3]
    first, second, third = orders[3][:3]
    assert gold.next_items(3, gold_items, [first], 2) == [second, third]


@pytest.fixture
def study(db):
    """Two parts of two texts; of five gold texts a person meets three."""
    return make_study(texts=4, training=5, n_training=0, n_gold=5, gold_per_person=3)


def gold_of(part):
    return list(part.assignments.filter(item__purpose="gold").values_list("item", flat=True))


def test_gold_is_spread_over_the_parts_in_the_order_of_each_person(study):
    gold_items = list(study.items.filter(purpose="gold").values_list("pk", flat=True))
    for pid, parts in (("pid-a", 2), ("pid-b", 1), ("pid-c", 1)):  # eight places in all
        person = participant_states.make_consented(study, pid)
        own_order = gold.next_items(person.seed, gold_items, (), 3)
        offered = workflow.next_part(person).texts
        first = participant_states.finish(person)
        assert first.assignments.count() == offered == 2 + 2
        assert set(gold_of(first)) == set(own_order[:2])
        if parts == 2:
            offered = workflow.next_part(person).texts
            second = participant_states.finish(person)
            assert second.assignments.count() == offered == 2 + 1
            assert gold_of(second) == own_order[2:]
    # Gold takes no place: every text of the study has its two raters.
    assigned = Assignment.objects.filter(item__purpose="gold")
    assert not assigned.filter(slot__isnull=False).exists()


def test_part_cut_short_by_what_is_unpaid_counts_study_texts_alone(study):
    """After a submitted gold text the part ran out: two study texts are still to do."""
    person = participant_states.make_working(study, "pid-a")
    before = gold_of(person.parts.get())
    participant_states.submit_item(person.assignments.get(item=before[0]))
    participant_states.make_overdue(person)
    assigning.expire(study)
    assert assigning.unpaid(person) == 0
    part = assigning.begin_part(person)
    assert part.assignments.filter(item__purpose="study").count() == 2
    # The one that nobody touched went back, and is still the next one of this person.
    assert gold_of(part) == before[1:]


def test_attention_check_may_be_on_gold(db):
    """With as many checks as texts every text carries one, gold among them, and practice none."""
    study = make_study(texts=1, training=2, n_training=1, n_gold=1, attention_per_part=2)
    part = assigning.begin_part(participant_states.make_consented(study, "pid-a"))
    bearers = part.assignments.filter(check_asked__isnull=False)
    assert set(bearers.values_list("item__purpose", flat=True)) == {"study", "gold"}


@pytest.mark.parametrize("per_person", [0, 6])
def test_invalid_gold_per_person_violates_a_constraint(study, per_person):
    with pytest.raises(IntegrityError), transaction.atomic():
        type(study).objects.filter(pk=study.pk).update(gold_per_person=per_person)
