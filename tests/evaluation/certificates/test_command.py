"""manage.py certificate: prints what it stores, and refuses with the reason."""

import json

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Certificate
from tests.toolbox.certificate_study import make_certificate_study


@pytest.fixture
def study(db):
    return make_certificate_study()


def run(capsys, *options) -> str:
    call_command("certificate", "bay", "--rubric", "graded", *options)
    return capsys.readouterr().out


def test_result_is_printed_and_stored(study, capsys):
    printed = run(capsys, "--judge", "near", "--epsilon", "0.1")
    assert printed.startswith("Holds: near may stand in for a person on The bay")
    assert "winning rate 1.00, by pairs 1.00" in printed
    assert "ann: passes; difference " in printed
    assert "ε = 0.1, set in advance" in printed
    certificate = Certificate.objects.get()
    assert (certificate.is_certified, certificate.created_by) == (True, None)
    assert certificate.parameters["epsilon"] == 0.1


def test_people_are_chosen_by_name(study, capsys):
    printed = json.loads(run(capsys, "--judge", "near", "--people", "ann,cat", "--json"))
    assert printed["parameters"]["people"] == ["ann", "cat"]
    assert [person["name"] for person in printed["result"]["people"]] == ["ann", "cat"]
    assert printed["state"] in ("holds", "not shown")


def test_failed_test_says_what_is_missing(study, capsys):
    printed = run(capsys, "--judge", "far")
    assert printed.startswith("Not shown: far was not shown to be able to stand in")
    assert "More labels will not help." in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judge", "nobody"], "nobody"),
        (["--judge", "near", "--people", "ann"], "The test needs 2 people, and 1 graded."),
        (["--judge", "near", "--epsilon", "7"], "Margin ε: give a number from 0 to 1, not 7."),
        (["--judge", "near", "--bias-margin", "x"], "Margin of bias: give a number"),
    ],
)
def test_invalid_options_are_refused_and_store_nothing(study, capsys, options, message):
    with pytest.raises(CommandError, match=message):
        run(capsys, *options)
    assert not Certificate.objects.exists()


def test_unknown_dataset_is_refused(db):
    with pytest.raises(CommandError, match="There is no dataset"):
        call_command("certificate", "nothing", "--rubric", "graded", "--judge", "x")
