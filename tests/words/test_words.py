"""Linter of plain words: what it finds, and that its counts only fall."""

import subprocess
import sys
from collections import Counter

import pytest

from tests.words.__main__ import rises, written
from tests.words.checks import (
    ROOT,
    check_docs,
    check_python,
    check_template,
    commit_problem,
    is_vague,
)


def findings(units):
    return [(unit.finding.check, unit.finding.line) for unit in units if unit.finding]


@pytest.mark.parametrize(
    "name", ["held", "_words", "whatIsShown", "as_it_is_given", "WANTED", "of_each"]
)
def test_name_of_vague_words_is_found(name):
    assert is_vague(name)


@pytest.mark.parametrize("name", ["grades", "held_leases", "word_count", "n", "of", "__all__"])
def test_name_with_a_noun_of_the_field_passes(name):
    assert not is_vague(name)


def test_python_findings_name_check_and_line():
    source = (
        '"""What is held."""\n\n\ndef shown(words, grade):\n    found = grade\n    return found\n\n\n'
        'class Grade:\n    """Grade of a pair."""\n'
    )
    assert findings(check_python("held.py", source)) == [
        ("modules", 1),
        ("docstrings", 1),
        ("functions", 4),
        ("parameters", 4),
        ("variables", 5),
    ]


def test_docstring_first_line_over_the_limit_is_found():
    source = f'"""{"Grades " * 13}."""\n'
    assert findings(check_python("bench/coverage.py", source)) == [("docstring lengths", 1)]


def test_test_name_is_checked_only_under_tests():
    source = "def test_a_grade_is_stored():\n    pass\n"
    assert findings(check_python("tests/words/checks.py", source)) == [("tests", 1)]
    assert findings(check_python("bench/coverage.py", source)) == []


def test_heading_and_button_are_found_without_template_tags():
    source = (
        "<h1>{{ dataset.title }}</h1>\n<h2>What is <em>in</em> it</h2>\n"
        '<button class="x">{% translate "Make it" %}</button>\n<button>Save</button>\n'
    )
    assert findings(check_template("templates/base.html", source)) == [
        ("headings", 2),
        ("buttons", 3),
    ]


def test_names_that_a_template_assigns_are_found():
    source = (
        "{% for row, said in rows %}{{ what }}{% endfor %}\n"
        '{% with found=kappa rater=row %}{% include "a.html" with here="b" %}{% endwith %}\n'
        "{% pairs_url selection as drawn %}\n"
    )
    path = "/".join(("templates", "evaluation", "_words.html"))  # of no file
    listed = findings(check_template(path, source))
    assert sorted(listed) == [
        ("template files", 1),
        *(("template names", line) for line in (1, 2, 2, 3)),
    ]


def test_banned_phrase_in_code_marks_is_certified_over():
    assert findings(check_docs("docs/terms.md", "It is mended.\nSee `mend`.\n")) == [("docs", 1)]


@pytest.mark.parametrize(
    "message",
    [
        "scoring: cache pools independently of the cutoff\n\nWhat was held.",
        "Add a linter of plain words",
        "Merge branch 'x'",
        "annotation/task: fix the order of spans",
    ],
)
def test_commit_subject_of_the_form_passes(message):
    assert commit_problem(message) == ""


@pytest.mark.parametrize(
    "message",
    ["What is held is shown", "An edit", "x" * 73, "", "fixed a thing", "Add " + "y" * 70],
)
def test_other_commit_subject_is_refused(message):
    assert commit_problem(message)


def test_ratchet_refuses_a_rise_and_takes_a_fall():
    counts = {"modules": Counter({"judging": 2, "annotation": 1}), "tests": Counter({"tests": 1})}
    assert rises(counts, {"modules": {"judging": 2, "annotation": 3}}) == [("tests", "tests")]
    assert '["modules"]\n"annotation" = 1\n"judging" = 2' in written(counts)


def test_commit_message_hook_says_why(tmp_path):
    message = tmp_path / "message"
    message.write_text("What was held is shown\n", "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "tests.words", "--commit-msg", str(message)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, "scope" in ran.stderr) == (1, True)


def test_unknown_check_is_refused():
    ran = subprocess.run(
        [sys.executable, "-m", "tests.words", "--list", "nothing"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, "There is no check 'nothing'" in ran.stderr) == (2, True)
