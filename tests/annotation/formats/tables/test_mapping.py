"""Mappings: form, constants, and names of columns."""

import pytest

from annotation.formats.tables.mapping import (
    MappingError,
    column_header,
    levels_of,
    parse_mapping,
    read_mapping,
)

TABLE = {"columns": {"q": "topic.request", "p": "text.body", "g": {"role": "grade", "rater": "a"}}}


def test_mapping_survives_its_json():
    value = {"version": 1, "tables": [TABLE], "rubrics": {"r": {"levels": [0, 1], "eta": 1}}}
    mapping = parse_mapping(value)
    assert parse_mapping(mapping.as_json()) == mapping


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "tables"),
        ({"tables": []}, "tables"),
        ({"tables": [{"columns": {"a": "grad"}}]}, "did you mean grade"),
        ({"tables": [{"columns": {"a": "rater", "b": "rater"}}]}, "two columns are rater"),
        (
            {"tables": [{"columns": {}, "constants": {"colour": "red"}}]},
            "there is no role 'colour'",
        ),
        ({"tables": [{"columns": {}, "constants": {"text.kind": "poem"}}]}, "passage, report"),
        ({"tables": [{"columns": {}, "typo": 1}]}, "typo"),
        ({"version": 9, "tables": [TABLE]}, "version 9"),
        ({"tables": [TABLE], "rubrics": {"r": {"levels": "x"}}}, "rubrics.r.levels"),
        ({"tables": [{"columns": {"a": {"role": "grade", "colour": "x"}}}]}, "'colour'"),
        ([], "valid dictionary"),
    ],
)
def test_wrong_part_is_named(value, words):
    with pytest.raises(MappingError, match=words):
        parse_mapping(value)


def test_broken_json_is_a_mapping_error():
    with pytest.raises(MappingError, match="broken JSON"):
        read_mapping("{")
    with pytest.raises(MappingError, match="broken JSON"):
        read_mapping("[" * 5000)


def test_constants_win_over_those_of_the_mapping():
    mapping = parse_mapping({"tables": [TABLE | {"constants": {"rubric": "old", "system": "s"}}]})
    changed = mapping.with_constants({"rubric": "new", "levels": "1-3"})
    assert changed.tables[0].constants == {"rubric": "new", "system": "s"}
    assert changed.rubrics["new"].levels == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "levels"),
    [("1-5", [1, 2, 3, 4, 5]), ("0,1,2", [0, 1, 2]), ("cold, warm", {"cold": 0, "warm": 1})],
)
def test_levels(text, levels):
    assert levels_of(text) == levels


@pytest.mark.parametrize("text", ["", "5-1", "1", "1-5000", "warm"])
def test_other_texts_are_no_levels(text):
    with pytest.raises(MappingError):
        levels_of(text)


def test_header_is_found_without_white_space():
    assert column_header("Name ", ["Name"], "t.csv") == "Name"
    with pytest.raises(MappingError, match="did you mean 'Name'"):
        column_header("Nmae", ["Name", "Grade"], "t.csv")
