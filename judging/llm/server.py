"""HTTP client of an OpenAI-compatible server.

Bodies are bounded, redirects are not followed, and the key appears in no message.
"""

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

from judging.llm.completion import storable
from judging.llm.errors import BackendUnavailableError, Failure
from judging.llm.route import PLAIN, REFUSED, ForbiddenAddressError, Route, check_resolved, proxy_of

if TYPE_CHECKING:
    import aiohttp

BODY_LIMIT = 256_000  # bytes of an answer that are read, where the question does not allow for more
WORDS_LIMIT = 400  # characters of a server's own words that are passed on
SHORTEST_SECRET = 8  # characters: what is shorter stands for "no key needed", such as EMPTY

# What may be right a moment later: 498 is Groq's for a lack of capacity, 530 Cloudflare's for a tunnel that is
# down. 501, 505 and 511 say that it never will be.
PASSING = frozenset({408, 409, 425, 429, 498, *range(500, 600)} - {501, 505, 511})
# Less than the 5 seconds after which uvicorn, and so vLLM, closes a connection that rests.
_REST_SECONDS = 4
_STREAM = "text/event-stream"
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]+)?")
# What OpenSSL says where the other side does not speak TLS at all.
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL")


def _never() -> bool:
    return False


class NoAnswerError(Exception):
    """Request without an answer, which may succeed if it is repeated.

    `wait` are the seconds that the server asks to wait, None if it does not say. `status` is that of
    HTTP, 0 where no answer came at all. `body` is what came in place of an answer, where that is kept.
    """

    def __init__(
        self,
        failure: Failure,
        message: str,
        *,
        status: int = 0,
        wait: float | None = None,
        body: bytes = b"",
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.words = message
        self.status = status
        self.wait = wait
        self.body = body


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a server: its URL, its key, and the route to it."""

    url: str
    key: str | None = field(repr=False)
    route: Route = field(default=PLAIN, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the server. Its body is not `whole` where it was longer than its limit.

    `location` is where a redirect leads, else "".
    """

    status: int
    body: bytes
    whole: bool = True
    location: str = ""


class Server:
    """HTTP session with the server at `url`, whose paths are those of OpenAI below /v1.

    To be opened before it is asked, and closed. Raises BackendUnavailableError for an address or a key that
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
            raise BackendUnavailableError(
                f"The key for the server at {self.url} holds a line break."
            )

    @property
    def has_key(self) -> bool:
        return bool(self._key)

    async def open(self) -> None:
        # A tenth of what a command takes to start; most ask no server.
        import aiohttp  # noqa: PLC0415

        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        auth = {method: self.route.auth(method, self._key) for method in ("GET", "POST")}
        if auth["GET"] == auth["POST"]:
            # Headers of the session cost less than those of each request.
            headers |= auth["GET"]
            auth = {}
        self._auth = auth
        try:
            options = self.route.connector_options()
        except OSError as error:
            raise BackendUnavailableError(
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
        """Send a GET request. Raises NoAnswerError, BackendUnavailableError."""
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
        and BackendUnavailableError for what another try cannot mend: a certificate, an answer that is a stream.
        """
        return await self._ask("POST", address, body, limit, goes_on)

    def words(self, body: bytes) -> str:
        """Return the error message of an answer, as one line without the key."""
        return self.redacted(" ".join(_complaint(body).split()))[:WORDS_LIMIT]

    def reason(self, answer: Answer) -> str:
        """Return the same of an answer that is no success; of a redirect, where it leads."""
        if answer.location:
            return self.redacted(f"redirect to {answer.location}")[:WORDS_LIMIT]
        return self.words(answer.body)

    def redacted(self, text: str) -> str:
        """Return text that may be stored and shown: the key that a server repeats is masked.

        Call it before the text is cut. A key that is shorter than a
        secret is left alone: it may be a word of any reply.
        """
        if len(self._key) >= SHORTEST_SECRET:
            text = text.replace(self._key, "[key]")
        return storable(text)

    def hushed_beginning(self, body: bytes) -> str:
        """Return the same for a body that was cut, perhaps within the key."""
        end = len(body) - len(self._key.encode())
        return self.redacted(body[: max(0, end)].decode("utf-8", "replace"))

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

        def check_timeout() -> None:
            nonlocal timer
            if goes_on():
                timer = loop.call_later(self.timeout, check_timeout)
            else:
                scope.reschedule(loop.time())

        timer = loop.call_later(self.timeout, check_timeout)
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
                    headers=self._auth.get(method),
                    params=self.route.params or None,
                    proxy=self._proxy,
                ) as response,
            ):
                if response.headers.get("Content-Type", "").startswith(_STREAM):
                    raise BackendUnavailableError(
                        f"{self.name} answers with a stream ({_STREAM}), which is not read here. Turn "
                        'streaming off there, or add "stream": false to the further settings.'
                    )
                answer = await _read(response, limit)
        except TimeoutError as error:
            message = f"no answer within {self.timeout:g} seconds"
            raise NoAnswerError(Failure.TIMEOUT, message) from error
        except (aiohttp.ClientError, OSError) as error:
            reason = self.redacted(str(error) or type(error).__name__)[:WORDS_LIMIT]
            # Of several addresses of one host, the HTTP client gives all reasons in one message.
            if isinstance(error, ForbiddenAddressError) or REFUSED in str(error):
                raise BackendUnavailableError(f"{self.name} cannot be asked: {reason}.") from None
            self._check_tls(error, reason)
            message = f"the connection failed: {reason}"
            raise NoAnswerError(Failure.CONNECTION, message) from error
        finally:
            timer.cancel()
        if answer.status in PASSING:
            message = f"{answer.status} {self.words(answer.body)}".strip()
            wait = seconds_to_wait(response.headers)
            if wait is None:
                wait = _retry_delay(decoded(answer.body))
            raise NoAnswerError(Failure.SERVER, message, status=answer.status, wait=wait)
        return answer

    def _check_tls(self, error: Exception, reason: str) -> None:
        """Raises BackendUnavailableError for a TLS failure that no retry can mend."""
        import aiohttp  # noqa: PLC0415

        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            raise BackendUnavailableError(
                f"The certificate of the server at {self.url} is not trusted: {reason}. Use the name that is "
                "in the certificate; where an authority of your own signed it, name a file with that "
                "authority's certificate in JUDGE_CA_BUNDLE, in the environment of this process."
            ) from error
        if isinstance(error, aiohttp.ClientSSLError) and any(code in reason for code in _NO_TLS):
            raise BackendUnavailableError(
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
    is_redirect = 300 <= response.status < 400
    location = response.headers.get("Location", "") if is_redirect else ""
    return Answer(response.status, bytes(body), location=location)


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Parse Retry-After, seconds or a date (RFC 9110, 10.2.3); None if it is unusable.

    `retry-after-ms`, which OpenAI and Azure send beside it in milliseconds, is preferred.
    """
    value = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(value):
        return float(value) / 1000
    value = headers.get("Retry-After", "").strip()
    if _NUMBER.fullmatch(value):
        return float(value)
    try:
        retry_at = parsedate_to_datetime(value)
    except ValueError:
        return None
    if retry_at.tzinfo is None:  # written as -0000: a time in UTC, says RFC 5322
        retry_at = retry_at.replace(tzinfo=UTC)
    return max(0.0, (retry_at - datetime.now(UTC)).total_seconds())


def _retry_delay(answer: Any) -> float | None:
    """Return the seconds of Gemini's RetryInfo, which it sends in the body and in no header."""
    error = error_in(answer)
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and _NUMBER.fullmatch(delay.removesuffix("s")):
            return float(delay.removesuffix("s"))
    return None


def _complaint(body: bytes) -> str:
    """Return the error message in any of the JSON forms of servers, else the body itself."""
    complaint: Any = error_in(decoded(body))
    if not isinstance(complaint, dict):
        return body.decode("utf-8", "replace")
    message = (
        complaint.get("message") or complaint.get("error") or complaint.get("detail") or complaint
    )
    text = message if isinstance(message, str) else json.dumps(message)
    details = complaint.get("metadata")  # of OpenRouter: the words of the server behind it
    if isinstance(details, dict) and isinstance(raw := details.get("raw"), str):
        text = f"{text}: {raw}"
    kind = next(
        (complaint[name] for name in ("code", "type") if isinstance(complaint.get(name), str)), ""
    )
    return f"{text} ({kind})" if kind else text


def error_in(answer: Any) -> Any:
    """Return the error in an answer as JSON, or the answer itself.

    Gemini puts its only one into a list.
    """
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    error = answer.get("error") if isinstance(answer, dict) else None
    return error if isinstance(error, dict) else answer


def decoded(body: bytes) -> Any:
    """Return the body as JSON, None if it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def check_address(url: str) -> None:
    """Raise BackendUnavailableError for a URL that is invalid, or holds a secret."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
        (host or "").encode("idna")  # as the socket does: gpu1..internal has a part without letters
    except ValueError:
        raise BackendUnavailableError(
            "The server's address cannot be read: is its host or port wrong?"
        ) from None
    if parts.scheme not in ("http", "https") or not host:
        raise BackendUnavailableError(
            "The server's address must begin with http:// or https:// and a host."
        )
    if parts.username or parts.password:
        raise BackendUnavailableError("The server's address must not hold a name or a password.")
    if parts.query or parts.fragment:
        raise BackendUnavailableError(
            "The server's address must end with its path: a key belongs in the environment."
        )
