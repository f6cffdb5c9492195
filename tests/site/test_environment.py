"""Settings from the environment: right, or refused with their name before anything runs."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from crux_site import environment


def test_what_is_right_is_read(monkeypatch):
    monkeypatch.setenv("SOME", "a=http://h/v1?x=1  b=2")
    assert environment.by_name("SOME") == {"a": "http://h/v1?x=1", "b": "2"}
    monkeypatch.setenv("SOME", '{"n": 2}')
    assert environment.json_object("SOME") == {"n": 2}
    monkeypatch.setenv("SOME", " 7 ")
    assert environment.whole_number("SOME", 3) == 7


@pytest.mark.parametrize("value", [None, ""])
def test_what_is_not_there_is_as_usual(monkeypatch, value):
    monkeypatch.delenv("SOME", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME", value)
    assert environment.by_name("SOME") == {}
    assert environment.json_object("SOME") == {}
    assert environment.whole_number("SOME", 3) == 3


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (environment.by_name, "nonsense"),
        (environment.by_name, "a=1 b="),
        (environment.json_object, "{bad"),
        (environment.json_object, "[1]"),
        (lambda name: environment.whole_number(name, 3), "two"),
        (lambda name: environment.whole_number(name, 3), "0"),
        (lambda name: environment.whole_number(name, 3), "-1"),
    ],
)
def test_what_is_wrong_is_named(monkeypatch, read, value):
    monkeypatch.setenv("SOME", value)
    with pytest.raises(ImproperlyConfigured, match=r"^SOME"):
        read("SOME")
