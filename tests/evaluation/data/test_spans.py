"""Highlights as arrays: the same overlaps as one item at a time."""

import numpy as np
import pytest

from annotation.models import NuggetSpan
from evaluation.data.ratings import load
from evaluation.data.selection import select
from evaluation.data.spans import covered, load_evidence
from evaluation.stats.overlap import span_overlap
from tests.toolbox.agreement_study import Study, make_study


@pytest.fixture
def study(db) -> Study:
    return make_study()


def test_character_counts_once():
    # Item 0: 0-5 and 3-8 and 4-5, eight characters; item 1: two apart; item 2: none.
    item = np.array([0, 1, 0, 0, 1])
    start, end = np.array([3, 0, 0, 4, 10]), np.array([8, 2, 5, 5, 12])
    assert covered(item, start, end, 3).tolist() == [8, 4, 0]


def test_without_highlights():
    none = np.zeros(0, dtype=np.int64)
    assert covered(none, none, none, 2).tolist() == [0, 0]


def test_overlaps_are_those_of_single_items():
    generator = np.random.default_rng(4)
    item = generator.integers(0, 20, 300)
    start = generator.integers(0, 60, 300)
    end = start + generator.integers(1, 20, 300)
    side = generator.integers(0, 2, 300)
    lengths = [covered(item[side == s], start[side == s], end[side == s], 20) for s in (0, 1)]
    either = covered(item, start, end, 20)
    for index in range(20):
        a, b = (
            list(
                zip(
                    start[(item == index) & (side == s)],
                    end[(item == index) & (side == s)],
                    strict=True,
                )
            )
            for s in (0, 1)
        )
        overlap = span_overlap(a, b).iou
        assert (lengths[0] + lengths[1] - either)[index] / either[index] == pytest.approx(
            overlap.value
        )
        assert either[index] == overlap.n


def test_evidence_of_raters_is_loaded(study):
    matrix = load(select(study.dataset))
    evidence = load_evidence(matrix)
    # ann, ben: both mark oracle 1 and bm25 1; on bm25 3 ben's words are not in the text.
    assert evidence.marked().sum(axis=0).tolist() == [3, 3]
    assert evidence.not_in_text().sum(axis=0).tolist() == [0, 1]
    assert evidence.tally(1) == {"exact": 2, "normalised": 0, "unlocated": 1}
    overlap = evidence.overlap(0, 1)
    assert overlap[~np.isnan(overlap)].tolist() == pytest.approx([13 / 39, 0])


def test_several_highlights_of_one_rater_are_one_set_of_characters(study):
    rating = study.rating(study.ann, study.oracle, 1)
    span = rating.spans.get()
    NuggetSpan.objects.create(
        rating=rating, position=1, start=span.start + 2, end=span.end, quote=span.quote[2:]
    )
    evidence = load_evidence(load(select(study.dataset)))
    assert evidence.characters(0)[0] == len("Halden lost steering")
