"""Queries of pages as forms."""

import pytest

from evaluation.data.query import EachOf, OneOf, QueryForm
from evaluation.data.selection import SelectionError


class Form(QueryForm):
    kind = OneOf("kind", ["tea", "salt"], initial="tea")
    grade = OneOf("grade", coerce=int)
    port = EachOf("port", ["ash", "elm"])

    def __init__(self, query):
        super().__init__(query)
        self.offer(grade=range(3))


@pytest.mark.parametrize("query", [{}, {"kind": "", "grade": "", "port": ","}, {"other": "1"}])
def test_what_is_not_asked_for_takes_its_default(query):
    assert Form(query).asked() == {"kind": "tea", "grade": None, "port": ()}


def test_what_is_asked_for():
    query = Form({"kind": "salt", "grade": "0", "port": "elm,ash"}).asked()
    assert query == {"kind": "salt", "grade": 0, "port": ("elm", "ash")}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"kind": "50%s"}, "There is no kind “50%s”. There are: tea, salt."),
        ({"grade": "3"}, "There is no grade “3”. There are: 0, 1, 2."),
        ({"port": "ash,oak"}, "There is no port “oak”. There are: ash, elm."),
        ({"port": "oak", "kind": "x"}, "There is no kind “x”. There are: tea, salt."),
    ],
)
def test_the_first_wrong_one_is_answered_with_what_there_is(query, message):
    with pytest.raises(SelectionError) as refused:
        Form(query).asked()
    assert str(refused.value) == message


def test_the_choices_of_one_form_are_not_those_of_the_next():
    Form({})
    assert Form.base_fields["grade"].choices == ()
