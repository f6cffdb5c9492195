"""Each kind of server through the real forms, from preset to a run on every pair."""

from collections import defaultdict
from dataclasses import replace

import pytest

from annotation.models import User
from judging.llm.server_presets import SERVER_PRESETS
from judging.models import AllowedHost, Attempt, Endpoint, Judge, JudgeRun
from judging.tasks import work
from tests.judging.judges.judge_form import judge_form_data as judge_form
from tests.toolbox.judging_runs import a_judge
from tests.toolbox.model_servers import fields
from tests.toolbox.model_services import KEY, SERVICES, serve

SERVERS = "/projects/main/servers/"
N_PAIRS = 12  # of the dataset
WRONG_KEY = "sk-wrong-0123456789"


def values_of(form):
    """Return the values that a browser would send of a served form, without buttons."""
    sent = {"version": form.version} if hasattr(form, "version") else {}
    for bound in form:
        value = bound.value()
        if value is True:
            sent[bound.name] = "on"
        elif value is not None and value is not False:
            sent[bound.name] = bound.field.prepare_value(value)
    return sent


@pytest.fixture
def site(cast, owner, dataset):
    """Let an admin allow the host of the server, and set the project's budget, on their pages."""
    ada = cast.client("admin")
    host = {"host": "127.0.0.1", "port": "0", "allows_http": "on", "allows_private": "on"}
    assert ada.post("/allowed-hosts/", host).status_code == 302
    assert ada.post(f"{SERVERS}budget/", {"max_tokens": "1000000"}).status_code == 302
    return owner


def added_server(client, service, server, key=KEY):
    """Add the service's server through the form, with its preset; return the row."""
    filled = client.post(f"{SERVERS}new/", fields(preset=service.preset, fill="1", key=""))
    sent = values_of(filled.context["form"]) | {
        "key": key,
        "url": server.url.removesuffix("/v1") + service.base,
    }
    added = client.post(f"{SERVERS}new/", sent)
    assert added.status_code == 302, added.context["form"].errors
    return Endpoint.objects.get()


def made_judge(client, service, endpoint, form="", **change):
    """Create a judge for the service through the form, with the buttons that fill it in.

    `form` is the form of its replies. `change` is typed before the service's parameters come, and again after.
    """
    typed = judge_form(project="main", model=service.model, endpoint=endpoint.reference) | change
    if service.requests:
        typed["preset"] = service.requests
        typed = values_of(client.post("/judges/new/", typed | {"family": "1"}).context["form"])
    # Its limit of tokens may be higher, and is in its further settings too.
    typed |= {name: value for name, value in change.items() if name != "max_tokens"}
    if form:
        typed = {name: value for name, value in typed.items() if name != "logprobs"}
        stored = client.post("/judges/new/", typed | {"constraint": form, "hold": "1"})
        typed = values_of(stored.context["form"])
    probed = client.post("/judges/new/", typed | {"ask": "1"})
    assert "silent" not in probed.context, probed.context["silent"]
    saved = client.post("/judges/new/", values_of(probed.context["form"]) | {"save": "1"})
    assert saved.status_code == 302, saved.context["form"].errors
    return Judge.objects.get(rater__name="mine"), probed.context["probe"]


def finished_run(client, dataset, judge, endpoint):
    start = {"dataset": dataset.slug, "judge": judge.pk, "endpoint": endpoint.reference}
    started = client.post(
        "/judge-runs/new/", start | {"concurrency": 4, "workers": 1, "start": "1"}
    )
    assert started.status_code == 302, started.context["form"].errors
    run = JudgeRun.objects.get()
    work.func(run.pk)
    run.refresh_from_db()
    assert KEY not in client.get(started.url).content.decode()
    return run


def test_presets_have_a_service():
    assert {service.preset for service in SERVICES.values()} == set(SERVER_PRESETS)


def test_loopback_is_refused_until_an_admin_allows_it(owner, server):
    sent = fields(url=server.url)
    refused = owner.post(f"{SERVERS}new/", sent)
    assert refused.status_code == 422
    assert "Ask an admin of the site to allow it" in refused.content.decode()
    AllowedHost.objects.create(
        host="127.0.0.1", allows_http=True, created_by=User.objects.get(username="olga")
    )
    # http is allowed, and the private address is not: the socket is refused.
    assert owner.post(f"{SERVERS}new/", sent).status_code == 302
    tested = owner.post(f"{SERVERS}{Endpoint.objects.get().pk}/test/", {"model": "tiny"})
    assert "private or loopback address" in tested.content.decode()
    assert server.headers == []


@pytest.mark.parametrize("name", SERVICES)
def test_judge_on_each_kind_of_server_grades_every_pair(site, dataset, server, name):
    service = SERVICES[name]
    bodies = serve(server, service)
    endpoint = added_server(site, service, server)
    assert KEY not in endpoint.encrypted_key

    tested = site.post(
        f"{SERVERS}{endpoint.pk}/test/", {"model": "" if service.lists is None else service.model}
    )
    page = tested.content.decode()
    assert tested.context["result"].problem == ""
    assert f"{tested.context['result'].model} replied “4”" in page
    assert KEY not in page

    judge, probe = made_judge(site, service, endpoint)
    assert bool(probe.label_ids) is (name in ("vllm", "sglang"))
    assert bool(probe.template_hash) is (name == "vllm")
    run = finished_run(site, dataset, judge, endpoint)
    assert (run.state, run.note) == ("finished", "")
    graded = Attempt.objects.filter(state="graded", counts=True)
    assert graded.count() == N_PAIRS
    assert set(graded.values_list("grade", flat=True)) == {4}
    if "logprobs" in bodies[-1]:
        assert all(attempt.label_mass for attempt in graded) is service.gives_logprobs


@pytest.mark.parametrize("name", SERVICES)
def test_several_samples_in_a_form_are_read_from_each_kind_of_server(site, dataset, server, name):
    """The service may take, ignore or refuse `n`, and have structured output or none."""
    service = SERVICES[name]
    bodies = serve(server, service)
    endpoint = added_server(site, service, server)
    change = {"samples": "3", "temperature": "0.7", "max_tokens": "300"}
    judge, _ = made_judge(site, service, endpoint, service.form, **change)
    run = finished_run(site, dataset, judge, endpoint)
    assert (run.state, run.note) == ("finished", "")
    graded = Attempt.objects.filter(state="graded", counts=True)
    assert graded.count() == N_PAIRS
    assert all(attempt.raw.count(" of 3]") == 3 for attempt in graded)
    assert all("response_format" in body for body in bodies)
    single = defaultdict(list)
    for body in bodies:
        if "n" not in body:
            single[body["messages"][-1]["content"]].append(body.get("seed"))
    if service.samples(3) == 3:
        assert not single
        return
    # Of a service that ignores `n`, the first answer counts as a sample.
    counts = sorted(len(seeds) for seeds in single.values())
    assert counts[0] == (2 if service.samples(3) == 1 else 3)
    assert set(counts[1:]) == {3}
    assert all(len(set(seeds)) == len(seeds) for seeds in single.values() if seeds[0] is not None)


@pytest.mark.parametrize("name", [name for name in SERVICES if SERVICES[name].chat_header])
def test_wrong_key_stops_the_run_at_once_in_the_words_of_each_service(site, dataset, server, name):
    service = SERVICES[name]
    serve(server, service)
    endpoint = added_server(site, service, server, key=WRONG_KEY)
    tested = site.post(f"{SERVERS}{endpoint.pk}/test/", {"model": service.model})
    page = tested.content.decode()
    assert "refuses the key that it was sent" in page
    assert WRONG_KEY not in page
    run = finished_run(site, dataset, _judge_of(dataset, service.model), endpoint)
    assert run.state == "paused"
    assert "refuses the key that it was sent" in run.note
    assert not Attempt.objects.exists()


@pytest.mark.parametrize("name", [name for name in SERVICES if SERVICES[name].no_model])
def test_unknown_model_stops_the_run_at_once_in_the_words_of_each_service(
    site, dataset, server, name
):
    service = replace(SERVICES[name], first=None)
    serve(server, service)
    endpoint = added_server(site, service, server)
    tested = site.post(f"{SERVERS}{endpoint.pk}/test/", {"model": "no-such-model"})
    assert "does not serve no-such-model" in tested.content.decode()
    run = finished_run(site, dataset, _judge_of(dataset, "no-such-model"), endpoint)
    assert run.state == "paused"
    assert "does not serve no-such-model" in run.note
    assert not Attempt.objects.exists()


def _judge_of(dataset, model):
    judge = a_judge(model=model)
    judge.projects.add(dataset.project)
    return judge
