"""Migration 0006 removes stored probabilities that are not those of the grade, and counts them."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from judging.engine.fill import pump
from judging.engine.progress import progress_of
from judging.models import Attempt, Judge
from tests.judging.runs.material import Scripted, a_judge, a_run


def migrate() -> None:
    migration = import_module("judging.migrations.0006_grade_distributions")
    migration.remove_other_distributions(apps, SimpleNamespace(connection=connection))


@pytest.fixture
def run(dataset):
    run = a_run(a_judge("tiny"), dataset)
    pump(run, Scripted(), "gpu-1:7", batch=4)
    return run


def graded() -> list[Attempt]:
    return list(Attempt.objects.filter(state="graded").order_by("pk"))


def test_distributions_of_the_grade_stay(run, capsys):
    before = list(Attempt.objects.order_by("pk").values())
    assert len({row["expected_grade"] for row in before}) > 3
    migrate()
    assert list(Attempt.objects.order_by("pk").values()) == before
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "changed",
    [
        {"raw": "Rating: {grade}"},
        {"raw": "{grade}0 of them"},
        {"reasoning": "It names the year."},
        {"label_mass": 0.4},
        {"label_mass": None},
        {"probabilities": [0.4, None, None, None, None, 0.5]},
        {"probabilities": [None] * 6},
    ],
    ids=lambda changed: " ".join(f"{name} {value}" for name, value in changed.items()),
)
def test_other_distributions_are_removed_and_counted(run, capsys, changed):
    attempt = graded()[1]
    grade = attempt.grade
    values = {
        name: value.format(grade=grade) if isinstance(value, str) else value
        for name, value in changed.items()
    }
    Attempt.objects.filter(pk=attempt.pk).update(**values)
    n = len(graded())
    migrate()
    attempt.refresh_from_db()
    assert (attempt.grade, attempt.state) == (grade, "graded")
    assert (attempt.probabilities, attempt.expected_grade, attempt.label_mass) == (None, None, None)
    assert Attempt.objects.filter(expected_grade__isnull=False).count() == n - 1
    assert (
        f"probabilities of 1 replies were not those of their grades and are removed; {n - 1}"
        in (capsys.readouterr().out)
    )
    progress = progress_of(run)
    others = [row.expected_grade - row.grade for row in graded() if row.expected_grade is not None]
    assert (progress.n_expected, progress.n_without_expected) == (n - 1, 1)
    assert progress.drift == pytest.approx(sum(others) / len(others))


def test_shares_of_samples_stay_and_those_of_failures_go(run):
    Judge.objects.update(sampling={"max_tokens": 9, "extra": {"n": 5}})
    first = graded()[0]
    Attempt.objects.filter(pk=first.pk).update(raw=f"[1 of 5]\n{first.grade}")
    failed = Attempt.objects.exclude(state="graded").first()
    Attempt.objects.filter(pk=failed.pk).update(
        probabilities=[0.9, 0, 0, 0, 0, 0], expected_grade=0.0, label_mass=0.9
    )
    migrate()
    first.refresh_from_db()
    failed.refresh_from_db()
    assert first.expected_grade is not None
    assert failed.expected_grade is None


def test_run_page_counts_graded_replies_without_probabilities(rosa, run):
    attempt = graded()[0]
    Attempt.objects.filter(pk=attempt.pk).update(label_mass=0.1)
    migrate()
    page = rosa.get(run.get_absolute_url()).content.decode()
    assert "1 graded reply has no expected grade" in " ".join(page.split())
