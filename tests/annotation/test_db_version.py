"""Database version: unchanged without writes, and caches that are invalidated by it."""

import gc
import os
import subprocess
import sys
import weakref

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation import db_version
from annotation.management.base import ReadOnlyCommand
from annotation.models import Dataset, Rating, Rubric
from evaluation.data.cache import data_version
from evaluation.data.process_cache import ProcessCache
from tests.toolbox.factories import make_dataset
from tests.toolbox.idle_database import succeeds_between_writes
from tests.toolbox.judging_study import environment
from tests.toolbox.threads import in_threads

pytestmark = pytest.mark.django_db(transaction=True)


def test_version_is_unchanged_by_reads():
    dataset = make_dataset()
    assert db_version.current() is not None

    def stays():
        first = db_version.current()
        assert list(dataset.texts.all())
        return set(in_threads(lambda _: db_version.current(), range(3))) == {first}

    assert succeeds_between_writes(stays)


def test_version_changes_by_writes_of_any_connection():
    dataset = make_dataset()
    marks = [db_version.current()]
    Dataset.objects.filter(pk=dataset.pk).update(title="Another")
    marks.append(db_version.current())
    in_threads(lambda title: Dataset.objects.filter(pk=dataset.pk).update(title=title), ["A third"])
    marks.append(db_version.current())
    assert len(set(marks)) == 3


@pytest.mark.soak
def test_version_changes_by_writes_of_another_process(tmp_path):
    make_dataset()
    before = db_version.current()
    code = "from annotation.models import Dataset; Dataset.objects.update(title='Another')"
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", code]
    subprocess.run(command, env=os.environ | environment(VAR_DIR=str(tmp_path)), check=True)
    assert db_version.current() != before


def test_within_a_transaction_nothing_is_cached():
    cache = ProcessCache[str](2)
    with transaction.atomic():
        assert db_version.current() is None
        assert cache.until_db_write("n", object) is not cache.until_db_write("n", object)
    assert succeeds_between_writes(
        lambda: cache.until_db_write("n", object) is cache.until_db_write("n", object)
    )


def test_rolled_back_write_restores_the_data_version():
    dataset = make_dataset()
    before = data_version(dataset)
    with transaction.atomic():
        dataset.texts.all().delete()
        assert data_version(dataset) != before
        transaction.set_rollback(True)
    assert data_version(dataset) == before


def test_version_of_data_is_asked_once_and_again_after_a_grade():
    dataset = make_dataset()
    topic = dataset.topics.get()
    rater = dataset.raters.create(name="ann", kind="human")
    text, question = dataset.texts.first(), topic.questions.first()
    pair = {"rater": rater.pk, "rubric": Rubric.objects.get(slug="graded").pk}
    pair |= {"text": text.pk, "question": question.pk}
    Rating.objects.record(**pair, grade=1)
    first = data_version(dataset)

    def is_cached():
        with CaptureQueriesContext(connection) as queries:
            assert data_version(dataset) == first
        return len(queries) == (0 if connection.vendor == "sqlite" else 1)

    assert succeeds_between_writes(is_cached)
    Rating.objects.record(**pair, grade=2)
    assert data_version(dataset) != first


def test_of_many_the_last_are_held():
    cache = ProcessCache[str](2)
    values = {name: object() for name in "abc"}
    for name in ("a", "b"):
        cache.put(name, values[name])
    assert cache.find("a") is values["a"]
    cache.put("c", values["c"])
    assert [cache.find(name) for name in "abc"] == [values["a"], None, values["c"]]


def test_result_of_another_version_is_freed_before_a_new_one_is_computed():
    dataset = make_dataset()
    cache = ProcessCache[str](2)
    with db_version.snapshot():
        reference = weakref.ref(cache.until_db_write("n", Result))
        in_threads(lambda title: Dataset.objects.update(title=title), ["Written meanwhile"])
        [is_cached] = in_threads(
            lambda _: cache.until_db_write("n", lambda: reference() is not None), [None]
        )
        assert is_cached  # this page may ask for it again

    def is_freed():
        gc.collect()
        return reference() is None

    Dataset.objects.filter(pk=dataset.pk).update(title="Another")
    assert cache.until_db_write("n", is_freed)


class Result:
    pass


def test_snapshot_has_one_state_and_one_version_while_others_write():
    dataset = make_dataset()

    def rename(title):
        Dataset.objects.filter(pk=dataset.pk).update(title=title)

    cache = ProcessCache[str](2)
    with db_version.snapshot():
        title, version, value = title_of(dataset), db_version.current(), data_version(dataset)
        result = cache.until_db_write("n", object)
        in_threads(rename, ["Written meanwhile"])
        with db_version.snapshot(), transaction.atomic():
            assert title_of(dataset) == title
        assert (db_version.current(), data_version(dataset)) == (version, value)
        assert cache.until_db_write("n", object) is result
    assert title_of(dataset) == "Written meanwhile"
    assert db_version.current() != version
    assert cache.until_db_write("n", object) is not result
    rename("By this connection")  # which writes as before
    assert title_of(dataset) == "By this connection"


@pytest.mark.parametrize("n_writes", [1, 2, 100])
def test_version_of_a_snapshot_is_that_of_its_state(monkeypatch, n_writes):
    """A version of another state would be stored with results of this one."""
    dataset = make_dataset()
    name = "_sqlite_version" if connection.vendor == "sqlite" else "_postgresql_version"
    read_version = getattr(db_version, name)
    titles = iter(range(n_writes))

    def write_after(wrapper):
        version = read_version(wrapper)
        if (title := next(titles, None)) is not None:
            in_threads(lambda title: Dataset.objects.update(title=title), [f"Written {title}"])
        return version

    with monkeypatch.context() as patch:
        patch.setattr(db_version, name, write_after)
        with db_version.snapshot():
            title, version = title_of(dataset), db_version.current()
    is_newest = title_of(dataset) == title
    if connection.vendor == "sqlite":
        # It begins again after a write; after five of them the version is unknown.
        assert is_newest
        assert bool(version) == (n_writes < 100)
    if version:
        assert (version == db_version.current()) == is_newest


def test_write_in_a_snapshot_is_refused():
    dataset = make_dataset()
    with pytest.raises(DatabaseError), db_version.snapshot():
        Dataset.objects.update(title="Another")
    assert title_of(dataset) != "Another"
    with transaction.atomic():
        Dataset.objects.update(title="Another")
    assert title_of(dataset) == "Another"


def title_of(dataset):
    return Dataset.objects.get(pk=dataset.pk).title


def test_read_only_command_reads_one_state():
    dataset = make_dataset()
    titles = []

    def rename(title):
        Dataset.objects.filter(pk=dataset.pk).update(title=title)

    class Reading(ReadOnlyCommand):
        def handle(self, *args, **options):
            for title in ("First", "Second"):
                in_threads(rename, [title])
                titles.append(Dataset.objects.get(pk=dataset.pk).title)

    call_command(Reading())
    assert titles == [dataset.title] * 2
    dataset.refresh_from_db()
    assert dataset.title == "Second"
