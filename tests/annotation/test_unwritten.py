"""A mark stays while nothing is written, by whomever; and what is held by it is read again after that."""

import os
import subprocess
import sys

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation import unwritten
from annotation.models import Dataset, Rating, Rubric
from evaluation.data.cache import data_version
from evaluation.data.held import Held
from tests.factories import make_dataset
from tests.judging.engine.material import environment
from tests.quiet import in_a_quiet_moment
from tests.threads import in_threads

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_stays_while_everybody_reads():
    dataset = make_dataset()
    assert unwritten.mark() is not None

    def stays():
        first = unwritten.mark()
        assert list(dataset.texts.all())
        return set(in_threads(lambda _: unwritten.mark(), range(3))) == {first}

    assert in_a_quiet_moment(stays)


def test_what_this_or_another_connection_writes_changes_it():
    dataset = make_dataset()
    marks = [unwritten.mark()]
    Dataset.objects.filter(pk=dataset.pk).update(title="Another")
    marks.append(unwritten.mark())
    in_threads(lambda title: Dataset.objects.filter(pk=dataset.pk).update(title=title), ["A third"])
    marks.append(unwritten.mark())
    assert len(set(marks)) == 3


@pytest.mark.soak
def test_what_another_process_writes_changes_it(tmp_path):
    make_dataset()
    before = unwritten.mark()
    code = "from annotation.models import Dataset; Dataset.objects.update(title='Another')"
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", code]
    subprocess.run(command, env=os.environ | environment(VAR_DIR=str(tmp_path)), check=True)
    assert unwritten.mark() != before


def test_within_a_transaction_nothing_is_held():
    held = Held(2)
    with transaction.atomic():
        assert unwritten.mark() is None
        assert held.while_unwritten("n", object) is not held.while_unwritten("n", object)
    assert in_a_quiet_moment(
        lambda: held.while_unwritten("n", object) is held.while_unwritten("n", object)
    )


def test_what_is_rolled_back_leaves_what_was_true_before():
    dataset = make_dataset()
    before = data_version(dataset)
    with transaction.atomic():
        dataset.texts.all().delete()
        assert data_version(dataset) != before
        transaction.set_rollback(True)
    assert data_version(dataset) == before


def test_the_version_of_data_is_asked_once_and_again_after_a_grade():
    dataset = make_dataset()
    topic = dataset.topics.get()
    rater = dataset.raters.create(name="ann", kind="human")
    text, question = dataset.texts.first(), topic.questions.first()
    pair = {"rater": rater.pk, "rubric": Rubric.objects.get(slug="graded").pk}
    pair |= {"text": text.pk, "question": question.pk}
    Rating.objects.record(**pair, grade=1)
    first = data_version(dataset)

    def is_held():
        with CaptureQueriesContext(connection) as asked:
            assert data_version(dataset) == first
        return len(asked) == (0 if connection.vendor == "sqlite" else 1)

    assert in_a_quiet_moment(is_held)
    Rating.objects.record(**pair, grade=2)
    assert data_version(dataset) != first


def test_of_many_the_last_are_held():
    held = Held(2)
    first = held.get("a", object)
    held.get("b", object)
    assert held.get("a", object) is first
    held.get("c", object)
    assert held.get("a", object) is first
    assert held.get("b", lambda: "made anew") == "made anew"
