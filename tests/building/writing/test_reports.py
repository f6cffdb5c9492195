"""Replies to "write the report", with passages and without, and what they become."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from building.writing.citations import parse_citations, passage_index
from building.writing.outputs import Failure, Source
from building.writing.tasks import TASKS
from tests.toolbox.document_texts import sample_text
from tests.toolbox.text_strategies import any_text

PASSAGES = (("tern:0#1", "The ferry lost its gear."), ("tern:0#2", "Water was in the oil."))
WITH = Source(request="Report on the ferry.", passages=PASSAGES, words=30)
NO_CONTEXT = Source(request="Report on the ferry.", words=30)
REPORT = (
    "The ferry Aurora lost its steering gear in March. [1] Water was found in its oil [1, 2], which the "
    "seals let in.\r\n\r\nThe county runs three others now, and nobody has asked for a fourth [2][1]."
)
BODY = (
    "The ferry Aurora lost its steering gear in March. Water was found in its oil, which the "
    "seals let in.\n\nThe county runs three others now, and nobody has asked for a fourth."
)


def read(reply: str, finish_reason: str | None = "stop", source: Source = WITH):
    task = TASKS["report" if source.passages else "direct"]
    return task.read(reply, finish_reason, source)


def test_report_and_its_statements():
    written = read(REPORT)
    (report,) = written.products
    assert (report.body, report.flags, written.failure) == (BODY, (), None)
    statements = [
        (BODY[statement.start : statement.end], statement.labels) for statement in report.citations
    ]
    assert statements == [
        ("The ferry Aurora lost its steering gear in March.", ("1",)),
        ("Water was found in its oil, which the seals let in.", ("1", "2")),
        ("The county runs three others now, and nobody has asked for a fourth.", ("2", "1")),
    ]


@pytest.mark.parametrize(
    ("written", "body", "statements"),
    [
        ("One [1]. Two [37].", "One. Two.", [("One.", ("1",)), ("Two.", ("37",))]),
        ("One.[1]Two.[2]", "One. Two.", [("One.", ("1",)), ("Two.", ("2",))]),
        ("One. [1], [2] Two.", "One. Two.", [("One.", ("1", "2")), ("Two.", ())]),
        ("One [1-3; 5] or [7–8].", "One or.", [("One or.", ("1", "2", "3", "5", "7", "8"))]),
        ("One [Passage 3 and 4].", "One.", [("One.", ("Passage 3", "4"))]),
        ("One [tern:0#2, TERN:0#1].", "One.", [("One.", ("tern:0#2", "TERN:0#1"))]),
        ("One [^1] [#2] [0].", "One.", [("One.", ("^1", "#2", "0"))]),
        # The same label twice is one; in front of a line it is of what follows; alone in one of what was.
        ("One [1] one [1].", "One one.", [("One one.", ("1",))]),
        ("[1] One.\n[2] Two.", "One.\nTwo.", [("One.", ("1",)), ("Two.", ("2",))]),
        ("One.\n[2]\n\nTwo.", "One.\n\n\nTwo.", [("One.", ("2",)), ("Two.", ())]),
        # No marks: years, words, ranges of nothing, links' words, round brackets, empty ones.
        *(
            (f"One {mark} two.", f"One {mark} two.", [(f"One {mark} two.", ())])
            for mark in (
                "[1998]",
                "[sic]",
                "[3-1]",
                "[1-90]",
                "[see 1]",
                "(Passage 3)",
                "[]",
                "[ ]",
                "[1, a]",
            )
        ),
        # Abbreviations end no sentence; items of a list are sentences each.
        ("By Dr. Vold [1]. No.", "By Dr. Vold. No.", [("By Dr. Vold.", ("1",)), ("No.", ())]),
        (
            "Facts:\n- Älteste Fähre [1]\n- Öl\n1. Eins [2]",
            "Facts:\n- Älteste Fähre\n- Öl\n1. Eins",
            [("Facts:", ()), ("- Älteste Fähre", ("1",)), ("- Öl", ()), ("1. Eins", ("2",))],
        ),
        ("One goes\non [1] here.", "One goes\non here.", [("One goes\non here.", ("1",))]),
        ("[1]", "", []),
        ("", "", []),
    ],
)
def test_marks(written, body, statements):
    report = parse_citations(written, ["tern:0#1", "tern:0#2"])
    assert report.body == body
    parsed = [(body[part.start : part.end], part.labels) for part in report.statements]
    assert parsed == statements


@pytest.mark.parametrize(
    ("label", "index"),
    [
        *(("1", 0), ("2", 1), ("3", None), ("0", None), ("Passage 2", 1), ("^1", 0)),
        *(("tern:0#2", 1), ("TERN:0#1", 0), ("tern:0#3", None), ("", None)),
    ],
)
def test_passage_of_a_label(label, index):
    assert passage_index(label, [name for name, _ in PASSAGES]) == index


def test_number_of_a_prompt_goes_before_a_name():
    assert passage_index("2", ["2", "1"]) == 1
    assert passage_index("7", ["7", "1"]) == 0


marks = st.sampled_from(
    ["[1]", " [2, 9]", "[1-3]", "\n[4]\n", "[tern:0#1]", "[", "]", "[x]", ". ", "\n"]
)


@given(st.lists(any_text | marks, max_size=12).map("".join))
def test_statements_lie_in_the_body_and_in_order(reply):
    report = parse_citations(reply, ["tern:0#1"])
    end = 0
    for statement in report.statements:
        assert end <= statement.start < statement.end <= len(report.body)
        body = report.body[statement.start : statement.end]
        assert body.strip() == body
        end = statement.end
    # Nothing with a word is outside of them, and reading the body again finds no mark of ours but nested ones.
    gaps, last = [], 0
    for statement in report.statements:
        gaps.append(report.body[last : statement.start])
        last = statement.end
    assert not "".join([*gaps, report.body[last:]]).strip()


def test_report_without_citations_is_flagged():
    """As the small model wrote from three and four passages."""
    written = read(BODY)
    assert written.products[0].flags == ("cites none of its passages",)
    assert all(statement.labels == () for statement in written.products[0].citations)


def test_citations_without_a_context_are_a_failure():
    written = read(REPORT, source=NO_CONTEXT)
    assert (written.products, written.failure) == ((), Failure.CITES_WITHOUT_CONTEXT)
    assert written.detail == "It was given no passages, and cites 1, 2."
    assert read(BODY, source=NO_CONTEXT).failure is None
    # A report that should have had passages, and had none.
    none = TASKS["report"].read(REPORT, "stop", NO_CONTEXT)
    assert none.failure is Failure.CITES_WITHOUT_CONTEXT


def test_report_that_was_cut_ends_at_its_last_sentence():
    written = read(REPORT + " [1] The last sentence of Dr.", "length")
    (report,) = written.products
    assert report.body == BODY
    assert report.flags == ("cut at its last sentence",)
    assert [statement.labels for statement in report.citations] == [("1",), ("1", "2"), ("2", "1")]
    assert read(sample_text(9)[:-1], "length").failure is Failure.CUT


def test_wherever_a_report_is_cut_its_sentences_are_whole():
    whole = read(REPORT).products[0].citations
    for end in range(len(REPORT)):
        for report in read(REPORT[:end], "length").products:
            assert BODY.startswith(report.body)
            *before, last = report.citations
            n = len(before)
            assert tuple(before) == whole[:n]
            # Of the last one the citations behind its full stop may not have come.
            assert (last.start, last.end) == (whole[n].start, whole[n].end)
            assert set(last.labels) <= set(whole[n].labels)


def test_report_that_was_cut_behind_its_last_sentence_is_whole():
    assert read(REPORT, "length").products[0].body == BODY


def test_longer_report_than_may_be_ends_where_it_may():
    source = Source(request="r", words=30, max_words=21)
    report = read(f"{sample_text(20)} {sample_text(20, 20)}", source=source).products[0]
    assert (report.body, report.flags) == (sample_text(20), ("cut at 21 words",))
    source = Source(request="r", words=30, max_words=5)
    written = read(sample_text(20), source=source)
    assert (written.failure, written.products) == (Failure.TOO_LONG, ())
    assert written.detail == "Its first sentence has more than 5 words."


@pytest.mark.parametrize(
    ("n", "flags"),
    [
        (29, ("has 29 words of the 60 asked for",)),
        (30, ()),
        (120, ()),
        (121, ("has 121 words of the 60 asked for",)),
    ],
)
def test_report_of_another_length_is_flagged(n, flags):
    report = read(sample_text(n), source=Source(request="r", words=60)).products[0]
    assert report.flags == flags


def test_notes_of_the_writer_are_kept_and_flagged():
    written = read(f"{BODY} [1]\n\nNote: I have kept to the 30 words.")
    assert written.products[0].flags == ("holds notes or references of the writer's own",)
    assert written.products[0].body.endswith("Note: I have kept to the 30 words.")


@pytest.mark.parametrize(
    ("reply", "finish_reason", "failure"),
    [
        ("", "stop", Failure.EMPTY),
        ("<think>The ferry", "length", Failure.CUT),
        ("Refrain: No.", "stop", Failure.REFUSED),
        (
            "I cannot write a report on this, since the passages deal with other ferries.",
            "stop",
            Failure.REFUSED,
        ),
        (
            "I'm sorry, but the passages do not say anything about the ferry.",
            "stop",
            Failure.REFUSED,
        ),
        ("The ferry sank.", "stop", Failure.TOO_SHORT),
        ("[1]", "stop", Failure.TOO_SHORT),
        (f"{BODY}{' Please let me know if it helps.' * 3}", "stop", Failure.LOOPS),
        (f"{BODY}{'   .' * 30}", "stop", Failure.LOOPS),
        (f"{BODY} And so{' the captain and the crew' * 6}", "stop", Failure.LOOPS),
        (BODY, "content_filter", Failure.REFUSED),
    ],
)
def test_invalid_report_has_its_failure(reply, finish_reason, failure):
    for source in (WITH, NO_CONTEXT):
        written = read(reply, finish_reason, source)
        assert (written.products, written.failure, written.missing) == ((), failure, 1)
        assert written.detail


@pytest.mark.parametrize(
    "reply",
    [
        "Unfortunately, the ferry was lost for four hours in a sea that was calm, and nobody saw it but a "
        "fishing boat.",
        "“I cannot say more”, said the captain when the ferry had come to the harbour of Sand behind a tug "
        "after four hours.",
        "No ferry was lost. A very, very, very old one was taken to the harbour of Sand by a tug after four "
        "hours at sea.",
    ],
)
def test_report_that_resembles_a_refusal_or_loop_is_accepted(reply):
    assert read(reply).failure is None
