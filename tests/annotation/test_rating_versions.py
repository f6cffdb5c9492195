"""Versions of raters: every write of ratings draws a new one, in the database itself."""

import os
import subprocess
import sys
import threading

import pytest
from django.conf import settings
from django.db import connection, transaction

from annotation.models import NuggetSpan, Rater, Rating, RatingVersion, SubQuestion, Text
from annotation.models.standard import GRADED, add_standard
from tests.toolbox.factories import make_dataset

MIGRATIONS = """
from django.core.management import call_command
from annotation.models import Rater, Rating, RatingVersion
def triggers():
    from django.db import connection
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%version%'")
        return cursor.fetchone()[0]
call_command("migrate", verbosity=0)
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


def tokens():
    return dict(RatingVersion.objects.values_list("rater_id", "token"))


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
@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite has one writer at a time")
def test_people_do_not_wait_for_each_other():
    (a, b), rubric, grades = make_study()
    commits = []

    def grade_as_b():
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '5s'")
        Rating.objects.add_many(b.pk, rubric, grades)
        commits.append(True)
        connection.close()

    with transaction.atomic():
        Rating.objects.add_many(a.pk, rubric, grades)
        thread = threading.Thread(target=grade_as_b)
        thread.start()
        thread.join(timeout=20)
        assert commits
        before = tokens()
    assert set(before) == set(tokens()) == {a.pk, b.pk}


def test_migrations_that_alter_ratings_leave_the_triggers(tmp_path):
    env = os.environ | {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'one.sqlite3'}",
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
