"""Redirects from earlier URLs of pages: bookmarks and links in papers keep working.

A redirect keeps the query and the method (308), as a form may be open while the site is updated.
"""

import re
from typing import ClassVar

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.urls import URLPattern, get_script_prefix, path, register_converter

# Earlier path below the page of a dataset, and its replacement.
PAGES_OF_DATASETS = {
    r"retrieval/(.*)": r"systems/\1",
    r"pairs/": r"disagreements/",
    r"seen/seen\.json": r"evidence-recall/evidence-recall.json",
    r"seen/(.*)": r"evidence-recall/\1",
    r"grid([/.].*)": r"reports-against-references\1",
    r"by-type([/.].*)": r"question-types\1",
    r"versions/": r"text-history/",
    r"words/(.*)": r"text-history/\1",
    r"label-next/draws/(.*)": r"label-next/samples/\1",
}
# The same below the page of a campaign.
PAGES_OF_CAMPAIGNS = {
    r"edit/words/": r"edit/guideline/",
    r"participants/(\d+)/set-aside/": r"participants/\1/exclude/",
    r"participants/(\d+)/count-again/": r"participants/\1/include/",
}


class _Renamed:
    """Path converter: matches an earlier path and passes the current one to the view."""

    renames: ClassVar[dict[str, str]]
    regex: str

    def __init_subclass__(cls, renames: dict[str, str]) -> None:
        cls.renames = renames
        cls.regex = "|".join(earlier.replace("(", "(?:") for earlier in renames)

    def to_python(self, value: str) -> str:
        for earlier, current in self.renames.items():
            if match := re.fullmatch(earlier, value):
                return match.expand(current)
        raise ValueError(value)

    def to_url(self, value: str) -> str:
        return value


class PageOfDataset(_Renamed, renames=PAGES_OF_DATASETS):
    pass


class PageOfCampaign(_Renamed, renames=PAGES_OF_CAMPAIGNS):
    pass


@login_not_required  # the page itself asks for the log-in
def renamed(request: HttpRequest, parent: str, slug: str, page: str) -> HttpResponse:
    """Redirect to the current URL of a page below a dataset or a campaign."""
    query = request.META.get("QUERY_STRING", "")
    url = f"{get_script_prefix()}{parent}/{slug}/{page}" + (f"?{query}" if query else "")
    return HttpResponsePermanentRedirect(url, preserve_request=True)


register_converter(PageOfDataset, "renamed_page_of_dataset")
register_converter(PageOfCampaign, "renamed_page_of_campaign")
urlpatterns: list[URLPattern] = [
    path(
        "datasets/<slug:slug>/<renamed_page_of_dataset:page>",
        renamed,
        {"parent": "datasets"},
        name="renamed_page_of_dataset",
    ),
    path(
        "campaigns/<slug:slug>/<renamed_page_of_campaign:page>",
        renamed,
        {"parent": "campaigns"},
        name="renamed_page_of_campaign",
    ),
]
