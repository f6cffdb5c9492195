from evaluation.quality.signals.mirrors import mirrors


def test_each_task_apart_and_the_strongest_first():
    here = [(1, True), (2, False), (3, True)]
    there = {
        ("answerable", "oracle"): {1: [True], 2: [False]},
        ("answerable", "bm25"): {1: [False, True], 3: [False]},
        ("answerable", "other"): {9: [True]},
    }
    first, second = mirrors(here, there)
    assert (first.other, first.same, first.n) == (("answerable", "oracle"), 2, 2)
    assert (second.other, second.same, second.n) == (("answerable", "bm25"), 1, 3)
    assert first.share.value == 1


def test_nothing_in_common():
    assert mirrors([(1, True)], {}) == ()
    assert mirrors([], {("a", "b"): {1: [True]}}) == ()
