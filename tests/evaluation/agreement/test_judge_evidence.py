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
from tests.toolbox.agreement_study import mark
from tests.toolbox.responses import markup


def compared(study):
    matrix = load(select(study.dataset, judge="judge"))
    return judge_evidence(matrix, load_evidence(matrix))


def test_judge_without_marks_has_no_evidence(study):
    assert compared(study) is None


def test_evidence_counts_common_words(study):
    mark(study.rating(study.judge, study.oracle, 1), "alden lost steering off")  # 3 to 6
    mark(study.rating(study.judge, study.bm25, 1), "The car")  # 0 and 1
    mark(study.rating(study.judge, study.oracle, 2), "None of the 112 people")
    evidence = compared(study)
    # ann and ben on oracle 1: 3 of the judge's 4 words, all of ann's 3; 3 of ben's 5.
    # ann on bm25 1: 2 of 2, 2 of ann's 3; ben there: none of 2, none of his 4.
    assert evidence.precision.value == pytest.approx((3 / 4 + 3 / 4 + 1 + 0) / 4)
    assert evidence.recall.value == pytest.approx((1 + 3 / 5 + 2 / 3 + 0) / 4)
    assert evidence.overlap.value == pytest.approx((3 / 4 + 3 / 6 + 2 / 3 + 0) / 4)
    assert evidence.meet.value == pytest.approx(3 / 4)
    # ann marks bm25 3 too, where the judge graded nothing; nobody marks oracle 2.
    assert {(e.n, e.missing) for e in (evidence.precision, evidence.recall, evidence.meet)} == {
        (4, 1)
    }
    assert evidence.n_judge_alone == 2


def test_marks_that_never_meet_a_person_are_undefined(study):
    mark(study.rating(study.judge, study.oracle, 2), "None of the 112 people")
    evidence = compared(study)
    assert evidence.precision.value is None
    assert evidence.precision.reason.startswith("undefined, because the judge and a person marked")
    assert (evidence.precision.missing, evidence.n_judge_alone) == (5, 2)


def test_word_edges_split_at_white_space(study):
    starts, ends = word_edges({study.oracle.pk})[study.oracle.pk]
    tokens = [study.oracle.body[a:b] for a, b in zip(starts, ends, strict=True)]
    assert tokens == study.oracle.body.split()


def test_page_and_files_have_the_evidence(cast, study):
    rosa, query = cast.client("researcher"), "judge=judge"
    assert "Overlap of marked words: judge and people" not in markup(
        rosa.get(study.url("agreement", query))
    )
    mark(study.rating(study.judge, study.oracle, 1), "alden lost steering off")
    page = markup(rosa.get(study.url("agreement", query)))
    assert "Overlap of marked words: judge and people" in page
    assert "Means over 2 ratings of people" in page
    evidence = rosa.get(study.url("agreement.json", query).replace(".json/", ".json")).json()[
        "judge"
    ]["words"]
    assert (evidence["word_precision"], evidence["word_recall"]) == (
        0.75,
        pytest.approx((1 + 3 / 5) / 2),
    )
    assert evidence["details"]["words_meet"]["n"] == 2
