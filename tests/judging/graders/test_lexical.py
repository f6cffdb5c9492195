"""The lexical baseline: expected values are worked out by hand in the comments."""

import math

import numpy as np
import pytest

from judging.graders import lexical
from judging.graders.lexical import MISSING, LexicalGrader, content_terms

CORPUS = ["The harbour flooded.", "The harbour reopened.", "A bridge collapsed.", "Trains ran."]


@pytest.fixture
def grader() -> LexicalGrader:
    return LexicalGrader.fit(CORPUS)


@pytest.fixture
def unweighted() -> LexicalGrader:
    # No documents: every idf is ln(1 + 0.5 / 0.5) = ln 2, so s is the plain share of terms.
    return LexicalGrader.fit([])


def test_hand_worked_example(grader: LexicalGrader) -> None:
    # N = 4. harbour: df 2, ln(1 + 2.5/2.5) = 0.6931; bridge: df 1, ln(1 + 3.5/1.5) = 1.2040;
    # "mayor" is in no text: df 0, ln(1 + 4.5/0.5) = 2.3026.
    assert grader.documents == 4
    assert grader.idf("harbour") == pytest.approx(math.log(2))
    assert grader.idf("bridg") == pytest.approx(1.2040, abs=1e-4)
    assert grader.idf("mayor") == pytest.approx(2.3026, abs=1e-4)
    # Sum for the question: 4.1997.
    #   harbour          0.6931 / 4.1997 = 0.165, 6 s = 0.99, grade 0
    #   bridge           1.2040 / 4.1997 = 0.287, 6 s = 1.72, grade 1
    #   harbour, bridge  1.8971 / 4.1997 = 0.452, 6 s = 2.71, grade 2
    #   mayor            2.3026 / 4.1997 = 0.548, 6 s = 3.29, grade 3
    #   mayor, harbour   2.9957 / 4.1997 = 0.713, 6 s = 4.28, grade 4
    #   mayor, bridge    3.5066 / 4.1997 = 0.835, 6 s = 5.01, grade 5
    #   all three        4.1997 / 4.1997 = 1,     6 s = 6,    grade 5
    texts = ["harbour", "bridge", "harbour bridge", "mayor", "mayor harbour", "mayor bridge"]
    texts += ["mayor harbour bridge"]
    result = grader.grade_matrix(texts, ["Why was the mayor on the harbour bridge?"])
    assert result.grades.shape == (7, 1)
    assert result.grades[:, 0].tolist() == [0, 1, 2, 3, 4, 5, 5]
    assert result.grades.dtype == np.int8
    assert result.has_grade.all()


def test_repeated_word_counts_once(grader: LexicalGrader) -> None:
    # In the text, in the question and in a fitted text: presence, not frequency.
    once = grader.grade_matrix(["bridge", "harbour"], ["bridge harbour"]).grades
    repeated = grader.grade_matrix(["bridge bridge", "harbour"], ["bridge harbour harbour"]).grades
    assert once.tolist() == repeated.tolist()
    assert LexicalGrader.fit(["bridge bridge"]).document_frequency == {"bridg": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the capital of it?", ["capit"]),
        ("How many bridges were there?", ["bridg"]),
        ("flooding flooded floods FLOOD", ["flood"] * 4),
        ("What's the mayor's plan? It doesn't, won't, can’t say.", ["mayor", "plan", "say"]),
        ("They’ll we've I'm you're he'd", []),
        ("the 're-election' of 'Saints'", ["re", "elect", "saint"]),
        ("The US and us", ["us", "us"]),
        ("vitamin D, 5 doses, O'Brien", ["vitamin", "d", "5", "dose", "o", "brien"]),
        ("snake_case", ["snake", "case"]),
        ("", []),
        (" \n?! ", []),
    ],
)
def test_content_terms(text: str, expected: list[str]) -> None:
    assert content_terms(text) == expected


def test_unicode_words(unweighted: LexicalGrader) -> None:
    # Composed and decomposed accents, case folding (ß is ss), full-width digits, other alphabets.
    assert content_terms("Cafe\u0301") == content_terms("CAF\u00c9")
    assert content_terms("Straße") == content_terms("STRASSE")
    assert content_terms("２０２４") == ["2024"]
    assert content_terms("Афины Αθήνα") == ["афины", "αθήνα"]
    grades = unweighted.grade_matrix(["Наводнение в Москве", "Flood"], ["наводнение"]).grades
    assert grades.tolist() == [[5], [0]]


def test_empty_text_is_graded_zero(grader: LexicalGrader) -> None:
    result = grader.grade_matrix(["", "   ", "the of and"], ["harbour bridge"])
    assert result.grades.tolist() == [[0], [0], [0]]
    assert result.has_grade.all()


def test_contentless_question_has_no_grade(grader: LexicalGrader) -> None:
    result = grader.grade_matrix(["harbour", ""], ["What is it?", "Which harbour?", ""])
    assert result.grades.tolist() == [[MISSING, 5, MISSING], [MISSING, 0, MISSING]]
    assert result.has_grade.tolist() == [[False, True, False], [False, True, False]]
    coverage = grader.cover_pairs(["harbour"], ["What is it?", "harbour"], [0, 0], [0, 1])
    assert coverage == pytest.approx([math.nan, 1], nan_ok=True)


def test_only_contentless_questions(grader: LexicalGrader) -> None:
    assert not grader.grade_matrix(["harbour"], ["Why?", "Who?"]).has_grade.any()
    assert np.isnan(grader.cover_pairs(["harbour"], ["Why?"], [0], [0])).all()


@pytest.mark.parametrize("terms", range(1, 61))
def test_bands_are_exact_sixths(unweighted: LexicalGrader, terms: int) -> None:
    # k of n equal terms: s = k/n, whatever rounding does to the sum of n weights 1/n.
    vocabulary = [f"w{i}" for i in range(terms)]
    texts = [" ".join(vocabulary[:k]) for k in range(terms + 1)]
    grades = unweighted.grade_matrix(texts, [" ".join(vocabulary)]).grades[:, 0]
    assert grades.tolist() == [min(5, 6 * k // terms) for k in range(terms + 1)]
    # Grade 3 or more is exactly coverage of a half or more.
    assert (grades >= 3).tolist() == [2 * k >= terms for k in range(terms + 1)]


def test_three_grades_are_bands_of_a_third() -> None:
    shares = np.array([0, 0.33, 1 / 3, 0.66, 2 / 3, 1])
    assert lexical.banded(shares, 3).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("block", [1, 7, 65_536])
def test_matrix_equals_pair_by_pair(
    grader: LexicalGrader, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(lexical, "BLOCK", block)
    rng = np.random.default_rng(7)
    vocabulary = np.array(["harbour", "bridge", "trains", "flood", "mayor", "river", "the", "what"])
    texts = [" ".join(rng.choice(vocabulary, size=n)) for n in rng.integers(0, 6, size=23)]
    questions = [" ".join(rng.choice(vocabulary, size=n)) for n in rng.integers(0, 6, size=11)]
    matrix = grader.grade_matrix(texts, questions)
    assert not matrix.has_grade.all()
    order = rng.permutation(23 * 11)
    rows, columns = np.divmod(order, 11)
    coverage = grader.cover_pairs(texts, questions, rows, columns)
    has_grade = matrix.has_grade[rows, columns]
    assert np.array_equal(~np.isnan(coverage), has_grade)
    assert np.array_equal(
        lexical.banded(coverage[has_grade]), matrix.grades[rows, columns][has_grade]
    )
    for i, text in enumerate(texts):
        for j, question in enumerate(questions):
            assert matrix.grades[i, j] == by_definition(grader, text, question)


def by_definition(grader: LexicalGrader, text: str, question: str) -> int:
    terms, present = set(content_terms(question)), set(content_terms(text))
    if not terms:
        return MISSING
    matched = math.fsum(grader.idf(term) for term in terms & present)
    total = math.fsum(grader.idf(term) for term in terms)
    return min(5, math.floor(6 * matched / total + 1e-9))


def test_empty_input_gives_empty_arrays(grader: LexicalGrader) -> None:
    assert grader.grade_matrix([], ["harbour"]).grades.shape == (0, 1)
    assert grader.grade_matrix(["harbour"], []).grades.shape == (1, 0)
    assert grader.grade_matrix([], []).grades.shape == (0, 0)
    assert grader.cover_pairs(["harbour"], ["harbour"], [], []).shape == (0,)
    assert grader.cover_pairs([], [], [], []).shape == (0,)


def test_bad_pair_indices(grader: LexicalGrader) -> None:
    texts, questions = ["harbour", "bridge"], ["harbour"]
    with pytest.raises(IndexError):
        grader.cover_pairs(texts, questions, [2], [0])
    with pytest.raises(IndexError):
        grader.cover_pairs(texts, questions, [-1], [0])
    with pytest.raises(ValueError, match="2 text indices but 1"):
        grader.cover_pairs(texts, questions, [0, 1], [0])
    with pytest.raises(ValueError, match="one-dimensional"):
        grader.cover_pairs(texts, questions, [[0]], [[0]])
    with pytest.raises(ValueError, match="integers"):
        grader.cover_pairs(texts, questions, [0.5], [0])


def test_fit_streams_and_can_be_restored(grader: LexicalGrader) -> None:
    streamed = LexicalGrader.fit(text for text in CORPUS)
    assert streamed.document_frequency == grader.document_frequency
    restored = LexicalGrader(dict(grader.document_frequency), grader.documents)
    assert restored.idf("harbour") == grader.idf("harbour")


@pytest.mark.parametrize(("frequency", "documents"), [({"a": 2}, 1), ({"a": -1}, 1), ({}, -1)])
def test_impossible_frequencies(frequency: dict[str, int], documents: int) -> None:
    with pytest.raises(ValueError, match="Document frequencies"):
        LexicalGrader(frequency, documents)


def test_idf_stays_positive_for_a_word_in_every_text() -> None:
    # N = df = 3: ln(1 + 0.5/3.5) = 0.1335, so the question still has a grade.
    grader = LexicalGrader.fit(["flood"] * 3)
    assert grader.idf("flood") == pytest.approx(0.1335, abs=1e-4)
    assert grader.grade_matrix(["floods"], ["flood"]).grades.tolist() == [[5]]
