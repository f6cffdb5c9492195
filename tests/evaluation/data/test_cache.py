import pytest
from django.core.cache import cache

from annotation.models import NuggetSpan, Rating, SubQuestion, Text, Topic, User
from crux_site.contents.entities import RunEntity, SystemEntity
from evaluation.data.cache import cached, cached_or_none, content_version, data_version
from evaluation.data.cache_keys import CacheKey
from evaluation.models import RankedText, RetrievalRun
from tests.toolbox.scoring_study import make_study


@pytest.fixture
def study(db):
    cache.clear()
    return make_study()


GRADES = {
    "a rating": lambda s: s.rate("cay", s.passages["ferry-1:0#0"], (1,)),
    "a grade": lambda s: Rating.objects.filter(grade=4)[0].delete(),
    "a grade in place": lambda s: Rating.objects.filter(
        pk=Rating.objects.filter(grade=4)[0].pk
    ).update(grade=3),
    "two grades that change places": lambda s: _swap(),
    "four grades whose products with their keys add up to the same": lambda s: _turn(),
    "a span that moves": lambda s: NuggetSpan.objects.filter(position=1).update(start=3, end=5),
    "a span that is placed": lambda s: NuggetSpan.objects.filter(start=None).update(
        start=0, end=2, located="normalised"
    ),
    "a span": lambda s: NuggetSpan.objects.create(
        rating=Rating.objects.first(), position=0, start=0, end=2, quote="En"
    ),
}
CONTENT = {
    "a text": lambda s: Text.objects.create(dataset=s.dataset, kind="passage", name="new"),
    "words that came later": lambda s: Text.objects.filter(body=None).update(body="x", sha256="y"),
    "a text that finds its topic": lambda s: Text.objects.filter(topic=None).update(topic=s.topic),
    "a topic": lambda s: Topic.objects.create(dataset=s.dataset, name="new", position=9),
    "a question": lambda s: SubQuestion.objects.create(topic=s.topic, position=9, body="New?"),
    "a filter": lambda s: SubQuestion.objects.filter(position=1).update(filtered_because="x"),
    "a run": lambda s: RankedText.objects.create(
        run=RetrievalRun.objects.create(dataset=s.dataset, name="new"),
        topic=s.topic,
        text=s.passages["far-9:0#0"],
        rank=1,
    ),
    "the name of a run": lambda s: RunEntity(s.dataset, "dense").rename("dense-2", _person()),
    "the name of a system": lambda s: _rename_system(s),
    "the name of a system without questions": lambda s: _rename_without_questions(s),
}
CHANGES = GRADES | CONTENT


def _person():
    return User.objects.create_user("rosa")


def _rename_system(study):
    system = SystemEntity.names(study.dataset)[0]
    assert not SystemEntity(study.dataset, system).rename(f"{system}-2", _person())


def _rename_without_questions(study):
    Rating.objects.all().delete()
    SubQuestion.objects.all().delete()
    before = content_version(study.dataset)
    _rename_system(study)
    assert content_version(study.dataset) != before


def _swap():
    low, high = Rating.objects.filter(grade=0)[0], Rating.objects.filter(grade=5)[0]
    Rating.objects.filter(pk=low.pk).update(grade=5)
    Rating.objects.filter(pk=high.pk).update(grade=0)


def _turn():
    """1, 4, 4, 1 of keys in a row become 4, 1, 1, 4."""
    first = Rating.objects.order_by("pk")[0].pk
    for row, grade in enumerate((4, 1, 1, 4)):
        Rating.objects.filter(pk=first + row).update(grade=grade)


def _prepare():
    """Grades of keys in a row, a span with a position, and one without."""
    first, *following = Rating.objects.order_by("pk")[:4]
    assert [rating.pk - first.pk for rating in following] == [1, 2, 3]
    for rating, grade in zip((first, *following), (1, 4, 4, 1), strict=True):
        Rating.objects.filter(pk=rating.pk).update(grade=grade)
    NuggetSpan.objects.create(rating=first, position=1, start=2, end=4, quote="xy")
    NuggetSpan.objects.create(rating=first, position=2, located="unlocated", source_quote="z")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_change_is_another_version(study, change):
    _prepare()
    before = data_version(study.dataset)
    assert data_version(study.dataset) == before
    change(study)
    assert data_version(study.dataset) != before


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_version_of_the_content_changes_with_all_but_grades(study, change):
    _prepare()
    before = content_version(study.dataset)
    change(study)
    assert (content_version(study.dataset) != before) == (change in CONTENT.values())


def test_change_of_another_dataset_keeps_the_version(study):
    before = data_version(study.dataset)
    study.dataset.slug = "first"
    study.dataset.save()
    second_study = make_study()
    assert data_version(study.dataset) == before != data_version(second_study.dataset)


def test_computed_once_for_a_version_and_a_key(study):
    calls = []

    def compute():
        calls.append(1)
        return {"n": len(calls)}

    assert cached(study.dataset, (CacheKey.SCORES, 3), compute) == {"n": 1}
    assert cached(study.dataset, (CacheKey.SCORES, 3), compute) == {"n": 1}
    assert cached(study.dataset, (CacheKey.SCORES, 5), compute) == {"n": 2}
    study.rate("cay", study.passages["ferry-1:0#0"], (1,))
    assert cached(study.dataset, (CacheKey.SCORES, 3), compute) == {"n": 3}


def test_result_of_data_that_changed_meanwhile_is_not_kept(study):
    """The old data may come back, as by an undo, and must not find it."""
    rating = Rating.objects.filter(grade=4)[0]
    calls = []

    def compute():
        calls.append(1)
        Rating.objects.filter(pk=rating.pk).update(grade=3)
        return {"n": len(calls)}

    assert cached(study.dataset, (CacheKey.SCORES, 3), compute) == {"n": 1}
    Rating.objects.filter(pk=rating.pk).update(grade=4)
    assert cached(study.dataset, (CacheKey.SCORES, 3), lambda: {"n": "again"}) == {"n": "again"}


def test_result_replaces_that_of_the_older_version(study):
    key = (CacheKey.SCORES, 3)
    assert cached(study.dataset, key, lambda: "older") == "older"
    size = len(cache._cache)
    study.rate("cay", study.passages["ferry-1:0#0"], (1,))
    assert cached_or_none(study.dataset, key) is None
    assert cached(study.dataset, key, lambda: "newer") == "newer"
    assert cached_or_none(study.dataset, key) == "newer"
    assert len(cache._cache) == size
