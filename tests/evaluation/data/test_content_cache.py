"""Texts, questions and runs are read again only after they changed, not after a grade."""

import pytest
from django.db import transaction

from annotation.db_version import snapshot
from annotation.models import SubQuestion, Text, User
from crux_site.contents.entities import RunEntity
from crux_site.datasets.page import overview
from evaluation.data.corpus import load_corpus
from evaluation.scoring.rows import rows
from evaluation.scoring.tokens import WHITESPACE_WORDS, token_counts
from tests.toolbox.caches import clear_caches
from tests.toolbox.scoring_study import make_study
from tests.toolbox.threads import in_threads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study(db):
    clear_caches()
    return make_study()


def tokens(study):
    corpus = load_corpus(study.dataset)
    return token_counts(study.dataset, corpus, WHITESPACE_WORDS, mean_stands_in=False)


def test_grades_change_nothing(study):
    corpus, counts = load_corpus(study.dataset), tokens(study)
    [first, *_] = rows(study.dataset, {})
    in_threads(lambda name: study.rate(name, study.passages["ferry-1:0#0"], (1,)), ["cay"])
    assert load_corpus(study.dataset) is corpus
    assert tokens(study) is counts
    assert rows(study.dataset, {})[0].contexts is first.contexts


def test_changes_of_another_connection_are_read(study):
    load_corpus(study.dataset)
    filtered = SubQuestion.objects.filter(pk=study.questions[0].pk)
    in_threads(lambda reason: filtered.update(filtered_because=reason), ["too vague"])
    assert load_corpus(study.dataset).questions[study.topic.pk][0].is_filtered


def test_words_that_came_later_are_counted(study):
    text = Text.objects.create(dataset=study.dataset, kind="passage", name="new")
    assert tokens(study).of([text.pk]) == {text.pk: None}
    Text.objects.filter(pk=text.pk).update(body="four words are here", sha256="x")
    assert tokens(study).of([text.pk]) == {text.pk: 4}


def test_renamed_run_has_its_new_name(study):
    assert "dense" in {row.name for row in rows(study.dataset, {})}
    rosa = User.objects.create_user("rosa")
    in_threads(lambda new: RunEntity(study.dataset, "dense").rename(new, rosa), ["denser"])
    assert {"dense", "denser"} & {row.name for row in rows(study.dataset, {})} == {"denser"}


def test_undone_change_is_not_kept(study):
    n = len(load_corpus(study.dataset).pk)
    with transaction.atomic():
        Text.objects.create(dataset=study.dataset, kind="passage", name="new")
        assert len(load_corpus(study.dataset).pk) == n + 1
        transaction.set_rollback(True)
    Text.objects.create(dataset=study.dataset, kind="passage", name="another")
    assert load_corpus(study.dataset).names[-1] == "another"


def test_overview_follows_texts_and_grades(study):
    n_texts = overview(study.dataset).n_texts
    n_graded = overview(study.dataset).graded_by_people[0]
    in_threads(
        lambda name: Text.objects.create(dataset=study.dataset, kind="passage", name=name), ["new"]
    )
    assert overview(study.dataset).n_texts == n_texts + 1
    in_threads(lambda name: study.rate("cay", Text.objects.get(name=name), (1,)), ["new"])
    assert overview(study.dataset).graded_by_people[0] == n_graded + 1


def test_page_reads_one_state(study):
    with snapshot():
        before = load_corpus(study.dataset)
        in_threads(
            lambda name: Text.objects.create(dataset=study.dataset, kind="passage", name=name),
            ["written meanwhile"],
        )
        assert load_corpus(study.dataset) is before
    assert load_corpus(study.dataset).names[-1] == "written meanwhile"
