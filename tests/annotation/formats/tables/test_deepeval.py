"""Preset of DeepEval's test runs and of its cache, by the keys of several of its versions."""

import json

import pytest

from annotation.formats.tables.presets.base import FURTHER_ANSWERS, PresetError
from annotation.formats.tables.presets.recognition import recognise
from tests.annotation.formats.tables.preset_files import grades_of, read_preset, write_file


def _metric(name, score, **more):
    return {"name": name, "threshold": 0.5, "success": True, "score": score, **more}


def _case(number, question, answer, metrics, **more):
    return {
        "name": f"test_case_{number}",
        "input": question,
        "actualOutput": answer,
        "retrievalContext": [f"Page of {question}"],
        "success": True,
        "metricsData": metrics,
        "order": number,
    } | more


def _run(*cases, **more):
    return {
        "testFile": "test_bot.py",
        "testCases": list(cases),
        "conversationalTestCases": [],
        "metricsScores": [{"metric": "Faithfulness", "scores": [1.0], "passes": 1, "fails": 0}],
        "hyperparameters": {"model": "m"},
        "runDuration": 2.5,
    } | more


def _values(rows):
    return [(row["system"], row["measure"], row["value"]) for row in rows["values"]]


def _notes(rows):
    return [(row["by"], row["note"]) for row in rows["notes"]]


def test_test_run_is_recognised_and_read(tmp_path):
    faithful = _metric("Faithfulness", 1.0, reason="All is in the page.", evaluationModel="gpt-x")
    run = _run(
        _case(0, "How deep?", "90 m.", [faithful, _metric("Style [GEval]", 0.25)]),
        _case(1, "How old?", "A century.", [_metric("Faithfulness", None, error="timed out")]),
        _case(2, "Who?", None, [_metric("Faithfulness", 0.0)]),
    )
    run["testCases"][1]["success"] = False
    file = write_file(tmp_path, "test_run_20260301_101500.json", run)
    assert recognise([file]) == "deepeval"
    rows, counts = read_preset("deepeval", [file], system="bot")
    assert _values(rows) == [("bot", "Faithfulness", 1.0), ("bot", "Style [GEval]", 0.25)]
    assert _notes(rows) == [("gpt-x", "Faithfulness: All is in the page.")]
    assert grades_of(rows) == [
        ("deepeval", "deepeval-success", 1),
        ("deepeval", "deepeval-success", 0),
    ]
    assert [row["contents"] for row in rows["passages"]] == [
        "Page of How deep?",
        "Page of How old?",
    ]
    assert counts == {
        "metrics without a score: no value": 1,
        "rows without an answer: left out": 1,
    }


@pytest.mark.parametrize(
    ("records", "metrics", "name"),
    [
        ("testCases", "metricsMetadata", "metric"),
        ("test_results", "metrics_data", "name"),
        ("testCases", "metricsData", "name"),
    ],
)
def test_keys_of_versions_are_read_alike(tmp_path, records, metrics, name):
    case = {"input": "How deep?", "actual_output": "90 m.", "success": True}
    case[metrics] = [{name: "Faithfulness", "score": 0.5, "threshold": 0.5}]
    run = {records: [case], "metricsScores": [{"metric": "Faithfulness", "scores": [0.5]}]}
    file = write_file(tmp_path, "run.json", run)
    assert recognise([file]) == "deepeval"
    rows, _ = read_preset("deepeval", [file])
    assert _values(rows) == [("run", "Faithfulness", 0.5)]


def test_conversations_of_test_results_are_counted(tmp_path):
    results = [
        _case(0, "How deep?", "90 m.", []),
        {"name": "talk", "success": True, "conversational": True, "turns": []},
    ]
    file = write_file(tmp_path, "run.json", {"test_results": results, "confident_link": None})
    rows, counts = read_preset("deepeval", [file])
    assert len(rows["cited"]) == 1
    assert counts == {"rows whose question is a conversation: left out": 1}


def test_file_of_the_latest_run_is_recognised_and_read(tmp_path):
    run = _run(_case(0, "How deep?", "90 m.", [_metric("Faithfulness", 0.5)]))
    value = {"testRunData": run, "testRunLink": "https://example.org"}
    file = write_file(tmp_path, ".latest_test_run.json", value)
    assert recognise([file]) == "deepeval"
    rows, counts = read_preset("deepeval", [file], system="bot")
    assert _values(rows) == [("bot", "Faithfulness", 0.5)]
    assert not counts


@pytest.mark.parametrize("wrap", [lambda run: run, lambda run: {"testRunData": run}])
def test_conversations_beside_test_cases_are_counted(tmp_path, wrap):
    conversations = [{"name": "talk", "turns": [{"role": "user"}]}] * 2
    run = _run(_case(0, "How deep?", "90 m.", []), conversationalTestCases=conversations)
    rows, counts = read_preset("deepeval", [write_file(tmp_path, "run.json", wrap(run))])
    assert len(rows["cited"]) == 1
    assert counts == {"conversations: left out": 2}


def test_run_of_conversations_alone_is_recognised_and_refused(tmp_path):
    conversations = [{"name": "talk", "turns": [{"role": "user"}], "metricsData": []}]
    file = write_file(tmp_path, "run.json", _run(conversationalTestCases=conversations))
    assert recognise([file]) == "deepeval"
    with pytest.raises(PresetError, match=r"has only conversations \(1\), which are not read"):
        read_preset("deepeval", [file])


def test_repeated_metrics_and_test_cases_are_numbered(tmp_path):
    metrics = [_metric("Faithfulness", 0.5), _metric("Faithfulness", 0.75)]
    run = _run(_case(0, "How deep?", "90 m.", metrics), _case(1, "How deep?", "90 m.", []))
    rows, counts = read_preset("deepeval", [write_file(tmp_path, "bot.json", run)])
    assert [(row["system"], row["body"]) for row in rows["cited"]] == [
        ("bot", "90 m."),
        ("bot.run2", "90 m."),
    ]
    assert _values(rows) == [("bot", "Faithfulness", 0.5), ("bot", "Faithfulness (2)", 0.75)]
    assert counts[FURTHER_ANSWERS] == 1


def test_runs_of_one_system_in_two_files_are_numbered(tmp_path):
    files = [
        write_file(tmp_path, f"{name}.json", _run(_case(0, "How deep?", answer, [])))
        for name, answer in (("a", "90 m."), ("b", "95 m."))
    ]
    rows, _ = read_preset("deepeval", files, system="bot")
    assert [row["system"] for row in rows["cited"]] == ["bot", "bot.run2"]


def _cache(*keys):
    cached = {"metric_data": _metric("Faithfulness", 0.5), "metric_configuration": {}}
    return {"test_cases_lookup_map": {key: {"cached_metrics_data": [cached]} for key in keys}}


def test_cache_is_recognised_and_read(tmp_path):
    case = {"input": "How deep?", "actual_output": "90 m.", "retrieval_context": ["Page."]}
    file = write_file(tmp_path, ".deepeval-cache.json", _cache(json.dumps(case)))
    assert recognise([file]) == "deepeval"
    rows, _ = read_preset("deepeval", [file], system="bot")
    assert [row["body"] for row in rows["cited"]] == ["90 m."]
    assert _values(rows) == [("bot", "Faithfulness", 0.5)]


@pytest.mark.parametrize(
    ("value", "location"),
    [
        (_cache("no JSON"), "cache.json: row 1"),
        ({"test_cases_lookup_map": {}}, "cache.json"),
        (_run(conversationalTestCases=[{"name": "talk", "turns": []}]), "cache.json"),
    ],
)
def test_file_without_test_cases_is_refused(tmp_path, value, location):
    with pytest.raises(PresetError) as refused:
        read_preset("deepeval", [write_file(tmp_path, "cache.json", value)])
    assert refused.value.location == location
