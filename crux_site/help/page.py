"""Access rules of the help pages, and the first page by role."""

from django.conf import settings
from django.contrib.auth.models import AnonymousUser

from annotation.models import User
from crux_site.help.docs import INDEX, INTRODUCTION, Doc, Section, doc, paths

FOR_EVERYBODY = (INTRODUCTION, "comparison")
FOR_WORKERS = "workers"
TOUR = "tour"  # of the demo, whose log-in page leads to it
OWN_SECTION = {True: "for-admins", False: "for-researchers"}

Reader = User | AnonymousUser


def may_read(reader: Reader, name: str) -> bool:
    """Return True if the reader may open the page.

    Researchers and admins read all, workers the page for workers; everybody, the introduction.
    """
    if reader.is_authenticated and reader.is_researcher:
        return True
    if reader.is_authenticated and name == FOR_WORKERS:
        return True
    return name in FOR_EVERYBODY or (settings.DEMO and name == TOUR)


def first_page(reader: Reader) -> str:
    if not reader.is_authenticated:
        return INTRODUCTION
    return INDEX if reader.is_researcher else FOR_WORKERS


def index_sections(is_admin: bool) -> list[Section]:
    """Return the sections of the index, with those for the reader's role first."""
    head, *sections = doc(INDEX).sections
    return [head, *sorted(sections, key=lambda section: section.anchor != OWN_SECTION[is_admin])]


def all_docs() -> list[Doc]:
    return [doc(name) for name in paths()]
