"""manage.py import_table: guesses, open questions, mappings, output and errors."""

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.formats.tables.study import NO_TOPIC
from annotation.models import (
    Dataset,
    Project,
    ProjectEntry,
    Rating,
    Rubric,
    RubricLevel,
    Text,
)
from annotation.models.rubric_rules import store_rubric
from evaluation.models import RankedText, ReportValue
from tests.toolbox.rubric_studies import faults_of_answers

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

GRADES = (
    "question,passage,rater,relevance\n"
    "Who built the ferry?,Ida built it in 1936.,anna,4\n"
    "Who built the ferry?,Nobody knows it now.,anna,1\n"
)


@pytest.fixture
def command(tmp_path):
    """Run the command on a table of this text: status, output, errors."""

    def command(text, *options, name="grades.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        out, err = StringIO(), StringIO()
        try:
            call_command("import_table", path, *options, dataset="ferry", stdout=out, stderr=err)
        except SystemExit as end:
            return end.code, out.getvalue(), err.getvalue()
        return 0, out.getvalue(), err.getvalue()

    return command


def test_open_questions_end_with_two_and_import_nothing(command, tmp_path):
    written = tmp_path / "mapping.json"
    status, _, errors = command(GRADES, "--write-map", str(written))
    assert status == 2
    assert "What is the scale? (1-4; 0-4; 1-5; 0-5)" in errors
    assert f"Complete {written}, and import with --map {written}." in errors
    assert not Dataset.objects.exists()
    mapping = json.loads(written.read_text())
    assert mapping["tables"][0]["columns"]["relevance"] == "grade"


def test_answers_of_models_and_gold_answers_are_guessed(command):
    table = "question,model,model_answer,gold_answer\nWho owns it?,x,The board does.,The board\n"
    status, printed, _ = command(table, "--json")
    assert status == 0
    totals = json.loads(printed)["totals"]
    assert (totals["reports"], totals["reference summaries"]) == (1, 1)


def test_columns_of_words_are_asked_about_without_a_text(command, tmp_path):
    path = tmp_path / "mapping.json"
    table = "question,model,words\nWho owns it?,x,The board does.\n"
    status, _, errors = command(table, "--write-map", str(path))
    assert status == 2
    assert "What is the column “words” of grades.csv?" in errors
    assert json.loads(path.read_text())["tables"][0]["columns"]["words"] == "?"


def test_unknown_role_of_a_constant_is_named(command):
    message = "--set rubrics=graded: there is no role 'rubrics'; did you mean rubric?"
    with pytest.raises(CommandError, match=re.escape(message)):
        command(GRADES, "--set", "rubrics=graded")


def test_written_mapping_can_be_used(command, tmp_path):
    path = tmp_path / "mapping.json"
    command(GRADES, "--write-map", str(path))
    status, printed, _ = command(GRADES, "--map", str(path), "--json")
    assert status == 0
    summary = json.loads(printed)
    assert summary["totals"]["ratings"] == 2
    assert [file["read"] for file in summary["files"] if file["name"] == "grades.csv"] == [2]
    assert list(Rubric.objects.get(slug="relevance").grades()) == [1, 2, 3, 4]
    second = json.loads(command(GRADES, "--map", str(path), "--json")[1])
    assert not second["changed"]


def test_mapping_is_kept_with_the_import(command, tmp_path):
    path = tmp_path / "mapping.json"
    command(GRADES, "--write-map", str(path))
    command(GRADES, "--map", str(path))
    entry = ProjectEntry.objects.get(action="imported")
    assert entry.rows["mapping"]["tables"][0]["columns"]["passage"]["role"] == "text.body"


def test_clear_table_needs_no_mapping(command):
    status, printed, errors = command(
        "question,answer\nWho built the ferry?,Ida built it in 1936.\n", "--set", "system=bot"
    )
    assert (status, errors) == (0, "")
    assert "1  reports" in printed
    assert not Rating.objects.exists()


def test_table_without_a_row_to_import_is_refused(command):
    traces = '{"id": "t1", "name": "bot", "input": {"k": 3, "lang": "en"}, "output": "So."}\n'
    status, _, errors = command(traces, "--preset", "langfuse", name="traces.jsonl")
    assert status == 1
    assert "traces.jsonl: no row has a topic or a text to import" in errors
    assert "traces whose input is not one question: left out (1)" in errors
    assert not Dataset.objects.exists()


@pytest.mark.parametrize(
    "grades", [("true", "false"), ("1", "0"), ("good", "good"), ("cold", "warm")]
)
def test_second_import_without_a_mapping_makes_no_second_rubric(command, grades):
    table = (
        f"question,passage,rater,verdict\nWho built it?,Ida built it in 1936.,anna,{grades[0]}\n"
        f"Who built it?,Nobody knows it now.,anna,{grades[1]}\n"
    )
    assert command(table)[0] == 0
    n_rubrics = Rubric.objects.count()
    assert command(table)[0] == 0
    assert (Rubric.objects.count(), Rating.objects.count()) == (n_rubrics, 2)


def test_duplicate_grades_count_as_the_option_says(command):
    table = GRADES + "Who built the ferry?,Ida built it in 1936.,anna,3\n"
    rubric = ("--set", "rubric=relevance", "--set", "levels=1-5")
    status, _, errors = command(table, *rubric)
    assert status == 1
    assert "the setting “duplicates”, first or last" in errors
    assert command(table, *rubric, "--set", "duplicates=last")[0] == 0
    assert sorted(Rating.objects.values_list("grade", flat=True)) == [1, 3]


def test_grades_that_are_all_one_word_are_imported(command):
    table = (
        "question,passage,rater,verdict\nWho built it?,Ida built it in 1936.,anna,invented\n"
        "Who built it?,Nobody knows it now.,anna,invented\n"
    )
    assert command(table)[0] == 0
    levels = Rubric.objects.get(slug="verdict").levels.order_by("grade")
    assert [level.label for level in levels] == ["invented", "other"]
    assert set(Rating.objects.values_list("grade", flat=True)) == {0}


def test_dry_run_stores_nothing(command):
    options = ("--set", "rubric=graded", "--dry-run")
    status, printed, _ = command(GRADES, *options)
    assert status == 0
    assert "Dry run: nothing was changed." in printed
    assert not Dataset.objects.exists()


def test_errors_name_line_and_column(command):
    status, _, errors = command(GRADES.replace(",4\n", ",4.5\n"), "--set", "rubric=graded")
    assert status == 1
    assert (
        "grades.csv:2: relevance (grade): '4.5' is no grade of graded: 0, 1, 2, 3, 4, 5" in errors
    )
    assert "Nothing was imported." in errors
    status, printed, _ = command(
        GRADES.replace(",4\n", ",4.5\n"), "--set", "rubric=graded", "--json"
    )
    assert json.loads(printed)["errors"][0]["file"] == "grades.csv:2"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--map", "missing.json"), "missing.json cannot be read"),
        (("--set", "system"), "write ROLE=VALUE"),
    ],
)
def test_wrong_options(command, options, message):
    with pytest.raises(CommandError, match=message):
        command(GRADES, *options)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "empty.csv", "empty.csv: is empty"),
        ("\x00\x01", "noise.csv", "noise.csv: holds NUL characters"),
        ("{", "broken.json", "broken.json:1: is broken JSON"),
        ("x", "old.xls", "old.xls: save it as .xlsx or CSV"),
        ("x", "fake.xlsx", "fake.xlsx: "),
    ],
)
def test_unreadable_files(command, text, name, message):
    status, _, errors = command(text, name=name)
    assert status == 1
    assert message in errors


def test_unknown_column_of_a_mapping_is_named(command, tmp_path):
    path = tmp_path / "mapping.json"
    path.write_text('{"tables": [{"columns": {"pasage": "text.body"}}]}')
    status, _, errors = command(GRADES, "--map", str(path))
    assert status == 1
    assert "grades.csv has no column 'pasage'; did you mean 'passage'? It has: 'question'" in errors


def test_addresses_of_people_are_stored_as_pseudonyms(command):
    people = GRADES.replace("anna,1", "Ben@Example.org,1").replace("anna", "ana@example.org")
    status, printed, _ = command(people, "--set", "rubric=graded", "--set", "rater.kind=human")
    assert status == 0
    assert "2  people called by an address or a platform id" in printed
    names = set(Rating.objects.values_list("rater__name", flat=True))
    assert len(names) == 2
    assert all(re.fullmatch("person-[0-9a-f]{12}", name) for name in names)
    status, printed, _ = command(people, "--set", "rubric=graded", "--set", "rater.kind=human")
    assert "Created: nothing" in printed


def test_new_project_is_stored_with_its_dataset_alone(command):
    refused = GRADES.replace(",4\n", ",4.5\n")
    for text, options in ((refused, ()), (GRADES, ("--dry-run",))):
        command(text, "--set", "rubric=graded", "--project", "new", *options)
        assert not Project.objects.filter(slug="new").exists()
    command(GRADES, "--set", "rubric=graded", "--project", "new")
    assert Dataset.objects.get().project.slug == "new"


def test_passages_whose_ids_have_no_topic_are_counted(command):
    table = (
        "topic_id,question,doc_id,passage\n"
        "t1,Who built the ferry?,t1:d1,Ida built the ferry in 1936.\n"
        "t1,Who built the ferry?,d2,Nobody knows it any more now.\n"
    )
    status, output, errors = command(table)
    assert (status, errors) == (0, "")
    assert f"1  {NO_TOPIC}" in output


def test_files_of_a_tool_are_told_with_their_preset(command):
    case = {"input": "Why is it so?", "actualOutput": "So it is.", "metricsData": []}
    run = {"testCases": [case], "metricsScores": [{"metric": "Fit", "scores": []}]}
    status, _, errors = command(json.dumps(run), name="run.json")
    assert status == 1
    assert "This looks like deepeval: use --preset deepeval." in errors
    assert not Dataset.objects.exists()
    assert "This looks like" not in command(GRADES)[2]


LIKERT = (
    "Timestamp,Useful? [Ida built it.],Useful? [In May.]\n"
    "2026/05/01,Strongly agree,Disagree\n2026/05/02,Agree,Strongly disagree\n"
)
FORM = ("--preset", "google-forms", "--set", "topic.request=Who built it?")


def test_agreement_in_words_is_an_ordinal_rubric(command):
    assert command(LIKERT, *FORM)[0] == 0
    rubric = Rubric.objects.get(slug="google-forms-useful")
    assert rubric.scale == Rubric.Scale.ORDINAL
    assert list(rubric.levels.order_by("grade").values_list("label", flat=True)) == [
        "Strongly disagree", "Disagree", "Agree", "Strongly agree",
    ]  # fmt: skip
    grades = Rating.objects.order_by("rater__name", "text__body").values_list("grade", flat=True)
    assert list(grades) == [3, 1, 2, 0]


def test_words_of_a_stored_rubric_keep_its_grades(command):
    """A file of before the order of its words was known: its rubric is nominal, by alphabet."""
    labels = ("Agree", "Disagree", "Strongly agree", "Strongly disagree")
    levels = [RubricLevel(grade=grade, label=label) for grade, label in enumerate(labels)]
    fields = {"slug": "google-forms-useful", "title": "Useful", "guideline": "Any."}
    store_rubric(Rubric(**fields, scale=Rubric.Scale.NOMINAL), levels)
    assert command(LIKERT, *FORM)[0] == 0
    grades = Rating.objects.order_by("rater__name", "text__body").values_list("grade", flat=True)
    assert list(grades) == [2, 1, 0, 3]
    fewer = "Timestamp,Useful? [Ida built it.]\n2026/05/01,Strongly agree\n2026/05/02,Agree\n"
    status, printed, _ = command(fewer, *FORM)
    assert (status, "Created: nothing" in printed) == (0, True)
    assert Rating.objects.count() == 4


RAGAS = [
    {"user_input": "Who built it?", "response": "Ida.", "retrieved_contexts": ["Ida built it."]}
    | {"reference": "Ida Brandt.", "faithfulness": 1.0},
    {"user_input": "Who built it?", "response": "Nobody.", "retrieved_contexts": ["It is old."]}
    | {"reference": "Brandt, Ida.", "faithfulness": 0.5},
]
DOC = {"doc_id": "d1", "text": "Ida built it."}
RAGCHECKER = {
    "results": [
        {"query_id": "q1", "query": "Who built it?", "gt_answer": "Ida.", "response": "Ida did."}
        | {"retrieved_context": [DOC, DOC | {"text": "In 1936."}], "metrics": {}},
    ]
}


@pytest.mark.parametrize(
    ("choice", "answer", "context", "value"),
    [("first", "Ida.", "Ida built it.", 1.0), ("last", "Nobody.", "It is old.", 0.5)],
)
def test_repeated_question_of_ragas(command, choice, answer, context, value):
    table = "".join(f"{json.dumps(row)}\n" for row in RAGAS)
    options = ("--preset", "ragas")
    status, _, errors = command(table, *options, name="bot.jsonl")
    assert status == 1
    assert "bot.jsonl:2" in errors
    assert "bot.jsonl:1; choose which of them counts: the setting “duplicates”" in errors
    options = (*options, "--set", f"duplicates={choice}")
    for _ in range(2):
        assert command(table, *options, name="bot.jsonl")[0] == 0
    assert Text.objects.get(kind="report").body == answer
    assert Text.objects.get(pk=RankedText.objects.get().text_id).body == context
    assert ReportValue.objects.get().value == value


def test_ids_of_several_texts_of_ragchecker(command):
    """Two chunks of a document, and ids that count the passages of each question."""
    first_query = RAGCHECKER["results"][0]
    chunks = [*first_query["retrieved_context"], {"doc_id": "0", "text": "By Ida."}]
    numbered = [{"doc_id": 0, "text": "In 1936."}, {"doc_id": "d2", "text": "It is old."}]
    second_query = {
        "query_id": "q2",
        "query": "When?",
        "gt_answer": "1936.",
        "response": "In 1936.",
    }
    results = [
        first_query | {"retrieved_context": chunks},
        second_query | {"retrieved_context": json.dumps(numbered), "metrics": {}},
    ]
    for _ in range(2):
        status, printed, _ = command(
            json.dumps({"results": results}), "--preset", "ragchecker", name="bot.json"
        )
        assert status == 0
        assert "4  passages whose doc_id has several texts: named by their words" in printed
    rows = RankedText.objects.order_by("topic", "rank").values_list("topic__name", "text__body")
    assert list(rows) == [
        ("q1", "Ida built it."),
        ("q1", "In 1936."),
        ("q1", "By Ida."),
        ("q2", "In 1936."),
        ("q2", "It is old."),
    ]
    names = Text.objects.filter(kind="passage").values_list("name", flat=True)
    assert sorted(name.partition("p-")[0] for name in names) == ["d2", "q1:", "q1:", "q1:", "q2:"]


def test_checkboxes_become_sets_of_a_multi_label_rubric(command):
    faults_of_answers()
    form = "Timestamp,Faults [Ida built it.],Faults [In May.]\n"
    form += '2026/05/01,incomplete;unclear,"false"\n2026/05/02,"A part is missing, unclear",\n'
    status, _, errors = command(form, *FORM)
    assert status == 1
    assert "grades.csv:2" in errors
    assert "holds several answers (incomplete, unclear)" in errors
    for _ in range(2):
        assert command(form, *FORM, "--set", "rubric=faults")[0] == 0
    grades = Rating.objects.order_by("rater__name", "text__body").values_list("grade", flat=True)
    assert sorted(grades) == [2, 5, 5]
