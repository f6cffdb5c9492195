"""Which sections a search finds, in which order, and the words around."""

import pytest
from django.utils.safestring import SafeString

from crux_site.help.docs import Doc, Section
from crux_site.help.search import AROUND, find


def section(title: str, words: str) -> Section:
    return Section(title.lower(), title, 2, SafeString(""), words)


PAGE = Doc(
    "numbers",
    (
        section("Numbers", "Each of them."),
        section("Kappa", "Falls where one answer prevails.\nSee prevalence."),
        section("Prevalence", "Moves kappa, and kappa alone."),
        section("Beta", "Not eta-like, but of metadata; kappa too, kappa, kappa, kappa."),
    ),
)


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("prevalence kappa", ["Prevalence", "Kappa"]),  # in one heading each; 3 places before 2
        ("KAPPA", ["Kappa", "Beta", "Prevalence"]),  # the heading, then 4 and 2 places
        ("eta", ["Beta"]),  # begins a word there; in the heading and in "metadata" it does not
        ("eta-like", ["Beta"]),
        ("preva answer", ["Kappa"]),
        ("them", ["Numbers"]),
        ("kappa zebra", []),
        ("  ", []),
        (".*", []),
    ],
)
def test_sections_with_all_words_best_first(query, titles):
    assert [found.section.title for found in find([PAGE], query)] == titles


def test_words_around_are_cut_between_words():
    before, after = "abc " * AROUND, " xyz" * AROUND
    (found,) = find([Doc("long", (section("Long", f"{before}needle{after}"),))], "needle")
    assert found.hit == "needle"
    assert found.before.startswith("… abc abc")
    assert found.before.endswith("abc ")
    assert found.after.startswith(" xyz")
    assert found.after.endswith("xyz …")
    assert len(found.before) + len(found.after) <= 2 * AROUND + 4


def test_where_the_heading_alone_has_it_the_section_begins():
    (found, *_) = find([PAGE], "numbers")
    assert (found.before, found.hit, found.after) == ("", "", "Each of them.")
    assert found.url == "/help/numbers/#numbers"
