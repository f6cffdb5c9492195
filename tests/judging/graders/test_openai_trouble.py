"""Failing, refusing, pausing and silent servers: nothing is lost or sent in vain."""

import re
import ssl
import subprocess
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from aiohttp import web

from judging.graders.chat import OpenAIGrader
from judging.grading.pairs import State
from judging.grading.presets import constraint
from judging.llm.errors import BackendUnavailableError, Failure, ModelMismatchError
from judging.llm.sampling import Sampling
from judging.llm.server import seconds_to_wait
from tests.judging.graders import material
from tests.toolbox.scripted_server import (
    as_body,
    as_json,
    completion,
    models,
    reply_with,
    reset,
    status,
)

OTHER_QUESTIONS = [f"Other {number}" for number in range(30)]


@pytest.mark.parametrize(
    "trouble",
    [
        [status(500)],
        [status(502), status(504)],
        [status(503)],
        [status(429)],
        [reset],
        [as_body(b"<html>Bad gateway</html>", status=502)],
        [status(500), reset, status(503), status(429), reset, status(500)],
    ],
)
def test_trouble_that_passes_costs_nothing(server, ask, trouble):
    server.script("Q", *trouble, reply_with("4"))
    assert ask("Q")["Q"].grade == 4
    assert server.asked["Q"] == len(trouble) + 1


@pytest.mark.timing
def test_answer_that_took_too_long_is_asked_for_again(server, ask):
    server.script("Q", reply_with("1", delay=30), reply_with("4"))
    assert ask("Q", timeout=1)["Q"].grade == 4
    assert server.asked["Q"] >= 2


@pytest.mark.timing
def test_retry_after_in_seconds_is_waited_for_by_everybody(server, ask):
    server.script("Q", status(429, headers={"Retry-After": "1"}), reply_with("4"))
    server.script("Other 0", reply_with("3", delay=0.2))
    replies = ask("Q", *OTHER_QUESTIONS, concurrency=2)
    first, second = server.times["Q"]
    assert second - first >= 1
    assert all(server.times[question][0] - first >= 1 for question in OTHER_QUESTIONS[1:])
    assert {reply.state for reply in replies.values()} == {State.GRADED}


@pytest.mark.timing
def test_retry_after_as_a_date_is_waited_for(server, ask):
    times = []

    async def busy(request, body):
        times.append((datetime.now(UTC) + timedelta(seconds=2)).replace(microsecond=0))
        headers = {"Retry-After": format_datetime(times[0], usegmt=True)}
        return await status(503, headers=headers)(request, body)

    async def free(request, body):
        times.append(datetime.now(UTC))
        return await reply_with("4")(request, body)

    server.script("Q", busy, free)
    assert ask("Q")["Q"].grade == 4
    first, second = times
    assert second >= first


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7), ("0.5", 0.5), ("0", 0), ("soon", None), ("-1", None), ("nan", None), ("", None)],
)
def test_retry_after_is_read_or_passed_over(header, seconds):
    assert seconds_to_wait({"Retry-After": header}) == seconds


@pytest.mark.parametrize(
    ("header", "seconds"), [("1500", 1.5), ("20", 0.02), ("12.5", 0.0125), ("soon", 60), ("", 60)]
)
def test_retry_after_in_milliseconds_is_preferred(header, seconds):
    assert seconds_to_wait({"Retry-After": "60", "retry-after-ms": header}) == seconds


def error_in_200(code, message="Provider returned error", **more):
    return as_json({**completion(None), "error": {"message": message, "code": code, **more}})


@pytest.mark.parametrize("code", [429, "429", 502, 503])
def test_error_in_a_body_of_status_200_that_passes_is_asked_again(server, ask, code):
    server.script("Q", error_in_200(code), reply_with("4"))
    assert ask("Q")["Q"].grade == 4
    assert server.asked["Q"] == 2


@pytest.mark.parametrize(
    ("code", "message"),
    [(401, "wants a key"), (402, "wants to be paid"), (404, "no chat completions")],
)
def test_error_in_a_body_of_status_200_that_stays_stops_the_run(server, ask, code, message):
    server.script("Q", error_in_200(code, metadata={"raw": "said the server behind it"}))
    with pytest.raises(BackendUnavailableError, match=message):
        ask("Q")
    assert server.asked["Q"] == 1


def test_message_of_the_server_behind_a_router_is_kept(server, ask):
    metadata = {"raw": "The prompt is odd.", "provider_name": "Some"}
    server.script("Q", error_in_200(400, metadata=metadata))
    failed = ask("Q", *OTHER_QUESTIONS)["Q"]
    assert (failed.state, failed.failure) == (State.ERROR, Failure.REQUEST)
    assert "Provider returned error: The prompt is odd." in failed.detail


@pytest.mark.parametrize(
    ("number", "body"),
    [
        (400, [{"error": {"code": 400, "message": 'Unknown name "seed": Cannot find field.'}}]),
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "no"}]}),
        (422, {"error": "Input validation error: `top_p` must be > 0.0 and < 1.0"}),
        (400, {"error": {"message": "property 'seed' is unsupported"}}),
        (400, {"error": "Argument not supported on this model: seed"}),
        (
            400,
            {
                "error": {
                    "message": "UnsupportedParamsError: x does not support parameters: ['seed']"
                }
            },
        ),
        (400, {"error": {"message": "Unrecognized request argument supplied: seed"}}),
        (400, {"error": {"message": "temperature and top_p cannot both be specified"}}),
    ],
)
def test_parameter_that_a_service_refuses_stops_the_run_with_the_remedy(server, ask, number, body):
    server.script("Q", as_json(body, status=number))
    with pytest.raises(BackendUnavailableError, match="does not take a parameter of this judge"):
        ask("Q")
    assert server.asked["Q"] == 1


@pytest.mark.parametrize("zone", ["GMT", "-0000"])
def test_retry_after_as_a_date_is_time_from_now(zone):
    date = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=5)
    before = datetime.now(UTC)
    seconds = seconds_to_wait({"Retry-After": date.strftime(f"%a, %d %b %Y %H:%M:%S {zone}")})
    later = datetime.now(UTC)
    assert (date - later).total_seconds() <= seconds <= (date - before).total_seconds()
    assert seconds_to_wait({"Retry-After": f"Wed, 21 Oct 2015 07:28:00 {zone}"}) == 0


def test_pair_that_fails_for_ever_is_an_error_and_the_others_are_graded(server, ask):
    server.script("Q", status(500, "tokenizer crashed"))
    for question in OTHER_QUESTIONS:
        server.script(question, reply_with("3", delay=0.05))
    replies = ask("Q", *OTHER_QUESTIONS, concurrency=3)
    reply = replies.pop("Q")
    assert (reply.state, reply.failure) == (State.ERROR, Failure.SERVER)
    assert re.fullmatch("After [0-9]+ tries: 500 tokenizer crashed", reply.detail)
    assert {reply.grade for reply in replies.values()} == {3}
    assert {server.asked[question] for question in OTHER_QUESTIONS} == {1}


@pytest.mark.timing
@pytest.mark.parametrize(
    ("answer", "failure", "options"),
    [
        (status(500), Failure.SERVER, {}),
        (status(503), Failure.SERVER, {}),
        (reset, Failure.CONNECTION, {}),
        (reply_with("4", delay=30), Failure.TIMEOUT, {"timeout": 0.5}),
    ],
)
def test_failing_pair_is_an_error_even_with_no_other_beside_it(
    server, ask, answer, failure, options
):
    server.script("Q", answer)
    reply = ask("Q", **options)["Q"]
    assert (reply.state, reply.failure) == (State.ERROR, failure)
    assert server.asked["Q"] < 40


@pytest.mark.timing
def test_server_that_is_gone_for_three_seconds_loses_nothing(server, ask):
    questions = [f"Q{number}" for number in range(60)]
    for question in questions:
        server.script(question, reply_with("4", delay=0.1))

    def go_and_come_back():
        server.stop()
        time.sleep(3)
        server.start()

    away = Thread(target=go_and_come_back)

    async def last_before(request, body):
        away.start()
        return await reply_with("4", delay=0.1)(request, body)

    server.script("Q9", last_before, reply_with("4", delay=0.1))
    replies = ask(*questions, concurrency=8)
    away.join()
    assert {reply.grade for reply in replies.values()} == {4}
    # Only what was under way when it went can have been asked again.
    assert sum(server.asked[question] for question in questions) <= len(questions) + 8


@pytest.mark.timing
def test_server_that_only_fails_for_three_seconds_marks_no_pair_as_an_error(server, ask):
    began = time.monotonic()

    async def recovering(request, body):
        fine = time.monotonic() > began + 3
        return await (reply_with("4") if fine else status(500))(request, body)

    questions = [f"Q{number}" for number in range(20)]
    for question in [*questions, "Reply with 0."]:
        server.script(question, recovering)
    replies = ask(*questions)
    assert {reply.grade for reply in replies.values()} == {4}


@pytest.mark.timing
def test_server_that_stays_away_is_unavailable_after_patience(server, ask):
    server.stop()
    with pytest.raises(
        BackendUnavailableError,
        match=r"has not answered any question for [0-9]+ seconds: .*connect",
    ):
        ask("Q1", "Q2", retry_seconds=1)
    server.start()
    assert not server.asked


@pytest.mark.timing
def test_server_that_goes_for_good_keeps_what_was_graded(server):
    server.script("Q2", reply_with("4", delay=0.5))
    server.script("Q3", reply_with("4", delay=50))
    server.script("Q4", reply_with("4", delay=50))
    grader = OpenAIGrader(material.spec(), server.url, key=None, concurrency=4, retry_seconds=1)
    graded = []

    def grade():
        for reply in grader.replies(iter(material.pairs("Q1", "Q2", "Q3", "Q4"))):
            if reply is not None:
                graded.append(reply.pair.question)
                if len(graded) == 2:
                    server.stop()

    with pytest.raises(BackendUnavailableError):
        grade()
    server.start()
    assert sorted(graded) == ["Q1", "Q2"]


@pytest.mark.timing
@pytest.mark.parametrize("answer", [status(500, "CUDA error"), reset])
def test_server_that_answers_nothing_at_all_is_unavailable(server, ask, answer):
    for question in ("Q1", "Q2", "Reply with 0."):
        server.script(question, answer)
    with pytest.raises(BackendUnavailableError):
        ask("Q1", "Q2", retry_seconds=0.5)


def test_wait_longer_than_patience_is_unavailable_at_once(server, ask):
    server.script("Q", status(429, "Come back.", headers={"Retry-After": "7200"}))
    with pytest.raises(
        BackendUnavailableError, match="asks to wait for 120 minutes: 429 Come back"
    ):
        ask("Q")
    assert server.asked["Q"] == 1


def test_quota_that_is_used_up_is_unavailable_at_once(server, ask):
    server.script("Q", status(429, "You exceeded your quota.", code="insufficient_quota"))
    with pytest.raises(BackendUnavailableError, match="no quota left"):
        ask("Q")
    assert server.asked["Q"] == 1


def test_busy_server_is_asked_until_it_has_time(server, ask):
    server.script("Q", *[status(429)] * 12, reply_with("4"))
    for question in OTHER_QUESTIONS:
        server.script(question, reply_with("3", delay=0.05))
    assert ask("Q", *OTHER_QUESTIONS, concurrency=3)["Q"].grade == 4


def test_model_that_is_not_listed_is_asked_all_the_same(server, ask):
    server.answers["/v1/models"] = models("large", "small")
    assert ask("Q")["Q"].grade == 3


def test_model_that_is_not_served_is_another_judge_and_the_list_is_told(server, ask):
    server.answers["/v1/models"] = models("large", "small")
    server.script("Q", status(404, "The model `tiny` does not exist.", type="NotFoundError"))
    with pytest.raises(
        ModelMismatchError,
        match=r"The model `tiny` does not exist.*The server lists large, small, and not tiny",
    ):
        ask("Q")
    assert server.asked["Q"] == 1


@pytest.mark.parametrize(
    "answer", [status(404, "Not Found"), status(405), status(301, headers={"Location": "/v2"})]
)
def test_address_without_chat_is_unavailable_at_once(server, ask, answer):
    server.script("Q", answer)
    with pytest.raises(BackendUnavailableError, match=r"no chat completions at .*ends with /v1"):
        ask("Q")
    assert server.asked["Q"] == 1


@pytest.mark.parametrize("answer", [status(404), status(501), as_json([]), as_body(b"hello")])
def test_server_that_does_not_list_its_models_is_taken_at_its_word(server, ask, answer):
    server.answers["/v1/models"] = answer
    assert ask("Q")["Q"].grade == 3


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:8000/v1", "ftp://host/v1", "http://", "http://a:b@c/v1"),
        *("http://gpu1..internal/v1", "http://.example.org/v1", f"http://{'a' * 64}.org/v1"),
    ],
)
def test_address_that_cannot_be_one_is_unavailable(url):
    grader = OpenAIGrader(material.spec(), url, key=None)
    with pytest.raises(BackendUnavailableError, match=r"address (?:must|cannot be read)"):
        list(grader.replies(iter(material.pairs("Q"))))


def test_many_pairs_that_end_at_once_say_why_they_ended(server):
    # Some are done, with their callbacks on the way, when the first of them ends the work.
    questions = [f"Q{number}" for number in range(64)]
    for question in questions:
        server.script(question, status(401))
    for _ in range(15):
        grader = OpenAIGrader(
            material.spec(), server.url, key=None, concurrency=64, retry_seconds=5
        )
        with pytest.raises(BackendUnavailableError, match="key"):
            list(grader.replies(iter(material.pairs(*questions))))


@pytest.fixture
def with_tls(tmp_path):
    """Something that speaks TLS with a certificate that nobody signed, and its address."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    new = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names)
    subprocess.run([*new, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    http = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    http.socket = context.wrap_socket(http.socket, server_side=True)
    Thread(target=http.serve_forever, daemon=True).start()
    yield f"https://localhost:{http.server_port}/v1"
    http.shutdown()
    http.server_close()


def test_certificate_that_is_not_trusted_is_unavailable_at_once(with_tls):
    grader = OpenAIGrader(material.spec(), with_tls, key=None)
    with pytest.raises(
        BackendUnavailableError,
        match=r"certificate of the server at .* is not trusted.*JUDGE_CA_BUNDLE",
    ):
        list(grader.replies(iter(material.pairs("Q"))))


def test_server_without_tls_at_an_address_with_it_is_unavailable_at_once(server):
    url = server.url.replace("http:", "https:")
    grader = OpenAIGrader(material.spec(), url, key=None)
    with pytest.raises(
        BackendUnavailableError, match=r"does not speak TLS: does its address begin with http:"
    ):
        list(grader.replies(iter(material.pairs("Q"))))


def test_server_that_only_streams_is_unavailable_at_once(server, ask):
    async def stream(request, body):
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        await response.write(b'data: {"choices": []}\n\n')
        return response

    server.script("Q", stream)
    with pytest.raises(BackendUnavailableError, match=r"answers with a stream .*\"stream\": false"):
        ask("Q")
    assert server.asked["Q"] == 1


SCHEMA = Sampling(max_tokens=200, logprobs=False, extra=constraint("json-schema", [0, 1]))


@pytest.mark.parametrize("number", [400, 500])
def test_form_of_reply_that_a_server_fails_at_is_unavailable_at_once(server, ask, number):
    async def answer(request, body):
        has_form = "response_format" in body
        trouble = status(number, "Internal error in the grammar backend")
        return await (trouble if has_form else reply_with("4"))(request, body)

    for question in ("Q", "R", "Reply with 0."):
        server.script(question, answer)
    message = r"not where a reply is held to a form \(response_format\): .*grammar backend.*Copy this judge"
    began = time.monotonic()
    with pytest.raises(BackendUnavailableError, match=message):
        ask("Q", "R", spec=material.spec(sampling=SCHEMA))
    assert time.monotonic() - began < 30
    assert (server.asked["Reply with 0."], server.asked["Q"]) == (2, 1)


@pytest.mark.parametrize("number", [400, 500])
def test_pair_that_fails_at_a_server_that_takes_the_form_is_its_own(server, ask, number):
    server.script("Q", status(number, "Bad roles."))
    server.script("R", reply_with('{"reason": "", "rating": 1}', delay=0.05))
    spec = material.spec(sampling=SCHEMA, parser="rating-json-1")
    replies = ask("Q", "R", spec=spec, concurrency=1)
    assert (replies["Q"].state, replies["R"].grade) == (State.ERROR, 1)


def test_server_that_starts_up_with_500_is_waited_for_although_a_form_is_wanted(server, ask):
    began = time.monotonic()

    async def starting(request, body):
        is_up = time.monotonic() > began + 0.3
        return await (reply_with('{"reason": "", "rating": 1}') if is_up else status(500))(
            request, body
        )

    for question in ("Q", "Reply with 0."):
        server.script(question, starting)
    spec = material.spec(sampling=SCHEMA, parser="rating-json-1")
    assert ask("Q", spec=spec)["Q"].grade == 1
