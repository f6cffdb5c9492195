"""Versions of raters: every write of ratings draws a new one, in the database itself."""

import os
import shutil
import subprocess
import sys
from threading import Barrier

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Sum

from annotation.models import NuggetSpan, Rater, Rating, RatingVersion, SubQuestion, Text
from annotation.models.standard import GRADED, add_standard
from tests.toolbox.concurrent_clients import at_once
from tests.toolbox.factories import make_dataset

MIGRATIONS = """
from django.core.management import call_command
from annotation.models import Rater, Rating, RatingVersion
def triggers():
    from django.db import connection
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%version%'")
        return cursor.fetchone()[0]
print(triggers())
call_command("migrate", "annotation", "0015", verbosity=0)  # alters the table of ratings
print(triggers())
call_command("migrate", verbosity=0)
print(triggers())
"""


@pytest.fixture
def study(db):
    return make_study()


def make_study():
    dataset = make_dataset()
    raters = [Rater.objects.create(dataset=dataset, name=name, kind="model") for name in "ab"]
    text = Text.objects.filter(kind="passage").first()
    questions = list(SubQuestion.objects.order_by("pk"))
    grades = [(text.pk, question.pk, 1) for question in questions]
    return raters, add_standard(GRADED).pk, grades


def rows():
    """Rows of raters that are there: those of deleted ones may stay."""
    return RatingVersion.objects.filter(rater_id__in=Rater.objects.values("pk")).order_by(
        "rater_id"
    )


def tokens():
    return dict(rows().values_list("rater_id").annotate(token=Sum("token")))


def test_each_kind_of_write_draws_for_its_rater_alone(study):
    (a, b), rubric, grades = study
    Rating.objects.add_many(b.pk, rubric, grades)
    of_b = tokens()[b.pk]
    pair = {"rater_id": a.pk, "rubric_id": rubric, "text_id": grades[0][0]}
    question = grades[0][1]

    def span():
        return NuggetSpan.objects.create(
            rating=Rating.objects.get(rater=a), position=0, start=0, end=2
        )

    versions = []
    for write in (
        lambda: Rating.objects.add_many(a.pk, rubric, grades[:1]),
        lambda: Rating.objects.filter(rater=a).update(grade=3),
        span,
        lambda: NuggetSpan.objects.update(end=3),
        lambda: NuggetSpan.objects.all().delete(),
        lambda: Rating.objects.filter(rater=a).delete(),
        # Ignored conflicts of ratings are none of the version's.
        lambda: Rating.objects.bulk_create(
            [Rating(**pair, question_id=question, grade=2)], ignore_conflicts=True
        ),
        lambda: Rating.objects.record(
            rater=a.pk, rubric=rubric, text=pair["text_id"], question=question, grade=4
        ),
        span,
        lambda: Rating.objects.filter(rater=a).delete(),  # with its span
        lambda: Rating.objects.add_from(
            a.pk, rubric, "SELECT %s, %s, %s", [pair["text_id"], question, 1]
        ),
    ):
        write()
        versions.append(tokens()[a.pk])
    assert len(set(versions)) == len(versions)
    assert tokens()[b.pk] == of_b


@pytest.mark.django_db(transaction=True)
def test_transactions_of_the_same_raters_in_opposite_order_do_not_wait():
    (a, b), rubric, grades = make_study()
    both_have_written = Barrier(2)

    def grade(raters, question):
        with transaction.atomic():
            Rating.objects.add_many(raters[0].pk, rubric, grades[question : question + 1])
            if connection.vendor == "postgresql":  # SQLite has one writer at a time
                both_have_written.wait(20)
            Rating.objects.add_many(raters[1].pk, rubric, grades[question : question + 1])

    versions = tokens()
    outcomes = at_once(lambda: grade((a, b), 0), lambda: grade((b, a), 1))
    assert [outcome.error for outcome in outcomes] == [None, None]
    assert Rating.objects.count() == 4
    assert set(tokens()) == {a.pk, b.pk}
    assert not set(tokens().values()) & set(versions.values())


@pytest.mark.django_db(transaction=True)
def test_versions_are_one_row_a_rater_after_the_next_write():
    (a, b), rubric, grades = make_study()
    for question in range(2):
        at_once(
            lambda question=question: Rating.objects.add(a.pk, rubric, grades[question:][:1]),
            lambda question=question: Rating.objects.add(b.pk, rubric, grades[question:][:1]),
        )
    Rating.objects.filter(rater__in=[a, b]).update(grade=0)
    assert list(rows().values_list("rater_id", flat=True)) == [a.pk, b.pk]


def test_migrations_that_alter_ratings_leave_the_triggers(tmp_path, migrated_database):
    database = shutil.copyfile(migrated_database, tmp_path / "one.sqlite3")
    env = os.environ | {
        "DATABASE_URL": f"sqlite:///{database}",
        "VAR_DIR": str(tmp_path),
    }
    process = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v0", "-c", MIGRATIONS],
        env=env,
        cwd=settings.BASE_DIR,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.split() == ["6", "0", "6"]
