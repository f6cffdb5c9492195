"""Vectorised topic and report statistics equal those computed one at a time."""

from dataclasses import fields

import numpy as np
import pytest

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic
from evaluation.agreement.judge import against, judge_parts
from evaluation.agreement.majority import majority_rows
from evaluation.agreement.parts import NO_RATINGS, parts_by, topic_parts
from evaluation.data.ratings import grid, load
from evaluation.data.selection import select
from evaluation.metrics.coverage import coverage
from evaluation.scoring.report_coverage import report_rows
from evaluation.stats import fleiss
from evaluation.stats.clusters import share
from evaluation.stats.jackknife import jackknife
from evaluation.stats.majority import majorities_of_others
from evaluation.stats.pair_counts import PairCounts
from tests.toolbox.random_ratings import make_random_ratings

N_TOPICS = 12


@pytest.fixture
def large_dataset(db) -> Dataset:
    """Twelve topics in an order other than their keys', with gaps, three raters and a judge."""
    generator = np.random.default_rng(11)
    dataset = Dataset.objects.create(slug="many", title="Many")
    raters = [Rater.objects.create(dataset=dataset, name=n, kind="human") for n in ("a", "b", "c")]
    judge = Rater.objects.create(dataset=dataset, name="j", kind="model")
    rubric = {slug: Rubric.objects.get(slug=slug) for slug in ("answerable", "graded")}
    for number in range(N_TOPICS):
        topic = Topic.objects.create(
            dataset=dataset, name=f"t{number}", request="x", position=N_TOPICS - number
        )
        report = Text.objects.create(
            dataset=dataset, topic=topic, kind="report", system="s", name=f"r{number}", body="x"
        )
        for position in range(4):
            question = SubQuestion.objects.create(
                topic=topic,
                position=position,
                body=f"Question {position}?",
                filtered_because="nothing answers it" if position == number % 5 else "",
            )
            pair = {"text": report, "question": question}
            for rater in raters:
                if generator.random() < 0.75:
                    # Topic 5 has one answer alone.
                    grade = 1 if number == 5 else int(generator.integers(0, 2))
                    Rating.objects.create(
                        rater=rater, rubric=rubric["answerable"], grade=grade, **pair
                    )
            if generator.random() < 0.8:
                grade = int(generator.integers(0, 6))
                Rating.objects.create(rater=judge, rubric=rubric["graded"], grade=grade, **pair)
    return dataset


def test_topics(large_dataset):
    matrix = load(select(large_dataset))
    parts = topic_parts(matrix)
    assert [topic_part.name for topic_part in parts] == [f"t{n}" for n in reversed(range(N_TOPICS))]
    for pk, topic_part in zip(matrix.topic_names, parts, strict=True):
        groups = np.where(matrix.topic == pk, 0, -1)
        single = parts_by(matrix, groups, [topic_part.name])[0]
        assert (topic_part.n_items, topic_part.n_missing) == (single.n_items, single.n_missing)
        for name in ("kappa", "ac1", "percent", "prevalence"):
            ours, theirs = getattr(topic_part, name), getattr(single, name)
            assert ours.value == pytest.approx(theirs.value), (topic_part.name, name)
            assert (ours.reason, ours.n, ours.missing) == (theirs.reason, theirs.n, theirs.missing)
            assert (ours.low, ours.interval_reason) == (theirs.low, theirs.interval_reason)
    one_answer = next(topic_part for topic_part in parts if topic_part.name == "t5")
    assert one_answer.kappa.reason == "undefined, because all ratings are in one category"


@pytest.mark.parametrize("seed", range(3))
def test_parts_against_statistics_of_their_items(db, seed):
    matrix = load(select(make_random_ratings(seed), rubric="graded"))
    groups = np.random.default_rng(seed).integers(-1, 3, matrix.n_items)
    tallies, levels = matrix.level_columns.tallies, np.array(matrix.levels)
    names = ["a", "b", "c", "empty"]
    for group, part in enumerate(parts_by(matrix, groups, names)):
        counts, topics = tallies[groups == group], matrix.topic[groups == group]
        rated = counts.sum(axis=1)
        answers = counts[:, levels >= matrix.selection.threshold].sum(axis=1) / np.maximum(rated, 1)
        expected = {
            name: jackknife(lambda items, of=of, counts=counts: of(counts[items]), topics)
            for name, of in (
                ("kappa", fleiss.fleiss_kappa),
                ("ac1", fleiss.gwet_ac1),
                ("percent", fleiss.percent_agreement),
            )
        }
        expected["prevalence"] = share(answers, rated > 0, topics, NO_RATINGS)
        assert (part.name, part.n_items) == (names[group], len(counts))
        assert part.n_missing == len(counts) * matrix.grades.shape[1] - rated.sum()
        for name, estimate in expected.items():
            low, high = (-1, 1) if name in ("kappa", "ac1") else (0, 1)
            assert_equal(getattr(part, name), estimate.within(low, high))


def assert_equal(ours, theirs):
    for name in ("reason", "n", "missing", "interval_reason"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("value", "low", "high"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-12), name


def test_coverage_of_reports(large_dataset):
    selection = select(large_dataset, judge="j", eta=4)
    matrix = load(selection)
    rows = report_rows(matrix)
    texts, raters = [row.text for row in rows], [rater.pk for rater in selection.raters]
    by_raters = grid(matrix.rows, raters, texts, matrix.questions)
    by_judge = grid(matrix.judge_rows, [selection.judge.pk], texts, matrix.questions)
    assert len(rows) == N_TOPICS
    for row, cells in zip(rows, np.concatenate([by_raters, by_judge]).swapaxes(0, 1), strict=True):
        questions = SubQuestion.objects.filter(topic__name=row.topic, filtered_because="")
        positions = list(questions.values_list("position", flat=True))
        for column, estimate in enumerate((*row.coverage, row.judge)):
            eta = selection.judge_threshold if column == len(row.coverage) else selection.threshold
            single = coverage(cells[column][np.newaxis], positions, eta)
            assert (estimate.n, estimate.missing) == (single.n, single.missing)
            if single.n and single.missing < single.n:
                assert estimate.value == pytest.approx(single.value)
            else:
                assert estimate.value is None


def test_judge_on_another_scale_against_groups_of_ratings(large_dataset):
    assert_each_group(load(select(large_dataset, judge="j")))


@pytest.mark.parametrize("seed", range(3))
def test_judge_among_raters_against_groups_of_ratings(db, seed):
    raters = ["ann", "everywhere", "cay", "judge"]
    dataset = make_random_ratings(seed)
    assert_each_group(load(select(dataset, rubric="graded", raters=raters, judge="judge")))


def assert_each_group(matrix):
    parts, judge = judge_parts(matrix), matrix.selection.judge
    columns = [c for c, rater in enumerate(matrix.selection.raters) if rater.pk != judge.pk]
    item, position = np.nonzero(~np.isnan(matrix.grades[:, columns]))
    human, rater = matrix.grades[:, columns][item, position], np.array(columns)[position]
    groups = [(parts.all, item >= 0)]
    groups += [
        (part_of, rater == column) for part_of, column in zip(parts.by_rater, columns, strict=True)
    ]
    groups += [(part_of, matrix.system[item] == part_of.name) for part_of in parts.by_system]
    assert len(groups) == 1 + len(columns) + len(matrix.systems)
    for part_of, mask in groups:
        expected = against(matrix, (part_of.name, part_of.title), human[mask], item[mask])
        assert part_of.sweep == expected.sweep
        for field in fields(part_of):
            if field.name not in ("matrix", "counts"):
                assert getattr(part_of, field.name) == getattr(expected, field.name), field.name


@pytest.mark.parametrize("rule", ["strict", "plurality"])
def test_majorities_of_random_grades(large_dataset, rule):
    matrix = load(select(large_dataset, judge="j", majority=rule))
    majorities = list(majorities_of_others(matrix.grades, matrix.levels, rule))
    for row, grades, majority in zip(
        majority_rows(matrix), matrix.grades.T, majorities, strict=False
    ):
        counts = PairCounts.of(majority, grades, matrix.levels, matrix.topic)
        assert row.matrix.tolist() == counts.matrix.tolist()
        assert (row.kappa.value, row.kappa.low) == (counts.scott().value, counts.scott().low)
        assert row.kappa.missing == counts.missing
        assert row.n_dropped == (np.isnan(majority) & ~np.isnan(grades)).sum()
