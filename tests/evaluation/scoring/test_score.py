"""Scores worked out by hand from the tables in material.py."""

from math import log2, sqrt

import numpy as np
import pytest

from annotation.models import Rating, Text, Topic
from evaluation.data.selection import SelectionError
from evaluation.models import RankedText, RetrievalRun
from evaluation.scoring.row_score import METRICS
from evaluation.scoring.score import cached_scores, score
from evaluation.scoring.table import mean_over_topics
from tests.evaluation.scoring.choosing import choose
from tests.toolbox.scoring_study import REPORT_WORDS, make_reference

SECOND = 1 / log2(3)  # the discount of rank 2


def topic_score(study, name="dense", topic="ferry-1", cutoff="size", **params):
    options = choose(study.dataset, cutoff=cutoff, **params)
    return score(study.dataset, options, [name]).rows[0].topics[topic]


def value(estimate, expected):
    assert estimate.reason is None
    assert estimate.value == pytest.approx(expected)


def undefined(estimate, reason):
    assert (estimate.value, estimate.reason) == (None, f"undefined, because {reason}")


def test_context_under_the_rules_of_the_paper(study):
    # The visitor answers q1 with its 4 and 2#2 answers q0: 2 of 3. Its answer to q2 counts nothing.
    topic = topic_score(study)
    value(topic.coverage, 2 / 3)
    assert (topic.n_passages, topic.n_answerable, topic.n_covered) == (2, 3, 2)
    assert (topic.n_unrated, topic.n_unrated_cells, topic.n_without_words) == (0, 0, 0)
    assert topic.covered == (0, 1)
    assert topic.tokens == 8 + 6
    assert topic.required_subset == ("ferry-1:0#0", "ferry-1:0#1", "ferry-1:10#10")
    # Gains 1, 1. Ideal to rank 2: 2#2 and 10#10, gains 1, 1.
    value(topic.alpha_ndcg, 1)
    # The words of 0#1 in Z* are not there.
    undefined(topic.density, "words of the required subset are not there")
    # P* has four passages; the second of Z is one of them.
    value(topic.recall, 1 / 4)
    value(topic.average_precision, (1 / 2) / 4)
    value(topic.ndcg, SECOND / (1 + SECOND))


def test_same_context_under_the_rules_of_the_authors(study):
    # The visitor counts as 0: 2#2 answers q0, 1 of 3.
    topic = topic_score(study, rules="authors")
    value(topic.coverage, 1 / 3)
    value(topic.alpha_ndcg, SECOND / (1 + SECOND))
    # Z* has 14 + 7 + 10 words, the mean passage standing in for 0#1.
    value(topic.density, sqrt((1 / 14) / (3 / 31)))
    assert (topic.n_unrated, topic.required_tokens) == (0, 31)


def test_unrated_is_counted_and_not_zero(study):
    # 11#11 is unrated on three answerable questions. Z: q1 by the visitor, q0 by 2#2, q1 by 0#1.
    topic = topic_score(study, "annotated.bm25")
    value(topic.coverage, 2 / 3)
    assert (topic.n_unrated, topic.n_unrated_cells) == (1, 3)
    assert topic.coverage.missing == topic.alpha_ndcg.missing == 3
    undefined(topic.density, "the words of 1 of its 4 texts are not there")
    assert (topic.tokens, topic.n_without_words) == (None, 1)
    # Not judged is counted by the measures of relevance too: 2 of 4 are found, at ranks 2 and 4.
    value(topic.recall, 2 / 4)
    value(topic.average_precision, (1 / 2 + 2 / 4) / 4)
    assert topic.recall.missing == 1


def test_context_of_which_nothing_is_rated(study):
    # strict has not rated 11#11 nor the visitor.
    Rating.objects.filter(rater__name="strict", text__name="ferry-1:2#2").delete()
    topic = topic_score(study, source="strict")
    for metric in ("coverage", "alpha_ndcg", "density"):
        undefined(topic.metric(metric), "none of it is rated")
    assert (topic.n_covered, topic.n_unrated) == (0, 2)
    authors = topic_score(study, source="strict", rules="authors")
    value(authors.coverage, 0)
    value(authors.density, 0)
    # Under their rules the visitor is rated 0, and 2#2 unrated.
    assert authors.n_unrated == 1


def test_density(study):
    # Of strict's q0 and q1, 2#2 answers q1; Z has 14 words, Z* 20 and answers both.
    topic = topic_score(study, source="strict")
    value(topic.coverage, 1 / 2)
    value(topic.density, sqrt((1 / 14) / (2 / 20)))
    # The visitor is unrated on both, and no less a passage.
    assert (topic.n_unrated, topic.n_unrated_cells) == (1, 2)


def test_cutoffs(study):
    # The first passage alone: the visitor, which answers q1.
    value(topic_score(study, cutoff="1").coverage, 1 / 3)
    # strict's Z* has two passages, so that two of the four count.
    assert topic_score(study, "annotated.bm25", source="strict", cutoff="oracle").n_passages == 2
    # Beyond the end of Z the ideal goes on to rank 10 under the rules of the paper: 2#2, 10#10,
    # 0#1, then 0#0 for the second answer to q0.
    topic = topic_score(study, cutoff="10")
    value(topic.alpha_ndcg, (1 + SECOND) / (1 + SECOND + 1 / 2 + 0.5 / log2(5)))
    # recall@10 is the same; nDCG@10 knows four relevant passages.
    value(topic.ndcg, SECOND / (1 + SECOND + 1 / 2 + 1 / log2(5)))
    # The authors stop where Z ends.
    authors = topic_score(study, cutoff="10", rules="authors")
    value(authors.alpha_ndcg, SECOND / (1 + SECOND))


def test_by_default_a_run_is_as_long_as_the_required_subset(study):
    # The judge's Z* has three passages; ferry-2 has none, and all of its one passage counts.
    scores = score(study.dataset, choose(study.dataset))
    assert scores.by_name["annotated.bm25"].sizes.tolist()[:1] == [3]
    assert scores.by_name["dense"].sizes.tolist() == [2, 1]
    value(scores.by_name["dense"].topics["ferry-2"].recall, 1)
    # The authors' code reads all of a run.
    authors = score(study.dataset, choose(study.dataset, rules="authors"))
    assert authors.by_name["annotated.bm25"].sizes.tolist()[:1] == [4]


def test_ndeval_value_is_given_for_gains_of_other_topics_passages(study):
    # The visitor answers q1 and gains 1 at rank 1, as 2#2 does at rank 2; ndeval knows it not.
    topic = topic_score(study)
    value(topic.alpha_ndcg, 1)
    assert topic.alpha_ndcg_ndeval == pytest.approx(SECOND / (1 + SECOND))
    # Answering all three it gains 3, where no passage of the ideal gains more than 1.
    Rating.objects.filter(text__name="far-9:0#0").update(grade=5)
    topic = topic_score(study, cutoff="1")
    value(topic.alpha_ndcg, 3)
    assert topic.alpha_ndcg_ndeval == 0
    # The mean is over the same topics: ferry-2 has no value.
    scores = score(study.dataset, choose(study.dataset, cutoff="1"))
    assert scores.by_name["dense"].mean_ndeval == 0
    # Where nothing of the kind gains, where there is another ideal, or none: the same value or none.
    assert scores.by_name["bounds/required-subset"].mean_ndeval is None
    assert scores.by_name["reports/annotated.bm25"].mean_ndeval is None
    for params in ({"rules": "authors"}, {"ideal": "paper_eq4"}):
        assert topic_score(study, **params).alpha_ndcg_ndeval is None


def test_ideal_of_equation_4(study):
    # Z* gains 1 at each of three ranks.
    value(topic_score(study, ideal="paper_eq4").alpha_ndcg, (1 + SECOND) / (1 + SECOND + 1 / 2))


def test_topic_without_answerable_question_is_undefined(study):
    topic = topic_score(study, topic="ferry-2")
    for metric in ("coverage", "alpha_ndcg", "density"):
        undefined(topic.metric(metric), "there are no answerable questions")
    assert (topic.n_answerable, topic.required_subset) == (0, ())
    # Its one passage is relevant and found.
    value(topic.recall, 1)


def test_source_that_rated_no_passage(study):
    # cay rated one report alone.
    topic = topic_score(study, source="cay")
    undefined(topic.coverage, "there are no answerable questions")
    undefined(topic.alpha_ndcg, "there are no answerable questions")
    undefined(topic.recall, "there are no relevant passages")
    scores = score(study.dataset, choose(study.dataset, source="cay", ideal="paper_eq4"))
    assert scores.by_name["bounds/required-subset"].topics == {}
    assert scores.by_name["bounds/required-subset"].means["coverage"].n == 0
    undefined(scores.by_name["dense"].means["alpha_ndcg"], "there are no answerable questions")


def test_topic_without_questions_and_a_run_without_passages(study):
    bare = Topic.objects.create(dataset=study.dataset, name="bare", request="?", position=2)
    text = Text.objects.create(dataset=study.dataset, topic=bare, kind="passage", name="bare:0#0")
    run = RetrievalRun.objects.create(dataset=study.dataset, name="other")
    RankedText.objects.create(run=run, topic=bare, text=text, rank=1)
    RetrievalRun.objects.create(dataset=study.dataset, name="void")
    scores = score(study.dataset, choose(study.dataset), ["other", "void"])
    undefined(scores.by_name["other"].topics["bare"].coverage, "there are no answerable questions")
    assert scores.by_name["void"].topics == {}
    undefined(scores.by_name["void"].means["coverage"], "it has no topic")


def test_required_subset_as_a_row(study):
    topic = topic_score(study, "bounds/required-subset", source="strict", cutoff="1")
    # It is the bound, and is not cut off; measures of a ranking stop at the cut-off.
    value(topic.coverage, 1)
    value(topic.density, 1)
    value(topic.recall, 1 / 3)


def test_reports_and_references(study):
    make_reference(study)
    topic = topic_score(study, "bounds/references")
    value(topic.coverage, 2 / 3)  # q0 and q3
    assert (topic.n_passages, topic.tokens) == (1, 10)
    for metric in ("alpha_ndcg", "recall", "average_precision", "ndcg"):
        undefined(topic.metric(metric), "it is one text and not a ranking of passages")
    # The judge has rated no report: undefined under any rules.
    for rules in ("paper", "authors"):
        report = topic_score(study, "reports/annotated.oracle", rules=rules)
        undefined(report.coverage, "none of it is rated")
        assert report.n_unrated_cells == 3


def test_reports_rated_by_people_over_a_judge(study):
    # Answerable by the judge and the people: q0 (0#0), q1 (0#0 by the people, 0#1), q3 (10#10).
    # Of the oracle's report the people say q0; q1 is a tie and q3 was not asked: both unrated.
    topic = topic_score(study, "reports/annotated.oracle", source="people:judge")
    value(topic.coverage, 1 / 3)
    assert (topic.n_unrated, topic.n_unrated_cells) == (1, 2)
    # Z*: 0#0 and 10#10, 24 words, for three questions.
    value(topic.density, sqrt((1 / REPORT_WORDS) / (3 / 24)))


def test_means_over_topics(study):
    row = score(study.dataset, choose(study.dataset), ["dense"]).rows[0]
    mean = row.means["coverage"]
    # ferry-2 has no answerable question: it is missing, and no 0.
    assert (mean.value, mean.n, mean.missing) == (pytest.approx(2 / 3), 1, 1)
    assert mean.interval_reason == "no interval, because there are fewer than two topics"
    # recall: 1/4 and 1. sd with n - 1 is 0.75 / sqrt 2, its error 0.375; t(1) at 97.5% is 12.7062:
    # 0.625 +- 4.76, of which a recall can be 0 to 1.
    recall = row.means["recall"]
    assert (recall.value, recall.n, recall.missing) == (0.625, 2, 0)
    assert (recall.low, recall.high) == (0, 1)
    whole = mean_over_topics(np.array([0.25, 1.0]), [])
    assert whole.high - whole.value == pytest.approx(12.7062 * 0.375, abs=1e-4)
    assert set(row.means) == set(METRICS)
    undefined(
        row.means["density"],
        "no topic has a value; on the first of them words of the required subset are not there",
    )


def test_mean_of_nothing_has_the_topics_reason():
    assert mean_over_topics(np.array([]), []).reason == "undefined, because it has no topic"


def test_values_stand_in_the_order_of_the_topics(study):
    scores = score(study.dataset, choose(study.dataset, cutoff="size"))
    assert scores.topic_names == ("ferry-1", "ferry-2")
    np.testing.assert_allclose(scores.by_name["dense"].of("recall"), [1 / 4, 1])
    # annotated.bm25 does not rank ferry-2, which has a relevant passage and no answerable question.
    bm25 = scores.by_name["annotated.bm25"]
    np.testing.assert_allclose(bm25.of("recall"), [2 / 4, 0])
    np.testing.assert_allclose(bm25.of("coverage"), [2 / 3, np.nan])
    assert list(bm25.topics) == ["ferry-1"]
    assert (bm25.n_topics, bm25.n_absent) == (1, 1)
    assert (bm25.means["recall"].n, bm25.means["recall"].missing) == (2, 0)


def test_rows_scored_alone_and_together_are_the_same(study):
    all_scores = score(study.dataset, choose(study.dataset))
    for row in all_scores.rows:
        single = score(study.dataset, choose(study.dataset), [row.row.name]).rows[0]
        assert (single.topics, single.means) == (row.topics, row.means)


def test_row_that_is_not_there(study):
    with pytest.raises(SelectionError, match=r"“eve”.* reports/annotated.oracle, bounds/"):
        score(study.dataset, choose(study.dataset), ["eve"])


def test_scores_are_kept_until_the_data_change(study, django_assert_num_queries):
    options = choose(study.dataset)
    first = cached_scores(study.dataset, options)
    with django_assert_num_queries(0):
        second = cached_scores(study.dataset, options)
    assert [row.topics for row in second.rows] == [row.topics for row in first.rows]
    Rating.objects.filter(text__name="ferry-1:2#2", grade=4).update(grade=0)
    value(cached_scores(study.dataset, options).by_name["dense"].topics["ferry-1"].coverage, 1 / 3)


def test_queries_do_not_grow(study, django_assert_num_queries):
    make_reference(study)
    options = choose(study.dataset)
    # As for pools, six; runs, ranked texts, reports and references; their words.
    with django_assert_num_queries(12):
        score(study.dataset, options)
