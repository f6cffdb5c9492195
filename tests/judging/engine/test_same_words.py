"""Texts with the same body, partly asked by another run: each gets a reply."""

from importlib import import_module

import pytest
from django.apps import apps

from annotation.models import Rating, Text
from evaluation.data.ratings import load
from evaluation.data.selection import select
from judging.engine import budget, runs
from judging.engine.budget import Prices
from judging.engine.fill import pump
from judging.engine.progress import progress_of
from judging.engine.selection import Selection
from judging.execution import states
from judging.grading.pairs import State
from judging.models import Attempt
from judging.offline import cluster, exchange
from judging.offline.job import Job
from tests.judging.engine.fill_material import fresh
from tests.judging.offline.conftest import Threes
from tests.toolbox.judging_study import (
    WORKER,
    Scripted,
    a_judge,
    add_text,
    counted,
    failed,
    make_study,
    planned,
    rated,
)


@pytest.fixture
def judge(db):
    return a_judge(prompt="{question}\n{text}")


@pytest.fixture
def study(judge):
    """Return a study with a passage, and a report with the same body; four questions."""
    study = make_study(topics=1, texts=1)
    passage = Text.objects.get()
    add_text(passage.topic, "copy", passage.body, kind="report")
    return study


def asked_elsewhere(judge, study, texts):
    """Return a resumed run, while another one has asked about some of its texts."""
    run = planned(judge, study)
    states.cancel(run)
    grader = Scripted()
    pump(planned(judge, study, Selection(texts=texts)), grader, WORKER)
    assert len(grader.asked) == 4
    runs.resume(run)
    return run


def told_first(judge, study):
    """Return the estimate before a run, and the run once it has ended."""
    estimate = budget.estimate_of(judge, study, Selection(), Prices(0, 0, ""))
    run = planned(judge, study)
    planned_before = run.n_planned
    pump(run, Scripted(), WORKER)
    assert fresh(run).n_planned == planned_before
    return estimate, fresh(run)


def test_counting_first_and_the_run_say_the_same(judge, study):
    # The report has the passage's words: four pairs are asked, and four copied.
    estimate, run = told_first(judge, study)
    assert estimate.summary().startswith(
        "4 pairs to send. 0 already have a grade, 4 are copied from a text with the same request, "
        "0 cannot be sent, because a text is missing. The run plans 8 pairs, sent or copied."
    )
    done = progress_of(run)
    assert (done.n_sent, done.n_planned, done.n_done) == (4, 8, 8)
    estimated = estimate.as_json()
    assert (estimated["to_send"], estimated["copied"], estimated["to_fill"]) == (4, 4, 8)
    # A third text of these words: all of it is copied from what was said.
    add_text(Text.objects.first().topic, "again", Text.objects.first().body, kind="report")
    estimate, run = told_first(judge, study)
    assert (estimate.counts.to_send, estimate.counts.copies, estimate.counts.there_before) == (
        0,
        4,
        8,
    )
    assert (run.n_planned, run.n_there_before, progress_of(run).n_sent) == (4, 8, 0)


def test_white_space_at_the_ends_makes_no_other_words(judge, study):
    """Without a ranking, and with one; white space inside makes other words."""
    Text.objects.filter(kind="report").update(body=f" \n{Text.objects.first().body}\t")
    report = Text.objects.get(kind="report")
    report.save()
    counts = budget.estimate_of(judge, study, Selection(), Prices(0, 0, "")).counts
    assert (counts.to_send, counts.copies) == (4, 4)
    report.body = report.body.replace(" ", "  ")
    report.save()
    counts = budget.estimate_of(judge, study, Selection(), Prices(0, 0, "")).counts
    assert (counts.to_send, counts.copies) == (8, 0)


@pytest.mark.parametrize("texts", ["passages", "reports"])
def test_reply_about_one_is_copied_to_the_other(judge, study, texts):
    run = asked_elsewhere(judge, study, texts)
    grader = Scripted()
    pump(run, grader, WORKER)
    assert grader.asked == []
    assert (fresh(run).state, len(counted(judge)), len(rated(judge))) == ("finished", 8, 8)
    assert Attempt.objects.filter(copied=True).count() == 4


def test_retry_asks_about_the_one_that_still_failed(judge, study):
    pump(planned(judge, study), Scripted(failed), WORKER)
    retry = planned(judge, study, Selection(retry=True))
    states.cancel(retry)
    pump(planned(judge, study, Selection(retry=True, texts="passages")), Scripted(), WORKER)
    runs.resume(retry)
    grader = Scripted()
    pump(retry, grader, WORKER)
    assert {pair.text_id for pair in grader.asked} == {Text.objects.get(kind="report").pk}
    assert (fresh(retry).state, len(rated(judge))) == ("finished", 8)


def test_replies_of_a_cluster_hold_for_texts_with_the_same_body(judge, study, tmp_path):
    run, _ = exchange.export_run(judge, study, Selection(), tmp_path / "out")
    states.cancel(run)
    pump(planned(judge, study, Selection(texts="passages")), Scripted(), WORKER)
    runs.resume(run)
    graded_abroad(tmp_path)
    done = exchange.import_file(study, tmp_path / "back" / "results-00001.parquet")
    assert (done.new, done.there_before) == (4, 0)
    assert len(rated(judge)) == 8
    second_import = exchange.import_file(study, tmp_path / "back" / "results-00001.parquet")
    assert (second_import.new, second_import.there_before) == (0, 4)
    # What was there first stays.
    assert set(Attempt.objects.filter(text__kind="passage").values_list("grade", "state")) == {
        (3, State.GRADED)
    }


def graded_abroad(folder):
    job = Job.read(folder / "out")
    (folder / "back").mkdir()
    files = job.pairs_files(folder / "out")
    list(cluster.grade_files(Threes(job.spec), job, files, folder / "back"))


def test_pairs_of_a_concurrent_run_are_counted_as_there_before(judge, study):
    run = asked_elsewhere(judge, study, "")
    grader = Scripted()
    pump(run, grader, WORKER)
    run = fresh(run)
    assert (grader.asked, run.state, run.n_planned, run.n_there_before) == ([], "finished", 0, 8)
    assert run.note == "8 of its pairs were judged by another run, or are gone."


def read_texts(judge):
    """Return the text that was read for each rating of a judge, by the name of its text."""
    ratings = Rating.objects.filter(rater=judge.rater).select_related("text", "copied_from")
    return {rating.text.name: getattr(rating.copied_from, "name", "") for rating in ratings}


@pytest.mark.parametrize("is_asked_elsewhere", [False, True])
def test_ratings_of_copied_replies_name_the_text_that_was_read(judge, study, is_asked_elsewhere):
    run = asked_elsewhere(judge, study, "passages") if is_asked_elsewhere else planned(judge, study)
    pump(run, Scripted(), WORKER)
    passage = Text.objects.get(kind="passage")
    assert read_texts(judge) == {passage.name: "", "copy": passage.name}
    # The source of a later text is the text that was read, not its copy.
    add_text(passage.topic, "again", passage.body, kind="report")
    pump(planned(judge, study, Selection(texts="reports")), Scripted(), WORKER)
    assert read_texts(judge)["again"] == passage.name


def test_ratings_of_a_prompt_without_the_text_are_no_copies(study):
    judge = a_judge("blind", prompt="{question}")
    pump(planned(judge, study), Scripted(), WORKER)
    assert len(rated(judge)) == 8
    assert set(read_texts(judge).values()) == {""}


def test_agreement_of_two_judges_counts_copied_replies_once(judge, study):
    other_judge = a_judge("other", prompt="{text}\n{question}")
    for rating_judge in (judge, other_judge):
        pump(planned(rating_judge, study), Scripted(), WORKER)
    raters = [judge.rater.name, other_judge.rater.name]
    matrix = load(select(study, raters=raters, rubric=judge.rubric.slug))
    assert (matrix.n_items, matrix.grades.tolist()) == (4, [[3.0, 3.0]] * 4)
    assert set(matrix.text.tolist()) == {Text.objects.get(kind="passage").pk}


def test_migration_marks_ratings_of_earlier_copied_replies(judge, study):
    blind = a_judge("blind", prompt="{question}")
    for rating_judge in (judge, blind):
        pump(planned(rating_judge, study), Scripted(), WORKER)
    passage = Text.objects.get(kind="passage")
    add_text(passage.topic, "other", "Other words.", kind="report")
    pump(planned(judge, study), Scripted(), WORKER)
    Rating.objects.update(copied_from=None)
    migration = import_module("judging.migrations.0004_mark_copied_ratings")
    migration.mark_copied_ratings(apps, None)
    assert read_texts(judge) == {passage.name: "", "copy": passage.name, "other": ""}
