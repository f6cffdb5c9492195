"""Review of outputs: decisions are final, and enter the collection once."""

import pytest
from django.db import IntegrityError, transaction
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from annotation.models import SubQuestion, Text
from building.engine import review
from building.engine.review import ReviewError, accept, accept_rest, open_products, reject
from building.models import Product
from building.writing.tasks import TASKS
from tests.toolbox.document_texts import DOCUMENT, sample_text
from tests.toolbox.generation_runs import (
    REQUEST,
    a_writer,
    add_document,
    in_tags,
    make_collection,
    passages,
    questions,
    run_with_replies,
    started,
    store_replies,
)
from tests.toolbox.text_strategies import any_text, any_words


@pytest.mark.django_db
def test_decision_says_by_whom_and_when_and_is_made_once(cast):
    first, second = run_with_replies("questions", questions(1, 2), spec={"n": 2})
    accept(first, cast.admin)
    first.refresh_from_db()
    assert (first.decision, first.decided_by, first.unseen) == ("accepted", cast.admin, False)
    assert first.decided is not None
    for act in (lambda: accept(first, None, "Other?"), lambda: reject(first, None)):
        with pytest.raises(ReviewError, match="This output is already accepted"):
            act()
    reject(second, cast.admin)
    with pytest.raises(ReviewError, match="This output is already rejected, by ada"):
        accept(second, None)
    assert [q.body for q in SubQuestion.objects.all()] == [first.body]
    first.refresh_from_db()
    assert (first.edited, first.question.body) == ("", first.body)


@pytest.mark.django_db
def test_edited_words_are_beside_the_writers_for_ever(cast):
    (product, _) = run_with_replies("questions", questions(1, 2), spec={"n": 2})
    accept(product, cast.admin, "  What did\nship 1 do?  ")
    product.refresh_from_db()
    assert product.decision == "edited"
    assert product.body == "What did ship1 do to harbour1?"
    assert product.edited == "What did\nship 1 do?"
    assert product.question.body == "What did ship 1 do?"
    assert str(product) == product.edited


@pytest.mark.django_db
@pytest.mark.parametrize("edited", ["", "  ", " What did ship1 do to harbour1?\n"])
def test_unchanged_text_is_not_edited(edited):
    product, _ = run_with_replies("questions", questions(1, 2), spec={"n": 2})
    accept(product, None, edited)
    product.refresh_from_db()
    assert (product.decision, product.edited) == ("accepted", "")


@pytest.mark.django_db
def test_questions_come_behind_those_that_are_there_and_none_comes_twice():
    dataset = make_collection("a")
    topic = dataset.topics.get()
    for position, body in ((0, "First?"), (4, "Fifth?")):
        SubQuestion.objects.create(topic=topic, position=position, body=body)
    first, second = run_with_replies("questions", questions(1, 2), dataset=dataset, spec={"n": 4})
    accept(first, None)
    accept(second, None)
    of_topic = topic.questions.order_by("position").values_list("position", "body")
    assert list(of_topic)[2:] == [(5, first.body), (6, second.body)]
    (duplicate, _) = run_with_replies(
        "questions", questions(7, 8), dataset=dataset, spec={"n": 6}, slug="other"
    )
    with pytest.raises(ReviewError, match="already has this question: First\\?"):
        accept(duplicate, None, "First?")
    duplicate.refresh_from_db()
    assert (duplicate.decision, duplicate.edited, duplicate.decided) == ("proposed", "", None)


@pytest.mark.django_db
def test_request_is_taken_where_the_topic_has_none():
    dataset = make_collection("a")
    writer = a_writer("request")
    run = started(writer, dataset, spec={"samples": 2})
    first, second = store_replies(run, in_tags("r", REQUEST), in_tags("r", REQUEST.upper()))
    accept(first, None, f"{REQUEST}\nAnd more.")
    topic = dataset.topics.get()
    assert topic.request == f"{REQUEST} And more."
    with pytest.raises(ReviewError, match="a already has a request"):
        accept(second, None)
    second.refresh_from_db()
    assert second.is_open
    reject(second, None)


@pytest.mark.django_db
def test_passage_knows_its_document_and_where_it_is_from():
    dataset = make_collection("a", n=0)
    document = add_document(dataset.topics.get(), 0, f"A 💧 before it.\n\n{DOCUMENT}")
    quoted = " ".join(DOCUMENT.split()[:40])
    first, second = run_with_replies(
        "passages", in_tags("p", quoted, sample_text(50)), dataset=dataset
    )
    accept(first, None)
    accept(second, None)
    first, second = (Product.objects.get(pk=product.pk).text for product in (first, second))
    assert [(text.name, text.document, text.topic) for text in (first, second)] == [
        ("a:0#0", document, document.topic),
        ("a:0#1", document, document.topic),
    ]
    assert document.body[first.start : first.end].split() == quoted.split()
    # 💧 is one code point: "A 💧 before it." has 14, and two line ends follow.
    assert first.start == 16
    assert (second.start, second.end) == (None, None)


@pytest.mark.django_db
def test_names_of_passages_go_round_those_that_are_taken():
    dataset = make_collection("a")
    topic = dataset.topics.get()
    for name in ("a:0#0", "a:0#1"):
        Text.objects.create(dataset=dataset, topic=topic, kind="passage", name=name, body="x")
    first, second = run_with_replies("passages", passages(), dataset=dataset)
    accept(second, None)
    accept(first, None)
    assert Product.objects.get(pk=second.pk).text.name == "a:0#2"
    assert Product.objects.get(pk=first.pk).text.name == "a:0#3"


@pytest.mark.django_db
def test_passage_of_a_document_with_the_longest_name_there_is():
    dataset = make_collection("a", n=0)
    document = add_document(dataset.topics.get(), 0, DOCUMENT)
    type(document).objects.update(name="a:" + "x" * 248)
    first, _ = run_with_replies("passages", passages(), dataset=dataset)
    with pytest.raises(ReviewError, match="longer than 250 characters"):
        accept(first, None)
    first.refresh_from_db()
    assert first.is_open


@pytest.mark.django_db
def test_all_that_is_left_is_accepted_unseen_and_what_cannot_be_is_told(cast):
    dataset = make_collection("a", "b")
    run = started(a_writer(), dataset, spec={"n": 3})
    first, second, *_ = store_replies(run, questions(1, 2, 3), questions(4, 5, 6))
    reject(first, cast.admin)
    topic = first.draft.order.topic
    SubQuestion.objects.create(topic=topic, position=0, body=second.body)
    n, refused = accept_rest(run, cast.admin)
    assert (n, len(refused)) == (4, 1)
    assert "already has this question" in refused[0]
    accepted = Product.objects.filter(unseen=True)
    assert accepted.count() == 4
    assert set(accepted.values_list("decision", "decided_by")) == {("accepted", cast.admin.pk)}
    assert [product.pk for product in open_products(run)] == [second.pk]
    first.refresh_from_db()
    assert not first.unseen


@pytest.mark.django_db
@pytest.mark.parametrize(
    "fields",
    [
        {"decision": "accepted"},
        {"decision": "proposed", "decided": "2026-01-01T00:00Z"},
        {"decision": "edited", "decided": "2026-01-01T00:00Z"},
        {"decision": "accepted", "decided": "2026-01-01T00:00Z", "edited": "x"},
    ],
)
def test_half_of_a_decision_cannot_be_stored(fields):
    product, _ = run_with_replies("questions", questions(1, 2), spec={"n": 2})
    with pytest.raises(IntegrityError), transaction.atomic():
        Product.objects.filter(pk=product.pk).update(**fields)


class AnyReply(TestCase):
    """Random replies and edits: each decision is stored completely, or refused."""

    @settings(max_examples=30)
    @given(raw=any_text, edited=any_text)
    def test_any_reply_and_any_edit(self, raw, edited):
        (product, *_) = run_with_replies(
            "questions", in_tags("q", raw, "What is it?"), spec={"n": 2}
        )
        accept(product, None, edited)
        product.refresh_from_db()
        question = product.question
        assert question.body == " ".join(question.body.split()) != ""
        assert (product.edited or product.body).split() == question.body.split()

    @settings(max_examples=30)
    @given(body=any_words, start=st.integers(0, 40), end=st.integers(0, 40))
    def test_any_passage_of_any_document(self, body, start, end):
        dataset = make_collection("a", n=0)
        document = add_document(dataset.topics.get(), 0, f"{body} {DOCUMENT} {body}")
        cut = " ".join(document.body.split()[min(start, end) :])[:2_000]
        for product in run_with_replies(
            "passages", in_tags("p", cut, sample_text(50)), dataset=dataset
        ):
            accept(product, None)
            product.refresh_from_db()
            text = product.text
            if text.start is not None:
                assert document.body[text.start : text.end].split() == text.body.split()


def test_tasks_all_have_an_acceptance_function():
    assert set(review._ACCEPT) == set(TASKS)
