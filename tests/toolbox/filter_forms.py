"""Filter form of a results page, as a browser sends it, and the line above the numbers."""

from html.parser import HTMLParser
from urllib.parse import urlencode

from tests.toolbox.responses import markup


class _FilterForm(HTMLParser):
    """Reads the first form and the summary of `<details class="filter">`."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: list[tuple[str, str]] = []
        self.phrases: list[str] = []
        self._in_filter = self._in_summary = self._in_form = False
        self._select, self._options = "", []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "details" and attributes.get("class") == "filter":
            self._in_filter = True
        elif tag == "summary":
            self._in_summary = self._in_filter and not self.phrases
        elif tag == "form":
            self._in_form = self._in_filter and not self.fields
        elif self._in_form and tag == "select":
            self._select, self._options = attributes["name"], []
        elif self._in_form and tag == "option":
            self._options.append(["selected" in attributes, attributes.get("value")])
        elif self._in_form and tag == "input" and attributes.get("name"):
            is_box = attributes.get("type") in ("checkbox", "radio")
            if not is_box or "checked" in attributes:
                self.fields.append((attributes["name"], attributes.get("value") or ""))

    def handle_data(self, data):
        if self._in_summary and data.strip():
            self.phrases.append(data.strip())
        if self._options and self._options[-1][1] is None:
            self._options[-1][1] = data.strip()

    def handle_endtag(self, tag):
        if tag == "select" and self._select:
            chosen = [value for selected, value in self._options if selected]
            value = chosen[0] if chosen else self._options[0][1]
            self.fields.append((self._select, value))
            self._select, self._options = "", []
        self._in_summary = self._in_summary and tag != "summary"
        self._in_form = self._in_form and tag != "form"
        self._in_filter = self._in_filter and tag != "details"


def filter_line(response) -> list[str]:
    """Return the phrases of the line above the numbers, without its button."""
    return [phrase for phrase in _read(response).phrases if phrase not in ("Change", "Close")]


def filter_query(response, **changes: str) -> str:
    """Return the query string that Apply sends, after other values in these fields."""
    fields = [(name, changes.get(name, value)) for name, value in _read(response).fields]
    return urlencode(fields)


def _read(response) -> _FilterForm:
    reader = _FilterForm()
    reader.feed(markup(response))
    return reader
