"""Tables of result pages: order, letters of undefined values, columns left out."""

import re

import pytest
from django.http import QueryDict
from django.template import Context, Template
from django.test import RequestFactory

from evaluation.page_tables import Order, breakable, order_rows, requested_order, sort_rows
from evaluation.stats.estimate import Estimate

WITHOUT_TOPIC = "undefined, because no topic has a value"
TABLE = Template(
    """{% load results_table %}
{% results_table "pairs" "Pairs" order=order remedy=remedy empty="No pair." is_main=is_main %}
  {% export "/pairs.csv?eta=3" "Pairs" %}
  {% column "name" "Name" %}
  {% number_column "kappa" "κ" %}
  {% number_column "alpha" "α" %}
  {% number_column "n" "n" %}
  {% for name, kappa, alpha, n in rows %}
    {% row %}
      {% name_cell name %}
      {% number kappa "/pairs/" n=True %}
      {% number alpha %}
      {% count n %}
    {% endrow %}
  {% endfor %}
  {% table_note %}A note.{% endtable_note %}
{% endresults_table %}"""
)


def value(number: float, **more) -> Estimate:
    return Estimate(number, None, 12, **more)


def no_value(reason: str = WITHOUT_TOPIC) -> Estimate:
    return Estimate(None, reason, 0)


ROWS = [
    ("b", value(0.5, low=0.25, high=0.75), no_value(), 2),
    ("A", no_value(), no_value(), 1),
    ("c", value(0.7, missing=1), no_value(), 0),
]


def rendered(query="", rows=ROWS, order="", remedy="", is_main=False) -> str:
    request = RequestFactory().get(f"/page/{query}")
    names = {"rows": rows, "order": order, "remedy": remedy, "is_main": is_main}
    return TABLE.render(Context({"request": request, **names}))


def first_column(page: str) -> list[str]:
    return re.findall(r'<th scope="row"[^>]*>([^<]*)', page)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", "b A c"),
        ("?sort=pairs:-kappa", "c b A"),
        ("?sort=pairs:kappa", "b c A"),
        ("?sort=pairs:name", "A b c"),
        ("?sort=pairs:-name", "c b A"),
        ("?sort=pairs:n", "c A b"),
        ("?sort=others:-kappa", "b A c"),
        ("?sort=pairs:rows.0", "b A c"),
        ("?sort=-kappa", "b A c"),
    ],
)
def test_rows_follow_the_column_in_the_url(query, names):
    assert first_column(rendered(query)) == names.split()


def test_order_without_a_table_is_that_of_the_main_table():
    assert first_column(rendered("?sort=-kappa", is_main=True)) == ["c", "b", "A"]


def test_initial_order_is_marked_and_replaced_by_the_url():
    page = rendered(order="-kappa")
    assert first_column(page) == ["c", "b", "A"]
    assert page.count("aria-sort") == 1
    assert first_column(rendered("?sort=pairs:kappa", order="-kappa")) == ["b", "c", "A"]


def test_sort_links_keep_other_parameters_and_reverse_the_order():
    page = rendered("?eta=3&raters=a&raters=b&page=4&sort=pairs:-kappa")
    assert 'href="?eta=3&amp;raters=a&amp;raters=b&amp;sort=pairs:kappa#pairs"' in page
    assert 'href="?eta=3&amp;raters=a&amp;raters=b&amp;sort=pairs:-n#pairs"' in page
    assert 'href="?eta=3&amp;raters=a&amp;raters=b&amp;sort=pairs:name#pairs"' in page
    assert re.search(r'aria-sort="descending"\s*>\s*<a[^>]*>κ', page)


def test_undefined_value_has_the_letter_of_its_reason():
    second = "undefined, because the highlights leave no character"
    page = rendered(rows=[*ROWS, ("d", no_value(second), value(0.1), 0)])
    assert page.count('href="#pairs-why-a" aria-label="undefined: a"') == 4
    assert page.count('href="#pairs-why-b"') == 1
    assert '<li id="pairs-why-a"><i>a</i> Undefined, because no topic has a value.</li>' in page
    assert page.count("Undefined, because no topic has a value.") == 1


def test_column_without_a_value_is_left_out_and_named():
    page = rendered()
    assert "pairs:-alpha" not in page
    assert "Column without a value: α. Undefined, because no topic has a value." in page


def test_table_without_a_value_is_a_sentence():
    rows = [("b", no_value(), no_value(), 0)]
    page = rendered(rows=rows, remedy="Choose another rubric.")
    assert "<table" not in page
    assert "Undefined, because no topic has a value. Choose another rubric." in page
    assert "Columns without a value: κ, α." in rendered(rows=rows)  # its counts say something


def test_table_without_rows_is_a_sentence():
    page = rendered(rows=[])
    assert "<table" not in page
    assert "No pair." in page


def test_number_has_its_link_interval_n_and_missing():
    page = rendered()
    assert '<a href="/pairs/">0.50</a> <small class="limits">[0.25, 0.75]</small>' in page
    assert '<small class="counts">n = 12</small>' in page
    assert '<small class="counts">n = 12, 1 missing</small>' in page
    assert '<small class="limits">no interval</small>' in page


def test_head_has_the_files_and_the_note_is_below():
    page = rendered()
    for ending, name in (("csv", "CSV"), ("json", "JSON"), ("tex", "LaTeX")):
        assert f'href="/pairs.{ending}?eta=3" aria-label="Pairs, as {name}">{name}' in page
    assert 'data-copy="/pairs.tex?eta=3"' in page
    assert page.index("</table>") < page.index("A note.")


def test_names_are_escaped_and_break_at_their_joints():
    page = rendered(rows=[("<b>.first_stage/bm25-top", value(1), value(1), 1)])
    assert "<b>" not in page
    assert "&lt;b&gt;.<wbr>first_<wbr>stage/<wbr>bm25-top" in page
    assert breakable("a...b and eighteen more") == "a...<wbr>b and eighteen more"
    assert breakable("fact_single") == "fact_single"


WIDE = Template(
    """{% load results_table %}
{% results_table "wide" "Wide" n_keys=n_keys %}
  {% column "name" "Name" %}
  {% number_column "a" "a" "Alpha" %}
  {% number_column "b" "b" "Alpha" %}
  {% number_column "c" "c" %}
  {% number_column "d" "d" %}
  {% row %}{% name_cell name %}{% number x %}{% number x %}{% number x %}{% number x %}{% endrow %}
{% endresults_table %}"""
)


@pytest.mark.parametrize(
    ("query", "name", "secondary"),
    [
        ("", "bm25", ["d"]),
        ("?sort=wide:-d", "bm25", ["c"]),
        ("?sort=wide:-d", "a-long-name-of-a-system", ["c"]),
    ],
)
def test_phone_shows_the_first_columns_and_that_of_the_order(query, name, secondary):
    request = RequestFactory().get(f"/page/{query}")
    x = value(0.5, low=0.25, high=0.75)
    page = WIDE.render(Context({"request": request, "name": name, "n_keys": 1, "x": x}))
    heads = re.findall(r"<th[^>]*secondary[^>]*>\s*(?:<a[^>]*>)?(\w+)", page)
    assert heads == secondary
    n = sum(label != "Alpha" for label in secondary)
    assert page.count('<td class="number secondary">') == n
    assert f"All columns ({n} more)" in page


def test_phone_shows_all_columns_that_name_a_row():
    request = RequestFactory().get("/page/")
    x = value(0.5, low=0.25, high=0.75)
    page = WIDE.render(Context({"request": request, "name": "bm25", "n_keys": 5, "x": x}))
    assert "secondary" not in page


def test_table_that_fits_a_phone_has_no_choice_of_columns():
    page = rendered()
    assert "All columns" not in page
    assert "secondary" not in page


def test_row_without_a_cell_is_refused():
    broken = Template(
        "{% load results_table %}{% results_table 'x' 'X' %}{% column 'a' 'A' %}"
        "{% row %}{% endrow %}{% endresults_table %}"
    )
    with pytest.raises(ValueError, match="table x has 1 columns, its row 0 cells"):
        broken.render(Context({"request": RequestFactory().get("/")}))


def test_matrix_keeps_its_markup_and_lists_its_reasons():
    matrix = Template(
        "{% load results_table %}{% results_table 'taus' css='taus' %}{% table_title %}τ{% endtable_title %}"
        "<tbody><tr><td>{% undefined_mark reason %}</td></tr></tbody>{% endresults_table %}"
    )
    page = matrix.render(
        Context({"request": RequestFactory().get("/"), "reason": "undefined, because tied"})
    )
    assert '<h2 id="taus-title">τ</h2>' in page
    assert 'href="#taus-why-a"' in page
    assert "Undefined, because tied." in page


def test_rows_of_several_pages_are_sorted_by_their_values():
    rows, order = order_rows(
        QueryDict("sort=topics:-first"), "topics", [1.0, None, 2.0], {"first": lambda row: row}
    )
    assert rows == [2.0, 1.0, None]
    assert order.order == Order("first", True)
    rows, order = order_rows(
        QueryDict("sort=topics:__class__"), "topics", [1.0, None], {"first": lambda row: row}
    )
    assert (rows, order.order) == ([1.0, None], None)


def test_equal_values_keep_their_order_in_both_directions():
    rows = [("a", 1), ("b", None), ("c", 1), ("d", 2)]
    for falls, names in ((False, "acdb"), (True, "dacb")):
        ordered = sort_rows(rows, Order("n", falls), lambda row: row[1])
        assert "".join(name for name, _ in ordered) == names


def test_requested_order_is_one_of_the_columns():
    params = QueryDict("sort=systems:-coverage")
    assert requested_order(params, "systems", ["coverage"]) == Order("coverage", True)
    assert requested_order(params, "systems", ["recall"]) is None
