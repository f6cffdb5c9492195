"""Allowed hosts of project servers: the default policy, the list, and its permissions."""

import pytest

from judging.engine.outbound import ForbiddenHostError, reach_of
from judging.llm.route import Reach
from judging.models import AllowedHost, OutboundPolicy

HOSTS = "/allowed-hosts/"


def new(**change):
    return {"host": "gpu.internal", "port": "0"} | change


def test_by_default_public_https_and_the_hosts_of_the_environment_are_allowed(db, settings):
    settings.JUDGE_ENDPOINTS = {"lab": "http://10.1.2.3:8000/v1|http://gpu:8001/v1"}
    assert reach_of("https://api.example.org/v1") is Reach.PUBLIC
    assert reach_of("https://API.example.org:443/v1") is Reach.PUBLIC
    assert reach_of("http://10.1.2.3:8000/v1") is Reach.PRIVATE
    assert reach_of("http://gpu:8001/other") is Reach.PRIVATE
    for url in (
        *("http://api.example.org/v1", "https://api.example.org:444/v1", "http://10.1.2.3:8001/v1"),
        *("https://10.1.2.3:8000/v1", "https://192.168.0.1/v1", "https://localhost/v1"),
    ):
        with pytest.raises(ForbiddenHostError, match="Ask an admin"):
            reach_of(url)


def test_listed_host_is_allowed_as_far_as_it_is_listed(cast, db):
    ada = cast.client("admin")
    assert ada.post(HOSTS, new(host="Models.Example.org.", port="8443")).status_code == 302
    assert reach_of("https://models.example.org:8443/v1") is Reach.PUBLIC
    for url in ("http://models.example.org:8443/v1", "https://models.example.org:8444/v1"):
        with pytest.raises(ForbiddenHostError):
            reach_of(url)
    ada.post(HOSTS, new(allows_http="on", allows_private="on"))
    assert reach_of("http://gpu.internal:11434/v1") is Reach.PRIVATE
    listed = AllowedHost.objects.get(host="gpu.internal")
    ada.post(f"{HOSTS}{listed.pk}/delete/")
    with pytest.raises(ForbiddenHostError):
        reach_of("http://gpu.internal:11434/v1")


def test_public_hosts_can_be_closed(cast, db):
    ada = cast.client("admin")
    ada.post(f"{HOSTS}policy/", {})
    assert not OutboundPolicy.current().allows_public_hosts
    with pytest.raises(ForbiddenHostError, match="not among the allowed hosts"):
        reach_of("https://api.example.org/v1")
    ada.post(HOSTS, new(host="api.example.org"))
    assert reach_of("https://api.example.org/v1") is Reach.PUBLIC
    ada.post(f"{HOSTS}policy/", {"allows_public_hosts": "on"})
    assert reach_of("https://other.example.org/v1") is Reach.PUBLIC


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_ipv6_host_is_listed_without_brackets(cast, db, host):
    cast.client("admin").post(HOSTS, new(host=host, allows_private="on"))
    assert AllowedHost.objects.get().host == "::1"
    assert reach_of("https://[::1]:9000/v1") is Reach.PRIVATE


@pytest.mark.parametrize(
    "change",
    [
        *({"host": ""}, {"host": "https://gpu"}, {"host": "gpu/v1"}, {"host": "a b"}),
        *({"host": "gpu:80"}, {"host": "user@gpu"}, {"host": "0x7f000001"}, {"host": "gpu?x"}),
        *({"port": "70000"}, {"port": "-1"}, {"port": "x"}),
    ],
)
def test_wrong_hosts_are_refused(cast, db, change):
    assert cast.client("admin").post(HOSTS, new(**change)).status_code == 422
    assert not AllowedHost.objects.exists()


def test_host_is_listed_once(cast, db):
    ada = cast.client("admin")
    ada.post(HOSTS, new())
    assert ada.post(HOSTS, new(host="GPU.internal")).status_code == 422
    assert AllowedHost.objects.count() == 1


@pytest.mark.parametrize(
    ("role", "code"), [("researcher", 403), ("worker", 403), ("stranger", 302)]
)
def test_only_admins_see_and_change_hosts(cast, owner, db, role, code):
    listed = AllowedHost.objects.create(host="gpu.internal")
    for client, expected in ((cast.client(role), code), (owner, 403)):
        assert client.get(HOSTS).status_code == expected
        for path in ("", "policy/", f"{listed.pk}/delete/"):
            assert client.post(HOSTS + path, new(host="other")).status_code == expected
    assert AllowedHost.objects.get() == listed
    assert OutboundPolicy.current().allows_public_hosts


def test_missing_hosts_and_wrong_methods(cast, db):
    ada = cast.client("admin")
    assert ada.get(HOSTS).status_code == 200
    assert ada.post(f"{HOSTS}999/delete/").status_code == 404
    assert ada.get(f"{HOSTS}policy/").status_code == 405
