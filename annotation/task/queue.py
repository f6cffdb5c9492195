"""Replay of a browser's queue: several answers and item ends in one request, in order.

Each entry goes through the view of its own address and is a transaction of its own: an entry that is
acknowledged stays, whatever becomes of the entries after it.
"""

import json
from copy import copy
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.urls import ResolverMatch, resolve

MOST_ENTRIES = 50  # work for a second or two
ANSWERS = ("answer", "check_answer")
ENDS = ("submit", "skip")
FAILED_DEPENDENCY = 424
Result = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """Single request of the queue: an address and the fields of its form."""

    url: str
    fields: dict[str, str]

    def match(self) -> ResolverMatch:
        """Return the view of the address. Raises Http404 where it takes neither answers nor ends."""
        match = resolve(self.url)
        if match.url_name not in (*ANSWERS, *ENDS):
            raise Http404("This address takes no entry of a queue.")
        return match


def parse_queue(body: bytes) -> list[Entry]:
    """Parse `[{"url": ..., "fields": {...}}, ...]`.

    Raises BadRequest where the body is something else.
    """
    try:
        rows = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest("The queue is no JSON.") from error
    if not isinstance(rows, list) or not all(map(_is_entry, rows)):
        raise BadRequest("Expected a list of {url, fields}.")
    if len(rows) > MOST_ENTRIES:
        raise BadRequest(f"A queue has at most {MOST_ENTRIES} entries in one request.")
    return [Entry(row["url"], row["fields"]) for row in rows]


def _is_entry(row: object) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("url"), str):
        return False
    fields = row.get("fields")
    return isinstance(fields, dict) and all(isinstance(value, str) for value in fields.values())


def replay(request: HttpRequest, entries: list[Entry]) -> list[Result]:
    """Return the result of each entry: `status`, and `reply` where there is one.

    After an answer that is refused, later answers to its question and the end of its item get
    424 and are not tried: they rest on it. Where the server itself fails, the list ends there, and
    the browser sends the rest again; an error at the first entry is raised.
    """
    results: list[Result] = []
    failed: set[str | int] = set()  # addresses of answers, and items that cannot end
    for entry in entries:
        try:
            results.append(_replay_one(request, entry, failed))
        except Exception:
            if not results:
                raise
            break
    return results


def _replay_one(request: HttpRequest, entry: Entry, failed: set[str | int]) -> Result:
    try:
        match = entry.match()
    except Http404:
        return {"status": 404}
    item, is_end = match.kwargs["pk"], match.url_name in ENDS
    if (item if is_end else entry.url) in failed:
        return {"status": FAILED_DEPENDENCY}
    try:
        result = _result(_respond(request, entry, match))
    except Http404:
        result = {"status": 404}
    if result["status"] >= 400 and not is_end:
        failed |= {entry.url, item}
    return result


def _respond(request: HttpRequest, entry: Entry, match: ResolverMatch) -> HttpResponseBase:
    """Call the view of an entry with the fields of the entry as its form."""
    entry_request = copy(request)
    # Half a surrogate pair, which JSON can hold and a form cannot, becomes a question mark.
    entry_request.POST = QueryDict(urlencode(entry.fields, errors="replace"))
    return match.func(entry_request, *match.args, **match.kwargs)


def _result(response: HttpResponseBase) -> Result:
    if not isinstance(response, HttpResponse) or not response.content:
        return {"status": response.status_code}
    content = response.content.decode()
    is_json = response.headers["Content-Type"].startswith("application/json")
    return {"status": response.status_code, "reply": json.loads(content) if is_json else content}
