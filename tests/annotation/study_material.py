"""The room of a study, and what its pages say."""

import re
from html import unescape

ROOM = "/work/in/crowd/"


def text_of_page(response):
    """Return the text of a page without its tags."""
    main = response.content.decode().partition("<main")[2]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", main)))
