"""Help search: sections found, their order, and the excerpts."""

import pytest
from django.utils.safestring import SafeString

from crux_site.help.docs import Doc, Section
from crux_site.help.search import AROUND, find


def section(title: str, text: str) -> Section:
    return Section(title.lower(), title, 2, SafeString(""), text)


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
    assert [result.section.title for result in find([PAGE], query)] == titles


def test_excerpt_is_cut_between_words():
    head, tail = "abc " * AROUND, " xyz" * AROUND
    (result,) = find([Doc("long", (section("Long", f"{head}needle{tail}"),))], "needle")
    assert result.hit == "needle"
    assert result.before.startswith("… abc abc")
    assert result.before.endswith("abc ")
    assert result.after.startswith(" xyz")
    assert result.after.endswith("xyz …")
    assert len(result.before) + len(result.after) <= 2 * AROUND + 4


def test_heading_match_shows_beginning_of_section():
    (result, *_) = find([PAGE], "numbers")
    assert (result.before, result.hit, result.after) == ("", "", "Each of them.")
    assert result.url == "/help/numbers/#numbers"
