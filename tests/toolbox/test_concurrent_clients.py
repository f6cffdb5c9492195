"""Helper for two concurrent clients.

It provokes the race, separates errors, and never waits in vain.
"""

import pytest
from django.db import connections, transaction

from annotation.models import Dataset
from tests.toolbox.concurrent_clients import at_once, rounds

pytestmark = pytest.mark.django_db(transaction=True)


def append(slug, letter):
    """Read outside of a transaction, then write: the fault that the helper provokes."""
    dataset = Dataset.objects.get(slug=slug)
    dataset.title += letter
    dataset.save(update_fields=["title"])


def append_locked(slug, letter):
    assert Dataset.objects.filter(slug=slug).exists()
    with transaction.atomic():
        dataset = Dataset.objects.select_for_update().get(slug=slug)
        dataset.title += letter
        dataset.save(update_fields=["title"])


def titles(work):
    def prepare(number):
        slug = f"set-{number}"
        Dataset.objects.create(slug=slug, title="")
        return [lambda: work(slug, "a"), lambda: work(slug, "b")]

    for outcomes in rounds(3, prepare, after_reading=Dataset):
        assert [outcome.error for outcome in outcomes] == [None, None]
    return {"".join(sorted(dataset.title)) for dataset in Dataset.objects.all()}


def test_stale_read_loses_an_update_each_time():
    assert titles(append) <= {"a", "b"}


def test_locked_read_loses_no_update():
    assert titles(append_locked) == {"ab"}


def test_errors_are_outcomes_and_each_call_has_its_own_connection():
    def fail():
        raise ValueError("no")

    mine = id(connections["default"])
    first, second = at_once(fail, lambda: id(connections["default"]))
    assert isinstance(first.error, ValueError)
    assert first.status == 500
    assert second.value != mine


def test_call_that_reads_nothing_keeps_nobody_waiting():
    Dataset.objects.create(slug="one", title="")
    first, second = at_once(
        lambda: "nothing", lambda: Dataset.objects.get(slug="one").title, after_reading=Dataset
    )
    assert (first.value, second.value) == ("nothing", "")
