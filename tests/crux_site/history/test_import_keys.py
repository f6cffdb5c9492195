"""Undo of imports, where superseded grades have greater keys than any row that exists."""

import importlib

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import Max

from annotation.models import Dataset, ProjectEntry, Rating, Text, Version
from annotation.models.keys import last_key, skip_keys
from crux_site.history.undoing import undo, undoing
from crux_site.imports.importing import import_dataset
from crux_site.versions.changing import change, choose_again
from tests.crux_site.history.test_words_back import first_grades, more_grades
from tests.crux_site.imports.study import write

RATINGS = Rating._meta.label_lower


@pytest.fixture
def small(tmp_path, db):
    import_dataset(write(tmp_path / "small"), "small")
    return Dataset.objects.get(slug="small")


def newest_grades() -> Text:
    """The text whose grades have the greatest keys."""
    return Text.objects.get(ratings__pk=Rating.objects.aggregate(last=Max("pk"))["last"])


def all_ratings() -> set[tuple]:
    return set(Rating.objects.values_list("pk", "rater", "text", "question", "grade"))


def test_undo_takes_no_grade_of_an_import_before(tmp_path, small):
    import_dataset(write(tmp_path / "more", more_grades()), "small")
    before = all_ratings()
    superseded = change(newest_grades(), "Other words.", by=None, why="", counts=False)
    assert superseded.set_aside
    import_dataset(write(tmp_path / "first", first_grades()), "small")
    second = ProjectEntry.objects.filter(action="imported").first()
    choose_again(superseded, counts=True, by=None)
    assert undoing(second, small).counts["ratings"] == 1
    assert undo(second, small, None).reasons == []
    assert all_ratings() == before


def test_undo_of_the_first_import_takes_no_grade_of_a_later_one(tmp_path, small):
    import_dataset(write(tmp_path / "more", more_grades()), "small")
    first = ProjectEntry.objects.filter(action="imported").first()
    superseded = change(newest_grades(), "Other words.", by=None, why="", counts=False)
    import_dataset(write(tmp_path / "first", first_grades()), "small")
    choose_again(superseded, counts=True, by=None)
    assert undoing(first, small).counts["ratings"] == 3


def test_keys_of_rows_that_are_gone_are_never_given_again(tmp_path, small):
    """A migration of SQLite makes a table anew, which then counts from the rows that are there."""
    import_dataset(write(tmp_path / "more", more_grades()), "small")
    last = last_key(Rating)
    change(newest_grades(), "Other words.", by=None, why="", counts=False)
    there = Rating.objects.aggregate(last=Max("pk"))["last"]
    assert there < last
    set_sequence(there)
    import_dataset(write(tmp_path / "first", first_grades()), "small")
    assert last_key(Rating) > last
    skip_keys(Rating, 1)
    assert last_key(Rating) > last


def test_noted_keys_of_two_imports_are_parted_by_the_migration(tmp_path, small):
    entry = ProjectEntry.objects.get(action="imported")
    later = ProjectEntry.objects.create(
        project=small.project, dataset=small, action="imported", rows={}
    )
    first, last = entry.rows[RATINGS]
    later.rows = {RATINGS: [last - 2, last + 5], "filled": 0}
    later.save()
    migration = importlib.import_module("annotation.migrations.0029_earlier_positions")
    migration.keys_of_one_import(apps, None)
    later.refresh_from_db()
    entry.refresh_from_db()
    assert later.rows == {RATINGS: [last + 1, last + 5], "filled": 0}
    assert entry.rows[RATINGS] == [first, last]


def test_positions_that_a_version_had_go_to_the_spans_by_the_migration(small):
    report = Text.objects.filter(ratings__spans__isnull=False, kind="report").first()
    spans = list(report.ratings.get(spans__position=0, spans__start=0).spans.all())
    version = change(report, f"Before. {report.body}", by=None, why="", counts=True)
    for span in spans:
        span.refresh_from_db()
    rating = spans[0].rating
    pair = {
        "rating__rater": rating.rater_id,
        "rating__rubric": rating.rubric_id,
        "rating__question": rating.question_id,
    }
    expected = [span.earlier_positions for span in spans]
    version.had |= {
        "spans": [
            pair | {"position": span.position} | next(iter(span.earlier_positions.values()))
            for span in spans
        ]
    }
    version.save()
    rating.spans.update(earlier_positions=None)
    migration = importlib.import_module("annotation.migrations.0029_earlier_positions")
    migration.positions_from_versions(apps, None)
    assert list(rating.spans.values_list("earlier_positions", flat=True)) == expected
    assert "spans" not in Version.objects.get().had


def set_sequence(last: int) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "update sqlite_sequence set seq = %s where name = 'annotation_rating'", [last]
            )
        else:
            cursor.execute("select setval('annotation_rating_id_seq', %s)", [last])
