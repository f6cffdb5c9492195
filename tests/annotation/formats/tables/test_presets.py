"""Presets of tools.

What their files tell, what is left out, files of other tools, recognition.
"""

import json
import zipfile
from pathlib import Path

import pytest

from annotation.formats.summary import DatasetImportError
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.presets import (
    PRESETS,
    PresetError,
    inspect_logs,
    tables_and_mapping,
)
from annotation.formats.tables.presets.base import FURTHER_ANSWERS
from annotation.formats.tables.presets.nested import parsed, text_in
from annotation.formats.tables.presets.recognition import recognise
from annotation.formats.tables.stored_contents import StoredContents, StoredTopic
from annotation.formats.tables.values import Scale
from tests.annotation.formats.tables.preset_files import grades_of, read_preset, write_file

CASES = Path(__file__).parents[5] / "shared/cases/tables"
TOPIC = {"topic.id": "bridge", "topic.request": "Report on the bridge."}


# -- Inspect


def _sample(number, score, **more):
    return {
        "id": number,
        "epoch": 1,
        "input": f"Question {number}?",
        "target": ["Right."],
        "output": {"choices": [{"message": {"content": f"Answer {number}."}}]},
        "scores": {"match": {"value": score}},
    } | more


def _eval_archive(folder, samples, header=True, name="log.eval"):
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        if header:
            archive.writestr("header.json", json.dumps({"eval": {"model": "openai/gpt-x"}}))
        for sample in samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
    return TableFile.of(path)


def test_inspect_archive_is_read_as_its_json(tmp_path):
    samples = [_sample(1, "C"), _sample(2, "N"), _sample(10, "P", error={"message": "late"})]
    rows, counts = read_preset("inspect", [_eval_archive(tmp_path, samples)])
    assert [row["id"] for row in rows["topics"]] == ["1", "2"]
    assert grades_of(rows) == [("match", "inspect-match", 2)]
    assert {row["system"] for row in rows["cited"]} == {"openai-gpt-x"}
    assert counts["samples with an error: left out"] == 1
    assert counts["scores N, no answer: no grade"] == 1


def test_inspect_epochs_after_the_first_have_systems_of_their_own(tmp_path):
    samples = [_sample(1, "C"), _sample(1, "I", epoch=2)]
    rows, _ = read_preset("inspect", [_eval_archive(tmp_path, samples)])
    systems = [row["system"] for row in rows["cited"]]
    assert systems == ["openai-gpt-x", "openai-gpt-x.epoch2"]


def test_inspect_scores_by_kind(tmp_path):
    scores = {
        "f1": {"value": 0.25},
        "exact": {"value": 1},
        "tone": {"value": "warm", "explanation": "It says so."},
        "parts": {"value": {"a": 1}},
    }
    second_scores = {name: score | {"value": 0} for name, score in scores.items()}
    second_scores["tone"] = {"value": "cold"}
    log = {
        "eval": {"model": "m"},
        "samples": [_sample(1, "C", scores=scores), _sample(2, "C", scores=second_scores)],
    }
    rows, counts = read_preset("inspect", [write_file(tmp_path, "log.json", log)])
    assert sorted({row["measure"] for row in rows["values"]}) == ["f1"]
    assert {row["rubric"] for row in rows["ratings"]} >= {"inspect-exact", "inspect-tone"}
    assert [row["note"] for row in rows["notes"]] == ["It says so."]
    assert counts["scores that are objects or lists: not read"] == 1


def test_inspect_score_from_before_scores_had_names(tmp_path):
    sample = _sample(1, "C")
    sample["score"] = sample.pop("scores")["match"]
    log = {
        "eval": {"model": "m"},
        "results": {"scores": [{"name": "includes"}]},
        "samples": [sample],
    }
    rows, _ = read_preset("inspect", [write_file(tmp_path, "log.json", log)])
    assert grades_of(rows) == [("includes", "inspect-includes", 2)]


def test_inspect_data_frame_without_answers_has_no_grades(tmp_path):
    text = "sample_id,id,epoch,input,target,score_match,model\nx,1,1,Q?,R.,C,m\n"
    rows, counts = read_preset("inspect", [write_file(tmp_path, "samples.csv", text)])
    assert "ratings" not in rows
    assert counts["scores of samples without an answer: left out"] == 1
    text = text.replace(",model\n", ",model,output\n").replace(",m\n", ",m,A.\n")
    rows, _ = read_preset("inspect", [write_file(tmp_path, "samples.csv", text)])
    assert grades_of(rows) == [("match", "inspect-match", 2)]


def test_inspect_archive_stops_at_the_limit_of_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_logs, "MAX_ENTRY", 1_000)
    file = _eval_archive(tmp_path, [_sample(1, "C", store={"x": "a" * 100_000})])
    with pytest.raises(PresetError, match="bytes unpacked") as caught:
        tables_and_mapping("inspect", [file], {})
    assert caught.value.location == "log.eval: samples/1_epoch_1.json"


def test_inspect_error_names_the_sample(tmp_path):
    samples = [_sample(1, "C"), _sample(1, "C", input="Other?")]
    log = {"eval": {"model": "m"}, "samples": samples}
    with pytest.raises(DatasetImportError) as caught:
        read_preset("inspect", [write_file(tmp_path, "log.json", log)])
    assert "samples[1]" in str(caught.value.problems[0])


def test_inspect_broken_archives_are_refused(tmp_path):
    (tmp_path / "cut.eval").write_bytes(b"PK\x03\x04 and no more")
    with zipfile.ZipFile(tmp_path / "other.eval", "w") as archive:
        archive.writestr("notes.txt", "x")
    with zipfile.ZipFile(tmp_path / "bad.eval", "w") as archive:
        archive.writestr("samples/1_epoch_1.json", "[1")
    for name in ("cut.eval", "other.eval", "bad.eval"):
        with pytest.raises(PresetError) as caught:
            tables_and_mapping("inspect", [TableFile.of(tmp_path / name)], {})
        assert caught.value.location.startswith(name)


# -- Langfuse


def _trace(name, question, answer):
    return {"id": name, "name": "bot", "input": question, "output": answer, "timestamp": "t"}


def _score(trace, kind, **more):
    return {"trace_id": trace, "name": "n", "data_type": kind, "source": "ANNOTATION"} | more


def test_langfuse_inputs_are_texts_objects_and_conversations(tmp_path):
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Three?"}]
    traces = [
        _trace("a", "One?", "1"),
        _trace("b", {"question": "Two?", "k": 5}, {"answer": "2"}),
        _trace("c", {"messages": chat}, {"role": "assistant", "content": "3"}),
        _trace("d", {"x": "A", "y": "B"}, "4"),
    ]
    rows, counts = read_preset("langfuse", [write_file(tmp_path, "t.jsonl", traces)])
    assert [row["request"] for row in rows["topics"]] == ["One?", "Two?", "Three?"]
    assert [row["body"] for row in rows["cited"]] == ["1", "2", "3"]
    assert counts["traces whose input is not one question: left out"] == 1


def test_langfuse_scores_by_type(tmp_path):
    traces = [_trace("a", "One?", "1"), _trace("b", "Two?", None)]
    scores = [
        _score("a", "BOOLEAN", value=1, author_user_id="u1"),
        _score("a", "NUMERIC", name="stars", value=4, comment="good"),
        _score("a", "NUMERIC", name="share", value=0.5, source="EVAL"),
        _score("a", "CATEGORICAL", name="tone", string_value="calm", source="API"),
        _score("a", "TEXT", name="remark", string_value="Too short."),
        _score("a", "BOOLEAN", value=1, observation_id="o"),
        _score("b", "BOOLEAN", value=1),
        _score(None, "BOOLEAN", value=1, session_id="s"),
    ]
    files = [write_file(tmp_path, "s.jsonl", scores), write_file(tmp_path, "t.jsonl", traces)]
    rows, counts = read_preset("langfuse", files)
    assert grades_of(rows) == [
        ("u1", "langfuse-n", 1),
        ("annotation", "langfuse-stars", 4),
        ("api", "langfuse-tone", 0),
    ]
    assert [(row["measure"], row["value"]) for row in rows["values"]] == [("share", 0.5)]
    assert [row["note"] for row in rows["notes"]] == ["good", "Too short."]
    assert counts["scores of observations: left out"] == 1
    assert counts["scores of traces without an answer: left out"] == 1
    assert counts["scores of no trace of these files: left out"] == 1
    rows, _ = read_preset("langfuse", files, rubric="five", levels="1-5")
    assert ("annotation", "five", 4) in grades_of(rows)
    rows, _ = read_preset("langfuse", files, value="stars")
    assert [row["value"] for row in rows["values"]] == [4, 0.5]


def test_langfuse_csv_with_names_in_camel_case(tmp_path):
    traces = 'id,name,input,output\na,bot,"{""query"": ""One?""}",1\n'
    scores = "traceId,name,value,stringValue,dataType,source\na,ok,True,,BOOLEAN,EVAL\n"
    files = [write_file(tmp_path, "t.csv", traces), write_file(tmp_path, "s.csv", scores)]
    rows, _ = read_preset("langfuse", files)
    assert grades_of(rows) == [("eval", "langfuse-ok", 1)]


def test_langfuse_scores_with_decimal_commas_are_values(tmp_path):
    traces = "id;name;input;output\na;bot;One?;1\n"
    scores = "traceId;name;value;dataType;source\na;share;0,25;NUMERIC;EVAL\n"
    files = [write_file(tmp_path, "t.csv", traces), write_file(tmp_path, "s.csv", scores)]
    rows, _ = read_preset("langfuse", files)
    assert [row["value"] for row in rows["values"]] == [0.25]


def test_langfuse_question_asked_again_has_a_report_of_its_own(tmp_path):
    traces = [
        _trace("a", "Hello?", "Hi."),
        _trace("b", "Hello? ", "Hello."),
        _trace("c", "Hello?", "Hi."),
    ]
    scores = [_score(name, "NUMERIC", name="stars", value=n) for n, name in enumerate("abc", 3)]
    files = [write_file(tmp_path, "t.jsonl", traces), write_file(tmp_path, "s.jsonl", scores)]
    for system in ("bot", "app"):
        rows, counts = read_preset(
            "langfuse", files, **({"system": "app"} if system == "app" else {})
        )
        systems = [system, f"{system}.run2", f"{system}.run3"]
        assert [row["system"] for row in rows["cited"]] == systems
        assert [(row["system"], row["grade"]) for row in rows["ratings"]] == [
            *zip(systems, (3, 4, 5), strict=True)
        ]
        assert counts[FURTHER_ANSWERS] == 2


def test_langfuse_scores_need_traces(tmp_path):
    with pytest.raises(PresetError, match="without a file of traces"):
        tables_and_mapping(
            "langfuse", [write_file(tmp_path, "s.jsonl", [_score("a", "BOOLEAN", value=1)])], {}
        )


# -- Phoenix


def test_phoenix_nested_json_and_python_lists(tmp_path):
    documents = [{"document": {"id": 7, "content": "It's old.", "score": 0.5}}]
    spans = [
        {
            "context": {"span_id": "b", "trace_id": "t"},
            "parent_id": "a",
            "attributes": {"retrieval": {"documents": documents}},
        },
        {
            "context": {"span_id": "a", "trace_id": "t"},
            "parent_id": None,
            "attributes": {"input": {"value": '{"query": "Old?"}'}, "output": {"value": "Yes."}},
        },
    ]
    annotations = [
        {"span_id": "a", "name": "tone", "annotator_kind": "CODE", "result": {"label": "warm"}},
        {"span_id": "a", "name": "f1", "annotator_kind": "LLM", "result": {"score": 0.5}},
        {"span_id": "b", "name": "f1", "annotator_kind": "LLM", "result": {"score": 0.1}},
        {"span_id": "z", "name": "f1", "annotator_kind": "LLM", "result": {"score": 0.1}},
    ]
    files = [write_file(tmp_path, "s.jsonl", spans), write_file(tmp_path, "a.jsonl", annotations)]
    rows, counts = read_preset("phoenix", files)
    assert rows["passages"] == [{"id": "7", "contents": "It's old."}]
    assert grades_of(rows) == [("code", "phoenix-tone", 0)]
    assert rows["ratings"][0]["rater_kind"] == "baseline"
    assert [row["value"] for row in rows["values"]] == [0.5]
    assert counts["annotations of spans that are no root: left out"] == 1
    assert counts["annotations of no span of these files: left out"] == 1


def test_python_lists_of_objects_are_parsed_without_evaluation():
    text = "[{'document.content': \"It's 'x'\", 'score': 0.5, 'n': None}\n {'a': True}]"
    assert parsed(text) == [
        {"document.content": "It's 'x'", "score": 0.5, "n": None},
        {"a": True},
    ]
    for text in ("[__import__('os')]", "[1 +", "{'a': f()}"):
        assert parsed(text) == text
    assert text_in("[1 +", (), ()) == "[1 +"


# -- open-rag-eval


def test_open_rag_eval_marks_name_places_of_the_file(tmp_path):
    text = (
        "query_id,query,query_run,passage_id,passage,generated_answer\n"
        "q,Q?,1,[3],Third.,\n"
        "q,Q?,1,[1],First.,A [1]. B [3]. C [2].\n"
        "q,Q?,1,[2],,\n"
        "q,Q?,2,[1],First.,D [1].\n"
    )
    rows, _ = read_preset("open-rag-eval", [write_file(tmp_path, "r.csv", text)])
    first, second = rows["cited"]
    assert (first["system"], second["system"]) == ("r.run1", "r.run2")
    assert first["body"] == "A. B. C."
    bodies = {row["id"]: row["contents"] for row in rows["passages"]}
    cited = [[bodies[name] for _, name in part["cited"]] for part in first["statements"]]
    assert cited == [["First."], ["Third."]]


def test_open_rag_eval_report_of_scores(tmp_path):
    text = (
        "query_id,query,generated_answer,retrieval_score_mean_umbrela_score,"
        "retrieval_score_umbrela_scores,generation_score_citation_f1_score\n"
        'q,Q?,A.,2.5,"{""[1]"": 3}",1.0\n'
    )
    rows, counts = read_preset("open-rag-eval", [write_file(tmp_path, "r.csv", text)])
    assert [row["value"] for row in rows["values"]] == [2.5, 1.0]
    assert "ratings" not in rows
    assert counts["scores that are JSON: not read"] == 1


# -- doccano and Prodigy


def test_doccano_shapes_of_spans(tmp_path):
    rows = [
        {"id": 1, "text": "Ida built it.", "labels": [[0, 3, "WHO"], [10, 99, "WHO"]]},
        {"id": 2, "text": "In May.", "labels": []},
    ]
    read, counts = read_preset("doccano", [write_file(tmp_path, "a.json", rows)], **_topic())
    assert grades_of(read) == [("a", "doccano-who", 1), ("a", "doccano-who", 0)]
    assert counts["spans outside of their text or without a label: left out"] == 1
    entity = {"id": 1, "label": "WHO", "start_offset": 0, "end_offset": 3}
    rows = [{"id": 1, "text": "Ida built it.", "entities": [entity], "relations": []}]
    read, _ = read_preset("doccano", [write_file(tmp_path, "b.jsonl", rows)], **_topic())
    assert [span["quote"] for span in read["ratings"][0]["spans"]] == ["Ida"]


def test_doccano_labels_of_texts_joined_in_csv(tmp_path):
    text = "id,text,label,Comments\n1,One.,warm,Nice\n2,Two.,cold,\n3,Three.,,\n4,Four.,,\n"
    rows, counts = read_preset("doccano", [write_file(tmp_path, "a.csv", text)], **_topic())
    assert grades_of(rows) == [("a", "doccano-label", 1), ("a", "doccano-label", 0)]
    assert len(rows["passages"]) == 4
    assert [row["note"] for row in rows["notes"]] == ["Nice"]
    assert counts["texts without a label: no grade"] == 2
    file = write_file(tmp_path, "b.csv", "id,text,label\n1,One.,warm#cold\n")
    with pytest.raises(PresetError, match=r"several answers \(warm, cold\)") as caught:
        read_preset("doccano", [file], **_topic())
    assert caught.value.location == "b.csv:2"


def test_doccano_labels_that_are_numbers_are_these_grades(tmp_path):
    rows = [{"id": n, "text": f"Text {n}.", "label": [label]} for n, label in enumerate("420")]
    rows, _ = read_preset("doccano", [write_file(tmp_path, "a.jsonl", rows)], **_topic())
    assert [grade for *_, grade in grades_of(rows)] == [4, 2, 0]


def test_doccano_files_of_two_people_share_labels(tmp_path):
    files = [
        write_file(tmp_path, "a.jsonl", [{"id": 1, "text": "Ida.", "label": [[0, 3, "WHO"]]}]),
        write_file(tmp_path, "b.jsonl", [{"id": 1, "text": "Ida.", "label": [[0, 3, "ALL"]]}]),
    ]
    rows, _ = read_preset("doccano", files, **_topic())
    assert grades_of(rows) == [
        ("a", "doccano-all", 0),
        ("a", "doccano-who", 1),
        ("b", "doccano-all", 1),
        ("b", "doccano-who", 0),
    ]


def _topic():
    return {name.replace(".", "__"): value for name, value in TOPIC.items()}


def test_prodigy_choices_and_spans(tmp_path):
    options = [{"id": "GOOD", "text": "Good"}, {"id": "BAD", "text": "Bad"}]
    tasks = [
        {"text": "One.", "options": options, "accept": ["GOOD"], "answer": "accept"},
        {"text": "Three.", "options": options, "accept": [], "answer": "reject"},
        {"text": "Ida.", "spans": [{"start": 0, "end": 3, "label": "WHO"}], "answer": "accept"},
        {"text": "May.", "spans": [], "answer": "accept"},
        {"text": "None.", "tokens": [{"text": "None."}], "answer": "accept"},
        {"image": "x.png", "answer": "accept"},
    ]
    tasks = [{"_session_id": "db-kim", "_task_hash": 1} | task for task in tasks]
    rows, counts = read_preset("prodigy", [write_file(tmp_path, "db.jsonl", tasks)], **_topic())
    assert grades_of(rows) == [
        ("db-kim", "prodigy-choice", 1),  # BAD is 0, although no task has it alone
        ("db-kim", "prodigy-who", 1),
        ("db-kim", "prodigy-who", 0),
        ("db-kim", "prodigy-who", 0),
    ]
    assert counts["tasks without a choice: no grade"] == 1
    assert counts["tasks without a text: left out"] == 1


# -- Google Forms


def test_google_forms_without_a_rubric_makes_one_for_each_question(tmp_path):
    text = (
        "Zeitstempel,E-Mail,Fit [One.],Fit [Two.],Clear? [One.],Three.,Why?\n"
        "1,a@x.org,4,2,Ja,5,Because.\n"
        "2,b@x.org,3,,Nein,1,Long ago.\n"
    )
    rows, counts = read_preset("google-forms", [write_file(tmp_path, "f.csv", text)], **_topic())
    assert grades_of(rows) == [
        ("person-1", "google-forms-fit", 4),
        ("person-1", "google-forms-fit", 2),
        ("person-1", "google-forms-clear", 1),
        ("person-1", "google-forms-scale", 5),
        ("person-2", "google-forms-fit", 3),
        ("person-2", "google-forms-clear", 0),
        ("person-2", "google-forms-scale", 1),
    ]
    assert counts["columns of a form that hold no grades: not read"] == 3
    assert "x.org" not in json.dumps(rows)


def test_google_forms_columns_of_a_quiz_are_no_questions(tmp_path):
    text = (
        "Timestamp,Score,Fit [One.],Fit [One.] [Score],Fit [One.] [Feedback]\n"
        "1,0 / 0,4 - good,-- / 0,\n"
        "2,0 / 0,2 - poor,-- / 0,\n"
    )
    rows, _ = read_preset("google-forms", [write_file(tmp_path, "f.csv", text)], **_topic())
    assert grades_of(rows) == [
        ("person-1", "google-forms-fit", 4),
        ("person-2", "google-forms-fit", 2),
    ]


# -- files of other tools


@pytest.mark.parametrize("name", sorted(PRESETS))
@pytest.mark.parametrize(
    ("file", "contents"),
    [
        ("empty.csv", ""),
        ("empty.json", ""),
        ("empty.jsonl", ""),
        ("list.json", "[]"),
        ("other.csv", "a,b\n1,2\n3,4\n"),
        ("other.json", '{"a": 1, "b": [1, 2]}'),
        ("text.json", '"words"'),
        ("other.jsonl", '{"a": 1}\n{"b": [1]}\n'),
        ("broken.jsonl", '{"a": 1}\n{"b": \n'),
        ("list.jsonl", "[1]\n"),
        ("rows.json", '[{"a": 1}, 2]'),
    ],
)
def test_file_of_another_tool_is_refused_by_name(tmp_path, name, file, contents):
    with pytest.raises(PresetError) as caught:
        tables_and_mapping(name, [write_file(tmp_path, file, contents)], {})
    assert caught.value.location.startswith(file)
    assert str(caught.value)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_missing_file_is_refused(tmp_path, name):
    for ending in ("csv", "json", "jsonl"):
        with pytest.raises(PresetError):
            tables_and_mapping(name, [TableFile.of(tmp_path / f"gone.{ending}")], {})


# -- recognition


def _cases():
    if not CASES.exists():
        return []
    return sorted(folder for folder in CASES.iterdir() if (folder / "case.json").exists())


@pytest.mark.parametrize("folder", _cases(), ids=lambda folder: folder.name)
def test_recognition_of_cases(folder):
    case = json.loads((folder / "case.json").read_text())
    files = [TableFile.of(folder / name) for name in case["files"]]
    assert recognise(files) == case.get("preset", "")
    assert recognise(files[::-1]) == case.get("preset", "")


def test_recognition_of_other_forms(tmp_path):
    assert recognise([_eval_archive(tmp_path, [_sample(1, "C")])]) == "inspect"
    text = "sample_id,id,epoch,input,target,score_match\nx,1,1,Q?,R.,C\n"
    assert recognise([write_file(tmp_path, "s.csv", text)]) == "inspect"
    span = [{"id": 1, "text": "Ida.", "label": [[0, 3, "WHO"]]}]
    assert recognise([write_file(tmp_path, "d.jsonl", span)]) == "doccano"
    results = {"results": {"results": [{"vars": {"q": "Q?"}, "success": True}], "prompts": [{}]}}
    results["config"] = {"tests": [{"vars": {}}]}
    assert recognise([write_file(tmp_path, "p.json", results)]) == "promptfoo"


def test_scores_alone_or_two_tools_are_not_recognised(tmp_path):
    scores = write_file(tmp_path, "s.jsonl", [_score("a", "BOOLEAN", value=1)])
    assert recognise([scores]) == ""
    traces = write_file(tmp_path, "t.jsonl", [_trace("a", "One?", "1")])
    assert recognise([scores, traces]) == "langfuse"
    umbrela = [{"query": "Q?", "passage": "P.", "judgment": 1}]
    assert recognise([traces, write_file(tmp_path, "u.jsonl", umbrela)]) == ""
    assert recognise([]) == ""
    assert recognise([write_file(tmp_path, "broken.json", "{")]) == ""
    assert recognise([TableFile.of(tmp_path / "gone.csv")]) == ""


# -- This site

LABELS = """worker,rubric,item,purpose,state,topic,kind,system,text,text_sha256,\
question_index,question,grade,late
w1,graded,1,study,submitted,t1,passage,,d1,,0,'=Why?,4,
w1,graded,2,training,submitted,t1,passage,,d2,,0,'=Why?,1,
w1,graded,3,gold,open,t1,passage,,d3,,0,'=Why?,2,
w2,graded,1,study,released,t1,passage,,d1,,0,'=Why?,3,
w2,graded,1,study,submitted,t1,passage,,d1,,0,'=Why?,5,closed
"""
STORED = StoredContents(
    {"t1": StoredTopic("=Why?", ["=Why?"])},
    {"graded": Scale.of("graded", [(n, [str(n)]) for n in range(6)])},
)
ATTEMPTS = """judge,fingerprint,run,dataset,topic,question_index,kind,system,text,text_sha256,state,grade,counts
llama,f1,1,small,t1,0,passage,,d1,,graded,3,1
llama,f1,1,small,t1,0,passage,,d1,,graded,2,0
llama,f1,1,small,t1,0,passage,,d2,,failed,,1
"""


def test_labels_of_a_campaign_that_count_are_grades(tmp_path):
    file = write_file(tmp_path, "labels.csv", LABELS)
    assert recognise([file]) == "crux-long"
    rows, _ = read_preset("crux-long", [file], stored=STORED)
    assert grades_of(rows) == [("w1", "graded", 4), ("w1", "graded", 2)]
    assert {row["rater_kind"] for row in rows["ratings"]} == {"human"}
    assert [row["text"] for row in rows["ratings"]] == ["d1", "d3"]
    assert "subquestions" not in rows  # the question is the stored one


def test_attempts_that_count_are_grades_of_a_model(tmp_path):
    file = write_file(tmp_path, "attempts.csv", ATTEMPTS)
    assert recognise([file]) == "crux-long"
    with pytest.raises(PresetError, match="names no rubric"):
        read_preset("crux-long", [file])
    rows, _ = read_preset("crux-long", [file], stored=STORED, rubric="graded")
    assert grades_of(rows) == [("llama", "graded", 3)]
    assert rows["ratings"][0]["rater_kind"] == "model"
