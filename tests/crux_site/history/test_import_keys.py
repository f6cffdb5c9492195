"""Undo of imports, where superseded grades have greater keys than any row that exists."""

import pytest
from django.db import connection
from django.db.models import Max

from annotation.models import Dataset, ProjectEntry, Rating, Text
from annotation.models.keys import last_key, skip_keys
from crux_site.history.import_undo import undo, undo_preview
from crux_site.imports.importing import import_dataset
from crux_site.versions.text_edits import edit_text, set_grades_valid
from tests.crux_site.history.grade_files import first_grades, more_grades
from tests.toolbox.import_study import write

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
    superseded = edit_text(newest_grades(), "Other words.", by=None, why="", counts=False)
    assert superseded.set_aside
    import_dataset(write(tmp_path / "first", first_grades()), "small")
    second = ProjectEntry.objects.filter(action="imported").first()
    set_grades_valid(superseded, counts=True, by=None)
    assert undo_preview(second, small).counts["ratings"] == 1
    assert undo(second, small, None).reasons == []
    assert all_ratings() == before


def test_undo_of_the_first_import_takes_no_grade_of_a_later_one(tmp_path, small):
    import_dataset(write(tmp_path / "more", more_grades()), "small")
    first = ProjectEntry.objects.filter(action="imported").first()
    superseded = edit_text(newest_grades(), "Other words.", by=None, why="", counts=False)
    import_dataset(write(tmp_path / "first", first_grades()), "small")
    set_grades_valid(superseded, counts=True, by=None)
    assert undo_preview(first, small).counts["ratings"] == 3


def test_keys_of_rows_that_are_gone_are_never_given_again(tmp_path, small):
    """A migration on SQLite recreates a table, which then counts from its current rows."""
    import_dataset(write(tmp_path / "more", more_grades()), "small")
    last = last_key(Rating)
    edit_text(newest_grades(), "Other words.", by=None, why="", counts=False)
    highest_key = Rating.objects.aggregate(last=Max("pk"))["last"]
    assert highest_key < last
    set_sequence(highest_key)
    import_dataset(write(tmp_path / "first", first_grades()), "small")
    assert last_key(Rating) > last
    skip_keys(Rating, 1)
    assert last_key(Rating) > last


def set_sequence(last: int) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "update sqlite_sequence set seq = %s where name = 'annotation_rating'", [last]
            )
        else:
            cursor.execute("select setval('annotation_rating_id_seq', %s)", [last])
