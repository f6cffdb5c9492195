"""Conversion of mapped tables: rows that agree, differ, repeat, or name what no row tells."""

import json

import pytest

from annotation.formats.summary import DatasetImportError
from annotation.formats.tables.convert import convert, mapped_tables
from annotation.formats.tables.duplicates import OF_OTHER_BODY
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.mapping import parse_mapping
from annotation.formats.tables.stored_contents import StoredContents, StoredTopic
from annotation.formats.tables.values import Scale

FIVE = Scale.of("five", [(grade, [str(grade)]) for grade in range(6)])
GRADES = {
    "columns": {"q": "topic.request", "p": "text.body", "r": "rater", "g": "grade"},
    "constants": {"rubric": "five"},
}


@pytest.fixture
def converted(tmp_path):
    """Convert CSV texts by a mapping of the first: `converted(GRADES, "q,p,r,g\\n...")`."""

    def converted(table, text, *, name="a.csv", topics=None, **mapping):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        whole = parse_mapping({"tables": [table], **mapping})
        tables = mapped_tables([TableFile.of(path)], whole)
        return convert(tables, whole, StoredContents(topics or {}, {"five": FIVE}))

    return converted


def rows(result, kind):
    """Return the rows of a kind of file, by the value of the kind's name."""
    return [
        values
        for source in result.sources
        if source.kind.name == kind
        for _, values in source.translation.values(source.path)
    ]


def errors(convert_it):
    with pytest.raises(DatasetImportError) as refused:
        convert_it()
    return [str(problem) for problem in refused.value.problems]


TWICE = "q,p,r,g\nWhy?,So.,anna,1\nWhy?,So.,anna,3\nWhy?,No.,anna,2\n"


@pytest.mark.parametrize(("choice", "grades"), [("first", [1, 2]), ("last", [3, 2])])
def test_duplicates_by_choice(converted, choice, grades):
    result = converted(GRADES, TWICE, duplicates=choice)
    grade_by_text = {row["text"]: row["grade"] for row in rows(result, "RATINGS")}
    assert len(rows(result, "RATINGS")) == 2
    assert sorted(grade_by_text.values()) == sorted(grades)


ANSWERS = {
    "columns": {
        "q": "topic.request",
        "a": "text.body",
        "c": "contexts",
        "f": {"role": "value", "measure": "f"},
        "g": "grade",
        "r": "rater",
        "n": "comment",
    },
    "constants": {"system": "bot", "rubric": "five", "text.kind": "report"},
}
ANSWERED_TWICE = (
    "q,a,c,f,g,r,n\n"
    "Why?,So.,\"['one']\",0.5,,anna,first\n"
    "Why?,No.,\"['two']\",,4,anna,second\n"
    "Why?,No.,\"['two']\",,4,anna,\n"
)


@pytest.mark.parametrize(
    ("choice", "body", "values", "grades", "notes", "context"),
    [
        ("first", "So.", [0.5], [], ["first"], "one"),
        ("last", "No.", [], [4], ["second"], "two"),
    ],
)
def test_duplicates_decide_about_whole_rows(
    converted, choice, body, values, grades, notes, context
):
    """Grades and values of one answer are never stored of another."""
    result = converted(ANSWERS, ANSWERED_TWICE, duplicates=choice)
    assert [row["body"] for row in rows(result, "CITED")] == [body]
    assert [row["value"] for row in rows(result, "VALUES")] == values
    assert [row["grade"] for row in rows(result, "RATINGS")] == grades
    assert [row["note"] for row in rows(result, "NOTES")] == notes
    (ranked,) = rows(result, "RUN")
    assert result.counts[OF_OTHER_BODY] == (3 if choice == "first" else 2)
    names = {row["contents"]: row["id"] for row in rows(result, "PASSAGES")}
    assert ranked["line"].split()[2] == names[context]


def test_answer_of_a_row_that_counts_keeps_its_grade_after_a_row_that_does_not(converted):
    table = "q,a,c,f,g,r,n\nWhy?,So.,,,,,\nWhy?,No.,,,4,anna,\nWhy?,So.,,,4,anna,\n"
    result = converted(ANSWERS, table, duplicates="first")
    assert [row["grade"] for row in rows(result, "RATINGS")] == [4]


def test_contradicting_rows_are_refused_with_both_places_and_the_setting(converted):
    problems = errors(lambda: converted(ANSWERS, ANSWERED_TWICE))
    assert len(problems) == 4  # words and contexts of two rows
    for problem in problems:
        assert problem.startswith("a.csv:")
        assert " at a.csv:2; choose which of them counts: the setting “duplicates”" in problem


def test_ranked_passages_may_be_without_words(converted):
    table = {
        "columns": {"t": "topic.id", "d": "text.id", "rank": "rank", "s": "score"},
        "constants": {"run": "bm25", "text.kind": "passage"},
    }
    result = converted(table, "t,d,rank,s\nt1,d1,1,2.5\nt1,d2,2,1.5\n")
    assert [row["line"] for row in rows(result, "RUN")] == [
        "t1 Q0 d1 1 2.5 bm25",
        "t1 Q0 d2 2 1.5 bm25",
    ]
    assert not result.missing_texts


def test_graded_passages_are_told_where_others_are(converted):
    columns = {"q": "topic.request", "id": "text.id", "p": "text.body", "r": "rater", "g": "grade"}
    table = {"columns": columns, "constants": {"rubric": "five"}}
    result = converted(table, "q,id,p,r,g\nWhy?,d1,So.,anna,1\nWhy?,d2,,anna,1\n")
    assert result.missing_texts == {("passage", "", "d2"): "a.csv:3"}


def test_qrels_as_a_table_name_passages_alone(converted):
    columns = {"t": "topic.id", "d": "text.id", "g": "grade"}
    table = {"columns": columns, "constants": {"rubric": "five", "rater": "trec"}}
    topics = {"t1": StoredTopic("Why?")}
    result = converted(table, "t,d,g\nt1,d1,1\n", topics=topics)
    assert not result.missing_texts
    assert [(row["text"], row["question_index"]) for row in rows(result, "RATINGS")] == [("d1", 0)]


def test_decimal_comma_of_values_and_scores(converted):
    table = {
        "decimal": ",",
        "columns": {"q": "topic.request", "a": "text.body", "f": "value"},
        "constants": {"system": "bot"},
    }
    result = converted(table, 'q;a;f\nWhy?;So.;0,5\nWho?;Ida.;"1.234,5"\n')
    assert [row["value"] for row in rows(result, "VALUES")] == [0.5, 1234.5]
    (message,) = errors(lambda: converted(table, "q;a;f\nWhy?;So.;0.85\n"))
    assert "'0.85'" in message


@pytest.mark.parametrize(("cell", "n"), [("['', None, 'One.']", 1), ("nan", 0), ("None", 0)])
def test_empty_contexts_are_no_passages(converted, cell, n):
    table = {
        "columns": {"q": "topic.request", "a": "text.body", "c": "contexts"},
        "constants": {"system": "bot"},
    }
    result = converted(table, f'q,a,c\nWhy?,So.,"{cell}"\n')
    assert [row["contents"] for row in rows(result, "PASSAGES")] == ["One."] * n


def test_marks_count_empty_contexts(converted):
    table = {
        "columns": {"q": "topic.request", "a": "text.body", "c": "contexts"},
        "constants": {"system": "bot", "citations": "marks"},
    }
    result = converted(table, "q,a,c\nWhy?,So [2]. But [1].,\"['', 'One.']\"\n")
    (passage,) = rows(result, "PASSAGES")
    (report,) = rows(result, "CITED")
    (statement,) = report["statements"]
    assert report["body"] == "So. But [1]."
    assert statement == {"start": 0, "end": 2, "cited": [["2", passage["id"]]]}


def test_comment_without_a_rater_is_refused_once(converted):
    table = {"columns": {"q": "topic.request", "p": "text.body", "c": "comment"}}
    assert len(errors(lambda: converted(table, "q,p,c\nWhy?,So.,good\n"))) == 1


def test_number_of_a_question_in_the_mapping_must_be_a_number(converted):
    column = {"role": "grade", "rater": "anna", "question.number": "two"}
    table = {
        "columns": {"q": "topic.request", "p": "text.body", "g": column},
        "constants": {"rubric": "five"},
    }
    (message,) = errors(lambda: converted(table, "q,p,g\nWhy?,So.,1\n"))
    assert "question.number" in message


def test_unknown_number_of_a_question_is_named(converted):
    columns = {"q": "topic.request", "n": "question.number", "p": "text.body", "g": "grade"}
    table = {"columns": columns, "constants": {"rubric": "five", "rater": "anna"}}
    (message,) = errors(lambda: converted(table, "q,n,p,g\nWhy?,7,So.,1\n"))
    assert message.startswith("a.csv:2: question.number: there is no question 7")


def test_two_columns_of_one_run_and_ranks_that_disagree(converted):
    table = {
        "columns": {"t": "topic.id", "d": "text.id", "rank": "rank", "s": "score"},
        "constants": {"run": "bm25"},
    }
    (message,) = errors(lambda: converted(table, "t,d,rank,s\nt1,d1,1,1.5\nt1,d2,2,2.5\n"))
    assert "rank and score disagree" in message
    (message,) = errors(lambda: converted(table, "t,d,rank,s\nt1,d1,1,3\nt1,d1,2,2\n"))
    assert "ranked twice" in message


WIDE = {
    "columns": {
        "q": "topic.request",
        "gpt": {"role": "text.body", "system": "gpt"},
        "bm25": {"role": "text.body", "system": "bm25"},
        "g1": {"role": "grade", "system": "gpt"},
        "g2": {"role": "grade", "system": "bm25"},
    },
    "constants": {"rater": "anna", "rubric": "five", "text.kind": "report"},
}


def test_column_for_each_system_has_its_own_grades(converted):
    result = converted(WIDE, "q,gpt,bm25,g1,g2\nWhy?,So.,No.,4,1\n")
    assert {row["system"]: row["body"] for row in rows(result, "CITED")} == {
        "gpt": "So.",
        "bm25": "No.",
    }
    assert {row["system"]: row["grade"] for row in rows(result, "RATINGS")} == {"gpt": 4, "bm25": 1}
    assert not result.counts


def test_grade_of_a_row_with_several_texts_must_name_one(converted):
    table = WIDE | {"columns": WIDE["columns"] | {"g1": "grade"}}
    (message,) = errors(lambda: converted(table, "q,gpt,bm25,g1,g2\nWhy?,So.,No.,4,1\n"))
    assert "the row names no text for it" in message


def test_time_that_cannot_be_read_is_an_error_of_its_column(converted):
    columns = GRADES["columns"] | {"day": "time", "why": "comment"}
    text = "q,p,r,g,day,why\nWhy?,So.,anna,1,02.01.2026,Short.\n"
    [error] = errors(lambda: converted({**GRADES, "columns": columns}, text))
    assert error.startswith("a.csv:2: day (time): must be a time")


def test_comment_that_is_a_number_is_a_note(converted):
    columns = GRADES["columns"] | {"why": "comment"}
    lines = [
        {"q": "Why?", "p": "So.", "r": "anna", "g": 1, "why": 2.5},
        {"q": "Why?", "p": "No.", "r": "anna", "g": 1, "why": float("nan")},
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    result = converted({**GRADES, "columns": columns}, text, name="a.jsonl")
    assert [row["note"] for row in rows(result, "NOTES")] == ["2.5"]
