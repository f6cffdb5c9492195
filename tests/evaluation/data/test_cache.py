import pytest
from django.core.cache import cache

from annotation.models import NuggetSpan, Rating, SubQuestion, Text
from evaluation.data.cache import cached, data_version
from evaluation.models import RankedText, RetrievalRun
from tests.evaluation.scoring.material import make_study


@pytest.fixture
def study(db):
    cache.clear()
    return make_study()


CHANGES = {
    "a rating": lambda s: s.rate("cay", s.passages["ferry-1:0#0"], (1,)),
    "a grade": lambda s: Rating.objects.filter(grade=4)[0].delete(),
    "a grade in place": lambda s: Rating.objects.filter(
        pk=Rating.objects.filter(grade=4)[0].pk
    ).update(grade=3),
    "two grades that change places": lambda s: _swap(),
    "a span": lambda s: NuggetSpan.objects.create(
        rating=Rating.objects.first(), position=0, start=0, end=2, quote="En"
    ),
    "a text": lambda s: Text.objects.create(dataset=s.dataset, kind="passage", name="new"),
    "words that came later": lambda s: Text.objects.filter(body=None).update(body="x", sha256="y"),
    "a text that finds its topic": lambda s: Text.objects.filter(topic=None).update(topic=s.topic),
    "a question": lambda s: SubQuestion.objects.create(topic=s.topic, position=9, body="New?"),
    "a filter": lambda s: SubQuestion.objects.filter(position=1).update(filtered_because="x"),
    "a run": lambda s: RankedText.objects.create(
        run=RetrievalRun.objects.create(dataset=s.dataset, name="new"),
        topic=s.topic,
        text=s.passages["far-9:0#0"],
        rank=1,
    ),
}


def _swap():
    low, high = Rating.objects.filter(grade=0)[0], Rating.objects.filter(grade=5)[0]
    Rating.objects.filter(pk=low.pk).update(grade=5)
    Rating.objects.filter(pk=high.pk).update(grade=0)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_another_version(study, change):
    before = data_version(study.dataset)
    assert data_version(study.dataset) == before
    change(study)
    assert data_version(study.dataset) != before


def test_another_dataset_is_no_change(study):
    before = data_version(study.dataset)
    study.dataset.slug = "first"
    study.dataset.save()
    other = make_study()
    assert data_version(study.dataset) == before != data_version(other.dataset)


def test_computed_once_for_a_version_and_a_key(study):
    calls = []

    def compute():
        calls.append(1)
        return {"n": len(calls)}

    assert cached(study.dataset, ("a", 3), compute) == {"n": 1}
    assert cached(study.dataset, ("a", 3), compute) == {"n": 1}
    assert cached(study.dataset, ("a", 5), compute) == {"n": 2}
    study.rate("cay", study.passages["ferry-1:0#0"], (1,))
    assert cached(study.dataset, ("a", 3), compute) == {"n": 3}
