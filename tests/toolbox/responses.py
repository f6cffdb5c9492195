"""Content of responses: normalized HTML, text, links, and rows of CSV files."""

import csv
import html
import io
import re

# White space beside these is never seen.
BLOCKS = (
    "html|head|title|body|main|header|footer|nav|section|article|aside|div|p|h[1-6]|ul|ol|li|dl|dt|dd|table|caption|"
    "thead|tbody|tfoot|tr|th|td|form|fieldset|legend|select|option|details|summary|figure|figcaption|svg"
)


def markup(response) -> str:
    """Return the page on one line, without invisible white space, for comparisons.

    The content of a <pre> is unchanged.
    """
    parts = re.split(r"(<pre\b.*?</pre>)", response.content.decode(), flags=re.DOTALL)
    return "".join(part if part.startswith("<pre") else _one_line(part) for part in parts)


def _one_line(page: str) -> str:
    page = re.sub(r"\s+", " ", page).replace(" >", ">")
    return re.sub(rf" ?(</?(?:{BLOCKS})\b[^>]*>) ?", r"\1", page)


def csv_rows(response) -> list[dict[str, str]]:
    """Return the rows of a CSV file, streamed or not."""
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))


def text_of_page(response) -> str:
    """Return the visible text of a page, without its title."""
    joined = response.content.decode().replace("<wbr>", "")
    page = re.sub(r"<title>.*?</title>|<[^>]+>", " ", joined)
    return re.sub(r"\s+", " ", page)


def links(response) -> list[str]:
    """Return the addresses of all links, in order."""
    return [html.unescape(url) for url in re.findall(r'href="([^"]+)"', response.content.decode())]
