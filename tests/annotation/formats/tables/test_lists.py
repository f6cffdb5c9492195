"""Lists in a cell, as JSON, Python and numpy write them."""

import pytest

from annotation.formats.tables.lists import MAX_ITEMS, ListError, is_list, items_of


@pytest.mark.parametrize(
    ("cell", "items"),
    [
        (None, []),
        ("", []),
        ("[]", []),
        ("plain words", ["plain words"]),
        ('["a", "b"]', ["a", "b"]),
        ("['a', \"it's\"]", ["a", "it's"]),
        ("['one two' 'three']", ["one two", "three"]),
        ("array(['a', 'b'], dtype=object)", ["a", "b"]),
        ("['a\\'b', 'c\\nd', '\\u00e9', '\\x41']", ["a'b", "c\nd", "é", "A"]),
        ("['a'\n 'b']", ["a", "b"]),
        (["x", 1], ["x", 1]),
        ("('a', 'it\\'s')", ["a", "it's"]),
        ("('a',)", ["a"]),
        ("('a' and b)", ["('a' and b)"]),
        ("[1] A note.", ["[1] A note."]),
        ("['a', None, nan]", ["a", None, None]),
        ('[{"text": "a"}]', [{"text": "a"}]),
        ("[nan, 'a']", [None, "a"]),
        ("[{'id': 7, 'text': \"it's\", 'x': None}]", [{"id": 7, "text": "it's", "x": None}]),
        (
            "[Document(id='7', metadata={'page': 1, 'text': 'no (1)'}, page_content='a (b'), "
            'Document(page_content="it\'s")]',
            ["a (b", "it's"],
        ),
    ],
)
def test_items(cell, items):
    assert items_of(cell) == items


@pytest.mark.parametrize(
    "cell",
    [
        "[Music plays]",
        "[Music, applause]",
        "[1] Marsh says so [2]",
        "[1] As in [Marsh 2019]",
        "[It's raining]",
        "[open('x')]",
        "[...]",
    ],
)
def test_words_in_square_brackets_are_one_item(cell):
    assert items_of(cell) == [cell]
    assert not is_list(cell)


def test_names_in_square_brackets_are_items_where_names_are_expected():
    assert items_of("[d1, d2]", are_names=True) == ["d1", "d2"]
    assert items_of("[3 14]", are_names=True) == ["3", "14"]


def test_separator_is_by_the_mapping_alone():
    assert items_of("a|b | c", "|") == ["a", "b", "c"]
    assert items_of("a|b") == ["a|b"]


@pytest.mark.parametrize(
    "cell",
    [
        "['a', 'b",
        '["a", "b',
        "['a', 'b]",
        "['a' ... 'b']",
        "[('a', 'b')]",
        "['a', b]",
        "array('a', 'b'])",
        "[Document(text='a']",
    ],
)
def test_broken_lists_are_refused(cell):
    with pytest.raises(ListError):
        items_of(cell)


def test_code_is_not_evaluated():
    assert items_of("[__import__, os]", are_names=True) == ["__import__", "os"]
    with pytest.raises(ListError):
        items_of("[open('x')]", are_names=True)


def test_long_lists_are_refused():
    with pytest.raises(ListError, match="1,000"):
        items_of(["x"] * (MAX_ITEMS + 1))
