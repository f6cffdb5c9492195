"""Export, grading without the database, and import exactly once."""

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import NuggetSpan, Rating, Text
from judging.engine import planning, runs
from judging.engine.selection import Selection
from judging.execution import states
from judging.models import Attempt, Batch, JudgeRun, Shard
from judging.offline import cluster, exchange
from tests.judging.offline.conftest import judge_of
from tests.toolbox.clock import HANGS
from tests.toolbox.factories import QUESTIONS
from tests.toolbox.scripted_server import logprobs_of, reply_with, status

ROOT = Path(__file__).resolve().parents[3]


def run_cluster(folder, results, server):
    return cluster.main([str(folder), "--out", str(results), "--no-ray", "--url", server.url])


def imported(folder):
    out = StringIO()
    call_command("judge_import", "ferry", folder, "--json", stdout=out)
    return json.loads(out.getvalue())


def state_of_the_database():
    return [
        list(model.objects.order_by("pk").values())
        for model in (Attempt, Rating, NuggetSpan, Batch, Shard, JudgeRun)
    ]


def test_pairs_come_back_once_and_the_run_is_finished(export, server, tmp_path):
    run, job, folder = export
    assert (job.files, job.pairs) == (1, 8)
    server.script(QUESTIONS[1], reply_with("no idea"))
    assert run_cluster(folder, tmp_path / "back", server) == 0
    counts = imported(tmp_path / "back")
    assert (counts["new"], counts["graded"], counts["there_before"]) == (8, 6, 0)
    run.refresh_from_db()
    assert (run.state, run.n_planned) == ("finished", 12)
    # Two reports have the same words: what was said of one holds for the other.
    assert Attempt.objects.count() == 12
    assert Attempt.objects.filter(copied=True).count() == 4
    assert Rating.objects.count() == 9
    assert set(Rating.objects.values_list("grade", flat=True)) == {3}
    failed = Attempt.objects.filter(question__body=QUESTIONS[1])
    assert set(failed.values_list("failure", "raw")) == {("no_grade", "no idea")}
    assert planning.count(run.judge, run.dataset, Selection()).to_send == 0


def test_importing_again_changes_nothing(export, server, tmp_path):
    _, _, folder = export
    run_cluster(folder, tmp_path / "back", server)
    imported(tmp_path / "back")
    before = state_of_the_database()
    counts = imported(tmp_path / "back")
    assert (counts["new"], counts["there_before"]) == (0, 8)
    assert state_of_the_database() == before
    out = StringIO()
    call_command("judge_import", "ferry", tmp_path / "back", stdout=out)
    assert "0 new" in out.getvalue()
    assert "is finished" in out.getvalue()


def test_evidence_and_probabilities_arrive_as_from_a_worker_here(dataset, server, tmp_path):
    judge = judge_of(parser="evidence-1", sampling={"max_tokens": 50})
    # The names of what holds the words differ, the words do not.
    quote = '4\n"None of the 112 people"\n"Nobody said this"'
    shares = {"4": -0.1, "5": -2.5}
    server.script(QUESTIONS[0], reply_with(quote, logprobs=logprobs_of(shares)))
    exchange.export_run(judge, dataset, Selection(texts="reports"), tmp_path / "out")
    run_cluster(tmp_path / "out", tmp_path / "back", server)
    imported(tmp_path / "back")
    attempt = Attempt.objects.get(question__body=QUESTIONS[0], copied=False)
    assert attempt.raw == quote
    assert attempt.prompt_tokens == 40
    assert len(attempt.prompt_hash) == 16
    spans = NuggetSpan.objects.filter(rating__text=attempt.text, rating__question=attempt.question)
    assert [(span.located, span.quote) for span in spans.order_by("position")] == [
        ("exact", "None of the 112 people"),
        ("unlocated", ""),
    ]


def test_results_may_be_imported_while_the_cluster_still_works(dataset, judge, server, tmp_path):
    _, job = exchange.export_run(judge, dataset, Selection(), tmp_path / "out", rows=4)
    assert job.files == 2
    assert run_cluster(tmp_path / "out", tmp_path / "back", server) == 0
    second = tmp_path / "back" / "results-00002.parquet"
    content = second.read_bytes()
    second.unlink()
    counts = imported(tmp_path / "back")
    assert (counts["new"], counts["runs"][0]["state"]) == (4, "running")
    second.write_bytes(content)
    counts = imported(tmp_path / "back")
    assert (counts["new"], counts["there_before"], counts["runs"][0]["state"]) == (4, 4, "finished")


def test_retry_that_goes_abroad_replaces_what_failed(export, server, judge, dataset, tmp_path):
    _, _, folder = export
    server.script(QUESTIONS[1], reply_with("no idea"))
    run_cluster(folder, tmp_path / "back", server)
    imported(tmp_path / "back")
    server.script(QUESTIONS[1], reply_with("5"))
    run, job = exchange.export_run(judge, dataset, Selection(retry=True), tmp_path / "again")
    assert job.pairs == 2
    run_cluster(tmp_path / "again", tmp_path / "back2", server)
    assert imported(tmp_path / "back2")["graded"] == 2
    assert imported(tmp_path / "back2")["new"] == 0
    assert Rating.objects.filter(question__body=QUESTIONS[1], grade=5).count() == 3
    assert Attempt.objects.filter(counts=False, state="unparseable").count() == 3
    run.refresh_from_db()
    assert run.state == "finished"


def test_replies_of_a_cancelled_run_are_kept_where_nobody_else_was_first(
    export, server, judge, dataset, tmp_path
):
    run, _, folder = export
    run_cluster(folder, tmp_path / "back", server)
    states.cancel(run)
    text = Text.objects.get(kind="passage", body__isnull=False)
    question = text.topic.questions.first()
    other_run = runs.start(judge, dataset, Selection(texts="passages"))
    batch = Batch.objects.create(run=other_run, worker="here")
    first = Attempt.objects.create(
        judge=judge, text=text, question=question, batch=batch, state="graded", grade=1, raw="1"
    )
    counts = imported(tmp_path / "back")
    assert (counts["new"], counts["there_before"]) == (7, 1)
    assert Attempt.objects.get(text=text, question=question) == first
    run.refresh_from_db()
    assert run.state == "cancelled"


@pytest.mark.soak
def test_job_runs_where_there_is_no_django(export, server, tmp_path):
    _, _, folder = export
    script = (
        "import sys; sys.modules['django'] = None; sys.modules['annotation.models'] = None\n"
        "from judging.offline import cluster; sys.exit(cluster.main(sys.argv[1:]))"
    )
    arguments = [folder, "--out", tmp_path / "back", "--no-ray", "--url", server.url]
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stderr
    assert "results-00001.parquet: 8 pairs, 8 graded" in done.stderr


def test_folder_without_results_says_what_to_name(export, dataset):
    _, _, folder = export
    with pytest.raises(CommandError, match=r"holds no results-\*\.parquet"):
        call_command("judge_import", "ferry", folder)
    with pytest.raises(CommandError, match="there are: ferry"):
        call_command("judge_import", "nowhere", folder)


def test_failing_server_leaves_errors_that_come_back_as_errors(export, server, tmp_path):
    _, _, folder = export
    server.script(QUESTIONS[2], status(400, "no such thing"))
    run_cluster(folder, tmp_path / "back", server)
    assert imported(tmp_path / "back")["graded"] == 6
    failed = Attempt.objects.filter(question__body=QUESTIONS[2])
    assert set(failed.values_list("state", "failure")) == {("error", "request")}
