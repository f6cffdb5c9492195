"""Cluster job: a complete file of replies for each file of pairs, of the right judge."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from judging.engine.selection import Selection
from judging.grading.pairs import Reply, State
from judging.llm.errors import BackendError
from judging.offline import cluster, exchange
from judging.offline.job import ExchangeError, Job
from judging.offline.parquet import read_results
from tests.toolbox.clock import HANGS
from tests.toolbox.factories import QUESTIONS
from tests.toolbox.scripted_server import (
    ScriptedServer,
    as_json,
    completion,
    models,
    reply_with,
    status,
)

ROOT = Path(__file__).resolve().parents[3]


class Backwards:
    """Takes some pairs at a time, and replies to the last one first."""

    def __init__(self, at_once=3, n_lost=0):
        self.at_once, self.lost = at_once, n_lost

    def replies(self, pairs):
        pending = []
        for pair in pairs:
            pending.append(pair)
            if len(pending) >= self.at_once:
                yield None
                yield from self.graded(pending)
        yield from self.graded(pending[self.lost :])

    def graded(self, pending):
        while pending:
            yield Reply(pending.pop(), State.GRADED, grade=2, raw="2")


@pytest.fixture
def small(dataset, judge, tmp_path):
    """Two files of four pairs: (job, folder, folder for results)."""
    _, job = exchange.export_run(judge, dataset, Selection(), tmp_path / "out", rows=4)
    (tmp_path / "back").mkdir()
    return job, tmp_path / "out", tmp_path / "back"


def command(folder, results, url, *more):
    return cluster.main([str(folder), "--out", str(results), "--no-ray", "--url", url, *more])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_replies_in_any_order_end_in_the_file_and_row_of_their_pair(small):
    job, folder, results = small
    files = job.pairs_files(folder)
    done = [file for file in cluster.grade_files(Backwards(), job, files, results) if file]
    assert [(file.name, file.pairs, file.graded) for file in done] == [
        ("results-00001.parquet", 4, 4),
        ("results-00002.parquet", 4, 4),
    ]
    for path, name in zip(files, names(results), strict=True):
        about, rows = read_results(results / name)
        assert about == job.about
        assert {row["fingerprint"] for row in rows} == {job.spec.fingerprint}
        pairs = [row.pair for row in cluster.read_pairs(path)[1]]
        assert [(row["text_id"], row["question_id"]) for row in rows] == [
            (pair.text_id, pair.question_id) for pair in pairs
        ]


def test_grader_that_loses_a_pair_ends_the_job_and_its_file_is_not_written(small):
    job, folder, results = small
    graded = cluster.grade_files(Backwards(n_lost=1), job, job.pairs_files(folder), results)
    with pytest.raises(BackendError, match="no reply to 1 pair"):
        list(graded)
    assert names(results) == ["results-00001.parquet"]


def test_same_command_goes_on_where_it_was_stopped(small, server, capsys):
    _, folder, results = small
    assert command(folder, results, server.url) == 0
    first = (results / "results-00001.parquet").read_bytes()
    (results / "results-00002.parquet").unlink()
    n_requests = sum(server.asked.values())
    assert command(folder, results, server.url) == 0
    assert sum(server.asked.values()) == n_requests + 4
    assert (results / "results-00001.parquet").read_bytes() == first
    assert command(folder, results, server.url) == 0
    assert sum(server.asked.values()) == n_requests + 4
    assert "manage.py judge_import ferry" in capsys.readouterr().err


def test_several_servers_share_the_pairs_and_one_of_no_use_is_named(small, server, caplog):
    _, folder, results = small
    with ScriptedServer() as second, ScriptedServer() as third:
        no_such_model = status(404, "The model `tiny` does not exist.")
        second.answers |= {"/v1/models": models("large"), "/v1/chat/completions": no_such_model}
        urls = (server.url, "--url", second.url, "--url", third.url)
        assert command(folder, results, *urls) == 0
    assert server.asked.total() + third.asked.total() == 8
    assert min(server.asked.total(), third.asked.total()) > 0
    assert f"{second.url} does not serve tiny" in caplog.text
    assert "The server lists large, and not tiny. It is dropped" in caplog.text
    assert names(results) == ["results-00001.parquet", "results-00002.parquet"]


def test_server_that_is_of_no_use_is_a_sentence_and_leaves_no_half_file(small, server, capsys):
    _, folder, results = small
    for question in [*QUESTIONS, "What did it cost?"]:
        server.script(question, status(401, "no"))
    assert command(folder, results, server.url, "--concurrency", "1") == 1
    assert "key" in capsys.readouterr().err
    assert names(results) == []


def test_other_model_at_the_address_is_refused(small, server, capsys):
    _, folder, results = small
    answer = as_json(completion("4") | {"model": "somebody-else"})
    for question in [*QUESTIONS, "What did it cost?"]:
        server.script(question, answer)
    assert command(folder, results, server.url) == 1
    assert "answers as somebody-else. If that is the model" in capsys.readouterr().err
    assert server.asked.total() == 1
    assert names(results) == []


@pytest.mark.soak
def test_concurrent_processes_in_one_folder_do_no_harm(small, server):
    _, folder, results = small

    async def answer_with_others(request, body):
        while sum(server.asked.values()) <= 8:  # one process alone has eight pairs
            await asyncio.sleep(0.01)
        return await reply_with("3")(request, body)

    for question in [*QUESTIONS, "What did it cost?"]:
        server.script(question, answer_with_others)
    arguments = [folder, "--out", results, "--no-ray", "--url", server.url]
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "judging.offline.cluster", *map(str, arguments)],
            cwd=ROOT,
            env={"PATH": "/usr/bin:/bin"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in both:
        complaints = process.communicate(timeout=HANGS)[1]
        assert process.returncode == 0, complaints
    assert names(results) == ["results-00001.parquet", "results-00002.parquet"]
    assert len(read_results(results / "results-00001.parquet")[1]) == 4


def test_replies_of_another_export_are_not_taken_for_its_own(small, server, capsys):
    _, folder, results = small
    command(folder, results, server.url)
    values = json.loads((folder / "judge.json").read_text())
    (folder / "judge.json").write_text(json.dumps({**values, "run": 99}))
    assert command(folder, results, server.url) == 1
    assert "is of another export" in capsys.readouterr().err


def change(folder, change):
    path = folder / "judge.json"
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (lambda values: values["spec"].update(prompt="Another {question} {text}"), "was changed"),
        (lambda values: values["spec"]["sampling"].update(temperature=1.0), "was changed"),
        (lambda values: values.update(fingerprint="0" * 64), "says that the judge tiny-judge is"),
        (lambda values: values.update(format=2), "has the format 2"),
        (lambda values: values.pop("run"), "not the description of a judge"),
        (lambda values: values.pop("spec"), "not the description of a judge"),
        (lambda values: values["spec"].update(colour="red"), "not the description of a judge"),
        (lambda values: values["spec"].update(levels=[["x", "y"]]), "not the description"),
        (lambda values: values.update(files=3), "pairs-00003.parquet is missing"),
    ],
)
def test_judge_that_is_not_what_it_says_grades_nothing(small, server, capsys, broken, complaint):
    _, folder, results = small
    change(folder, broken)
    assert command(folder, results, server.url) == 1
    assert complaint in capsys.readouterr().err
    assert not server.asked


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"{", "cannot be read"), (b"[]", "not the description"), (b"\xff", "cannot be read")],
)
def test_description_that_is_no_json_is_refused(small, content, complaint):
    _, folder, _ = small
    (folder / "judge.json").write_bytes(content)
    with pytest.raises(ExchangeError, match=complaint):
        Job.read(folder)


def test_folder_without_a_description_is_no_whole_export(small, server, capsys):
    _, folder, results = small
    (folder / "judge.json").unlink()
    assert command(folder, results, server.url) == 1
    assert "not finished" in capsys.readouterr().err


def test_pairs_of_another_export_among_them_end_the_job(small, server, capsys, dataset, tmp_path):
    _, folder, results = small
    change(folder, lambda values: values.update(run=99))
    assert command(folder, results, server.url) == 1
    assert "pairs-00001.parquet is of another export" in capsys.readouterr().err


def test_judge_that_asks_a_server_needs_its_address(small, capsys):
    _, folder, results = small
    assert command(folder, results, "") == 1
    assert "--url" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["--workers", "0"], ["--concurrency", "x"], ["--engine", "{"], ["--engine", "[1]"]],
)
def test_options_that_cannot_be_are_refused(small, arguments):
    _, folder, results = small
    with pytest.raises(SystemExit):
        command(folder, results, "http://127.0.0.1:1/v1", *arguments)
