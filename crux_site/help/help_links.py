"""Context-sensitive help: from each page of the site to its section of the docs."""

from django.urls import ResolverMatch, reverse

from annotation.pages import page_of
from crux_site.help.page import Reader, may_read


def help_url_for(match: ResolverMatch | None, reader: Reader) -> str:
    """Return the URL of the help on a page; the index if the reader may open none.

    The index redirects a worker to the page for workers.
    """
    page = page_of(match.func) if match else None
    name, _, anchor = page.help.partition("#") if page else ("", "", "")
    if not name or not may_read(reader, name):
        return reverse("help")
    return reverse("help_page", args=[name]) + (f"#{anchor}" if anchor else "")
