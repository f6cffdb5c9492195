"""Addresses of shared links, which name systems, runs and raters."""

from urllib.parse import quote, unquote, urlsplit

from django.http import QueryDict
from django.urls import Resolver404, resolve, reverse

from annotation.models import Dataset, SharedLink

IN_PATHS = {"retrieval_run": "name", "rel_recall_system": "system"}
"""URLs whose path has the name of a run or a system, with its argument."""
OTHER_NAMES = ("rubric", "topic", "words")
"""Parameters whose values are names of something else."""
LONGEST = SharedLink._meta.get_field("address").max_length or 0


def rename_in_shared_links(dataset: Dataset, name: str, new: str) -> None:
    """Rename a system, run or rater in the addresses of shared links. In a transaction.

    A link whose address would become too long, or that leads nowhere, stays as it is.
    """
    for link in dataset.shared_links.select_for_update().exclude(address="").order_by("pk"):
        address = _renamed(link.address, name, new)
        if address != link.address and len(address) <= LONGEST:
            link.address = address
            link.save(update_fields=["address"])


def _renamed(address: str, name: str, new: str) -> str:
    parts = urlsplit(address)
    try:
        match = resolve(unquote(parts.path))
    except Resolver404:
        return address
    kwargs = dict(match.kwargs)
    argument = IN_PATHS.get(match.url_name or "", "")
    if kwargs.get(argument) == name:
        kwargs[argument] = new
    query = QueryDict(parts.query, mutable=True)
    for key in query.keys() - set(OTHER_NAMES):
        query.setlist(key, [_with_name(value, name, new) for value in query.getlist(key)])
    path = reverse(match.view_name, kwargs=kwargs)
    return quote(unquote(path)) + (f"?{query.urlencode()}" if query else "")


def _with_name(value: str, name: str, new: str) -> str:
    """Return a value of a parameter, one name or several with commas, with the new name."""
    return ",".join(new if part == name else part for part in value.split(","))
