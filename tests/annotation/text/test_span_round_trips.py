"""Round trips of spans for any Unicode text: stored and shown unchanged, or refused."""

import json
from itertools import combinations
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import Answer, NuggetSpan, Text
from tests.annotation.text.span_material import Reading, ends_of, with_examples
from tests.toolbox.factories import REPORT
from tests.toolbox.text_strategies import NASTY, any_words, marked_texts, span_per_word

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}
# The database is emptied after the test, not after each of its examples.
with_database = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=40,
)


def answered(client, assignment, data):
    question = assignment.item.asked.get(position=0).question
    return client.post(
        f"/work/{assignment.pk}/answers/{question.pk}/",
        {"key": uuid4(), "grade": "1"} | data,
        **BY_SCRIPT,
    )


def in_order(spans):
    """Return the spans as stored: distinct, in the order of the text."""
    return sorted({(span["start"], span["end"], span["quote"]) for span in spans})


@with_database
@given(marked=marked_texts() | any_words.map(span_per_word))
@with_examples(marked=map(span_per_word, NASTY))
def test_spans_round_trip_through_database_and_page(cast, assignment, marked):
    body, spans = marked
    text = assignment.item.text
    text.body = body
    text.save()
    client = cast.client("worker")
    assert answered(client, assignment, {"spans": json.dumps(spans)}).status_code == 204

    stored = Text.objects.get(pk=text.pk)
    assert stored.body == body
    answer = Answer.objects.order_by("-id")[0]
    assert answer.text_sha256 == stored.sha256
    assert [(s["start"], s["end"], s["quote"]) for s in answer.spans] == in_order(spans)
    stored_spans = [(span.start, span.end, span.quote) for span in NuggetSpan.objects.all()]
    assert stored_spans == in_order(spans)
    assert all(stored.body[start:end] == quote for start, end, quote in stored_spans)

    page = Reading(client.get(assignment.get_absolute_url()).content.decode())
    assert page.text == body
    assert page.fields[0] == answer.spans


@with_database
@given(body=any_words, data=st.data())
def test_span_with_wrong_quote_is_refused(cast, assignment, body, data):
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
    """Return all spans of a body: more than anybody marks, and than the database counts."""
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
def test_invalid_unicode_is_refused_with_message(cast, assignment, sent):
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
    stored_spans = [(span.start, span.end) for span in NuggetSpan.objects.all()]
    assert stored_spans == [(0, 15), (18, 24)]
