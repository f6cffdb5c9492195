from evaluation.quality.signals.marks import Marked, marks


def test_whole_texts_and_spans_without_a_word():
    counts = marks(
        [
            Marked("a", 100, [(0, 90, "so it begins"), (3, 5, "—,")]),
            Marked("b", 100, [(0, 89, "nearly all of it here")]),
        ]
    )
    assert (counts.n, counts.whole, counts.wordless) == (3, 1, 1)
    assert counts.words.value == 3  # of 3, 1 and 5


def test_letters_of_every_script_and_digits_are_words():
    assert marks([Marked("a", 9, [(0, 2, "שלום"), (3, 5, "42")])]).wordless == 0


def test_shared_span_of_all_questions_is_counted():
    first_span, second_span = (0, 4, "same"), (5, 9, "else")
    counts = marks(
        [
            Marked("a", 50, [first_span, second_span]),
            Marked("a", 50, [first_span]),
            Marked("b", 50, [first_span]),
            Marked("b", 50, [second_span]),
            Marked("c", 50, [first_span]),
            Marked("c", 50, []),
        ]
    )
    assert (counts.shared, counts.comparable) == (1, 2)


def test_marks_of_no_spans_are_zero():
    counts = marks([Marked("a", 9, [])])
    assert (counts.n, counts.comparable) == (0, 0)
    assert counts.words.reason == "undefined, because nothing was marked"
