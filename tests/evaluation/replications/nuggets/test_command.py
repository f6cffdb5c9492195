"""manage.py nuggets"""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.evaluation.replications.nuggets.material import make_nuggets, make_questions

pytestmark = pytest.mark.django_db


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("nuggets", *arguments, stdout=out)
    return out.getvalue()


def test_systems_and_their_order(tmp_path):
    make_nuggets(tmp_path)
    make_questions(tmp_path)
    lines = printed("nuggets", "--beside", "questions").splitlines()
    assert lines[0] == "nuggets: support by model-a, importance by model-a"
    rows = {line.split()[0]: line.split()[1:] for line in lines if line[:1].isalpha()}
    assert rows["birch"] == ["0.500", "0.667", "0.750", "0.833", "3"]
    # The reports of birch, and how many of them are in each mean.
    next_line = lines[next(n for n, line in enumerate(lines) if line.startswith("birch")) + 1]
    assert next_line.split() == ["in", "the", "mean", "3", "3", "3", "3"]
    assert lines[-1].split() == ["0.800", "0.400", "0.548", "0.000", "4", "systems"]


def test_page_as_json(tmp_path, cast):
    make_nuggets(tmp_path)
    page = cast.client("researcher").get("/datasets/nuggets/nuggets.json?rules=authors").json()
    assert json.loads(printed("nuggets", "--rules", "authors", "--json")) == page


def test_without_assignments_it_says_so(dataset):
    lines = printed(dataset.slug).splitlines()
    assert "support by nobody, importance by nobody" in lines[0]
    assert "undefined, because none of its nuggets is assigned" in "\n".join(lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none",), "There is no dataset"),
        (("nuggets", "--rules", "mine"), "There are: paper, auth"),
    ],
)
def test_wrong_choice_is_answered_with_those_that_there_are(tmp_path, arguments, message):
    make_nuggets(tmp_path)
    with pytest.raises(CommandError, match=message):
        printed(*arguments)
