"""Links to the pages of a dataset that a reader may open and the dataset has data for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from django.db.models import Count, Exists, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from annotation.models import Campaign, Dataset, Rater, Rating, Rubric, SharedLink, Text
from annotation.models.standard import ANSWERABLE, GRADED
from annotation.pages import GROUPS, NavLink, Page, Section, declared_pages, package_of
from evaluation.data.cache_keys import CacheKey
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.data.selection import Selection
from evaluation.http import COMMON_PARAMS, SCORING_PARAMS, SELECTION_PARAMS
from evaluation.models import RetrievalRun

PARAMS_OF = {
    "selection": SELECTION_PARAMS,
    "scoring": SCORING_PARAMS,
    "common": COMMON_PARAMS,
    "nothing": (),
}


@dataclass(frozen=True)
class ShownLink:
    """Link of the list. `current` is the value of `aria-current`: "page", "true" or none."""

    title: str
    url: str
    current: str = ""
    count: int | None = None
    below: tuple[ShownLink, ...] = ()


@dataclass(frozen=True)
class Navigation:
    """Links by the title of their group, and the title of the open page."""

    groups: Mapping[str, tuple[ShownLink, ...]]
    open_title: str


@dataclass(frozen=True)
class _Facts:
    """Links that the dataset has data for, and the counts beside some links."""

    available: frozenset[NavLink]
    counts: Mapping[Section, int]


def navigation(
    request: HttpRequest,
    dataset: Dataset,
    shared: SharedLink | None = None,
    selection: Selection | None = None,
    options: Any = None,
) -> Navigation:
    """Return the links to the pages of a dataset, for this reader.

    Links carry the page's selection, or the options of its scores, and those parameters of the request
    that the page does not have. A reader by a shared link gets what the link shows: nothing beside a
    link to one page. The open page is listed in any case. At most one query.
    """
    match = request.resolver_match
    package = package_of(match.func) if match else ""
    open_page = declared_pages().get(package)
    url_name = match.url_name if match else None
    listed = [
        (page, link)
        for page in declared_pages().values()
        for link in page.links
        if _may_open(request, page, link, shared)
    ]
    open_section = open_page.section if open_page else None
    facts = SHARED_CACHE.until_db_write(
        (CacheKey.NAVIGATION, dataset.pk, open_section), lambda: _facts(dataset, open_section)
    )
    params = {**_requested_params(request.GET), **_current_params(selection, options)}

    def make_link(page: Page, link: NavLink) -> ShownLink:
        current = "page" if link.url_name == url_name else ""
        # Pages below a listed one, such as a run of Systems: the first link of their package.
        if not current and page is open_page and link is page.links[0]:
            is_listed = any(link.url_name == url_name for link in page.links)
            current = "" if is_listed else "true"
        url = _link_url(dataset, link, url_name, params)
        return ShownLink(link.title or page.title, url, current)

    def section_links(section: Section) -> Iterator[ShownLink]:
        of_section = sorted(
            ((page, link) for page, link in listed if page.section == section),
            key=lambda pair: pair[1].order,
        )
        if not of_section:
            return
        (first_page, first), *further = of_section
        is_open = section == open_section
        below = (
            tuple(
                make_link(page, link)
                for page, link in further
                if link in facts.available or link.url_name == url_name
            )
            if is_open
            else ()
        )
        head = make_link(first_page, first)
        is_inside = is_open and not head.current and not any(link.current for link in below)
        yield ShownLink(
            section.capitalize(),
            head.url,
            "true" if is_inside else head.current,
            facts.counts.get(section),
            below,
        )

    groups = {
        group: tuple(link for section in sections for link in section_links(section))
        for group, sections in GROUPS.items()
    }
    open_title = open_section.capitalize() if open_section else "Pages"
    return Navigation({group: links for group, links in groups.items() if links}, open_title)


def _may_open(request: HttpRequest, page: Page, link: NavLink, shared: SharedLink | None) -> bool:
    if shared:
        is_shared = page.is_shared(link.url_name, with_text=shared.with_words)
        return is_shared and not shared.address
    return not link.for_owners or bool(getattr(request.user, "owns", False))


def _facts(dataset: Dataset, section: Section | None) -> _Facts:
    """Return which links of a section the dataset has data for, and the counts."""
    pages = declared_pages().values()
    links = [link for page in pages if page.section == section for link in page.links]
    needs = {link: list(_needs(link)) for link in links}
    annotations = {
        f"need_{number}_{part}": Exists(need)
        for number, link in enumerate(links)
        for part, need in enumerate(needs[link])
    }
    counts: dict[Section, QuerySet[Any]] = {
        "systems": RetrievalRun.objects.filter(dataset=OuterRef("pk")),
        "campaigns": Campaign.objects.filter(dataset=OuterRef("pk")),
        "texts": Text.objects.filter(dataset=OuterRef("pk")),
    }
    row = (
        Dataset.objects.filter(pk=dataset.pk)
        .annotate(**annotations, **{f"n_{name}": _number_of(rows) for name, rows in counts.items()})
        .values(*annotations, *(f"n_{name}" for name in counts))
        .get()
    )
    available = {
        link
        for number, link in enumerate(links)
        if all(row[f"need_{number}_{part}"] for part in range(len(needs[link])))
        and (not link.min_runs or row["n_systems"] >= link.min_runs)
    }
    return _Facts(frozenset(available), {name: row[f"n_{name}"] for name in counts})


def _needs(link: NavLink) -> Iterator[QuerySet[Any]]:
    """Yield what must exist for the link: a query for each need, of the outer dataset."""
    texts = Text.objects.filter(dataset=OuterRef("pk"))
    for kind in link.text_kinds:
        yield texts.filter(kind=kind)
    # From the raters: there are few, and the ratings of one under a rubric are found at once.
    rated = Rating.objects.filter(text__dataset=OuterRef(OuterRef("pk")))
    if link.rubrics:
        # By their keys: PostgreSQL joined the rubrics last, after all ratings of each rater.
        keys = list(Rubric.objects.filter(slug__in=link.rubrics).values_list("pk", flat=True))
        yield Rater.objects.filter(rated.filter(rubric__in=keys).exist_for_rater())
    for rater_kind in link.rater_kinds:
        yield Rater.objects.filter(rated.exist_for_rater(), kind=rater_kind)


def _number_of(rows: QuerySet[Any]) -> Coalesce:
    counted = rows.order_by().values("dataset").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _requested_params(query: QueryDict) -> dict[str, str]:
    values = {name: ",".join(query.getlist(name)) for name in (*SELECTION_PARAMS, *SCORING_PARAMS)}
    params = {name: value for name, value in values.items() if value}
    return {"judge": params["source"]} | params if "source" in params else params


def _current_params(selection: Selection | None, options: Any) -> dict[str, str]:
    if selection:
        # Parameters of another rubric are dropped.
        return {
            name: "" for name in SELECTION_PARAMS if name not in COMMON_PARAMS
        } | selection.params()
    return {"judge": options.source.name, "eta": str(options.eta)} if options else {}


def _link_url(
    dataset: Dataset, link: NavLink, current: str | None, params: Mapping[str, str]
) -> str:
    arguments: dict[str, Callable[[], list[str]]] = {
        "dataset": lambda: [dataset.slug],
        "project": lambda: [dataset.project.slug],
        "site": list,
    }
    url = reverse(link.url_name, args=arguments[link.scope]())
    query = _carried_params(link, current, params) | dict(parse_qsl(link.query))
    if link.scope == "site":
        query["dataset"] = dataset.slug
    return f"{url}?{urlencode(query)}" if query else url


def _carried_params(
    link: NavLink, current: str | None, params: Mapping[str, str]
) -> dict[str, str]:
    """Return the parameters that a link carries, by the names of its page."""
    names = PARAMS_OF[link.carries]
    query = {
        key: params["judge" if key == "source" else key]
        for key in names
        if params.get("judge" if key == "source" else key)
    }
    # Eta is a level of the rubric, and scores need one of these two rubrics.
    is_scored = params.get("rubric", GRADED.slug) in (GRADED.slug, ANSWERABLE.slug)
    if not is_scored and (link.carries == "selection") != _has_selection(current):
        query.pop("eta", None)
    if "judge" in names and params.get("judge") == "" and "rubric" in params:
        query["judge"] = ""  # the choice of no judge
    return query | {"carried": "1"} if query else query


def _has_selection(url_name: str | None) -> bool:
    links = (link for page in declared_pages().values() for link in page.links)
    return any(link.url_name == url_name and link.carries == "selection" for link in links)
