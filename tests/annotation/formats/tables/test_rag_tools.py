"""Presets of tools whose row is a question with its answer, contexts and metrics."""

import json

import pytest

from annotation.formats.tables.presets import tables_and_mapping
from annotation.formats.tables.presets.base import FURTHER_ANSWERS
from annotation.formats.tables.presets.recognition import recognise
from tests.annotation.formats.tables.preset_files import grades_of, read_preset, write_file

RAGAS_FRAME = """,user_input,retrieved_contexts,response,faithfulness
0,How old?,['It was built in 1820.'],Two hundred years.,0.5
1,How long?,['It has 90 m.'],Ninety metres.,1.0
"""


@pytest.mark.parametrize("name", ["", "index", "Unnamed: 0", "__index_level_0__"])
def test_ragas_frame_with_row_numbers_has_no_metric_of_them(tmp_path, name):
    file = write_file(tmp_path, "bot.csv", name + RAGAS_FRAME)
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


@pytest.mark.parametrize("is_flat", [True, False])
def test_langsmith_conversations_and_objects_in_cells_are_read(tmp_path, is_flat):
    inputs = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Why?"},
        ]
    }
    outputs = {"answer": "So.", "documents": ["One."]}
    row = {"inputs": inputs, "outputs": outputs, "reference_outputs": {"answer": "Thus."}}
    if not is_flat:
        row = {name: json.dumps(value) for name, value in row.items()}
    rows, _ = read_preset("langsmith", [write_file(tmp_path, "bot.jsonl", [row])])
    assert [row["request"] for row in rows["topics"]] == ["Why?"]
    assert [report["body"] for report in rows["cited"]] == ["So."]


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


def _result(question, provider, prompt, output, **more):
    return {
        "vars": {"question": question},
        "provider": {"id": provider, "label": ""},
        "promptIdx": prompt,
        "response": {"output": output},
        "success": True,
    } | more


def _reports(rows):
    return [(report["system"], report["body"]) for report in rows["cited"]]


def test_promptfoo_prompts_of_a_provider_are_systems(tmp_path):
    results = [
        _result("Why?", "openai:gpt-x", 0, "So."),
        _result("Why?", "openai:gpt-x", 1, "Because."),
        _result("Why?", "llama", 2, "Thus."),
    ]
    file = write_file(tmp_path, "p.json", {"results": {"version": 3, "results": results}})
    rows, _ = read_preset("promptfoo", [file])
    systems = ["openai-gpt-x.prompt1", "openai-gpt-x.prompt2", "llama"]
    assert _reports(rows) == list(zip(systems, ["So.", "Because.", "Thus."], strict=True))
    rows, _ = read_preset("promptfoo", [file], system="bot")
    assert [system for system, _ in _reports(rows)] == ["bot.prompt1", "bot.prompt2", "bot"]


def test_promptfoo_outputs_that_are_objects_are_read_by_their_answer(tmp_path):
    results = [
        _result("Why?", "bot", 0, {"answer": "So.", "documents": ["x"]}),
        _result("Is it?", "bot", 0, True),
        _result("How?", "bot", 0, None, error="timed out"),
    ]
    prompts = [{"raw": "{{question}}"}]
    file = write_file(tmp_path, "p.json", {"version": 3, "results": results, "prompts": prompts})
    rows, counts = read_preset("promptfoo", [file])
    assert sorted(_reports(rows)) == [("bot", "So."), ("bot", "true")]
    assert counts == {"rows without an answer: left out": 1}


def test_columns_that_a_preset_converts_are_not_told_as_unread(tmp_path):
    judged = [{"query": "Why?", "passage": "So.", "judgment": 2, "prediction": "2", "model": "m"}]
    text = "inputs.question,outputs.answer,error\nWhy?,So.,\n"
    results = [_result("Why?", "bot", 0, {"answer": "So."})]
    files = {
        "umbrela": write_file(tmp_path, "u.jsonl", judged),
        "langsmith": write_file(tmp_path, "l.csv", text),
        "promptfoo": write_file(tmp_path, "p.json", {"results": {"results": results}}),
    }
    unread = {
        name: [
            header for table in tables_and_mapping(name, [file], {})[0] for header in table.unread
        ]
        for name, file in files.items()
    }
    assert unread == {
        "umbrela": ["prediction"],
        "langsmith": [],
        "promptfoo": [],
    }


def test_repeated_tests_of_promptfoo_are_runs_of_the_system(tmp_path):
    results = [
        _result("Why?", "bot", 0, "So.", testIdx=0),
        _result("Why?", "bot", 0, "Thus.", testIdx=1, success=False),
    ]
    rows, counts = read_preset("promptfoo", [write_file(tmp_path, "p.json", results)])
    assert _reports(rows) == [("bot", "So."), ("bot.run2", "Thus.")]
    assert [(row["system"], row["grade"]) for row in rows["ratings"]] == [
        ("bot", 1),
        ("bot.run2", 0),
    ]
    assert counts[FURTHER_ANSWERS] == 1


def test_repeated_runs_of_langsmith_are_runs_of_the_system(tmp_path):
    text = (
        "inputs.question,outputs.answer,example_id,id\nWhy?,So.,e,1\nWhy?,Thus.,e,2\nHow?,So.,f,3\n"
    )
    rows, _ = read_preset("langsmith", [write_file(tmp_path, "bot.csv", text)])
    assert _reports(rows) == [("bot", "So."), ("bot.run2", "Thus."), ("bot", "So.")]


def test_trulens_records_of_one_question_are_runs_of_the_system(tmp_path):
    text = "record_id,app_name,input,output,Fit\n1,bot,Why?,So.,0.5\n2,bot,Why?,So.,0.25\n"
    file = write_file(tmp_path, "t.csv", text)
    rows, _ = read_preset("trulens", [file])
    assert [(row["system"], row["value"]) for row in rows["values"]] == [
        ("bot", 0.5),
        ("bot.run2", 0.25),
    ]
    rows, _ = read_preset("trulens", [file], system="app")
    assert [system for system, _ in _reports(rows)] == ["app", "app.run2"]


@pytest.mark.parametrize(
    ("cells", "questions"),
    [
        ([r'"Wh\u00e4t is \"it\"?"', '"How?"'], ['Whät is "it"?', "How?"]),
        (['"Why" is what?', '"How?"'], ['"Why" is what?', '"How?"']),
    ],
    ids=["JSON strings", "quotation marks"],
)
def test_trulens_texts_that_are_json_strings_lose_their_marks(tmp_path, cells, questions):
    records = [
        {"record_id": str(n), "app_name": "bot", "input": cell, "output": '"So.\\nNo."'}
        for n, cell in enumerate(cells)
    ]
    rows, _ = read_preset("trulens", [write_file(tmp_path, "t.jsonl", records)])
    assert [topic["request"] for topic in rows["topics"]] == questions
    assert {body for _, body in _reports(rows)} == {"So.\nNo."}


def test_metrics_with_decimal_commas_are_values(tmp_path):
    text = "user_input;response;faithfulness;fit;own\nWhy?;So.;0,5;1,0;85,5 %\nHow?;Thus.;1;0,0;\n"
    rows, _ = read_preset("ragas", [write_file(tmp_path, "bot.csv", text)])
    values = [(row["measure"], row["value"]) for row in rows["values"]]
    assert values == [("faithfulness", 0.5), ("own", 0.855), ("faithfulness", 1.0)]
    assert grades_of(rows) == [("ragas", "ragas-fit", 1), ("ragas", "ragas-fit", 0)]


def test_commas_of_thousands_beside_decimal_points_are_no_decimal_commas(tmp_path):
    text = 'user_input,response,faithfulness,tokens\nWhy?,So.,0.85,"1,204"\nHow?,Thus.,0.5,987\n'
    rows, _ = read_preset("ragas", [write_file(tmp_path, "bot.csv", text)])
    values = [(row["measure"], row["value"]) for row in rows["values"]]
    assert values == [("faithfulness", 0.85), ("faithfulness", 0.5)]
