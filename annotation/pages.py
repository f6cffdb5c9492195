"""Declaration of a page: `PAGE` in its package holds title, help, section and shared URLs.

No Django here: the packages of all apps import this module.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

PARENTS = (
    *("annotation", "building", "crux_site", "evaluation", "evaluation.replications", "judging"),
)
"""Packages whose subpackages may declare a page."""

Section = Literal[
    "overview",
    "agreement",
    "disagreements",
    "systems",
    "matrix",
    "paper",
    "campaigns",
    "judges",
    "texts",
    "history",
    "settings",
]
"""Part of a dataset's pages; its title is the same word with a capital."""

GROUPS: Mapping[str, tuple[Section, ...]] = {
    "Results": ("overview", "agreement", "disagreements", "systems", "matrix", "paper"),
    "Work": ("campaigns", "judges", "texts", "history", "settings"),
}


@dataclass(frozen=True, kw_only=True)
class NavLink:
    """Link in the list of pages that stands beside each page of a dataset.

    The first link of a section stands for the section. Others are listed below it while the section
    is open, and only for a dataset that has ratings under one of `rubrics`, texts of all
    `text_kinds`, ratings by raters of all `rater_kinds`, and `min_runs` retrieval runs.
    """

    url_name: str
    title: str = ""
    """Without one, that of the page."""
    order: int = 0
    """Position in its section, ascending."""
    scope: Literal["dataset", "project", "site"] = "dataset"
    """Argument of the URL: the dataset, its project, or none but `?dataset=`."""
    carries: Literal["selection", "scoring", "common", "nothing"] = "nothing"
    """Group of parameters that the link takes along: see evaluation/http.py."""
    query: str = ""
    """Further parameters of the link."""
    rubrics: tuple[str, ...] = ()
    text_kinds: tuple[str, ...] = ()
    rater_kinds: tuple[str, ...] = ()
    min_runs: int = 0
    for_owners: bool = False
    """Shown to owners of the dataset alone."""


@dataclass(frozen=True)
class Page:
    """Page of a package. Without `shared`, readers by a shared link do not see it.

    `shared` are the URL names that every shared link shows: numbers and names alone, no words of a
    text, a question, a request or a span. `shared_with_text` are those that a link shows only if
    it shares texts, too.
    """

    title: str
    help: str
    """Page of the docs and perhaps its section: `researchers#agreement`."""
    section: Section | None = None
    """Section of a dataset's pages that the page belongs to."""
    links: tuple[NavLink, ...] = ()
    shared: tuple[str, ...] = ()
    shared_with_text: tuple[str, ...] = ()

    def is_shared(self, url_name: str | None, *, with_text: bool) -> bool:
        """Return True if a shared link shows the URL of this name."""
        return url_name in self.shared or (with_text and url_name in self.shared_with_text)


def page_of(view: Callable[..., Any]) -> Page | None:
    """Return the page that a view belongs to, None if its package declares none."""
    return getattr(import_module(package_of(view)), "PAGE", None)


def package_of(view: Callable[..., Any]) -> str:
    """Return the package of a view's page: `evaluation.agreement`.

    A replication of a paper has one level more: `evaluation.replications.nuggets`.
    """
    parts = inspect.unwrap(getattr(view, "view_class", view)).__module__.split(".")
    return ".".join(parts[: 3 if parts[1:2] == ["replications"] else 2])


@cache
def declared_pages() -> dict[str, Page]:
    """Return the pages of all packages with URLs, by package."""
    packages = [
        f"{parent}.{urls.parent.name}"
        for parent in PARENTS
        for folder in import_module(parent).__path__
        for urls in sorted(Path(folder).glob("*/urls.py"))
    ]
    pages = {package: getattr(import_module(package), "PAGE", None) for package in packages}
    return {package: page for package, page in pages.items() if page}
