"""Presets of tools whose row is a question with its answer, contexts and metrics."""

from annotation.formats.tables.presets.recognition import recognise
from tests.annotation.formats.tables.preset_files import grades_of, read_preset, write_file

RAGAS_FRAME = """,user_input,retrieved_contexts,response,faithfulness
0,How old?,['It was built in 1820.'],Two hundred years.,0.5
1,How long?,['It has 90 m.'],Ninety metres.,1.0
"""


def test_ragas_frame_with_row_numbers_has_no_metric_of_them(tmp_path):
    file = write_file(tmp_path, "bot.csv", RAGAS_FRAME)
    assert recognise([file]) == "ragas"
    rows, _ = read_preset("ragas", [file])
    assert [report["body"] for report in rows["cited"]] == ["Two hundred years.", "Ninety metres."]
    assert {value["measure"] for value in rows["values"]} == {"faithfulness"}
    assert not grades_of(rows)


def test_ragas_conversations_are_counted(tmp_path):
    row = {"response": "So.", "retrieved_contexts": ["x"]}
    messages = [{"content": "Why?", "type": "human"}]
    samples = [{**row, "user_input": "Why?"}, {**row, "user_input": messages}]
    rows, counts = read_preset("ragas", [write_file(tmp_path, "bot.jsonl", samples)])
    assert len(rows["cited"]) == 1
    assert counts == {"rows whose question is a conversation: left out": 1}


def test_langsmith_rows_without_an_answer_are_counted(tmp_path):
    text = "inputs.question,outputs.answer,error\nWhy?,So.,\nHow?,,timed out\n"
    rows, counts = read_preset("langsmith", [write_file(tmp_path, "bot.csv", text)])
    assert len(rows["cited"]) == 1
    assert counts == {"rows without an answer: left out": 1}


def test_ragas_words_in_another_case_are_one_grade(tmp_path):
    text = (
        "user_input,response,verdict\nWhy?,So.,Faithful\nHow?,Thus.,faithful\nWho?,Ida.,invented\n"
    )
    rows, _ = read_preset("ragas", [write_file(tmp_path, "bot.csv", text)])
    assert [grade for _, _, grade in grades_of(rows)] == [0, 0, 1]
