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


def test_one_span_under_every_question_of_an_item():
    same, other = (0, 4, "same"), (5, 9, "else")
    counts = marks(
        [
            Marked("a", 50, [same, other]),
            Marked("a", 50, [same]),
            Marked("b", 50, [same]),
            Marked("b", 50, [other]),
            Marked("c", 50, [same]),
            Marked("c", 50, []),
        ]
    )
    assert (counts.shared, counts.comparable) == (1, 2)


def test_nothing_marked():
    counts = marks([Marked("a", 9, [])])
    assert (counts.n, counts.comparable) == (0, 0)
    assert counts.words.reason == "undefined, because nothing was marked"
