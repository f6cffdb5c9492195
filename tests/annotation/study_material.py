"""The room of a study, and what its pages say."""

import re
from html import unescape

ROOM = "/work/in/crowd/"


def words(response):
    """What a page says, without its tags."""
    main = response.content.decode().partition("<main")[2]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", main)))
