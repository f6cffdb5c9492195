"""Lines that no importer may read: each stands in for a good one of the small study."""

from tests.toolbox.import_study import QUESTIONS, judged, study, t1

QLABELS = "annotations/ann.qlabels.jsonl"
QRELS = "annotations/ann.qrels.jsonl"
JUDGED = "judgements/judge.judgements.jsonl"
RUN = "runs/first_stage.lsr.run"
ANNOTATED = "reports_annotated.jsonl"


def drop_key(row: dict, key: str) -> dict:
    return {name: value for name, value in row.items() if name != key}


def row(name: str, index: int) -> dict:
    return study()[name][index]


# name: (file, line counted from 1, what stands there instead, field, words of the message)
BROKEN = {
    "cut": (JUDGED, 2, '{"example_id": "t-1", "pid"', "", "broken JSON"),
    "not JSON": (QLABELS, 2, "t-1\tt-1:0#0\t3", "", "broken JSON"),
    "a list": ("topics.jsonl", 2, "[1, 2]", "", "expected a JSON object"),
    "a number": ("topics.jsonl", 2, "7", "", "expected a JSON object"),
    "NaN": (JUDGED, 2, '{"example_id": "t-1", "pid": "x", "rating": [NaN, 1, 1]}', "", "NaN"),
    "deep": (JUDGED, 2, "[" * 100_000, "", "broken JSON"),
    "a huge number": (JUDGED, 2, '{"rating": [' + "9" * 5000 + "]}", "", "broken JSON"),
    "a key twice": (JUDGED, 2, '{"pid": "a", "pid": "b"}', "", "twice"),
    "a key missing": (JUDGED, 2, drop_key(row(JUDGED, 1), "rating"), "rating", "is missing"),
    "a number for words": (
        "passages.jsonl", 2, {"id": "t-1:0#1", "contents": 7}, "contents", "valid string",
    ),
    "null for words": (
        "passages.jsonl", 2, {"id": "t-1:0#1", "contents": None}, "contents", "valid string",
    ),
    "NUL": (
        "passages.jsonl", 2, {"id": "t-1:0#1", "contents": "a\x00b"}, "contents", "NUL",
    ),
    "half a surrogate pair": (
        "passages.jsonl", 2, '{"id": "t-1:0#1", "contents": "\\ud83d"}', "contents", "surrogate",
    ),
    "half a surrogate pair in a key": (
        QLABELS, 2, '{"id": "t-2", "question_based_nugget": {"\\udc00": ""}, "answerability": []}',
        "question_based_nugget", "surrogate",
    ),
    "a name with a space": (
        "passages.jsonl", 2, {"id": "t-1: 0", "contents": "x"}, "id", "white space",
    ),
    "an empty name": ("passages.jsonl", 2, {"id": "", "contents": "x"}, "id", "1 to 250"),
    "a long name": ("passages.jsonl", 2, {"id": "x" * 251, "contents": "x"}, "id", "1 to 250"),
    "a passage with other words": (
        "passages.jsonl", 3, {"id": "t-1:0#0", "contents": "x"}, "contents", "line 1",
    ),
    "a topic with another request": (
        "topics.jsonl", 2, {"id": "t-1", "request": "x"}, "request", "already",
    ),
    "questions of a topic that is not there": (
        "subquestions.jsonl", 2, {"id": "t-9", "subquestions": ["x"]}, "id", "not in the dataset",
    ),
    "a question twice": (
        "subquestions.jsonl", 2, {"id": "t-2", "subquestions": ["a", "b", "\n a"]},
        "subquestions.0", "two questions",
    ),
    "a question called NA": (
        "subquestions.jsonl", 2, {"id": "t-2", "subquestions": ["a", "NA", "c"]},
        "subquestions.1", "asks nothing",
    ),
    "no questions": (
        "subquestions.jsonl", 2, {"id": "t-2", "subquestions": []}, "subquestions", "at least 1",
    ),
    "a report of no topic": (
        ANNOTATED, 2, {**row(ANNOTATED, 1), "qid": "bm25_t-9"}, "qid", "does not end with a topic",
    ),
    "a report with another request": (
        ANNOTATED, 2, {**row(ANNOTATED, 1), "topic": "x"}, "topic", "request of t-2",
    ),
    "a report with too few questions": (
        ANNOTATED, 2, {**row(ANNOTATED, 1), "questions": ["x"]}, "questions", "the 3 questions",
    ),
    "a report with another question": (
        ANNOTATED, 2, {**row(ANNOTATED, 1), "questions": ["x", None, None]},
        "questions.0", "expected 'What was found?'",
    ),
    "a report without words": (
        ANNOTATED, 2, {**row(ANNOTATED, 1), "response": None}, "response", "valid string",
    ),
    "annotated reports that disagree on what is filtered": (
        ANNOTATED, 3,
        {**row(ANNOTATED, 2), "questions": QUESTIONS["t-1"]},
        "questions.2", "is filtered in the dataset or in an earlier report",
    ),
    "a null in a report that nobody annotated": (
        "reports_all.bm25.jsonl", 2,
        {**row("reports_all.bm25.jsonl", 1), "questions": [None, *QUESTIONS["t-2"][1:]]},
        "questions.0", "not filtered",
    ),
    "reports with two references": (
        "reports_all.bm25.jsonl", 2, {**row("reports_all.bm25.jsonl", 1), "report": "x"},
        "report", "other words",
    ),
    "a context with a passage twice": (
        ANNOTATED, 2, {**row(ANNOTATED, 1), "docids": ["a", "a"]}, "docids", "twice",
    ),
    "a type that is no name": (
        ANNOTATED, 2, {**row(ANNOTATED, 1), "type": "a/b"}, "type", "no name of a system",
    ),
    "a run with five columns": (RUN, 2, "t-1 Q0 x 1 0.5", "", "6 columns"),
    "a run of no topic": (RUN, 2, "t-9 Q0 x 1 0.5 lsr", "topic", "not in the dataset"),
    "a score that is no number": (RUN, 2, "t-1 Q0 x 1 high lsr", "score", "number"),
    "a score that is infinite": (RUN, 2, "t-1 Q0 x 1 1e999 lsr", "score", "finite"),
    "a rank that is no number": (RUN, 2, "t-1 Q0 x first 0.5 lsr", "rank", "number"),
    "a text ranked twice": (RUN, 2, "t-1 Q0 t-2:1#1 2 0.5 lsr", "text", "ranked twice"),
    "another tag": (RUN, 2, "t-1 Q0 x 2 0.5 bm25", "tag", "expected lsr"),
    "NUL in a run": (RUN, 2, "t-1 Q0 x\x00 2 0.5 lsr", "text", "NUL"),
    "labels of no report": (
        QLABELS, 2, {**row(QLABELS, 1), "id": "t-9"}, "id", "no report is called",
    ),
    "too few labels": (
        QLABELS, 2, {**row(QLABELS, 1), "answerability": [1, 0]}, "answerability", "expected 3",
    ),
    "a label of 2": (
        QLABELS, 2, {**row(QLABELS, 1), "answerability": [1, 0, 2]}, "answerability.2", "not 2",
    ),
    "a label in quotes": (
        QLABELS, 2, {**row(QLABELS, 1), "answerability": [1, 0, "1"]}, "answerability.2", "integer",
    ),
    "a label of true": (
        QLABELS, 2, {**row(QLABELS, 1), "answerability": [1, 0, True]},
        "answerability.2", "integer",
    ),
    "a label of 1.5": (
        QLABELS, 2, {**row(QLABELS, 1), "answerability": [1, 0, 1.5]}, "answerability.2", "integer",
    ),
    "-2 for a question that is asked": (
        QLABELS, 2, t1("oracle", "t-2", [-2, 1, 1]), "answerability.0", "is asked",
    ),
    "an unknown question": (
        QLABELS, 2,
        {**row(QLABELS, 1), "question_based_nugget": {"Which ferry?": ""}},
        "question_based_nugget", "no question of t-2",
    ),
    "a question without an entry": (
        QLABELS, 2, {**row(QLABELS, 1), "question_based_nugget": {"What was found?": ""}},
        "question_based_nugget", "expected an entry",
    ),
    "a highlight of null": (
        QLABELS, 2,
        {**row(QLABELS, 1), "question_based_nugget": {"What was found?": None}},
        "question_based_nugget.What was found?", "valid string",
    ),
    "offsets of other words": (
        QLABELS, 1, {**row(QLABELS, 0), "offsets": {"0": [[1, 5]]}}, "offsets.0", "the text says",
    ),
    "offsets beyond the text": (
        QLABELS, 1, {**row(QLABELS, 0), "offsets": {"0": [[0, 9999]]}}, "offsets.0", "beyond",
    ),
    "two lines that disagree": (
        QLABELS, 2, t1("oracle", "t-1", [0, 1, -2], {1: "Nobody was hurt."}),
        "answerability.0", "an earlier line",
    ),
    "T2 of no topic": (QRELS, 2, {**row(QRELS, 1), "id": "t-9"}, "id", "not in the dataset"),
    "T2 grade of 6": (
        QRELS, 2, {**row(QRELS, 1), "relevances": {"0": 6, "1": 0, "2": 0}},
        "relevances.0", "no grade of the rubric graded (0, 1, 2, 3, 4, 5)",
    ),
    "T2 grade of -2": (
        QRELS, 2, {**row(QRELS, 1), "relevances": {"0": -2, "1": 0, "2": 0}},
        "relevances.0", "no grade",
    ),
    "T2 with a question too many": (
        QRELS, 2, {**row(QRELS, 1), "relevances": {"0": 1, "1": 0, "2": 0, "3": 0}},
        "relevances", 'expected the keys "0" to "2"',
    ),
    "T2 with a question too few": (
        QRELS, 2, {**row(QRELS, 1), "relevances": {"0": 1, "1": 0}}, "relevances", '"0" to "2"',
    ),
    "T2 with a strange key": (
        QRELS, 2, {**row(QRELS, 1), "rationales": {"00": ""}}, "rationales", '"0" to "2"',
    ),
    "too many ratings": (JUDGED, 2, judged("t-1", "x", [1, 1, 1, 1]), "rating", "expected 3"),
    "a rating of 6": (JUDGED, 2, judged("t-1", "x", [1, 6, 1]), "rating.1", "6 is no grade"),
    "a rating of -2": (JUDGED, 2, judged("t-1", "x", [1, -2, 1]), "rating.1", "-2 is no grade"),
    "a rating in words": (JUDGED, 2, judged("t-1", "x", ["3", 1, 1]), "rating.0", "integer"),
    "ratings of no topic": (
        JUDGED, 2, judged("t-9", "x", [1, 1, 1]), "example_id", "not in the dataset",
    ),
    "a pair rated twice": (
        JUDGED, 2, judged("t-1", "t-1:0#0", [0, 0, 0]), "rating.0", "an earlier line",
    ),
    "a reference of no topic": (
        "judgements/judge.reference.jsonl", 1, judged("t-1", "t-9:report", [1, 1, 1]),
        "pid", "not in the dataset",
    ),
}  # fmt: skip
