import numpy as np

from annotation.models import SubQuestion, Topic
from evaluation.scoring.pools import load_pools
from tests.evaluation.scoring.choosing import choose
from tests.toolbox.scoring_study import make_study

N = np.nan


def pool(study, **params):
    return load_pools(study.dataset, choose(study.dataset, **params))[study.topic.pk]


def test_by_hand(study):
    topic_pool = pool(study)
    # Numbers in names by their value: 2 before 10. What the judge has not rated is not in P*.
    assert [(row.name, row.tokens, row.has_body) for row in topic_pool.passages] == [
        ("ferry-1:0#0", 14, True),
        ("ferry-1:0#1", None, False),
        ("ferry-1:2#2", 6, True),
        ("ferry-1:10#10", 10, True),
    ]
    np.testing.assert_array_equal(topic_pool.grades[3], [0, 0, N, 4])
    assert (topic_pool.topic_name, topic_pool.eta) == ("ferry-1", 3)
    assert [question.is_filtered for question in topic_pool.questions] == [
        False,
        False,
        False,
        True,
    ]
    # The visitor answers q2, which no passage of P* does; q3 counts although it is filtered.
    assert topic_pool.answerable == (0, 1, 3)
    assert topic_pool.required_names == ("ferry-1:0#0", "ferry-1:0#1", "ferry-1:10#10")
    assert topic_pool.required_texts == study.keys(*topic_pool.required_names)
    assert topic_pool.required_tokens is None  # the words of 0#1 are not there
    assert not topic_pool.takes_all_rated


def test_required_tokens_follow_the_rules(study):
    assert pool(study, source="strict").required_tokens == 14 + 6
    # Under the authors' rules 0#1 is as long as the mean passage, 7.
    assert pool(study, rules="authors").required_tokens == 14 + 7 + 10


def test_higher_eta(study):
    # Only 0#0 reaches 5, on q0.
    topic_pool = pool(study, eta=5)
    assert (topic_pool.answerable, topic_pool.required_names) == ((0,), ("ferry-1:0#0",))


def test_grades_of_any_text(study):
    texts = study.keys("far-9:0#0", "ferry-1:11#11", "ferry-1:2#2")
    np.testing.assert_array_equal(
        pool(study).context(texts), [[0, 4, 5, 0], [N, N, N, N], [4, 2, 0, 0]]
    )
    # The authors count a passage of another topic as rated 0; an unrated one of its own is unrated.
    np.testing.assert_array_equal(
        pool(study, rules="authors").context(texts), [[0, 0, 0, 0], [N, N, N, N], [4, 2, 0, 0]]
    )
    assert pool(study).context(()).shape == (0, 4)


def test_relevance(study):
    names = ("ferry-1:2#2", "ferry-1:11#11", "far-9:0#0")
    relevance = [pool(study).relevance(pk) for pk in study.keys(*names)]
    np.testing.assert_array_equal(relevance, [1, N, 0])


def test_people_over_the_judge(study):
    topic_pool = pool(study, source="people:judge")
    assert topic_pool.eta == 1
    np.testing.assert_array_equal(topic_pool.by_people.nonzero(), [[0, 2], [1, 0]])
    # The people say that 0#0 answers q1: it alone answers two, and 0#1 is not needed.
    assert topic_pool.required_names == ("ferry-1:0#0", "ferry-1:10#10")


def test_dataset_that_does_not_say_where_passages_belong(study):
    study.dataset.texts.filter(kind="passage").update(topic=None)
    topic_pool = pool(study)
    # All that is rated and answers something is taken for relevant, the former visitor too.
    assert topic_pool.takes_all_rated
    assert [row.name for row in topic_pool.passages] == [
        "far-9:0#0",
        "ferry-1:0#0",
        "ferry-1:0#1",
        "ferry-1:2#2",
        "ferry-1:10#10",
    ]
    assert topic_pool.answerable == (0, 1, 2, 3)
    names = ("ferry-1:2#2", "ferry-1:11#11")
    np.testing.assert_array_equal([topic_pool.relevance(pk) for pk in study.keys(*names)], [1, N])


def test_topics_of_which_nothing_is_rated(study):
    bare = Topic.objects.create(dataset=study.dataset, name="bare", request="?", position=2)
    with_question = Topic.objects.create(
        dataset=study.dataset, name="asked", request="?", position=3
    )
    SubQuestion.objects.create(topic=with_question, position=0, body="Why?")
    pools = load_pools(study.dataset, choose(study.dataset))
    assert [pool.topic_name for pool in pools.values()] == ["ferry-1", "ferry-2", "bare", "asked"]
    for topic, n in ((bare, 0), (with_question, 1)):
        topic_pool = pools[topic.pk]
        assert (topic_pool.passages, topic_pool.answerable, topic_pool.required) == ((), (), ())
        assert topic_pool.grades.shape == (0, n)
    # The passage of ferry-2 is rated and answers nothing.
    assert [len(pool.passages) for pool in pools.values()] == [4, 1, 0, 0]


def test_pools_ignore_another_dataset(study, django_assert_num_queries):
    options = choose(study.dataset)
    before = load_pools(study.dataset, options)
    study.dataset.slug = "first"
    study.dataset.save()
    make_study()
    # Topics, questions, texts, rubrics, version of the ratings, words: the ratings are kept.
    with django_assert_num_queries(6):
        reloaded = load_pools(study.dataset, options)
    assert [p.passages for p in reloaded.values()] == [p.passages for p in before.values()]
