"""Forbidden network addresses in all spellings, at real sockets."""

import asyncio
import socket
import threading

import pytest

from judging.llm.errors import BackendUnavailableError
from judging.llm.route import ForbiddenAddressError, KeyHeader, Reach, Route, check_ip, proxy_of
from judging.llm.server import NoAnswerError, Server

LOOPBACK = [
    *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0"),
    *("localhost", "localhost.", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "[::]"),
]


class Listener:
    """A socket that counts who connects, and answers each with `reply`."""

    def __init__(self, reply: bytes):
        self.reply = reply
        self.requests = []
        self.socket = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                self.requests.append(connection.recv(65_536).decode())
                connection.sendall(self.reply)

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def http(status: str, body: bytes = b"{}", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


@pytest.fixture
def listener(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    listener = Listener(http("200 OK"))
    yield listener
    listener.close()


def get(url: str, route: Route, key: str | None = None):
    async def request():
        server = Server(url, key, 5, route)
        await server.open()
        try:
            return await server.get(f"{server.url}/models")
        finally:
            await server.close()

    return asyncio.run(request())


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_is_never_connected_to_however_it_is_written(listener, host):
    with pytest.raises((BackendUnavailableError, NoAnswerError)) as refused:
        get(f"http://{host}:{listener.port}/v1", Route(reach=Reach.PUBLIC), key="secret-key-1")
    assert listener.requests == []
    assert "secret-key-1" not in str(refused.value)


def test_name_that_resolves_to_a_private_address_is_refused_at_once(listener, monkeypatch):
    resolve_to(monkeypatch, "10.0.0.7")
    with pytest.raises(BackendUnavailableError, match="private or loopback"):
        get(f"http://models.example.org:{listener.port}/v1", Route(reach=Reach.PUBLIC))


def test_name_that_resolves_to_another_address_a_moment_later_gains_nothing(listener, monkeypatch):
    """DNS rebinding: the check of the host finds a public address, and the connection another."""
    answers = iter(["93.184.216.34"])
    resolve_to(monkeypatch, lambda: next(answers, "127.0.0.1"))
    assert socket.getaddrinfo("models.example.org", 80)[0][4][0] == "93.184.216.34"
    with pytest.raises(BackendUnavailableError, match="private or loopback"):
        get(f"http://models.example.org:{listener.port}/v1", Route(reach=Reach.PUBLIC))
    assert listener.requests == []


def resolve_to(monkeypatch, address):
    real = socket.getaddrinfo

    def getaddrinfo(host, port, *args, **options):
        if host != "models.example.org":
            return real(host, port, *args, **options)
        ip = address if isinstance(address, str) else address()
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, int(port)))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def test_loopback_is_reached_where_an_admin_allows_private_addresses(listener):
    assert get(f"http://localhost:{listener.port}/v1", Route(reach=Reach.PRIVATE)).status == 200


def test_redirect_is_not_followed(listener):
    target = Listener(http("200 OK"))
    listener.reply = http("302 Found", b"", f"Location: http://127.0.0.1:{target.port}/v1/models")
    route = Route(reach=Reach.PRIVATE)
    answer = get(f"http://127.0.0.1:{listener.port}/v1", route, key="secret-key-1")
    assert answer.status == 302
    assert target.requests == []
    target.close()


@pytest.mark.parametrize(
    "address",
    [
        *("169.254.169.254", "fe80::1", "fe80::1%eth0", "168.63.129.16", "fd00:ec2::254"),
        *("100.100.100.200", "0.0.0.0"),  # noqa: S104
        *("::", "224.0.0.1", "::ffff:169.254.169.254"),
        *("64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "not an address"),
    ],
)
@pytest.mark.parametrize("reach", [Reach.PUBLIC, Reach.PRIVATE])
def test_link_local_and_metadata_addresses_are_refused_for_everybody(address, reach):
    with pytest.raises(ForbiddenAddressError):
        check_ip(address, reach)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "127.0.0.1",
            "fd12::1",
            "::1",
            "::ffff:10.0.0.1",
        ),
        *("64:ff9b::a00:1", "2002:a00:1::", "::7f00:1"),
    ],
)
def test_private_addresses_need_an_admin(address):
    with pytest.raises(ForbiddenAddressError):
        check_ip(address, Reach.PUBLIC)
    check_ip(address, Reach.PRIVATE)
    check_ip(address, Reach.ANY)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "64:ff9b::5db8:d822"])
def test_public_addresses_are_reached(address):
    check_ip(address, Reach.PUBLIC)


def test_headers_query_and_key_go_where_the_route_says(listener):
    route = Route(
        key_header=KeyHeader("api-key", ""),
        list_key_header=KeyHeader("x-api-key", ""),
        headers={"anthropic-version": "2023-06-01"},
        params={"api-version": "2024-10-21"},
    )
    get(f"http://127.0.0.1:{listener.port}/openai/deployments/a", route, key="secret-key-1")
    (request,) = listener.requests
    assert request.startswith("GET /openai/deployments/a/models?api-version=2024-10-21 HTTP/1.1")
    lines = request.lower().splitlines()
    assert "x-api-key: secret-key-1" in lines
    assert "anthropic-version: 2023-06-01" in lines
    assert not any(line.startswith(("authorization", "api-key")) for line in lines)


def test_proxy_of_the_environment_is_used(listener, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{listener.port}")
    assert get("http://93.184.216.34/v1", Route(reach=Reach.PUBLIC)).status == 200
    assert listener.requests[0].startswith("GET http://93.184.216.34/v1/models HTTP/1.1")


def test_private_host_is_refused_before_a_proxy_is_asked(listener, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{listener.port}")
    with pytest.raises(BackendUnavailableError, match="private or loopback"):
        get("http://10.0.0.1/v1", Route(reach=Reach.PUBLIC))
    assert listener.requests == []


def test_proxy_excludes_no_proxy_and_loopback(monkeypatch):
    monkeypatch.setenv("https_proxy", "proxy.example.org:3128")
    monkeypatch.setenv("no_proxy", "internal.example.org")
    assert proxy_of("https://api.example.org/v1") == "http://proxy.example.org:3128"
    assert proxy_of("https://internal.example.org/v1") is None
    assert proxy_of("https://localhost:8000/v1") is None
    assert proxy_of("https://[::1]:8000/v1") is None


def test_ca_bundle_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(BackendUnavailableError, match="JUDGE_CA_BUNDLE"):
        get("https://127.0.0.1:9/v1", Route(ca_file=str(tmp_path / "missing.pem")))
