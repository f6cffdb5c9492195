"""HTTP connection to the API of a site: pagination, errors, and waiting on Retry-After."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

BUSY = (429, 503)  # both come with a header that says for how many seconds to wait
TIMEOUT = 120.0  # seconds: the first to ask for numbers waits until they are computed
TOKEN = re.compile(r"[A-Za-z0-9_-]+")
Query = Mapping[str, Any]


class SiteError(Exception):
    """A request that the site refused or did not answer, with the sentence that it gave.

    `status` is the one of HTTP, None where no answer came. `errors` has each thing that is wrong with
    its place, as the site told it: `index`, `field` and `message`.
    """

    def __init__(
        self, sentence: str, status: int | None = None, errors: list[dict[str, Any]] | None = None
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.errors = errors or []


class Connection:
    """The API of one site as one account.

    `patience` is how many seconds a request may wait in all where the site says it is busy. Raises
    SiteError for what cannot be a token.
    """

    def __init__(
        self, url: str, token: str, patience: float, transport: httpx.BaseTransport | None = None
    ) -> None:
        if not TOKEN.fullmatch(token):
            # httpx would refuse it only with the first request, and would print it.
            raise SiteError(
                "The token is empty, or has a character that no token has, such as a line break: copy it again."
            )
        self.patience = patience
        self._http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Token {token}"},
            timeout=TIMEOUT,
            transport=transport,
        )

    def get(self, path: str, query: Query) -> dict[str, Any]:
        """Return the JSON object at a path. Raises SiteError."""
        return _content(self._wait_and_send(path, query))

    def get_file(self, path: str, query: Query, media_type: str) -> bytes | None:
        """Return the file at a path; None if the site has no such file.

        Raises SiteError.
        """
        answer = self._wait_and_send(path, query)
        if answer.status_code == httpx.codes.NOT_FOUND:
            return None
        if answer.is_success and answer.headers.get("Content-Type") == media_type:
            return answer.content
        _content(answer)
        return None

    def _wait_and_send(self, path: str, query: Query) -> httpx.Response:
        """Return the response to a request, repeated while the site is busy."""
        seconds_left = self.patience
        while True:
            answer = self._send(path, query)
            wait = _seconds(answer)
            if answer.status_code not in BUSY or wait > seconds_left:
                break
            time.sleep(wait)
            seconds_left -= wait
        return answer

    def pages(self, path: str, query: Query) -> Iterator[dict[str, Any]]:
        """The pages of a list from the first on, as they are read. Raises SiteError."""
        while True:
            page = self.get(path, query)
            yield page
            if page["next"] is None:
                return
            # Of the address of the next page the query alone: the token goes to no other host.
            query = dict(httpx.URL(page["next"]).params)

    def _send(self, path: str, query: Query) -> httpx.Response:
        try:
            return self._http.get(path, params=query)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SiteError(f"{self._http.base_url} does not answer: {error}") from error


def _seconds(answer: httpx.Response) -> float:
    """Return the seconds of Retry-After, at least 1; infinity if it is not a whole number."""
    header = answer.headers.get("Retry-After", "")
    return max(1.0, float(header)) if header.isdecimal() else math.inf


def _content(answer: httpx.Response) -> dict[str, Any]:
    try:
        content = answer.json()
    except ValueError:
        content = None
    if not isinstance(content, dict):
        origin = f"{answer.url.scheme}://{answer.url.netloc.decode()}"
        raise SiteError(
            f"{origin} answered with {answer.status_code} and not as the API of a site does: "
            "is this its address?",
            answer.status_code,
        )
    if not answer.is_success:
        sentence = content.get("detail") or f"The site answered with {answer.status_code}."
        raise SiteError(sentence, answer.status_code, content.get("errors"))
    return content
