"""Twenty documents at a small real model with killed runs: invariants of any output.

Everything is killed with SIGKILL, so nothing gets to tidy up. How good the texts are is not asked: the
model is far too small for them, and so brings the failures that there are.
"""

import json
import re
from collections import Counter

import pytest

from building.writing.outputs import Failure
from tests.toolbox.counting_proxy import CountingProxy
from tests.toolbox.empty_site import empty_site
from tests.writer import at_work
from tests.writer.material import HARBOUR, MOST_WRITTEN, SLUG, documents
from tests.writer.server import MODEL
from tests.writer.site import Site

TRIES = 2
RUN = "bm25"
SAMPLES = 3
PLANNED = {"passages": 20, "questions": 10, "report": SAMPLES}
LENGTH = 60  # words of a report
# of a reply: for a report 1.3 a word, and room for half as many again
MOST_TOKENS = {**MOST_WRITTEN, "report": 117}


@pytest.fixture(scope="module")
def site(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    with empty_site(folder, "sqlite") as (env, _), CountingProxy(server.address) as proxy:
        created = Site(env, server, proxy, folder)
        created.manage("shell", "-v0", "-c", "from tests.writer.material import seed; seed()")
        yield created


@pytest.fixture(scope="module")
def writings(site, request):
    """Evidence by task; passages and questions are accepted before the report is written."""
    passages = at_work.written(
        *(site, "passages", "--writer", f"{MODEL}-passages"), kill_at=(5, 13)
    )
    questions = at_work.written(
        *(site, "questions", "--writer", f"{MODEL}-questions", "--n", "5"),
        kill_at=(3, 8),
        kill_server_at=(5,),
    )
    at_work.accept(site, passages)
    at_work.accept(site, questions)
    site.manage("retrieve", SLUG, "--name", RUN, "--recipe", "bm25 % 5", "--topics", "harbour")
    report = at_work.written(
        *(site, "report", "--model", MODEL, "--writer", f"{MODEL}-report", "--run", RUN),
        *("--topics", "harbour", "--length", f"words:{LENGTH}", "--samples", str(SAMPLES)),
    )
    at_work.accept(site, report)
    all_of_them = (passages, questions, report)
    request.config.stash[at_work.TABLE] = at_work.table(site, all_of_them)
    return {evidence.task: evidence for evidence in all_of_them}


@pytest.fixture(params=PLANNED)
def evidence(writings, request):
    return writings[request.param]


@pytest.fixture
def orders(site, evidence):
    """Each order with its drafts, as `drafts`."""
    drafts = site.drafts(evidence.run)
    return [
        {**order, "drafts": [draft for draft in drafts if draft["order_id"] == order["id"]]}
        for order in site.orders(evidence.run)
    ]


def test_killed_workers_were_at_work(writings):
    assert len(documents()) == PLANNED["passages"]
    assert [writings[task].deaths for task in PLANNED] == [2, 3, 0]
    assert all(n for evidence in writings.values() for n in evidence.in_flight)


def test_orders_have_each_draft_once(evidence, orders):
    assert (evidence.progress["state"], evidence.progress["note"]) == ("finished", "")
    assert evidence.progress["planned"] == evidence.progress["done"] == PLANNED[evidence.task]
    assert [order["number"] for order in orders] == list(range(1, PLANNED[evidence.task] + 1))
    for order in orders:
        numbers = [draft["number"] for draft in order["drafts"]]
        assert numbers == list(range(1, len(numbers) + 1)) != []


def test_orders_are_asked_at_most_as_often_as_their_tries(evidence, orders):
    for order in orders:
        assert len(order["drafts"]) + order["tries_left"] == TRIES
        assert not (order["failure"] and order["tries_left"])
    # Asked twice was only what was in flight when somebody died.
    repeats = evidence.sent - evidence.progress["drafts"]
    assert 0 <= repeats <= evidence.deaths * at_work.CONCURRENCY


def test_tokens_that_were_spent_are_counted(site, evidence):
    drafts = site.drafts(evidence.run)
    for name in ("prompt_tokens", "completion_tokens"):
        assert evidence.progress[name] == sum(draft[name] for draft in drafts)
    for draft in drafts:
        assert draft["prompt_tokens"] > 50
        assert 0 < draft["completion_tokens"] <= MOST_TOKENS[evidence.task]
        assert draft["finish_reason"] in ("stop", "length")


def test_failures_are_named_and_none_is_the_servers(site, evidence, orders):
    of_draft = Counter(product["draft_id"] for product in site.products(evidence.run))
    for order in orders:
        assert order["failure"] == order["drafts"][-1]["failure"]
        assert not any(draft["failure"] == "" for draft in order["drafts"][:-1])
        for draft in order["drafts"]:
            assert draft["failure"] in {"", *Failure}
            assert draft["detail"] if draft["failure"] else of_draft[draft["id"]]
    assert evidence.progress["failed"] == sum(bool(order["failure"]) for order in orders)


def test_outputs_are_not_in_the_collection_before_review(writings):
    ready = (len(HARBOUR), 0, 0)
    for task in ("passages", "questions"):
        assert writings[task].before == writings[task].after == ready
    assert writings["report"].before == writings["report"].after
    assert all(
        evidence.progress["open"] == evidence.progress["products"] for evidence in writings.values()
    )


def test_collection_has_exactly_the_accepted_outputs(site, evidence):
    products = site.products(evidence.run)
    accepted = [product for product in products if product["decision"] == "accepted"]
    assert f"Accepted without review: {len(accepted):,}." in evidence.accepted
    assert len(products) == evidence.progress["products"]
    if evidence.task == "questions":
        name, entered = "question_id", site.table("annotation_subquestion")
    else:
        name, kind = "text_id", evidence.task.removesuffix("s")
        entered = [
            text for text in site.table("annotation_text", kind=kind) if text["name"] not in HARBOUR
        ]
        assert accepted == products  # none has a reason to be refused
    of_key = {row["id"]: row for row in entered}
    assert of_key.keys() == {product[name] for product in accepted}
    for product in accepted:
        row = of_key[product[name]]
        assert (row["body"], row["topic_id"]) == (product["body"], product["order"]["topic_id"])
        assert row.get("document_id") == product["order"]["document_id"]


def test_question_that_is_there_already_is_not_accepted_twice(site, writings):
    counts = Counter((row["topic_id"], row["body"]) for row in site.table("annotation_subquestion"))
    assert set(counts.values()) <= {1}
    for product in site.products(writings["questions"].run):
        if product["decision"] == "proposed":
            assert counts[product["order"]["topic_id"], product["body"]]


def test_citations_of_a_report_are_those_that_it_wrote(site, writings):
    for product in site.products(writings["report"].run):
        statements = json.loads(product["statements"])
        marks = [(start, end, label) for start, end, labels in statements for label in labels]
        assert ("cites none of its passages" in json.loads(product["flags"])) == (not marks)
        stored = site.table("annotation_citation", report_id=product["text_id"])
        assert [(row["start"], row["end"], row["label"]) for row in stored] == marks
        context = json.loads(product["order"]["inputs"])["passages"]
        for row in stored:
            assert 0 <= row["start"] < row["end"] <= len(product["body"])
            number = int(row["label"]) if re.fullmatch(r"[0-9]+", row["label"]) else 0
            assert row["cited_id"] == (context[number - 1] if 0 < number <= len(context) else None)
