from annotation.models import Text
from evaluation.models import RetrievalRun
from evaluation.scoring.pools import load_pools
from evaluation.scoring.rows import left_out, rows
from tests.evaluation.scoring.choosing import choose
from tests.toolbox.scoring_study import RUNS, make_reference


def load(study):
    return rows(study.dataset, load_pools(study.dataset, choose(study.dataset)))


def test_rows_are_runs_reports_and_bounds(study):
    reference = make_reference(study)
    by_name = {row.name: row for row in load(study)}
    # The bounds, the runs by name, the reports. annotated.oracle has no run of its name.
    assert [(row.name, row.kind, row.bound) for row in by_name.values()] == [
        ("reports/annotated.oracle", "reports", 1),
        ("bounds/references", "references", 2),
        ("bounds/required-subset", "bound", 3),
        ("annotated.bm25", "run", None),
        ("dense", "run", None),
        ("reports/annotated.bm25", "reports", None),
    ]
    topic = study.topic.pk
    assert by_name["dense"].contexts[topic] == study.keys(*RUNS["dense"])
    assert by_name["bounds/references"].contexts == {topic: (reference.pk,)}
    report = study.reports["annotated.bm25"]
    assert by_name["reports/annotated.bm25"].contexts == {topic: (report.pk,)}
    required = study.keys("ferry-1:0#0", "ferry-1:0#1", "ferry-1:10#10")
    assert by_name["bounds/required-subset"].contexts == {topic: required}
    # A run and the reports that were written from it are found together.
    assert by_name["annotated.bm25"].system == by_name["reports/annotated.bm25"].system
    assert left_out(tuple(by_name.values())) == ()


def test_bounds_that_are_not_there_are_named(study):
    RetrievalRun.objects.create(dataset=study.dataset, name="annotated.oracle")
    assert left_out(load(study)) == (
        "Reference bound #1, direct prompting, is left out: every system with reports has a "
        "retrieval run of its name.",
        "Reference bound #2, oracle result, is left out: the dataset has no reference summaries.",
    )


def test_without_any_run_no_system_is_taken_for_direct_prompting(study):
    RetrievalRun.objects.all().delete()
    scored_rows = load(study)
    assert [row.bound for row in scored_rows if row.kind == "reports"] == [None, None]
    assert "direct prompting, is left out: no system with reports has" in left_out(scored_rows)[0]


def test_second_report_of_a_topic_is_a_row_of_its_own(study):
    make_reference(study)
    for kind, system in (("report", "annotated.bm25"), ("reference", "")):
        Text.objects.create(
            dataset=study.dataset, topic=study.topic, kind=kind, system=system, name="z", body="Z"
        )
    names = [row.name for row in load(study)]
    assert "reports/annotated.bm25#2" in names
    assert "bounds/references#2" in names


def test_three_queries(study, django_assert_num_queries):
    pools = load_pools(study.dataset, choose(study.dataset))
    with django_assert_num_queries(3):
        rows(study.dataset, pools)
