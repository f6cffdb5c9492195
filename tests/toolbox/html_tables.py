"""Parser of the tables of a page, by the last heading before their rows."""

from html.parser import HTMLParser

Rows = list[list[str]]
HEADINGS = ("h2", "h3", "strong")


class _Tables(HTMLParser):
    """Cells of the body, row by row, without <svg> and text for screen readers."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, Rows] = {}
        self._title: list[str] | None = None
        self._name = ""
        self._rows: Rows | None = None
        self._cell: list[str] | None = None
        self._drawing = 0

    def handle_starttag(self, tag, attrs):
        if tag in HEADINGS:
            self._title = []
        elif tag == "tbody":
            self._rows = self.found.setdefault(self._name, [])
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th") and self._rows is not None:
            self._cell = []
        elif tag == "svg":
            self._drawing += 1

    def handle_endtag(self, tag):
        if tag in HEADINGS and self._title is not None:
            self._name, self._title = " ".join("".join(self._title).split()), None
        elif tag in ("td", "th") and self._cell is not None:
            self._rows[-1].append(" ".join("".join(self._cell).split()))
            self._cell = None
        elif tag == "tbody":
            self._rows = None
        elif tag == "svg":
            self._drawing -= 1

    def handle_data(self, data):
        if self._title is not None:
            self._title.append(data)
        elif self._cell is not None and not self._drawing:
            self._cell.append(data)


def tables(response) -> dict[str, Rows]:
    """Title of the table -> its rows -> the words of their cells."""
    parser = _Tables()
    parser.feed(response.content.decode())
    return parser.found
