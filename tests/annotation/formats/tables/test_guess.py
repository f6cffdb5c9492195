"""Guesses of roles by names and values, and what is asked instead."""

import json

import pytest

from annotation.formats.summary import DatasetImportError
from annotation.formats.tables.guess import guess_mapping
from annotation.formats.tables.new_rubrics import words_rubric
from annotation.formats.tables.values import Scale

RUBRICS = {
    "graded": Scale.of("graded", [(grade, [str(grade)]) for grade in range(6)]),
    "support": Scale.of(
        "support", [(2, ["support"]), (1, ["partial support"]), (0, ["no support"])]
    ),
}


@pytest.fixture
def guess(tmp_path):
    """Guess the mapping of a CSV text: `guess("a,b\\n1,2\\n")`."""

    def guess(text, name="study.csv", **constants):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return guess_mapping([path], RUBRICS, constants)

    return guess


def columns(guessed):
    mapped = guessed.mapping["tables"][0]["columns"]
    return {
        name: column if isinstance(column, str) else column["role"]
        for name, column in mapped.items()
    }


def test_long_table_of_ratings(guess):
    guessed = guess(
        "topic,question,doc_id,passage,annotator,grade\n"
        "What of the ferry and its harbour?,Who built it?,d1,It was built by Ida in 1936.,anna,4\n"
        "What of the ferry and its harbour?,When was it?,d1,It was built by Ida in 1936.,ben,2\n"
    )
    assert columns(guessed) == {
        "topic": "topic.request",
        "question": "question.text",
        "doc_id": "text.id",
        "passage": "text.body",
        "annotator": "rater",
        "grade": "grade",
    }
    constants = guessed.mapping["tables"][0]["constants"]
    assert constants == {"text.kind": "passage", "rater.kind": "human", "rubric": "grade"}
    assert [str(question) for question in guessed.questions] == [
        "Grades of grade are from 2 to 4. What is the scale? (1-4; 0-4; 1-5; 0-5; 2-4)",
        "From which grade of grade on does a text count as answering? (not stated; 2; 3; 4)",
    ]


def test_wide_table_of_raters(guess):
    guessed = guess(
        "question,answer,Anna,Ben,Zoë\n"
        "Who built the ferry at Tarrow?,Ida Brandt built the ferry in 1936.,4,5,3\n"
        "When was the ferry opened again?,It was opened in the spring of 1936.,1,2,2\n"
    )
    roles = guessed.mapping["tables"][0]["columns"]
    assert roles["Anna"] == {"role": "grade", "rater": "anna"}
    assert roles["Zoë"] == {"role": "grade", "rater": "zoë"}
    assert guessed.mapping["tables"][0]["constants"]["system"] == "study"


@pytest.mark.parametrize(
    ("numbers", "decimal"),
    [(("1,204", "2,100"), None), (("1,204.5", "2"), None), (("1,204", "0,5"), ",")],
)
def test_commas_of_thousands_are_no_decimal_commas(guess, numbers, decimal):
    guessed = guess(f'question,answer,words\nWhy?,So.,"{numbers[0]}"\nHow?,Thus.,"{numbers[1]}"\n')
    assert guessed.mapping["tables"][0].get("decimal") == decimal


@pytest.mark.parametrize("grades", [("1,2", "2,1"), ("yes,no", "no,no")])
def test_two_columns_that_may_be_raters_are_asked_about(guess, grades):
    guessed = guess(
        "question,answer,alice,bob\n"
        f"Who built the ferry at Tarrow?,Ida Brandt built the ferry in 1936.,{grades[0]}\n"
        f"When was the ferry opened again?,It was opened in the spring of 1936.,{grades[1]}\n"
    )
    assert {question.key for question in guessed.questions} == {"column:alice", "column:bob"}


@pytest.mark.parametrize("cells", ["easy,de", "1,1"])
def test_two_columns_that_share_no_values_are_not_read(guess, cells):
    guessed = guess(
        "question,answer,level,version\n"
        f"Who built the ferry at Tarrow?,Ida Brandt built the ferry in 1936.,{cells}\n"
        f"When was the ferry opened again?,It was opened in the spring of 1936.,{cells}\n"
    )
    assert set(columns(guessed)) == {"question", "answer"}
    assert not guessed.questions


def test_log_of_a_rag_system_needs_no_answer(guess):
    guessed = guess(
        "question,answer,contexts,ground_truth,faithfulness\n"
        "\"Who built the ferry at Tarrow?\",Ida Brandt built it.,\"['Ida drew it.', 'It is old.']\",Ida,0.5\n"
        "\"When was it built, and where?\",In the year 1936.,\"['In 1936.', 'At Tarrow.']\",1936,1.0\n"
    )
    assert columns(guessed) == {
        "question": "topic.request",
        "answer": "text.body",
        "contexts": "contexts",
        "ground_truth": "reference",
        "faithfulness": "value",
    }
    assert not guessed.questions
    guessed.as_import()


def test_models_are_proposed_as_models(guess):
    guessed = guess("query,passage,judge,verdict\nWhy is it so?,Because it is.,gpt-4o,yes\n")
    assert guessed.mapping["tables"][0]["constants"]["rater.kind"] == "model"


def test_rubric_of_the_site_with_the_same_words_is_proposed(guess):
    guessed = guess(
        "query,passage,judge,verdict\nWhy?,Because it is.,ann,Support\nWhy?,It is not.,ann,no support\n"
    )
    assert guessed.mapping["tables"][0]["constants"]["rubric"] == "support"
    assert not guessed.rubrics


def test_zero_and_one_are_never_a_rubric_of_the_site(guess):
    guessed = guess("query,passage,rater,label\nWhy?,Because it is.,ann,1\nWhy?,It is not.,ann,0\n")
    assert guessed.rubrics == {"label": {"scale": "ordinal", "levels": [0, 1], "eta": 1}}


def test_missing_rater_and_topic_are_asked_for(guess):
    keys = {question.key for question in guess("passage,grade\nIt is so and so.,3\n").questions}
    assert {"rater", "topic.request"} <= keys
    complete = guess(
        "passage,grade\nIt is so and so.,3\n", rater="ann", **{"topic.request": "Why?"}
    )
    assert not {"rater", "topic.request"} & {question.key for question in complete.questions}


def test_run(guess):
    guessed = guess("qid,docid,rank,score\nq1,d1,1,3.5\nq1,d2,2,2.5\n", "bm25.csv")
    assert columns(guessed) == {
        "qid": "topic.id",
        "docid": "text.id",
        "rank": "rank",
        "score": "score",
    }
    assert guessed.mapping["tables"][0]["constants"]["run"] == "bm25"


def test_decimal_comma(guess):
    guessed = guess("frage;antwort;wert\nWer war das denn?;Das war Ida Brandt.;0,5\n")
    assert guessed.mapping["tables"][0]["decimal"] == ","


@pytest.mark.parametrize(
    ("words", "scale", "levels"),
    [
        (["Yes", "no"], "ordinal", {"no": 0, "Yes": 1}),
        (["Ja", "Nein"], "ordinal", {"Nein": 0, "Ja": 1}),
        (["WAHR", "FALSCH"], "ordinal", {"FALSCH": 0, "WAHR": 1}),
        (["oui"], "ordinal", {"non": 0, "oui": 1}),
        (["high", "low"], "ordinal", {"low": 0, "medium": 1, "high": 2}),
        (
            ["Strongly agree", "Agree", "Neither agree nor disagree", "Strongly Disagree"],
            "ordinal",
            {
                "Strongly Disagree": 0,
                "disagree": 1,
                "Neither agree nor disagree": 2,
                "Agree": 3,
                "Strongly agree": 4,
            },
        ),
        (
            ["Strongly agree", "Agree", "Disagree", "Strongly disagree"],
            "ordinal",
            {"Strongly disagree": 0, "Disagree": 1, "Agree": 2, "Strongly agree": 3},
        ),
        (
            ["somewhat satisfied", "very satisfied", "dissatisfied", "satisfied"],
            "ordinal",
            {
                "extremely dissatisfied": 0,
                "dissatisfied": 1,
                "somewhat dissatisfied": 2,
                "neutral": 3,
                "somewhat satisfied": 4,
                "satisfied": 5,
                "very satisfied": 6,
            },
        ),
        (
            ["ALWAYS", "never", "Seldom"],
            "ordinal",
            {"never": 0, "Seldom": 1, "sometimes": 2, "often": 3, "ALWAYS": 4},
        ),
        (
            ["not relevant", "partially relevant", "relevant", "highly relevant"],
            "ordinal",
            {"not relevant": 0, "partially relevant": 1, "relevant": 2, "highly relevant": 3},
        ),
        (["agree", "disagree", "cold"], "nominal", {"agree": 0, "cold": 1, "disagree": 2}),
        (["bad", "ok", "okay"], "nominal", {"bad": 0, "ok": 1, "okay": 2}),
        (["warm", "cold", "neutral"], "nominal", {"cold": 0, "neutral": 1, "warm": 2}),
        (["warm", "cold", "Cold "], "nominal", {"Cold": 0, "warm": 1}),
        (["warm"], "nominal", {"warm": 0, "other": 1}),
        (["other"], "nominal", {"other": 0, "another": 1}),
        (
            ["10 (full)", "0 - überhaupt nicht", "5: half"],
            "ordinal",
            {"0 - überhaupt nicht": 0, "5: half": 5, "10 (full)": 10},
        ),
        (["2-3", "1-2"], "nominal", {"1-2": 0, "2-3": 1}),
        (["25 to 34", "18 to 24"], "nominal", {"18 to 24": 0, "25 to 34": 1}),
        (["1 - bad", "1 - good"], "nominal", {"1 - bad": 0, "1 - good": 1}),
    ],
)
def test_rubric_of_words(words, scale, levels):
    rubric = words_rubric(words)
    assert (rubric["scale"], rubric["levels"]) == (scale, levels)


def test_columns_of_one_scale_of_words_are_raters(guess):
    """Each has other words of the scale, one long ones alone."""
    guessed = guess(
        "Question,System,Answer,Anna,Ben,Cleo\n"
        "Where does it end?,a,At the old lock.,Agree,Strongly agree,Neither agree nor disagree\n"
        "Where does it end?,b,Nobody knows it.,Strongly disagree,Disagree,strongly disagree\n"
        "Who dug it?,a,Convicts dug it.,Agree,agree,n/a\n"
    )
    assert not guessed.questions
    assert columns(guessed)["Cleo"] == "grade"
    (rubric,) = guessed.mapping["rubrics"].values()
    assert len(rubric["levels"]) == 5


def test_mapping_is_json(guess):
    json.dumps(guess("a,b\n1,2\n").mapping)


def test_both_decimal_signs_are_asked_about(guess):
    guessed = guess("frage;antwort;wert;wert2\nWer war das?;Das war Ida Brandt.;0,5;0.5\n")
    assert "decimal" in {question.key for question in guessed.questions}


@pytest.mark.parametrize(
    "text", ["伊达在一九三六年建造的渡轮。", "イダが1936年に造りました。", "ไอด้าสร้างเรือข้ามฟาก"]
)
def test_texts_without_blanks_are_no_ids(guess, text):
    guessed = guess(f"question,passage,annotator,score\nWho built it?,{text},anna,4\n")
    assert columns(guessed)["passage"] == "text.body"


def test_ids_and_titles_without_blanks_are_no_texts(guess):
    text = "document,question,grade,rater\n北京大学研究报告第1号附件,谁建造的？,1,anna\n"
    assert columns(guess(text))["document"] == "text.id"
    text = "id,topic,answer\n文件1,東京オリンピックの開催決定について,答えです。\n"
    assert columns(guess(text))["topic"] == "topic.id"


def test_short_labels_without_blanks_are_grades(guess):
    guessed = guess(
        "question,passage_id,annotator,grade\nWho?,p1,anna,非常相关\nWho?,p2,anna,不太相关\n"
    )
    assert columns(guessed)["grade"] == "grade"


@pytest.mark.parametrize(
    ("headers", "are_metrics"),
    [
        (["Context_Relevance_Label", "Answer_Faithfulness_Label", "Answer_Relevance_Label"], True),
        (["answerCorrectness", "contextRecall", "fluency"], True),
        (["Relevance", "Fluency", "Coherence"], True),
        (["Clara", "Clark", "Harmon"], False),
        (["relevance1", "relevance2", "relevance3"], False),
        (["anna relevance", "ben rel.", "carl relevancy"], False),
        (["judge_gpt_correctness", "judge_claude_correct", "judge_llama_correctness"], False),
        (["anna_relevance", "ben_relevance", "carl_relevance"], False),
        (["Rater 1 score", "Rater 2 score", "Rater 3 score"], False),
        (["Anna", "Ben", "Clara"], False),
    ],
)
def test_wide_columns_called_like_metrics_are_no_raters(guess, headers, are_metrics):
    text = (
        f"question,answer,{','.join(headers)}\nWhy is it?,It is so.,1,0,1\nHow is it?,So.,0,1,0\n"
    )
    guessed = guess(text)
    questions = {question.key for question in guessed.questions}
    assert ("rater" in questions) is are_metrics
    mapped = guessed.mapping["tables"][0]["columns"]
    roles = [mapped[header] for header in headers]
    assert all(role["role"] == "grade" and ("rater" in role) is not are_metrics for role in roles)
    assert len(guessed.mapping["rubrics"]) == (3 if are_metrics else 1)


def test_wide_columns_of_models_have_raters_of_that_kind(guess):
    headers = "judge_gpt_correctness,judge_claude_correct,judge_llama_correctness"
    guessed = guess(f"question,answer,{headers}\nWhy is it?,It is so.,1,0,1\nHow?,So.,0,1,0\n")
    assert guessed.mapping["tables"][0]["constants"]["rater.kind"] == "model"


@pytest.mark.parametrize(
    "headers",
    [
        ["What harm did the flood do?", "Who supports the victims?", "When did it end?"],
        ["Correctness?", "Completeness?", "Fluency?"],
    ],
)
def test_wide_columns_with_questions_are_subquestions(guess, headers):
    text = (
        f"question,answer,{','.join(headers)}\nWhy is it?,It is so.,1,0,1\nHow is it?,So.,0,1,0\n"
    )
    guessed = guess(text)
    mapped = guessed.mapping["tables"][0]["columns"]
    assert [mapped[header].get("question.text") for header in headers] == headers
    assert len(guessed.mapping["rubrics"]) == 1


def test_list_of_questions_is_asked_about(guess):
    text = 'question,answer\n"[""Why is it so?"", ""How is it?""]",It is so by the law.\n'
    assert columns(guess(text))["question"] == "?"


@pytest.mark.parametrize("header", ["query_id", "topic_id"])
def test_only_text_beside_an_id_of_each_row_is_asked_about(guess, header):
    text = f"{header},text\n1,Why is it so at all?\n2,How is it then today?\n"
    assert columns(guess(text))["text"] == "?"


@pytest.mark.parametrize(
    "headers",
    [["Overall", "Correctness", "Completeness"], ["Fluency", "Coherence", "Safety"]],
)
def test_metrics_beside_other_names_are_asked_about(guess, headers):
    text = (
        f"question,answer,{','.join(headers)}\nWhy is it?,It is so.,1,0,1\nHow is it?,So.,0,1,0\n"
    )
    guessed = columns(guess(text))
    assert [guessed[header] for header in headers] == ["?"] * 3


def test_metric_beside_one_that_is_a_usual_name_is_asked_about(guess):
    text = "question,answer,relevance,fluency\nWhy is it?,It is so.,1,0\nHow is it?,So.,0,1\n"
    guessed = columns(guess(text))
    assert (guessed["relevance"], guessed["fluency"]) == ("grade", "?")


def test_open_column_of_texts_is_the_only_question(guess):
    guessed = guess("topic_id,text\n1,Why is it so at all?\n2,How is it then today?\n")
    assert [question.key for question in guessed.questions] == ["column:text"]


def test_texts_of_repeated_topics_are_passages(guess):
    text = "query_id,text\n1,It is so by the law.\n1,It is not so by the law.\n"
    assert columns(guess(text))["text"] == "text.body"


def test_questions_with_references_need_no_texts(guess):
    guessed = guess("query,reference_answer\nWhy is it so?,It is so by the law.\n")
    assert columns(guessed) == {"query": "topic.request", "reference_answer": "reference"}
    assert not guessed.questions


def test_docno_is_the_id_of_a_text_and_docid_is_not(guess):
    text = (
        "qid,docid,docno,rank,score,query\n1,5,d1,1,9.5,Why is it so\n1,6,d2,2,8.5,Why is it so\n"
    )
    roles = columns(guess(text))
    assert roles["docno"] == "text.id"
    assert "docid" not in roles


@pytest.mark.parametrize(("cell", "role"), [("2,0", "grade"), ("Das ist gut so.", "comment")])
def test_note_is_a_grade_of_numbers_or_a_comment(guess, cell, role):
    guessed = guess(f"Frage;Antwort;Note\nWarum denn das?;So ist es eben.;{cell}\n")
    assert columns(guessed)["Note"] == role
    assert "rater" in {question.key for question in guessed.questions}


@pytest.mark.parametrize(
    "text",
    [
        "question,answer,grade,rater,notes\nWhy is it?,It is so.,2,anna,\nHow?,So it is.,1,anna,1\n",
        "question,answer,note\nWhy is it?,It is so.,\nHow is it?,So it is.,1\nWho is it?,Ida.,\n",
        "question,answer,comment\nWhy is it?,It is so.,1\nHow is it?,So it is.,2\n",
    ],
    ids=["beside a grade", "in few rows", "of another name"],
)
def test_other_notes_of_numbers_are_comments(guess, text):
    roles = columns(guess(text))
    assert list(roles.values())[-1] == "comment"


def test_table_of_a_header_alone_is_refused(guess):
    with pytest.raises(DatasetImportError, match="has no row below a header"):
        guess("question,answer\n")
