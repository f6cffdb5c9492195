"""Review pages: display, actions of the buttons, and refusals."""

import pytest

from annotation.models import SubQuestion, Text
from building.engine.fill import fill
from building.models import Product
from tests.toolbox.generation_pages import HOSTILE_TEXT, SCRIPT, a_writing, first_of, of
from tests.toolbox.generation_runs import (
    a_writer,
    add_run,
    make_collection,
    products,
    questions,
    started,
    store_replies,
)
from tests.toolbox.responses import markup
from tests.toolbox.scripted_server import reply_with


@pytest.fixture
def run(cast):
    return a_writing(n=2)


@pytest.fixture
def admin(cast):
    return cast.client("admin")


def decide(client, product, decision, **fields):
    slug = product.draft.order.run.dataset.slug
    address = f"/datasets/{slug}/building/products/{product.pk}/decide/"
    return client.post(address, {"decision": decision, **fields}, follow=True)


def reloaded(product):
    return Product.objects.get(pk=product.pk)


def test_source_is_beside_what_was_written_with_its_words_marked(admin, run):
    response = admin.get(of(run, "review/1/"))
    page = markup(response)
    product = first_of(run)
    assert page.count('<article class="product"') == 2
    assert f'id="source-{product.pk}"' in page
    assert '<mark class="rests">' in page
    assert "task 1 of 2" in page
    assert f'href="{of(run, "review/2/")}" rel="next"' in page
    assert 'rel="prev"' not in page
    # The pieces of the source together are the document.
    view = response.context["page"].outputs[0]
    body = run.orders.get(number=1).topic.documents.get().body
    assert "".join(piece for piece, _ in view.source) == body


def test_press_decides_and_leads_to_what_is_next(admin, cast, run):
    first, second, third, _ = products(run)
    response = decide(admin, first, "accept", words=first.body)
    assert response.redirect_chain == [(of(run, "review/1/"), 302)]
    response = decide(admin, second, "reject", words=second.body)
    assert response.redirect_chain == [(of(run, "review/2/"), 302)]
    assert (reloaded(first).decision, reloaded(first).decided_by) == ("accepted", cast.admin)
    assert reloaded(second).decision == "rejected"
    assert reloaded(third).is_open
    page = markup(admin.get(of(run, "review/1/")))
    assert "Accepted , by ada" in page or "Accepted, by ada" in page
    assert "<textarea" not in page
    assert SubQuestion.objects.get().body == first.body


def test_reviewed_output_is_not_reviewed_again(admin, run):
    product = first_of(run)
    decide(admin, product, "accept")
    for decision in ("accept", "reject"):
        page = markup(decide(admin, product, decision, words="Other words?"))
        assert "This output is already accepted, by ada." in page
    assert reloaded(product).edited == ""
    assert SubQuestion.objects.count() == 1


@pytest.mark.parametrize(
    "fields",
    [{"decision": "accept"}, {"decision": "accept", "words": "Other?"}, {"decision": "reject"}],
)
def test_decision_that_is_sent_twice_is_made_once(admin, cast, run, fields):
    product = first_of(run)
    address = f"/datasets/built/building/products/{product.pk}/decide/"
    first, second = (admin.post(address, fields) for _ in range(2))
    assert first.url == second.url
    page = markup(admin.get(second.url))
    assert "already" not in page
    assert "not stored" not in page
    assert SubQuestion.objects.count() == (fields["decision"] == "accept")
    assert Product.objects.exclude(decision="proposed").count() == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"decision": "accept", "words": " \r\n "},
        {"decision": "accept", "words": ""},
        {"decision": "", "words": "x"},
        {"decision": "maybe"},
        {},
    ],
)
def test_press_that_says_nothing_decides_nothing(admin, run, fields):
    product = first_of(run)
    address = f"/datasets/built/building/products/{product.pk}/decide/"
    page = markup(admin.post(address, fields, follow=True))
    assert "Accept the output with a text, or reject it." in page
    assert reloaded(product).is_open


def test_other_words_are_kept_beside_the_writers(admin, run):
    product = first_of(run)
    decide(admin, product, "accept", words=f"Who?\r\nAnd {HOSTILE_TEXT}\x00?")
    assert reloaded(product).decision == "edited"
    assert reloaded(product).edited == f"Who?\nAnd {HOSTILE_TEXT}?"
    response = admin.get(of(run, "review/1/"))
    assert SCRIPT not in response.content.decode()
    page = markup(response)
    assert "Accepted with edits:" in page
    assert product.body in page.replace("&#x27;", "'")


def test_line_ends_of_a_browser_are_no_other_words(admin, cast):
    run = a_writing("passages", make_collection("a"))
    product = first_of(run)
    Product.objects.filter(pk=product.pk).update(body=product.body.replace(". ", ".\n"))
    body = reloaded(product).body.replace("\n", "\r\n")
    decide(admin, product, "accept", words=body)
    assert reloaded(product).decision == "accepted"


def test_rest_is_accepted_unseen(admin, cast, run):
    first = first_of(run)
    decide(admin, first, "reject")
    SubQuestion.objects.create(
        topic=first.draft.order.topic, position=7, body=products(run)[1].body
    )
    page = markup(admin.post(of(run, "accept-rest/"), follow=True))
    assert "Accepted without review: 2." in page
    assert "already has this question" in page
    assert Product.objects.filter(unseen=True, decided_by=cast.admin).count() == 2
    assert not reloaded(first).unseen
    page = markup(admin.get(of(run, "review/2/")))
    assert "without review" in page


def test_of_very_many_some_are_accepted_at_a_press(admin, run, monkeypatch):
    monkeypatch.setattr("building.review.views.AT_ONCE", 1)
    n = Product.objects.count()
    page = markup(admin.post(of(run, "accept-rest/"), follow=True))
    assert "Accepted without review: 1." in page
    assert (
        f"{n - 1} more are to be reviewed: repeat the action, or on the server: manage.py write"
        in page
    )
    assert Product.objects.filter(decision="accepted").count() == 1


def test_run_without_outputs_is_reported(admin, db):
    run = started(a_writer(), make_collection())
    page = markup(admin.get(of(run, "review/"), follow=True))
    assert "has no outputs yet" in page
    assert "This task has no outputs." in markup(admin.get(of(run, "review/1/")))


def test_all_decided_leads_to_the_first_there_is(admin, run):
    admin.post(of(run, "accept-rest/"))
    assert admin.get(of(run, "review/")).url == of(run, "review/1/")


def test_missing_items_are_reported(admin, server):
    server.script("a", reply_with(questions(1, 2)))
    run = started(a_writer(), make_collection("a"), server, {"n": 5})
    fill(run)
    assert "; 3 requested outputs are missing in this task" in markup(
        admin.get(of(run, "review/1/"))
    )


def test_document_and_reply_are_escaped(admin, db):
    dataset = make_collection("a", n=0)
    topic = dataset.topics.get()
    topic.documents.create(
        dataset=dataset, name=SCRIPT, body=f"a {HOSTILE_TEXT} {HOSTILE_TEXT} what did the ferry do?"
    )
    store_replies(
        started(a_writer(), dataset, spec={"n": 2}),
        f'<q>What did {SCRIPT} the ferry do?</q><q>{HOSTILE_TEXT} "></textarea>{SCRIPT}?</q>',
    )
    run = Product.objects.first().draft.order.run
    content = admin.get(of(run, "review/1/")).content.decode()
    assert SCRIPT not in content
    assert content.count("</textarea>") == content.count("<textarea")


def test_report_shows_its_context_and_what_is_none_of_it(admin, db):
    dataset = make_collection("a", request="What happened?")
    add_run(dataset)
    Text.objects.filter(name="a:0#0").update(body=f"{HOSTILE_TEXT} harbour")
    long = "the ferry was late and nobody knew why it had left the harbour so early that day"
    (product,) = store_replies(
        started(a_writer("report"), dataset, spec={"run": "bm25", "context_tokens": 79}),
        f"First {long} [1]. Then {long} [9].",
    )
    run = product.draft.order.run
    page = markup(admin.get(of(run, "review/1/")))
    assert '<a class="label" href="#passage-1">[1]</a>' in page
    assert "[9] is not a passage of the context" in page
    assert "did not fit into the context" in page
    assert SCRIPT not in page


def test_failed_order_leads_to_its_reply_as_it_came(admin, server):
    server.script("a", reply_with("No <b>tags</b> here."))
    run = started(a_writer(), make_collection("a"), server, {"n": 2})
    fill(run)
    page = markup(admin.get(of(run)))
    assert f'href="{of(run, "review/1/")}"' in page
    page = markup(admin.get(of(run, "review/1/")))
    assert "Raw reply 2" in page
    assert "No &lt;b&gt;tags&lt;/b&gt; here." in page
