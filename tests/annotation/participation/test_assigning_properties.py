"""Picking items for a participant: whatever is free and however many are wanted."""

import random
from collections import Counter, defaultdict

from hypothesis import assume, given
from hypothesis import strategies as st

from annotation.participation.assigning import Candidate, pick

systems = st.sampled_from(["", "bm25", "dense", "oracle", "étude"])
free_items = st.lists(
    st.builds(Candidate, item=st.integers(1, 10_000), system=systems, held=st.integers(0, 5)),
    max_size=40,
    unique_by=lambda candidate: candidate.item,
)
numbers = st.none() | st.integers(0, 50)
had_before = st.dictionaries(systems | st.just("elsewhere"), st.integers(0, 9)).map(Counter)
seeds = st.integers(0, 2**31)


def picked(candidates, number, had, seed):
    return pick(candidates, number, had, random.Random(seed))


@given(free_items, numbers, had_before, seeds)
def test_picked_items_are_free_and_unique_and_complete(candidates, number, had, seed):
    chosen = picked(candidates, number, had, seed)
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) <= {candidate.item for candidate in candidates}
    room = len(candidates) if number is None else min(number, len(candidates))
    assert len(chosen) == room


@given(free_items, numbers, had_before, seeds)
def test_picked_systems_are_balanced(candidates, number, had, seed):
    """Balanced within one, counting what the participant has had, wherever items allow it."""
    chosen = set(picked(candidates, number, had, seed))
    counts, remaining = Counter(had), Counter()
    for candidate in candidates:
        (counts if candidate.item in chosen else remaining)[candidate.system] += 1
    for ahead in {candidate.system for candidate in candidates if candidate.item in chosen}:
        for behind in +remaining:
            assert counts[ahead] <= counts[behind] + 1


@given(free_items, numbers, had_before, seeds)
def test_within_a_system_the_items_that_most_raters_hold_come_first(candidates, number, had, seed):
    chosen = set(picked(candidates, number, had, seed))
    picked_slots, remaining = defaultdict(list), defaultdict(list)
    for candidate in candidates:
        (picked_slots if candidate.item in chosen else remaining)[candidate.system].append(
            candidate.held
        )
    assert all(
        min(picked_slots[system]) >= max(remaining[system])
        for system in picked_slots
        if remaining[system]
    )


@given(free_items, numbers, had_before, seeds)
def test_same_seed_picks_the_same_in_the_same_order(candidates, number, had, seed):
    before = Counter(had)
    chosen = picked(candidates, number, had, seed)
    assert chosen == picked(iter(candidates), number, Counter(dict(reversed(had.items()))), seed)
    assert had == before  # what the participant has had is counted on in a copy


@given(free_items, numbers, had_before, seeds)
def test_parts_one_after_the_other_hand_out_everything_once(candidates, number, had, seed):
    assume(number != 0)
    free = list(candidates)
    given_out = []
    had = Counter(had)
    for part in range(len(candidates) + 1):
        chosen = picked(free, number, had, seed + part)
        given_out += chosen
        had.update(candidate.system for candidate in free if candidate.item in chosen)
        free = [candidate for candidate in free if candidate.item not in chosen]
    assert sorted(given_out) == sorted(candidate.item for candidate in candidates)


@given(st.integers(2, 12), st.integers(1, 12), seeds)
def test_equal_systems_are_shared_out_within_one(per_system, number, seed):
    candidates = [
        Candidate(item=item, system=f"system-{item % 4}", held=0) for item in range(4 * per_system)
    ]
    chosen = picked(candidates, number, Counter(), seed)
    counts = Counter(item % 4 for item in chosen)
    shares = [counts[system] for system in range(4)]
    assert max(shares) - min(shares) <= (1 if number <= 4 * per_system else 0)


def test_orders_differ_from_participant_to_participant():
    candidates = [Candidate(item=item, system="one", held=0) for item in range(20)]
    orders = {tuple(picked(candidates, None, Counter(), seed)) for seed in range(50)}
    assert len(orders) == 50
