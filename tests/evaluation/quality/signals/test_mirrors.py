from evaluation.quality.signals.task_consistency import task_consistency


def test_mirrors_are_by_task_and_strongest_first():
    answers = [(1, True), (2, False), (3, True)]
    other_tasks = {
        ("answerable", "oracle"): {1: [True], 2: [False]},
        ("answerable", "bm25"): {1: [False, True], 3: [False]},
        ("answerable", "other"): {9: [True]},
    }
    first, second = task_consistency(answers, other_tasks)
    assert (first.other, first.same, first.n) == (("answerable", "oracle"), 2, 2)
    assert (second.other, second.same, second.n) == (("answerable", "bm25"), 1, 3)
    assert first.share.value == 1


def test_task_without_common_questions_is_left_out():
    assert task_consistency([(1, True)], {}) == ()
    assert task_consistency([], {("a", "b"): {1: [True]}}) == ()
