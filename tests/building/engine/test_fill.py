"""Worker of a generation run: orders once, all drafts kept, the rest requested."""

import pytest

from annotation.models import SubQuestion
from building.engine import writings
from building.engine.choosing import baseline_of
from building.engine.fill import fill
from building.engine.generation_spec import GenerationSpec, NothingToWriteError
from building.models import Draft, Order
from building.writing.tasks import TASKS
from judging.execution import states
from judging.llm.errors import BackendError
from tests.toolbox.document_texts import sample_text
from tests.toolbox.generation_runs import (
    a_writer,
    add_run,
    drafts,
    in_tags,
    make_collection,
    passages,
    products,
    prompts,
    questions,
    started,
)
from tests.toolbox.scripted_server import as_json, completion, reply_with, status

pytestmark = pytest.mark.django_db


def state(run):
    run.refresh_from_db()
    return run.state


def test_outputs_are_proposed_and_not_in_the_collection(server):
    dataset = make_collection()
    server.script("a", reply_with(questions(1, 2)))
    server.script("b", reply_with(questions(3, 4)))
    run = started(a_writer(), dataset, server, {"n": 2})
    reported = []
    fill(run, reported.append)
    assert state(run) == "finished"
    assert drafts(run) == [("a", 1, ""), ("b", 1, "")]
    assert {draft.pk for draft in reported} == set(Draft.objects.values_list("pk", flat=True))
    assert [p.body for p in products(run)] == [
        f"What did ship{n} do to harbour{n}?" for n in (1, 2, 3, 4)
    ]
    assert {p.decision for p in products(run)} == {"proposed"}
    assert not SubQuestion.objects.exists()
    # 40 read and 1 written each, as the server says.
    assert writings.progress_of(run) | {"writing": 0} == {
        "writing": 0,
        "state": "finished",
        "note": "",
        "planned": 2,
        "there_before": 0,
        "done": 2,
        "failed": 0,
        "missing": 0,
        "drafts": 2,
        "products": 4,
        "open": 4,
        "prompt_tokens": 80,
        "completion_tokens": 2,
        "money": 0,
    }


def test_same_is_never_asked_twice(server):
    dataset = make_collection()
    for name in ("a", "b"):
        server.script(name, reply_with(questions(1, 2)))
    writer = a_writer()
    fill(started(writer, dataset, server, {"n": 2, "topics": ("a",)}))
    second = started(writer, dataset, server, {"n": 2})
    assert (second.n_planned, second.n_there_before) == (1, 1)
    fill(second)
    with pytest.raises(NothingToWriteError, match="No tasks; 2 done before by this writer"):
        started(writer, dataset, server, {"n": 2})
    assert server.asked == {"a": 1, "b": 1}


def test_samples_are_several_of_the_same_with_seeds_of_their_own(server):
    dataset = make_collection("a")
    server.script("a", reply_with(questions(1, 2)))
    run = started(a_writer(), dataset, server, {"n": 2, "samples": 3}, concurrency=1)
    fill(run)
    assert server.asked == {"a": 3}
    assert len(set(prompts(server, "a"))) == 1
    assert len({body["seed"] for body in server.bodies["a"]}) == 3
    more = started(run.writer, dataset, server, {"n": 2, "samples": 4})
    assert (more.n_planned, more.n_there_before) == (1, 3)


def test_too_few_questions_are_asked_again_for_the_rest_with_what_is_there_shown(server):
    dataset = make_collection("a")
    SubQuestion.objects.create(topic=dataset.topics.get(), position=0, body="Who was there?")
    server.script("a", reply_with(questions(1, 2)), reply_with(questions(3, 4, 5)))
    run = started(a_writer(), dataset, server, {"n": 5})
    fill(run)
    assert drafts(run) == [("a", 1, "too_few"), ("a", 2, "")]
    first, second = prompts(server, "a")
    assert first.endswith("There are:\n1. Who was there?\n\nWrite 4.")
    assert second.endswith(
        "There are:\n1. Who was there?\n2. What did ship1 do to harbour1?\n"
        "3. What did ship2 do to harbour2?\n\nWrite 2."
    )
    # Of the three that came then the first two are taken.
    assert [p.body.split()[2] for p in products(run)] == ["ship1", "ship2", "ship3", "ship4"]
    order = run.orders.get()
    assert (order.failure, order.missing, order.state) == ("", 0, "done")


def test_same_questions_again_bring_nothing_and_what_is_missing_is_said(server):
    dataset = make_collection("a")
    server.script("a", reply_with(questions(1, 2)))
    run = started(a_writer(), dataset, server, {"n": 5})
    fill(run)
    assert drafts(run) == [("a", 1, "too_few"), ("a", 2, "too_few")]
    assert len(products(run)) == 2
    progress = writings.progress_of(run)
    assert (progress["state"], progress["failed"], progress["missing"]) == ("finished", 1, 3)


def test_passages_are_asked_for_anew_since_no_prompt_shows_those_that_came(server):
    dataset = make_collection("a")
    server.script("a", reply_with(passages(1)), reply_with(passages(3, start=100)))
    run = started(a_writer("passages"), dataset, server)
    fill(run)
    assert drafts(run) == [("a", 1, "too_few"), ("a", 2, "")]
    assert prompts(server, "a")[0] == prompts(server, "a")[1]
    assert len(products(run)) == 3  # those of the first would come twice


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (reply_with(""), "empty"),
        (reply_with("I'm sorry, but I cannot help with that."), "refused"),
        (reply_with(None, refusal="I will not."), "refused"),
        (reply_with("Here they are."), "no_tags"),
        (reply_with("<q>What did ship1", finish_reason="length"), "cut"),
        (reply_with(questions(1), finish_reason="content_filter"), "refused"),
        (reply_with("<think>Hm.</think>"), "empty"),
    ],
)
def test_reply_that_is_none_is_kept_and_asked_once_more(server, reply, failure):
    dataset = make_collection("a")
    server.script("a", reply, reply_with(questions(1, 2)))
    run = started(a_writer(), dataset, server, {"n": 2})
    fill(run)
    assert drafts(run) == [("a", 1, failure), ("a", 2, "")]
    assert Draft.objects.get(number=1).detail
    assert len(products(run)) == 2
    assert prompts(server, "a")[0] == prompts(server, "a")[1]
    first, second = server.bodies["a"]
    assert first["seed"] != second["seed"]


def test_refusal_beside_the_words_is_kept_with_what_it_says(server):
    dataset = make_collection("a")
    server.script("a", reply_with(None, refusal="I will not."))
    run = started(a_writer(), dataset, server)
    fill(run)
    rows = Draft.objects.filter(order__run=run).values_list("failure", "raw", "detail")
    assert list(rows) == [("refused", "I will not.", "The writer refused.")] * 2
    assert run.orders.get().missing == TASKS["questions"].n


def test_failed_orders_are_retried_on_request(server):
    dataset = make_collection()
    server.script("a", reply_with("No tags."), reply_with("No tags."), reply_with(questions(1, 2)))
    server.script("b", reply_with(questions(3, 4)))
    run = started(a_writer(), dataset, server, {"n": 2})
    with pytest.raises(states.RunStateError, match="wait until it is finished"):
        writings.retry_failed(run)
    fill(run)
    assert [order.topic.name for order in run.orders.exclude(failure="")] == ["a"]
    assert writings.retry_failed(run) == 1
    fill(run)
    assert state(run) == "finished"
    assert drafts(run) == [("a", 1, "no_tags"), ("a", 2, "no_tags"), ("a", 3, ""), ("b", 1, "")]
    assert server.asked == {"a": 3, "b": 1}
    with pytest.raises(states.RunStateError, match="no failed tasks"):
        writings.retry_failed(run)


def test_retry_is_refused_while_the_writer_has_an_open_run(server):
    dataset = make_collection()
    server.script("a", reply_with("No tags."))
    writer = a_writer()
    run = started(writer, dataset, server, {"topics": ("a",)})
    fill(run)
    second = started(writer, dataset, server, {"topics": ("b",)})
    with pytest.raises(
        states.RunStateError, match=f"Generation run {second.pk} of writer is still open"
    ):
        writings.retry_failed(run)
    assert state(run) == "finished"
    assert run.orders.get().state == "done"


def test_server_that_fails_at_one_thing_is_told_of_and_not_asked_again(server):
    dataset = make_collection()
    server.script("a", status(400, "no such thing"))
    server.script("b", reply_with(questions(1, 2)))
    run = started(a_writer(), dataset, server, {"n": 2})
    fill(run)
    assert drafts(run) == [("a", 1, "request"), ("b", 1, "")]
    assert "no such thing" in Draft.objects.get(failure="request").detail
    assert state(run) == "finished"


def test_many_documents_that_are_too_long_stop_nobody(server, monkeypatch):
    monkeypatch.setattr("building.engine.fill.MAX_ERRORS_IN_A_ROW", 2)
    dataset = make_collection("a", "b", "c", "d")
    for name in "abc":
        server.script(name, status(400, "This model's maximum context length is 2048 tokens."))
    server.script("d", reply_with(questions(1, 2)))
    run = started(a_writer(), dataset, server, {"n": 2}, concurrency=1)
    fill(run)
    assert [failure for _, _, failure in drafts(run)] == ["too_long"] * 3 + [""]


def test_server_that_takes_nothing_pauses_the_writing_and_says_why(server, monkeypatch):
    monkeypatch.setattr("building.engine.fill.MAX_ERRORS_IN_A_ROW", 2)
    dataset = make_collection("a", "b", "c", "d")
    for name in "abcd":
        server.script(name, status(400, "out of order"))
    run = started(a_writer(), dataset, server, concurrency=1)
    with pytest.raises(BackendError, match="2 replies in a row were errors"):
        fill(run)
    assert state(run) == "paused"
    assert "out of order" in run.note
    assert len(drafts(run)) == 2
    assert set(run.orders.values_list("state", flat=True)) == {"done", "open"}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (status(404, "The model `tiny` does not exist."), "does not serve tiny"),
        (status(401, "no"), "key"),
        (status(402, "pay"), "wants to be paid"),
    ],
)
def test_server_of_no_use_pauses_the_writing(server, answer, message):
    dataset = make_collection("a")
    server.script("a", answer)
    run = started(a_writer(), dataset, server)
    with pytest.raises(BackendError, match=message):
        fill(run)
    assert state(run) == "paused"
    assert message in run.note
    assert drafts(run) == []
    assert run.orders.get().state == "open"


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (as_json({"choices": [{"message": {"content": 7}}]}), "malformed"),
        (as_json({"choices": [{}]}), "malformed"),
    ],
)
def test_replies_of_no_use_are_kept_and_soon_stop_the_worker(server, monkeypatch, answer, failure):
    monkeypatch.setattr("building.engine.fill.MAX_ERRORS_IN_A_ROW", 2)
    dataset = make_collection("a", "b", "c")
    for name in "abc":
        server.script(name, answer)
    run = started(a_writer(), dataset, server, {"n": 2}, concurrency=1)
    with pytest.raises(BackendError, match="2 replies in a row"):
        fill(run)
    assert state(run) == "paused"
    assert drafts(run) == [("a", 1, failure), ("b", 1, failure)]
    assert all(Draft.objects.values_list("raw", flat=True))
    assert products(run) == []


def test_refusals_stop_nobody(server, monkeypatch):
    monkeypatch.setattr("building.engine.fill.MAX_ERRORS_IN_A_ROW", 2)
    dataset = make_collection("a", "b", "c")
    for name in "abc":
        server.script(name, reply_with(None, refusal="I will not."))
    run = started(a_writer(), dataset, server, concurrency=1)
    fill(run)
    assert [failure for _, _, failure in drafts(run)] == ["refused"] * 6


def test_server_that_answers_as_another_model_is_asked_once_and_pauses_the_writing(server):
    server.script("a", as_json(completion(questions(1, 2)) | {"model": "huge"}))
    run = started(a_writer(), make_collection("a", "b", "c"), server)
    with pytest.raises(BackendError, match="answers as huge"):
        fill(run)
    assert state(run) == "paused"
    assert "make a new writer with huge as its revision" in run.note
    assert (server.asked.total(), drafts(run)) == (1, [])
    for name in "abc":
        server.script(name, reply_with(questions(1, 2)))
    writings.resume(run)
    assert run.note == ""
    fill(run)
    assert state(run) == "finished"


def test_endpoint_that_is_not_known_here_pauses_the_writing():
    run = started(a_writer(), make_collection("a"), endpoint="nowhere")
    with pytest.raises(BackendError, match="knows no endpoint 'nowhere'"):
        fill(run)
    assert state(run) == "paused"


@pytest.mark.parametrize("task", ["passages", "request", "questions"])
def test_baseline_writes_without_any_server(task):
    dataset = make_collection()
    run = started(baseline_of(task), dataset)
    fill(run)
    assert state(run) == "finished"
    assert {failure for _, _, failure in drafts(run)} == {""}
    assert {p.draft.order.topic.name for p in products(run)} == {"a", "b"}
    with pytest.raises(NothingToWriteError, match="2 done before by this writer"):
        started(baseline_of(task), dataset)


def test_baseline_writes_reports_of_a_run_and_none_from_a_request_alone():
    dataset = make_collection("a", request="What happened?")
    add_run(dataset)
    run = started(baseline_of("report"), dataset, spec={"run": "bm25"})
    fill(run)
    (report,) = products(run)
    assert [labels for _, _, labels in report.statements][:3] == [["1"], ["2"], ["3"]]
    direct = started(baseline_of("direct"), dataset)
    fill(direct)
    assert {failure for _, _, failure in drafts(direct)} == {"refused"}


def test_length_that_is_asked_for_is_where_the_server_stops(server):
    dataset = make_collection("a", request="What happened?")
    server.script("a", reply_with(sample_text(100)))
    run = started(a_writer("direct"), dataset, server, {"length": "words:100"})
    fill(run)
    # 100 words at 1.3 tokens, with room for half as many again.
    assert server.bodies["a"][0]["max_tokens"] == 195
    assert products(run)[0].flags == []


def test_report_that_is_cut_ends_at_its_last_sentence_and_says_so(server):
    dataset = make_collection("a", request="What happened?")
    server.script("a", reply_with(f"{sample_text(40)} And then", finish_reason="length"))
    run = started(a_writer("direct"), dataset, server, {"length": "words:40"})
    fill(run)
    (report,) = products(run)
    assert report.body == sample_text(40)
    assert "cut at its last sentence" in report.flags
    assert report.draft.raw.endswith("And then")


def test_thoughts_are_kept_apart(server):
    dataset = make_collection("a")
    server.script("a", reply_with(questions(1, 2), reasoning_content="Let me see."))
    run = started(a_writer(), dataset, server, {"n": 2})
    fill(run)
    assert Draft.objects.get().reasoning == "Let me see."


def test_reply_is_stored_without_invalid_characters(server):
    dataset = make_collection("a")
    reply = in_tags("q", "What did\x00 ship1 do?", "Who is \ud800 harbour2?")
    server.script("a", reply_with(reply, finish_reason="stop\x00\udfff" + "x" * 60))
    run = started(a_writer(), dataset, server, {"n": 2})
    fill(run)
    assert state(run) == "finished"
    assert [p.body.startswith(("What did", "Who is")) for p in products(run)] == [True, True]
    draft = Draft.objects.get()
    assert "\x00" not in draft.raw + draft.finish_reason
    assert len(draft.finish_reason) == 40


def test_orders_record_their_inputs():
    dataset = make_collection("a", request="What happened?")
    add_run(dataset)
    writer = a_writer("report")
    run = started(writer, dataset, spec={"run": "bm25", "context_tokens": 80})
    order = Order.objects.get(run=run)
    assert len(order.inputs["passages"]) == 2
    assert order.n_left_out == 1
    assert len(order.messages_hash) == 16
    plan = writings.plan(writer, dataset, GenerationSpec(run="bm25", context_tokens=80))
    assert plan.n_there_before == 1
