"""Any Unicode text, any selection: from offsets to the page and to the database and back."""

import json
from html.parser import HTMLParser
from itertools import combinations, pairwise
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from annotation.models import Answer, NuggetSpan, Text
from annotation.rendering import text_html
from annotation.spans import (
    Span,
    SpanError,
    checked,
    locate,
    paragraphs,
    sentences,
    with_edges,
)
from tests.any_text import NASTY, any_text, any_words, each_word, marked_texts, parts
from tests.factories import REPORT

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}
# The database is emptied after the test, not after each of its examples.
with_database = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)


def each(**values):
    """Try a test on each of these values of an argument, whatever is drawn."""
    [(name, examples)] = values.items()

    def tried(test):
        for value in examples:
            test = example(**{name: value})(test)
        return test

    return tried


def ends_of(body):
    """Two places in a text, the first never behind the second."""
    ends = st.integers(0, len(body))
    return st.tuples(ends, ends).map(sorted)


class Reading(HTMLParser):
    """The signs of a page as the DOM would have them, each with its labels and its sentence."""

    def __init__(self, html):
        super().__init__(convert_charrefs=False)
        self.signs = []
        self.labels = ()
        self.sentence = None
        self.number = 0
        self.inside = None  # how deep in the text; None outside of it
        self.fields = []
        self.feed(html)
        self.close()

    @property
    def text(self):
        return "".join(sign for sign, _, _ in self.signs)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "input" and attrs.get("name") == "spans":
            self.fields.append(json.loads(attrs["value"]))
        if attrs.get("id") == "text":
            self.inside = 0
        elif self.inside is not None and tag in ("div", "p", "span", "mark"):
            self.inside += 1
        if tag == "span" and "sentence" in attrs.get("class", ""):
            self.number += 1
            self.sentence = self.number
        if tag == "mark":
            self.labels = tuple(attrs["data-label"].split())

    def handle_endtag(self, tag):
        if self.inside is not None and tag in ("div", "p", "span", "mark"):
            self.inside = self.inside - 1 if self.inside else None
        if tag == "mark":
            self.labels = ()
        if tag == "span":
            self.sentence = None

    def take(self, signs):
        if self.inside is not None:
            self.signs += [(sign, self.labels, self.sentence) for sign in signs]

    def handle_data(self, data):
        self.take(data.replace("\r\n", "\n").replace("\r", "\n"))  # as browsers read a file

    def handle_charref(self, name):
        self.take(chr(int(name[1:], 16) if name[0] in "xX" else int(name)))

    def handle_entityref(self, name):
        self.take({"amp": "&", "lt": "<", "gt": ">", "quot": '"'}[name])


def in_reader(html):
    return f'<div id="text">{html}</div>'


@given(any_text, st.integers(-3, 90), st.integers(-3, 90), st.data())
def test_a_span_is_accepted_exactly_where_the_text_says_its_quote(body, start, end, data):
    there = body[start:end] if 0 <= start <= end else ""
    quote = data.draw(st.sampled_from([there, there[1:], there + "x", there.strip()]) | any_text)
    fits = 0 <= start < end <= len(body) and body[start:end] == quote and bool(quote.strip())
    if fits:
        assert checked(body, start, end, quote) == Span(start, end, quote)
    else:
        with pytest.raises(SpanError):
            checked(body, start, end, quote)


@given(body=any_text, data=st.data())
def test_words_are_found_whatever_white_space_a_copy_has_lost(body, data):
    start, end = data.draw(ends_of(body))
    quote = " ".join(body[start:end].split())
    found = locate(body, quote)
    if not quote:
        assert found is None
        return
    span, _ = found
    assert checked(body, span.start, span.end, span.quote) == span
    assert span.quote.split() == quote.split()


@given(st.lists(st.integers(0, 60), max_size=12), st.lists(st.integers(-5, 70), max_size=12))
def test_cutting_at_edges_moves_nothing(at, edges):
    pieces = list(pairwise(sorted(set(at))))
    cut = with_edges(pieces, edges)
    covered = [place for start, end in pieces for place in range(start, end)]
    assert [place for start, end in cut for place in range(start, end)] == covered
    assert not any(start < edge < end for start, end in cut for edge in edges)


@given(body=any_text)
@each(body=NASTY)
def test_sentences_hold_all_that_is_not_white_space_and_never_overlap(body):
    held = [piece for part in paragraphs(body) for piece in sentences(body, *part)]
    places = [place for start, end in held for place in range(start, end)]
    assert places == sorted(set(places))
    assert all(body[place].isspace() for place in set(range(len(body))) - set(places))
    for start, end in held:
        assert body[start:end] == body[start:end].strip() != ""


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_only_a_blank_line_ends_a_paragraph_whatever_ends_a_line(ends):
    body = ends.join(["One line", "and the next.", " \t", "", "Another.", ""])
    assert [body[start:end].split() for start, end in paragraphs(body)] == [
        ["One", "line", "and", "the", "next."],
        ["Another."],
    ]


@pytest.mark.parametrize("body", ["A. " * 60_000, "." * 200_000 + "x", "." + ")" * 200_000])
def test_a_long_strange_text_is_cut_in_one_go(body):
    """Not a measurement: with a rule that looks back from each place these would take minutes."""
    assert "".join(body[slice(*piece)] for piece in sentences(body, 0, len(body))).split()


@given(body=any_text)
@each(body=NASTY)
def test_the_reader_says_exactly_the_text(body):
    assert Reading(in_reader(text_html(body))).text == body


@given(body=any_text, data=st.data())
def test_marks_cover_exactly_the_spans(body, data):
    spans = [
        {**span, "mark": number, "label": number}
        for number, span in enumerate(data.draw(parts(body)), start=1)
    ]
    page = Reading(in_reader(text_html(body, spans)))
    assert page.text == body
    for place, (sign, labels, sentence) in enumerate(page.signs):
        over = [str(span["label"]) for span in spans if span["start"] <= place < span["end"]]
        # Between sentences there is white space alone, and no mark.
        assert list(labels) == (over if sentence else []), (place, sign)
        assert sentence or sign.isspace()


def answered(client, assignment, data):
    question = assignment.item.asked.get(position=0).question
    return client.post(
        f"/work/{assignment.pk}/answers/{question.pk}/",
        {"key": uuid4(), "grade": "1"} | data,
        **BY_SCRIPT,
    )


def in_order(spans):
    """Spans as they are kept: each once, in the order of the text."""
    return sorted({(span["start"], span["end"], span["quote"]) for span in spans})


@with_database
@given(marked=marked_texts() | any_words.map(each_word))
@each(marked=map(each_word, NASTY))
def test_spans_come_back_from_the_database_and_the_page_as_they_were_sent(cast, assignment, marked):
    body, spans = marked
    text = assignment.item.text
    text.body = body
    text.save()
    client = cast.client("worker")
    assert answered(client, assignment, {"spans": json.dumps(spans)}).status_code == 204

    stored = Text.objects.get(pk=text.pk)
    assert stored.body == body
    said = Answer.objects.order_by("-id")[0]
    assert said.text_sha256 == stored.sha256
    assert [(s["start"], s["end"], s["quote"]) for s in said.spans] == in_order(spans)
    kept = [(span.start, span.end, span.quote) for span in NuggetSpan.objects.all()]
    assert kept == in_order(spans)
    assert all(stored.body[start:end] == quote for start, end, quote in kept)

    page = Reading(client.get(assignment.get_absolute_url()).content.decode())
    assert page.text == body
    assert page.fields[0] == said.spans


@with_database
@given(body=any_words, data=st.data())
def test_a_span_that_says_something_else_is_refused_and_changes_nothing(
    cast, assignment, body, data
):
    text = assignment.item.text
    text.body = body
    text.save()
    start, end = data.draw(ends_of(body))
    wrong = data.draw(
        st.sampled_from(
            [
                {"start": start, "end": end, "quote": body[start:end] + "x"},
                {"start": start + 1, "end": end + 1, "quote": body[start:end] + "\0"},
                {"start": start, "end": len(body) + 1, "quote": body[start:]},
                {"start": -1, "end": end, "quote": body[-1:end]},
                {"start": start, "end": start, "quote": ""},
                {"start": start, "end": end, "quote": "\ud83d"},
                {"start": str(start), "end": end, "quote": body[start:end]},
                {"start": True, "end": end, "quote": body[1:end]},
            ]
        )
    )
    response = answered(cast.client("worker"), assignment, {"spans": json.dumps([wrong])})
    assert response.status_code == 422
    assert response.content.decode()
    assert not Answer.objects.exists()


def every_part(body):
    """More spans than anybody marks, and than the database counts."""
    return [
        {"start": start, "end": end, "quote": body[start:end]}
        for start, end in combinations(range(len(body)), 2)
        if body[start:end].strip()
    ]


@pytest.mark.parametrize(
    "sent",
    [
        {"spans": "\0"},
        {"spans": '[{"start": 0, "end": 3, "quote": "\\u0000"}]'},
        {"spans": '[{"start": 0, "end": 3, "quote": "\\ud83d"}]'},
        {"spans": "[" * 200_000},
        {"spans": '[{"start": 0, "end": 1e999, "quote": "The"}]'},
        {"spans": '[{"start": 0, "end": %s, "quote": "The"}]' % ("9" * 6000)},
        {"spans": '[{"start": 0, "end": %s, "quote": "The"}]' % ("9" * 4000)},
        {"spans": "null"},
        {"spans": json.dumps(every_part(REPORT[:60]))},
        {"keep": "0:\0"},
        {"keep": "0:\u0663"},
        {"keep": "0:999999999"},
        {"quotes": "\0"},
        {"quotes": "\ufffd half a pair"},
        {"spans": "[]", "grade": "\0"},
        {"spans": "[]", "grade": "9" * 5000},
        {"spans": "[]", "key": "\0"},
        {"spans": "[]", "base": "\ud83d".encode("utf-16", "surrogatepass")},
        {"spans": "[]", "active_ms": "\0"},
    ],
    ids=lambda sent: str(sent)[:40].encode("ascii", "replace").decode(),
)
def test_what_no_text_can_hold_is_refused_in_words(cast, assignment, sent):
    response = answered(cast.client("worker"), assignment, sent)
    assert response.status_code == 422
    assert response.content.decode().strip()
    assert not Answer.objects.exists()


@pytest.mark.parametrize("raw", [b"spans=%ed%a0%bd&grade=1", b"spans=\xed\xa0\xbd", b"spans=%00"])
def test_bytes_that_are_no_unicode_are_refused(cast, assignment, raw):
    question = assignment.item.asked.get(position=0).question
    response = cast.client("worker").post(
        f"/work/{assignment.pk}/answers/{question.pk}/",
        raw,
        content_type="application/x-www-form-urlencoded",
        **BY_SCRIPT,
    )
    assert response.status_code == 422
    assert not Answer.objects.exists()


@pytest.mark.parametrize("sign", ["\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_copied_words_are_one_span_where_only_python_would_see_two_lines(cast, assignment, sign):
    text = assignment.item.text
    text.body = f"Nobody{sign}was hurt.\r\nNo one."
    text.save()
    sent = {"quotes": f"Nobody{sign}was hurt\r\nNo one\n"}
    assert answered(cast.client("worker"), assignment, sent).status_code == 204
    kept = [(span.start, span.end) for span in NuggetSpan.objects.all()]
    assert kept == [(0, 15), (18, 24)]
