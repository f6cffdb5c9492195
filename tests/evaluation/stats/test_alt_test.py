"""Alternative annotator test, by hand and in simulated studies."""

import numpy as np
import pytest
import scipy

from evaluation.stats.alt_test import NO_VARIANCE, NOBODY, TOO_FEW_ITEMS, alt_test

NAN = np.nan
HAND = {"epsilon": 0.2, "min_items": 2}


def test_three_people_by_hand():
    # Against ann, by ben and cat (1 1, 0 1, 0 0, 1 1): ann is right on 1, .5, 1, 0 of them, the judge on 1,
    # .5, 1, 1. Ann wins or ties on 3 of 4, the judge on 4: the mean difference is -1/4, its sd 1/2.
    people = [[1, 0, 0, 0], [1, 0, 0, 1], [1, 1, 0, 1]]
    tested = alt_test(people, [1, 0, 0, 1], **HAND)
    ann = tested.people[0]
    assert (ann.n, ann.judge_wins, ann.person_wins, ann.difference) == (4, 1.0, 0.75, -0.25)
    assert ann.p == pytest.approx(scipy.stats.t.cdf((-0.25 - 0.2) / (0.5 / 2), 3))
    assert tested.advantage == pytest.approx(np.mean([p.judge_wins for p in tested.people]))
    assert (tested.n, tested.missing, tested.n_tested) == (4, 0, 3)
    assert tested.winning_rate_clustered is None


def test_clusters_by_hand():
    # Differences of ann are 0, 0, 0 and -1 in topics 1 1 2 2: sums of residuals 1/2 and -1/2, error
    # sqrt(2/1 * 1/2) / 4 = 1/4, one degree of freedom.
    people = [[1, 0, 0, 0], [1, 0, 0, 1], [1, 1, 0, 1]]
    tested = alt_test(people, [1, 0, 0, 1], np.array([1, 1, 2, 2]), **HAND)
    ann = tested.people[0]
    assert ann.clustered is not None
    assert ann.clustered.n_topics == 2
    assert ann.p_clustered == pytest.approx(scipy.stats.t.cdf((-0.25 - 0.2) / 0.25, 1))


def test_distances_count_where_grades_have_an_order():
    # The others say 4. The person says 3, the judge 0: as wrong by name, and further by distance.
    people = [[3, 3, 3, 4], [4, 4, 4, 4], [4, 4, 4, 4]]
    judge = [0, 0, 0, 4]
    by_name = alt_test(people, judge, **HAND).people[0]
    by_distance = alt_test(people, judge, scoring="neg_rmse", **HAND).people[0]
    assert (by_name.judge_wins, by_distance.judge_wins) == (1.0, 0.25)


def test_items_and_people_that_are_left_out():
    people = [[1, 1, 1, NAN], [1, 1, NAN, 1], [0, 1, NAN, NAN]]
    tested = alt_test(people, [1, 0, 1, NAN], epsilon=0.2, min_items=2)
    assert (tested.n, tested.missing) == (2, 2)  # one person on the third, no judge on the last
    assert [person.n for person in tested.people] == [2, 2, 2]
    few = alt_test(people, [1, 0, 1, NAN], epsilon=0.2, min_items=3)
    assert (few.value, few.reason) == (None, NOBODY)
    assert {person.reason for person in few.people} == {TOO_FEW_ITEMS}


def test_difference_of_epsilon_on_every_pair_is_undefined():
    # The judge ties with the person on every item: the difference is 0, which is epsilon.
    people = [[1, 0], [1, 0], [1, 0]]
    tested = alt_test(people, [1, 0], epsilon=0.0, min_items=2)
    assert (tested.value, tested.reason) == (None, NO_VARIANCE)


@pytest.mark.parametrize(
    ("people", "judge", "topics", "message"),
    [
        ([1, 0], [1, 0], None, "people x items"),
        ([[1, 0], [1, 0]], [1], None, "people x items"),
        ([[1, 0], [1, 0]], [1, 0], np.array([1]), "topics are one per item"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(people, judge, topics, message):
    with pytest.raises(ValueError, match=message):
        alt_test(people, judge, topics, epsilon=0.1)


def test_topics_as_clusters_keep_the_promised_errors():
    """The true difference is epsilon, so that p below 0.05 is an error: 5% are promised."""
    random = np.random.default_rng(5)
    errors = np.zeros(2)
    n_studies, n_topics, size, epsilon = 400, 12, 20, 0.15
    topics = np.repeat(np.arange(n_topics), size)
    for _ in range(n_studies):
        # The others say 0, and either the person or the judge does: more often the person, by topic.
        margin = random.normal(epsilon, 0.3, n_topics).clip(-1, 1)[topics]
        person_wins = random.random(len(topics)) < (1 + margin) / 2
        people = np.vstack([~person_wins, np.zeros((2, len(topics)))])
        person = alt_test(people, person_wins, topics, epsilon=epsilon).people[0]
        errors += [person.p < 0.05, person.p_clustered < 0.05]
    independent, clustered = errors / n_studies
    assert independent > 0.1
    assert 0.01 < clustered < 0.1  # 0.049 of 3,000 studies; independent: 0.157
