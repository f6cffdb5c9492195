"""An export holds its pairs until import or cancellation; a failed one leaves nothing."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import SubQuestion, Text
from judging.engine import planning, runs
from judging.engine.judges import baseline_of
from judging.engine.selection import Selection
from judging.execution import leases, states
from judging.models import JudgeRun, Shard
from judging.offline import exchange
from judging.offline.job import ExchangeError, Job
from judging.offline.parquet import read_pairs
from tests.judging.offline.conftest import judge_of
from tests.toolbox.factories import PASSAGE, QUESTIONS, REPORT


def pairs_in(folder):
    return [row for path in sorted(folder.glob("pairs-*")) for row in read_pairs(path)[1]]


def test_folder_says_whose_it_is_and_holds_what_a_run_would_ask(export, judge):
    run, job, folder = export
    assert Job.read(folder) == job
    assert job.spec == judge.spec
    assert (job.about.run, job.about.judge, job.about.dataset) == (run.pk, "tiny-judge", "ferry")
    rows = pairs_in(folder)
    assert len(rows) == 8
    assert [row.pair.text for row in rows] == [REPORT] * 4 + [PASSAGE] * 4
    assert [row.pair.question for row in rows[:3]] == QUESTIONS
    assert {row.pair.request for row in rows} == {"Write about the ferry."}
    assert {row.sha256 for row in rows} == set(
        Text.objects.with_body().values_list("sha256", flat=True)
    )


def test_file_holds_so_many_rows_and_never_parts_a_text(dataset, judge, tmp_path):
    exchange.export_run(judge, dataset, Selection(), tmp_path / "out", rows=5)
    files = [read_pairs(path)[1] for path in sorted((tmp_path / "out").glob("pairs-*"))]
    assert [len(rows) for rows in files] == [4, 4]
    assert all(len({row.pair.text_id for row in rows}) == 1 for rows in files)


def test_text_with_more_questions_than_rows_is_still_in_one_file(dataset, judge, tmp_path):
    _, job = exchange.export_run(judge, dataset, Selection(), tmp_path / "out", rows=1)
    assert (job.files, job.pairs) == (2, 8)


def test_exported_pairs_are_not_leased_here(export, judge, dataset):
    run, _, folder = export
    assert run.is_running
    assert leases.take(run, "somebody") is None
    assert {shard.owner for shard in run.shards.all()} == {f"export:{folder}"[:120]}
    assert str(folder) in run.note
    with pytest.raises(states.RunStateError, match="still open"):
        runs.start(judge, dataset, Selection())


def test_cancelling_gives_the_pairs_back(export, judge, dataset, tmp_path):
    run, job, _ = export
    states.cancel(run)
    second_run, second = exchange.export_run(judge, dataset, Selection(), tmp_path / "again")
    assert second.pairs == job.pairs
    assert second_run.pk != run.pk


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_place_that_holds_something_is_refused(dataset, judge, tmp_path, kind):
    if kind == "folder":
        (tmp_path / "mine.txt").write_text("mine")
        path = tmp_path
    else:
        path = tmp_path / "file"
        path.write_text("mine")
    with pytest.raises(CommandError, match="not an empty folder"):
        call_command("judge_export", "ferry", "--judge", "tiny-judge", "--out", path)
    assert not JudgeRun.objects.exists()


def test_failed_export_leaves_no_files_and_no_open_run(dataset, judge, tmp_path, monkeypatch):
    # The disk is full when the description is written, after the pairs.
    def full(self, folder):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Job, "write", full)
    with pytest.raises(CommandError, match="No space left"):
        call_command("judge_export", "ferry", "--judge", "tiny-judge", "--out", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
    assert JudgeRun.objects.get().state == "cancelled"
    assert not Shard.objects.filter(state="leased").exists()
    assert planning.count(judge, dataset, Selection()).to_send == 8


def test_judge_that_lacks_nothing_exports_nothing(dataset, judge, tmp_path):
    Text.objects.update(body=None, sha256="")
    out = StringIO()
    call_command(
        "judge_export", "ferry", "--judge", "tiny-judge", "--out", tmp_path / "out", stdout=out
    )
    assert "has already graded all of these pairs" in out.getvalue()
    assert not (tmp_path / "out").exists()
    assert JudgeRun.objects.get().state == "finished"


def test_text_that_was_deleted_meanwhile_is_left_out(dataset, judge, tmp_path, monkeypatch):
    def plan_then_delete(run, worker):
        counts = planning.plan(run, worker)
        Text.objects.filter(kind="passage").delete()
        SubQuestion.objects.filter(position=0).delete()
        return counts

    monkeypatch.setattr(exchange, "plan", plan_then_delete)
    _, job = exchange.export_run(judge, dataset, Selection(), tmp_path / "out")
    assert job.pairs == 3


def test_baseline_stays_at_home(dataset, tmp_path):
    baseline, _ = baseline_of(dataset)
    with pytest.raises(ExchangeError, match=r"manage\.py judge ferry --judge lexical"):
        exchange.export_run(baseline, dataset, Selection(), tmp_path / "out")


def test_command(dataset, db, tmp_path):
    judge = judge_of()
    out = StringIO()
    arguments = ["judge_export", "ferry", "--judge", "tiny-judge", "--out", tmp_path / "out"]
    call_command(*arguments, "--texts", "passages", "--limit", "3", "--json", stdout=out)
    run = JudgeRun.objects.get()
    assert json.loads(out.getvalue()) == {
        "run": run.pk,
        "fingerprint": judge.fingerprint,
        "state": "running",
        "files": 1,
        "pairs": 3,
    }
    assert run.selection == {"texts": "passages", "limit": 3}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere", "--judge", "tiny-judge"], "there are: ferry"),
        (["ferry", "--judge", "nobody"], "there are: tiny-judge"),
        (["ferry", "--judge", "tiny-judge", "--rows", "0"], "from 1 to 100,000"),
        (["ferry", "--judge", "tiny-judge", "--rows", "100001"], "from 1 to 100,000"),
        (["ferry", "--judge", "tiny-judge", "--topics", "x"], "no topic 'x'"),
        (["ferry", "--judge", "tiny-judge", "--depth", "3"], "depth needs a run"),
        (["ferry", "--judge", "tiny-judge", "--limit", "0"], "1 or more"),
    ],
)
def test_refused_export_says_why_and_creates_no_run(dataset, judge, tmp_path, arguments, complaint):
    with pytest.raises(CommandError, match=complaint):
        call_command("judge_export", *arguments, "--out", tmp_path / "out")
    assert not JudgeRun.objects.exists()
    assert not (tmp_path / "out").exists()
