"""The words that a judge quotes beside those that people marked, worked out by hand.

The report begins "The car ferry Halden lost steering off the breakwater on 9 March.": words 0 to 11. Of oracle
1 ann marks "Halden lost steering" (3 to 5) and ben "lost steering off the breakwater" (4 to 8); of bm25 1 ann
marks "The car ferry" (0 to 2) and ben words of the second paragraph.
"""

import pytest

from evaluation.agreement.judge_evidence import judge_evidence, word_edges
from evaluation.data.ratings import load
from evaluation.data.selection import select
from evaluation.data.spans import load_evidence
from tests.evaluation.agreement.material import mark
from tests.markup import markup


def compared(study):
    matrix = load(select(study.dataset, judge="judge"))
    return judge_evidence(matrix, load_evidence(matrix))


def test_a_judge_that_marked_nothing_is_compared_with_nobody(study):
    assert compared(study) is None


def test_words_in_common(study):
    mark(study.rating(study.judge, study.oracle, 1), "alden lost steering off")  # 3 to 6
    mark(study.rating(study.judge, study.bm25, 1), "The car")  # 0 and 1
    mark(study.rating(study.judge, study.oracle, 2), "None of the 112 people")
    words = compared(study)
    # ann and ben on oracle 1: 3 of the judge's 4 words, all of ann's 3; 3 of ben's 5.
    # ann on bm25 1: 2 of 2, 2 of ann's 3; ben there: none of 2, none of his 4.
    assert words.precision.value == pytest.approx((3 / 4 + 3 / 4 + 1 + 0) / 4)
    assert words.recall.value == pytest.approx((1 + 3 / 5 + 2 / 3 + 0) / 4)
    assert words.overlap.value == pytest.approx((3 / 4 + 3 / 6 + 2 / 3 + 0) / 4)
    assert words.meet.value == pytest.approx(3 / 4)
    # ann marks bm25 3 too, where the judge graded nothing; nobody marks oracle 2.
    assert {(e.n, e.missing) for e in (words.precision, words.recall, words.meet)} == {(4, 1)}
    assert words.n_judge_alone == 2


def test_marks_that_never_meet_a_person_are_undefined(study):
    mark(study.rating(study.judge, study.oracle, 2), "None of the 112 people")
    words = compared(study)
    assert words.precision.value is None
    assert words.precision.reason.startswith("undefined, because the judge and a person marked")
    assert (words.precision.missing, words.n_judge_alone) == (5, 2)


def test_words_are_what_white_space_parts(study):
    starts, ends = word_edges({study.oracle.pk})[study.oracle.pk]
    words = [study.oracle.body[a:b] for a, b in zip(starts, ends, strict=True)]
    assert words == study.oracle.body.split()


def test_the_page_and_its_files_tell_them(cast, study):
    rosa, query = cast.client("researcher"), "judge=judge"
    assert "Its words and theirs" not in markup(rosa.get(study.url("agreement", query)))
    mark(study.rating(study.judge, study.oracle, 1), "alden lost steering off")
    page = markup(rosa.get(study.url("agreement", query)))
    assert "Its words and theirs" in page
    assert "Means over 2 ratings of people" in page
    words = rosa.get(study.url("agreement.json", query).replace(".json/", ".json")).json()["judge"][
        "words"
    ]
    assert (words["word_precision"], words["word_recall"]) == (0.75, pytest.approx((1 + 3 / 5) / 2))
    assert words["details"]["words_meet"]["n"] == 2
