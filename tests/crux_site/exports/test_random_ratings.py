"""Row counts of files of random ratings are those of loops over model instances."""

from collections import defaultdict

import pytest

from annotation.models import Rating
from crux_site.exports.page import rating_groups
from tests.toolbox.random_ratings import make_random_ratings


@pytest.mark.parametrize("seed", range(6))
def test_counts_of_random_ratings(db, seed):
    dataset = make_random_ratings(seed)
    whole = dataset.topics.first().questions.first()
    type(whole).objects.filter(pk=whole.pk).update(filtered_because=type(whole).WHOLE)
    pairs, n_of_subtopics = defaultdict(set), defaultdict(int)
    for rating in Rating.objects.of_dataset(dataset).select_related(
        "rater", "rubric", "text", "question"
    ):
        text = rating.text
        group = rating.rater.name, rating.rubric.slug, text.kind, text.system
        pairs[group].add((rating.question.topic_id, text.pk))
        n_of_subtopics[group] += rating.question_id != whole.pk
    groups = {
        (group.name, group.rubric.slug, group.kind, group.system): group
        for group in rating_groups(dataset)
    }
    assert {key: group.n_pairs for key, group in groups.items()} == {
        key: len(members) for key, members in pairs.items()
    }
    assert {key: group.n_of_subtopics for key, group in groups.items()} == n_of_subtopics
