"""HTTP with an OpenAI-compatible server: bounded bodies, no redirects, no key in any words."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judging.graders.base import Unavailable
from judging.graders.route import (
    PLAIN,
    REFUSED,
    ForbiddenAddressError,
    Route,
    check_resolved,
    proxy_of,
)
from judging.grading.pairs import Failure, storable

if TYPE_CHECKING:
    import aiohttp

BODY_LIMIT = 256_000  # bytes of an answer that are read, where the question does not allow for more
WORDS_LIMIT = 400  # characters of a server's own words that are passed on
SHORTEST_SECRET = 8  # characters: what is shorter stands for "no key needed", such as EMPTY

# What may be right a moment later. 501 and 505 are not among them: they say that it never will be.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
# Less than the 5 seconds after which uvicorn, and so vLLM, closes a connection that rests.
_REST_SECONDS = 4
_STREAM = "text/event-stream"
# What OpenSSL says where the other side does not speak TLS at all.
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL")


def _never() -> bool:
    return False


class NoAnswerError(Exception):
    """A question that went unanswered, and may be answered if it is asked again.

    `wait` are the seconds that the server asks to wait, None if it does not say. `status` is that of
    HTTP, 0 where no answer came at all. `body` is what came in place of an answer, where that is kept.
    """

    def __init__(
        self,
        failure: Failure,
        words: str,
        *,
        status: int = 0,
        wait: float | None = None,
        body: bytes = b"",
    ) -> None:
        super().__init__(words)
        self.failure = failure
        self.words = words
        self.status = status
        self.wait = wait
        self.body = body


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, the key that it is sent, and how it is reached."""

    url: str
    key: str | None = field(repr=False)
    route: Route = field(default=PLAIN, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the server. Its body is not `whole` where it was longer than its limit."""

    status: int
    body: bytes
    whole: bool = True


class Server:
    """A session with the server at `url`, whose paths are those of OpenAI below /v1.

    To be opened before it is asked, and closed. Raises Unavailable for an address or a key that
    cannot be used.
    """

    def __init__(self, url: str, key: str | None, timeout: float, route: Route = PLAIN) -> None:
        check_address(url)
        self.route = route
        self.url = url.rstrip("/")
        self.name = f"The server at {self.url}"  # for people
        self.root = self.url.removesuffix("/v1")  # where vLLM has what OpenAI has not
        self.timeout = timeout
        self._key = (key or "").strip()
        if not self._key.isprintable():
            raise Unavailable(f"The key for the server at {self.url} holds a line break.")

    @property
    def has_key(self) -> bool:
        return bool(self._key)

    async def open(self) -> None:
        # A tenth of what a command takes to start; most ask no server.
        import aiohttp  # noqa: PLC0415

        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        try:
            options = self.route.connector_options()
        except OSError as error:
            raise Unavailable(
                f"The CA bundle {self.route.ca_file} of JUDGE_CA_BUNDLE cannot be read: {error}."
            ) from None
        self._proxy = proxy_of(self.url)
        if self._proxy:  # whose own address is not the server's
            options.pop("socket_factory", None)
        self._session = aiohttp.ClientSession(
            headers=headers | dict(self.route.headers),
            timeout=aiohttp.ClientTimeout(total=None),  # see _ask
            # Not bounded here: who asks decides how many questions are under way.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_REST_SECONDS, **options),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self) -> None:
        await self._session.close()

    async def get(self, address: str) -> Answer:
        """Raises NoAnswerError, Unavailable."""
        return await self._ask("GET", address, None, BODY_LIMIT, _never)

    async def post(
        self,
        address: str,
        body: bytes,
        limit: int = BODY_LIMIT,
        goes_on: Callable[[], bool] = _never,
    ) -> Answer:
        """Post a JSON body and return the answer, of which about `limit` bytes are read at most.

        After each `timeout` seconds `goes_on` is asked whether to wait as long again. Raises NoAnswerError,
        and Unavailable for what another try cannot mend: a certificate, an answer that is a stream.
        """
        return await self._ask("POST", address, body, limit, goes_on)

    def words(self, body: bytes) -> str:
        """What an answer says is wrong, as one line without the key."""
        return self.hushed(" ".join(_complaint(body).split()))[:WORDS_LIMIT]

    def hushed(self, words: str) -> str:
        """Words as they may be stored and shown: a server may repeat the key that it was sent.

        To be called before they are cut. A key that is shorter than a secret is left alone: it may be
        a word of any reply.
        """
        if len(self._key) >= SHORTEST_SECRET:
            words = words.replace(self._key, "[key]")
        return storable(words)

    def hushed_beginning(self, body: bytes) -> str:
        """The same of a body that was cut, perhaps within the key."""
        end = len(body) - len(self._key.encode())
        return self.hushed(body[: max(0, end)].decode("utf-8", "replace"))

    async def _ask(
        self,
        method: str,
        address: str,
        body: bytes | None,
        limit: int,
        goes_on: Callable[[], bool],
    ) -> Answer:
        import aiohttp  # noqa: PLC0415

        loop = asyncio.get_running_loop()
        scope = asyncio.timeout(None)
        timer: asyncio.TimerHandle

        def look() -> None:
            nonlocal timer
            if goes_on():
                timer = loop.call_later(self.timeout, look)
            else:
                scope.reschedule(loop.time())

        timer = loop.call_later(self.timeout, look)
        try:
            if self._proxy:
                await self._check_host(address)
            # A redirect could carry the key to another host.
            async with (
                scope,
                self._session.request(
                    method,
                    address,
                    data=body,
                    allow_redirects=False,
                    headers=self.route.auth(method, self._key),
                    params=self.route.params or None,
                    proxy=self._proxy,
                ) as response,
            ):
                if response.headers.get("Content-Type", "").startswith(_STREAM):
                    raise Unavailable(
                        f"{self.name} answers with a stream ({_STREAM}), which is not read here. Turn "
                        'streaming off there, or add "stream": false to the further settings.'
                    )
                answer = await _read(response, limit)
        except TimeoutError as error:
            words = f"no answer within {self.timeout:g} seconds"
            raise NoAnswerError(Failure.TIMEOUT, words) from error
        except (aiohttp.ClientError, OSError) as error:
            reason = self.hushed(str(error) or type(error).__name__)[:WORDS_LIMIT]
            # Of several addresses of one host, the HTTP client gives all reasons in one message.
            if isinstance(error, ForbiddenAddressError) or REFUSED in str(error):
                raise Unavailable(f"{self.name} cannot be asked: {reason}.") from None
            self._check_tls(error, reason)
            words = f"the connection failed: {reason}"
            raise NoAnswerError(Failure.CONNECTION, words) from error
        finally:
            timer.cancel()
        if answer.status in _PASSING:
            words = f"{answer.status} {self.words(answer.body)}".strip()
            wait = seconds_to_wait(response.headers)
            raise NoAnswerError(Failure.SERVER, words, status=answer.status, wait=wait)
        return answer

    def _check_tls(self, error: Exception, reason: str) -> None:
        """Raises Unavailable where no connection can come to be: nobody mends that while we wait."""
        import aiohttp  # noqa: PLC0415

        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            raise Unavailable(
                f"The certificate of the server at {self.url} is not trusted: {reason}. Use the name that is "
                "in the certificate; where an authority of your own signed it, name a file with that "
                "authority's certificate in JUDGE_CA_BUNDLE, in the environment of this process."
            ) from error
        if isinstance(error, aiohttp.ClientSSLError) and any(word in reason for word in _NO_TLS):
            raise Unavailable(
                f"{self.name} does not speak TLS: does its address begin with http://? ({reason})"
            ) from error

    async def _check_host(self, address: str) -> None:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        await asyncio.to_thread(check_resolved, parts.hostname or "", port, self.route.reach)


async def _read(response: aiohttp.ClientResponse, limit: int) -> Answer:
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        if len(body) > limit:
            response.close()  # nobody waits for the rest
            return Answer(response.status, bytes(body[:limit]), whole=False)
    return Answer(response.status, bytes(body))


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """The header Retry-After, in seconds or as a date (RFC 9110, 10.2.3); None without a usable one."""
    value = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", value):
        return float(value)
    try:
        then = parsedate_to_datetime(value)
    except ValueError:
        return None
    if then.tzinfo is None:  # written as -0000: a time in UTC, says RFC 5322
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())


def _complaint(body: bytes) -> str:
    """The message in any of the forms of JSON that servers use for it, or else the body itself."""
    complaint: Any = decoded(body)
    if not isinstance(complaint, dict):
        return body.decode("utf-8", "replace")
    if isinstance(complaint.get("error"), dict):
        complaint = complaint["error"]
    message = (
        complaint.get("message") or complaint.get("error") or complaint.get("detail") or complaint
    )
    words = message if isinstance(message, str) else json.dumps(message)
    kind = next(
        (complaint[name] for name in ("code", "type") if isinstance(complaint.get(name), str)), ""
    )
    return f"{words} ({kind})" if kind else words


def decoded(body: bytes) -> Any:
    """The body as JSON, None if it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def check_address(url: str) -> None:
    """Raises Unavailable for what is no address, or holds what should not be stored or shown."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Unavailable(
            "The server's address cannot be read: is its host or port wrong?"
        ) from None
    if parts.scheme not in ("http", "https") or not host:
        raise Unavailable("The server's address must begin with http:// or https:// and a host.")
    if parts.username or parts.password:
        raise Unavailable("The server's address must not hold a name or a password.")
    if parts.query or parts.fragment:
        raise Unavailable(
            "The server's address must end with its path: a key belongs in the environment."
        )
