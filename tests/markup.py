"""The HTML of a page as tests compare it: how a template breaks its lines is not looked at."""

import re

# White space beside these is never seen.
BLOCKS = (
    "html|head|title|body|main|header|footer|nav|section|article|aside|div|p|h[1-6]|ul|ol|li|dl|dt|dd|table|caption|"
    "thead|tbody|tfoot|tr|th|td|form|fieldset|legend|select|option|details|summary|figure|figcaption|svg"
)


def markup(response) -> str:
    """The page on one line, without the white space that a reader does not see. What is in a <pre> stays."""
    parts = re.split(r"(<pre\b.*?</pre>)", response.content.decode(), flags=re.DOTALL)
    return "".join(part if part.startswith("<pre") else _one_line(part) for part in parts)


def _one_line(page: str) -> str:
    page = re.sub(r"\s+", " ", page).replace(" >", ">")
    return re.sub(rf" ?(</?(?:{BLOCKS})\b[^>]*>) ?", r"\1", page)
