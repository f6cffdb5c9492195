import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.relevance_seen import relevance_seen

names = st.sets(st.sampled_from("abcdef"))


def test_by_hand():
    # Rel = a b c d, seen a b x, so Rel' = a b and the ceiling is 2/4. The output a x d has 2 of 3
    # in Rel; of Rel it finds 2/4. It cites d, which was not seen: against Rel' it is 1/3 and 1/2.
    relevance = relevance_seen(["a", "x", "d"], ["a", "b", "c", "d"], ["a", "b", "x"])
    assert (relevance.precision.value, relevance.precision.n) == (pytest.approx(2 / 3), 3)
    assert (relevance.recall.value, relevance.recall.n) == (2 / 4, 4)
    assert relevance.precision_seen.value == pytest.approx(1 / 3)
    assert (relevance.recall_seen.value, relevance.recall_seen.n) == (1 / 2, 2)
    assert relevance.ceiling.value == 2 / 4
    assert (relevance.rel_prime, relevance.not_retrieved) == (("a", "b"), ("d",))
    assert not relevance.same_precision


def test_unseen_citation_that_is_irrelevant_leaves_precision_alone():
    relevance = relevance_seen(["a", "z"], ["a"], ["a"])
    assert (relevance.not_retrieved, relevance.same_precision) == (("z",), True)


@pytest.mark.parametrize(
    ("sets", "field", "reason"),
    [
        (([], ["a"], ["a"]), "precision", "the output is empty"),
        (([], ["a"], ["a"]), "precision_seen", "the output is empty"),
        ((["a"], [], ["a"]), "recall", "nothing is relevant"),
        ((["a"], [], ["a"]), "ceiling", "nothing is relevant"),
        ((["a"], ["b"], ["a"]), "recall_seen", "no relevant item was retrieved"),
    ],
)
def test_undefined(sets, field, reason):
    estimate = getattr(relevance_seen(*sets), field)
    assert (estimate.value, estimate.n) == (None, 0)
    assert estimate.reason == f"undefined, because {reason}"


def test_empty_output_recalls_nothing():
    relevance = relevance_seen([], ["a"], ["a"])
    assert (relevance.recall.value, relevance.recall_seen.value, relevance.same_precision) == (
        0,
        0,
        True,
    )


@given(names, names, names)
def test_recall_is_the_generators_times_the_ceiling_if_nothing_unseen_is_cited(
    output, rel, retrieved
):
    relevance = relevance_seen(output & retrieved, rel, retrieved)
    assert relevance.not_retrieved == ()
    assert relevance.same_precision
    if relevance.recall_seen.value is not None:
        product = relevance.recall_seen.value * relevance.ceiling.value
        assert relevance.recall.value == pytest.approx(product)


@given(names, names, names)
def test_irrelevant_item_more_does_not_raise_anything(output, rel, retrieved):
    before, extended = (
        relevance_seen(output, rel, retrieved),
        relevance_seen({*output, "z"}, rel, retrieved),
    )
    for field in ("precision", "recall", "precision_seen", "recall_seen"):
        old, new = getattr(before, field).value, getattr(extended, field).value
        assert old is None or new <= old


def test_rules_of_the_authors_count_what_is_cited_twice():
    # a a x: 2 of 3 are relevant, and a is the one relevant item that was seen.
    relevance = relevance_seen(["a", "a", "x"], ["a", "b"], ["a"], "authors")
    assert (relevance.precision.value, relevance.precision.n) == (pytest.approx(2 / 3), 3)
    assert relevance.precision_seen.value == pytest.approx(2 / 3)
    assert (relevance.recall.value, relevance.recall.n) == (1 / 2, 2)
    empty = relevance_seen([], ["a"], ["a"], "authors")
    assert (empty.precision.value, empty.precision_seen.value, empty.precision.n) == (0, 0, 0)


def test_without_what_was_seen():
    relevance = relevance_seen(["a"], ["a", "b"], None)
    assert (relevance.precision.value, relevance.recall.value) == (1, 1 / 2)
    for measure in ("precision_seen", "recall_seen", "ceiling"):
        assert relevance.measure(measure).reason == (
            "undefined, because the retrieved items are not known"
        )
    assert relevance.not_retrieved == ()
