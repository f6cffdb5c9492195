"""The job itself: one file of replies for each file of pairs, whole or not there, and never another judge's."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from judging.engine.selection import Selection
from judging.graders.base import GraderError
from judging.grading.pairs import Reply, State
from judging.offline import cluster, exchange
from judging.offline.job import ExchangeRefused, Job
from judging.offline.parquet import read_results
from tests.clock import HANGS
from tests.factories import QUESTIONS
from tests.judging.graders.scripted_server import (
    ScriptedServer,
    as_json,
    completion,
    models,
    said,
    status,
)

ROOT = Path(__file__).resolve().parents[3]


class Backwards:
    """Takes some pairs at a time, and replies to the last one first."""

    def __init__(self, at_once=3, lost=0):
        self.at_once, self.lost = at_once, lost

    def replies(self, pairs):
        held = []
        for pair in pairs:
            held.append(pair)
            if len(held) >= self.at_once:
                yield None
                yield from self.graded(held)
        yield from self.graded(held[self.lost :])

    def graded(self, held):
        while held:
            yield Reply(held.pop(), State.GRADED, grade=2, raw="2")


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
        asked = [row.pair for row in cluster.read_pairs(path)[1]]
        assert [(row["text_id"], row["question_id"]) for row in rows] == [
            (pair.text_id, pair.question_id) for pair in asked
        ]


def test_a_grader_that_loses_a_pair_ends_the_job_and_its_file_is_not_written(small):
    job, folder, results = small
    graded = cluster.grade_files(Backwards(lost=1), job, job.pairs_files(folder), results)
    with pytest.raises(GraderError, match="no reply to 1 pairs"):
        list(graded)
    assert names(results) == ["results-00001.parquet"]


def test_the_same_command_goes_on_where_it_was_stopped(small, server, capsys):
    _, folder, results = small
    assert command(folder, results, server.url) == 0
    first = (results / "results-00001.parquet").read_bytes()
    (results / "results-00002.parquet").unlink()
    asked = sum(server.asked.values())
    assert command(folder, results, server.url) == 0
    assert sum(server.asked.values()) == asked + 4
    assert (results / "results-00001.parquet").read_bytes() == first
    assert command(folder, results, server.url) == 0
    assert sum(server.asked.values()) == asked + 4
    assert "manage.py judge_import ferry" in capsys.readouterr().err


def test_several_servers_share_the_pairs_and_one_of_no_use_is_named(small, server, caplog):
    _, folder, results = small
    with ScriptedServer() as other, ScriptedServer() as third:
        no_such_model = status(404, "The model `tiny` does not exist.")
        other.answers |= {"/v1/models": models("large"), "/v1/chat/completions": no_such_model}
        urls = (server.url, "--url", other.url, "--url", third.url)
        assert command(folder, results, *urls) == 0
    assert server.asked.total() + third.asked.total() == 8
    assert min(server.asked.total(), third.asked.total()) > 0
    assert f"{other.url} does not serve tiny" in caplog.text
    assert "The server lists large, and not tiny. It is put aside" in caplog.text
    assert names(results) == ["results-00001.parquet", "results-00002.parquet"]


def test_a_server_that_is_of_no_use_is_a_sentence_and_leaves_no_half_file(small, server, capsys):
    _, folder, results = small
    for question in [*QUESTIONS, "What did it cost?"]:
        server.script(question, status(401, "no"))
    assert command(folder, results, server.url, "--concurrency", "1") == 1
    assert "key" in capsys.readouterr().err
    assert names(results) == []


def test_another_model_at_the_address_is_refused(small, server, capsys):
    _, folder, results = small
    answer = as_json(completion("4") | {"model": "somebody-else"})
    for question in [*QUESTIONS, "What did it cost?"]:
        server.script(question, answer)
    assert command(folder, results, server.url) == 1
    assert "answers as somebody-else. If that is the model" in capsys.readouterr().err
    assert server.asked.total() == 1
    assert names(results) == []


@pytest.mark.soak
def test_two_processes_at_one_folder_do_no_harm(small, server):
    _, folder, results = small

    async def together(request, body):
        while sum(server.asked.values()) <= 8:  # one process alone has eight pairs
            await asyncio.sleep(0.01)
        return await said("3")(request, body)

    for question in [*QUESTIONS, "What did it cost?"]:
        server.script(question, together)
    words = [folder, "--out", results, "--no-ray", "--url", server.url]
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "judging.offline.cluster", *map(str, words)],
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
def test_a_judge_that_is_not_what_it_says_grades_nothing(small, server, capsys, broken, complaint):
    _, folder, results = small
    change(folder, broken)
    assert command(folder, results, server.url) == 1
    assert complaint in capsys.readouterr().err
    assert not server.asked


@pytest.mark.parametrize(
    ("words", "complaint"),
    [(b"{", "cannot be read"), (b"[]", "not the description"), (b"\xff", "cannot be read")],
)
def test_a_description_that_is_no_json_is_refused(small, words, complaint):
    _, folder, _ = small
    (folder / "judge.json").write_bytes(words)
    with pytest.raises(ExchangeRefused, match=complaint):
        Job.read(folder)


def test_a_folder_without_a_description_is_no_whole_export(small, server, capsys):
    _, folder, results = small
    (folder / "judge.json").unlink()
    assert command(folder, results, server.url) == 1
    assert "not finished" in capsys.readouterr().err


def test_pairs_of_another_export_among_them_end_the_job(small, server, capsys, dataset, tmp_path):
    _, folder, results = small
    change(folder, lambda values: values.update(run=99))
    assert command(folder, results, server.url) == 1
    assert "pairs-00001.parquet is of another export" in capsys.readouterr().err


def test_a_judge_that_asks_a_server_needs_its_address(small, capsys):
    _, folder, results = small
    assert command(folder, results, "") == 1
    assert "--url" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--workers", "0"], ["--concurrency", "x"], ["--engine", "{"], ["--engine", "[1]"]]
)
def test_options_that_cannot_be_are_refused(small, words):
    _, folder, results = small
    with pytest.raises(SystemExit):
        command(folder, results, "http://127.0.0.1:1/v1", *words)
