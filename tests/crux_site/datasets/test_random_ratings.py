"""Counts of random ratings are those of loops over model instances."""

from collections import defaultdict

import pytest

from annotation.models import Dataset, Rating
from crux_site.datasets.disagreements import Disagreements, disagreements
from crux_site.datasets.page import overview
from tests.toolbox.random_ratings import make_random_ratings


@pytest.fixture(params=range(8))
def dataset(db, request):
    return make_random_ratings(request.param)


def _ratings(dataset):
    return Rating.objects.of_dataset(dataset).select_related(
        "rater", "rubric", "text", "question__topic"
    )


def _is_counted(rating):
    """Filtered questions are not asked of reports; those without words of nobody."""
    if rating.rubric.slug == "answerable":
        return not rating.question.filtered_because
    return bool(rating.question.body)


def test_coverage_of_random_ratings(dataset):
    n, texts, pairs = defaultdict(int), defaultdict(set), defaultdict(set)
    for rating in _ratings(dataset):
        group = rating.rubric.slug, rating.rater.name, rating.text.kind
        n[group] += _is_counted(rating)
        texts[group].add(rating.text_id)
        if rating.rater.kind == "human":
            counted = {(rating.text_id, rating.question_id)} if _is_counted(rating) else set()
            pairs[rating.rubric.slug, rating.text.kind] |= counted
    counts = overview(dataset)
    fills = {(fill.rubric.slug, fill.rater.name, fill.kind): fill for fill in counts.fills}
    assert {group: fill.n for group, fill in fills.items()} == n
    assert {group: fill.n_texts for group, fill in fills.items()} == {
        group: len(keys) for group, keys in texts.items()
    }
    assert {(row.rubric.slug, row.kind): row.n for row in counts.people_coverage} == {
        group: len(keys) for group, keys in pairs.items()
    }
    assert counts.last_rated == max(rating.created for rating in _ratings(dataset))


def test_possible_pairs_have_the_topics_of_ratings(dataset):
    topics = {(text.pk, text.topic) for text in dataset.texts.filter(kind="passage")}
    topics |= {
        (rating.text_id, rating.question.topic)
        for rating in _ratings(dataset)
        if rating.text.kind == "passage"
    }
    possible = sum(topic.questions.exclude(body="").count() for _, topic in topics)
    fills = overview(dataset).fills
    assert {
        fill.possible for fill in fills if fill.kind == "passage" and fill.rubric.slug == "graded"
    } <= {possible}


def test_disagreements_of_random_ratings(dataset):
    grades, decided = defaultdict(set), set()
    for rating in _ratings(dataset):
        pair = rating.rubric, rating.text_id, rating.question_id
        is_open = rating.rubric.slug != "answerable" or not rating.question.filtered_because
        if rating.rater.kind != "human" or not is_open:
            continue
        if rating.rater.is_adjudicator:
            decided.add(pair)
        else:
            grades[pair].add(rating.grade)
    expected = {}
    for rubric in {pair[0] for pair in grades}:
        differing = [pair for pair in grades if pair[0] == rubric and len(grades[pair]) > 1]
        if differing:
            n_undecided = sum(pair not in decided for pair in differing)
            expected[rubric.pk] = Disagreements(len(differing), n_undecided)
    assert overview(dataset).disagreements == expected
    of_one = disagreements(Dataset.objects.filter(pk=dataset.pk))
    assert of_one == {(dataset.pk, rubric): counts for rubric, counts in expected.items()}
    by_group = disagreements(Dataset.objects.all())
    assert {group: counts for group, counts in by_group.items() if group[0] == dataset.pk} == of_one
