"""Sentences that one marked and another did not."""

from evaluation.pairs.sentences import divided_sentences

BODY = "One came. Two stayed.\n\nThree left. Nobody spoke."


def span(quote: str) -> tuple[int, int]:
    start = BODY.index(quote)
    return start, start + len(quote)


def test_they_are_numbered_through_the_paragraphs():
    divided = divided_sentences(
        BODY, {"A": [span("stayed"), span("Three left")], "B": [span("Two")]}
    )
    assert [
        (sentence.number, sentence.words, sentence.by, sentence.not_by) for sentence in divided
    ] == [(3, "Three left.", ("A",), ("B",))]


def test_span_may_reach_over_several_and_one_who_marked_nothing_counts():
    divided = divided_sentences(BODY, {"A": [span("came. Two")], "B": [], "C": [span("One")]})
    assert [(sentence.number, sentence.by, sentence.not_by) for sentence in divided] == [
        (1, ("A", "C"), ("B",)),
        (2, ("A",), ("B", "C")),
    ]


def test_spans_that_only_touch_a_sentence_do_not_mark_it():
    end_of_first = BODY.index(".") + 1
    divided = divided_sentences(BODY, {"A": [(end_of_first, end_of_first + 1)], "B": []})
    assert divided == ()


def test_sentences_marked_by_all_or_none_are_not_listed():
    assert divided_sentences(BODY, {"A": [], "B": []}) == ()
    assert divided_sentences(BODY, {"A": [span("One")], "B": [span("came")]}) == ()
    assert divided_sentences(BODY, {"A": [span("One")]}) == ()
