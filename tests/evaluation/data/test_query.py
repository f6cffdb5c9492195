"""Queries of pages: values, query strings, and choices."""

import pytest
from django.http import QueryDict

from evaluation.data.query import Joined, OneOf, PageQuery, SubsetOf, Switch, number, parameter
from evaluation.data.selection import SelectionError


class Query(PageQuery):
    kind: str = parameter(OneOf("kind", {"tea": "black tea", "salt": "sea salt"}, initial="tea"))
    grade: int | None = parameter(OneOf("grade", coerce=int))
    ports: tuple[str, ...] = parameter(SubsetOf("port", ["ash", "elm"]), "port")
    size: float = parameter(number("A size is 1 to 9.", 1, 9, initial=2.5))

    def __init__(self, params):
        super().__init__(params, grade=range(3))


class GivenQuery(Query):
    only_given = True
    unparsed = ("rubric",)

    first: str = parameter(OneOf("letter", ["a", "b"], takes_first=True))
    names: str = parameter(Joined(required=False), "with")
    is_open: bool = parameter(Switch("1"), "open")


@pytest.mark.parametrize("params", [{}, {"kind": "", "grade": "", "port": ","}, {"other": "1"}])
def test_missing_parameter_takes_its_default(params):
    assert Query(params).values == {"kind": "tea", "grade": None, "port": (), "size": 2.5}


def test_attributes_are_parsed_values():
    query = Query({"kind": "salt", "grade": "0", "port": "elm,ash", "size": "3"})
    assert (query.kind, query.grade, query.ports, query.size) == ("salt", 0, ("elm", "ash"), 3.0)
    assert query.cache_key == ("salt", 0, ("elm", "ash"), 3.0)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kind": "50%s"}, "There is no kind “50%s”. There are: tea, salt."),
        ({"grade": "3"}, "There is no grade “3”. There are: 0, 1, 2."),
        ({"port": "ash,oak"}, "There is no port “oak”. There are: ash, elm."),
        ({"port": "oak", "kind": "x"}, "There is no kind “x”. There are: tea, salt."),
        ({"size": "10"}, "A size is 1 to 9."),
        ({"size": "nan"}, "A size is 1 to 9."),
    ],
)
def test_first_wrong_parameter_is_refused_with_the_choices(params, message):
    with pytest.raises(SelectionError) as refused:
        Query(params).parse()
    assert str(refused.value) == message


def test_query_string_has_all_values_with_changes():
    query = Query({"grade": "0", "port": "elm,ash", "size": "0.3e1"})
    assert query.query() == "kind=tea&grade=0&port=elm%2Cash&size=3"
    assert query.query(kind=None, page=2) == "grade=0&port=elm%2Cash&size=3&page=2"
    assert query.replace(size=3 * 0.05).query() == "kind=tea&grade=0&port=elm%2Cash&size=0.15"


def test_query_string_of_given_parameters_has_no_defaults():
    params = QueryDict("size=&kind=tea&rubric=graded&carried=1&with=x&with=y&open=2")
    query = GivenQuery(params)
    assert query.query() == "rubric=graded&kind=tea&with=x&with=y&open=2"
    assert (query.first, query.names, query.is_open) == ("a", "x,y", False)


def test_choices_and_labels_are_those_of_the_query():
    query = GivenQuery({"kind": "salt"})
    assert query.choices["kind"] == [("tea", "black tea"), ("salt", "sea salt")]
    assert query.choices["grade"] == [("0", "0"), ("1", "1"), ("2", "2")]
    assert (query.labels["kind"], query.labels["grade"]) == ("sea salt", "")


def test_replace_changes_a_copy():
    query = Query({"kind": "salt"})
    assert query.replace(kind="tea").kind == "tea"
    assert query.kind == "salt"


def test_subclass_does_not_change_the_parameters_of_its_base():
    assert list(Query.base_fields) == ["kind", "grade", "port", "size"]
    assert list(GivenQuery.base_fields) == [*Query.base_fields, "first", "with", "open"]


def test_choices_of_one_query_are_not_those_of_the_next():
    Query({})
    assert Query.base_fields["grade"].choices == ()
