import numpy as np
import pytest

from evaluation.data.cells import load_cells
from evaluation.data.corpus import load_corpus
from evaluation.data.sources import source
from tests.toolbox.caches import clear_caches

N = np.nan


def load(study, name, eta=3):
    return load_cells(study.dataset, source(study.dataset, name), eta, load_corpus(study.dataset))


def row(cells, study, text):
    return cells.grades[
        list(zip(cells.topic, cells.text, strict=True)).index((study.topic.pk, text.pk))
    ]


def same(array, expected):
    np.testing.assert_array_equal(array, expected)


def test_single_rater_gives_the_cells(study):
    cells = load(study, "judge")
    same(row(cells, study, study.passages["ferry-1:10#10"]), [0, 0, N, 4])
    same(row(cells, study, study.passages["far-9:0#0"]), [0, 4, 5, 0])
    assert cells.grades.shape == (6, 4)
    assert cells.n_ratings == 20
    scale = cells.scales["passage"]
    assert (scale.rubric, scale.eta, scale.levels) == ("graded", 3, (0, 1, 2, 3, 4, 5))
    assert not scale.is_verdict
    assert not cells.by_people.any()


def test_kinds_of_text_have_scales_of_their_own(study):
    # A person graded passages from 0 to 5, and reports with yes or no, whose threshold is 1.
    cells = load(study, "ann", eta=5)
    same(row(cells, study, study.passages["ferry-1:0#0"]), [N, 4, N, N])
    same(row(cells, study, study.reports["annotated.oracle"]), [1, 1, 0, N])
    assert (cells.scales["passage"].eta, cells.scales["report"].eta) == (5, 1)
    assert cells.scales["report"].is_verdict


def test_kind_under_two_rubrics_is_read_as_verdicts(study):
    # Where the judge gave both, q0, the graded 2 counts and not the yes.
    report = study.reports["annotated.oracle"]
    study.rate("judge", report, (1, 1), "answerable")
    study.rate("judge", report, (2, None, 3), "graded")
    cells = load(study, "judge")
    same(row(cells, study, report), [0, 1, 1, N])
    assert cells.scales["report"].levels == (0, 1)
    assert cells.scales["passage"].levels == (0, 1, 2, 3, 4, 5)


def test_majority(study):
    # oracle: q1 is 1 against 1, a tie and no grade. bm25: q0 is 2 to 1; q2 two of two.
    cells = load(study, "majority")
    same(row(cells, study, study.reports["annotated.oracle"]), [1, N, 0, N])
    same(row(cells, study, study.reports["annotated.bm25"]), [1, 0, 1, N])
    # T2 at eta 3: 4 and 3 are answers, ann's 1 is none.
    same(row(cells, study, study.passages["ferry-1:0#0"]), [N, 1, N, N])
    same(row(cells, study, study.passages["ferry-1:2#2"]), [0, N, N, N])
    assert cells.n_tied == 1
    assert cells.scales["passage"].eta == 1
    assert not cells.by_people.any()


@pytest.mark.parametrize(("eta", "expected"), [(3, 1), (4, N), (5, 0)])
def test_people_are_read_at_eta(study, eta, expected):
    # ann's 4 and ben's 3.
    cells = load(study, "majority", eta)
    same(row(cells, study, study.passages["ferry-1:0#0"]), [N, expected, N, N])


def test_people_over_a_judge(study):
    cells = load(study, "people:judge")
    # The judge says yes to q0 alone; the people say yes to q1.
    same(row(cells, study, study.passages["ferry-1:0#0"]), [1, 1, 0, 0])
    # ann's 1 is not the judge's 4.
    same(row(cells, study, study.passages["ferry-1:2#2"]), [0, 0, 0, 0])
    same(row(cells, study, study.passages["ferry-1:10#10"]), [0, 0, N, 1])
    assert cells.by_people.sum() == 2 + 2 + 3  # T2, and T1 without the tie


def test_tie_of_the_people_leaves_the_judge(study):
    study.rate("cay", study.passages["ferry-1:2#2"], (5,))
    cells = load(study, "people:judge")
    same(row(cells, study, study.passages["ferry-1:2#2"]), [1, 0, 0, 0])


def test_person_with_both_rubrics_has_one_vote(study):
    # cay said no by yes-or-no and yes by grade: the grade counts, 3 to 0.
    study.rate("cay", study.passages["ferry-1:0#0"], (None, 0), "answerable")
    study.rate("cay", study.passages["ferry-1:0#0"], (None, 5), "graded")
    study.rate("ben", study.passages["ferry-1:2#2"], (0,), "answerable")
    cells = load(study, "majority")
    same(row(cells, study, study.passages["ferry-1:0#0"]), [N, 1, N, N])
    same(row(cells, study, study.passages["ferry-1:2#2"]), [0, N, N, N])


def test_queries_do_not_grow(study, django_assert_num_queries):
    corpus, chosen = load_corpus(study.dataset), source(study.dataset, "people:judge")
    load_cells(study.dataset, chosen, 3, corpus)
    clear_caches()
    with django_assert_num_queries(4):
        load_cells(study.dataset, chosen, 3, corpus)
