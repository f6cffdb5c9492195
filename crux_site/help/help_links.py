"""Context-sensitive help: from each page of the site to its section of the docs."""

from django.urls import ResolverMatch, reverse

from annotation.pages import page_of


def help_url_for(match: ResolverMatch | None) -> str:
    """Return the URL of the help on a page; the index if there is none."""
    page = page_of(match.func) if match else None
    if page is None:
        return reverse("help")
    name, _, anchor = page.help.partition("#")
    return reverse("help_page", args=[name]) + (f"#{anchor}" if anchor else "")
