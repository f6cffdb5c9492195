"""Bulk insert of ratings past Django's objects, and passages imported before their topics."""

import pytest
from django.db import IntegrityError, transaction

from annotation.formats import topics
from annotation.models import Rater, Rating, SubQuestion, Text
from annotation.models.standard import GRADED, add_standard
from crux_site.imports.importing import import_dataset
from tests.toolbox.factories import make_dataset
from tests.toolbox.import_study import write

pytestmark = pytest.mark.django_db


def test_many_are_what_single_ones_are(django_assert_num_queries):
    dataset = make_dataset()
    rubric = add_standard(GRADED)
    one, bulk_rater = (Rater.objects.create(dataset=dataset, name=n, kind="model") for n in "ab")
    text = Text.objects.filter(kind="passage").first()
    questions = list(SubQuestion.objects.all())
    grades = [(text.pk, question.pk, grade) for grade, question in enumerate(questions)]
    Rating.objects.add(one.pk, rubric.pk, grades)
    with django_assert_num_queries(1):
        Rating.objects.add_many(bulk_rater.pk, rubric.pk, grades)
    rows = Rating.objects.order_by("pk").values_list("text", "question", "grade")
    assert list(rows.filter(rater=bulk_rater)) == list(rows.filter(rater=one)) == grades
    assert all(created.tzinfo for created in Rating.objects.values_list("created", flat=True))
    with pytest.raises(IntegrityError), transaction.atomic():
        Rating.objects.add_many(bulk_rater.pk, rubric.pk, grades[-1:])
    Rating.objects.add_many(bulk_rater.pk, rubric.pk, [])
    assert Rating.objects.count() == 2 * len(questions)


def test_passages_that_came_before_their_topics_go_to_them(tmp_path, monkeypatch):
    names = [f"t-{topic}:0#{index}" for index in range(4) for topic in (1, 2)] + ["alone"]
    passages = [{"id": name, "contents": name} for name in names]
    import_dataset(write(tmp_path / "a", {"passages.jsonl": passages}), "small")
    monkeypatch.setattr(topics, "_BATCH", 3)
    import_dataset(
        write(tmp_path / "b", {"topics.jsonl": [{"id": "t-1", "request": "Write."}]}), "small"
    )
    of_topics = dict(Text.objects.values_list("name", "topic__name"))
    assert of_topics == {name: "t-1" if name.startswith("t-1") else None for name in names}
