"""datasets/<slug>/reports-against-references/"""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rating, SubQuestion, Text, Topic
from evaluation.models import ReportValue, System
from tests.toolbox.grid_study import make_grid
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import csv_rows, text_of_page

URL = "/datasets/grid/reports-against-references/"
JSON = "/datasets/grid/reports-against-references.json"


@pytest.fixture
def grid(db, tmp_path):
    return make_grid(tmp_path / "in")


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def measures_of(rosa, grid):
    """The measures of a row, by kind of task, system and the name of the measure."""

    def measures(group, system, **params):
        content = rosa.get(JSON, params).json()
        [row] = [r for r in content["rows"] if (r["group"], r["system"]) == (group, system)]
        return row["measures"]

    return measures


def test_overlap_by_hand(measures_of):
    # k1, t-1: 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 quadruples: the fourth root of 1/5.
    # t-2, two words of five: no triple, so BLEU is 0. ROUGE-L: 2 x 4 / 10 and 2 x 2 / 7.
    measures = measures_of("read-1", "k1")
    assert measures["bleu"]["value"] == pytest.approx(0.2**0.25 / 2)
    assert measures["rouge_l"]["value"] == pytest.approx((0.8 + 4 / 7) / 2)
    assert measures["length"]["value"] == (22 + 7) / 2
    assert (measures["bleu"]["n"], measures["bleu"]["missing"]) == (2, 0)
    assert measures["similarity (m)"]["value"] == 0.25
    assert measures["similarity (m)"]["missing"] == 1
    # k2 has no report on the one topic of delete: it has no row there.
    with pytest.raises(ValueError, match="not enough"):
        measures_of("delete", "k2")


def test_answers_by_the_paper(measures_of):
    # t-1: one of two is answered, exactly; t-2: the one that the reference answers.
    measures = measures_of("read-1", "k1")
    assert measures["qa_recall"]["value"] == pytest.approx((1 / 2 + 1) / 2)
    assert measures["qa_precision"]["value"] == 1
    assert measures["qa_precision_eq2"]["value"] == pytest.approx((1 / 2 + 1) / 2)
    # k2: "one two" for "one" is 2/3, "five" 1: 5/6. Of t-2 it answers none: precision is undefined, recall 0.
    measures = measures_of("read-1", "k2")
    assert measures["qa_precision"]["value"] == pytest.approx(5 / 6)
    assert (measures["qa_precision"]["n"], measures["qa_precision"]["undefined"]) == (1, 1)
    assert (measures["qa_recall"]["value"], measures["qa_recall"]["n"]) == (0.5, 2)
    # Nobody was asked about t-3: missing, and neither 0 nor undefined.
    measures = measures_of("delete", "k1")
    precision = measures["qa_precision"]
    assert (precision["value"], precision["missing"], precision["undefined"]) == (None, 1, 0)


def test_answers_by_the_authors(measures_of):
    measures = measures_of("read-1", "k2", rules="authors")
    assert (measures["qa_precision"]["value"], measures["qa_precision"]["n"]) == (
        pytest.approx(5 / 12),
        2,
    )


def ask_twice():
    """The last question of t-1 repeats the first, as an import of CRUD-RAG keeps it."""
    SubQuestion.objects.filter(topic__name="t-1", position=1).update(
        body="", filtered_because="the words of question 1"
    )


@pytest.mark.parametrize("rules", ["paper", "authors"])
def test_question_that_is_asked_twice_counts_twice_by_either_rules(measures_of, rules):
    ask_twice()
    # k1 answers the first place of t-1 and not the second: recall 1/2; t-2: 1.
    assert measures_of("read-1", "k1", rules=rules)["qa_recall"]["value"] == 0.75
    # k2: 2/3 and 1 on t-1; of t-2 it answers none, which the authors count as 0.
    precision = measures_of("read-1", "k2", rules=rules)["qa_precision"]["value"]
    assert precision == pytest.approx(5 / 6 if rules == "paper" else 5 / 12)


@pytest.mark.parametrize("rules", ["paper", "authors"])
def test_repeated_question_without_an_answer_takes_that_of_the_first(measures_of, rules):
    ask_twice()
    Rating.objects.filter(question__topic__name="t-1", question__position=1).delete()
    measures = measures_of("read-1", "k1", rules=rules)
    assert (measures["qa_recall"]["value"], measures["qa_recall"]["missing"]) == (1, 0)


def test_question_that_is_filtered_for_another_reason_is_dropped_by_the_paper(measures_of):
    SubQuestion.objects.filter(topic__name="t-1", position=1).update(
        filtered_because="the words of question 9"
    )
    assert measures_of("read-1", "k1")["qa_recall"]["value"] == 1


def test_answer_that_is_missing_is_missing(measures_of):
    Rating.objects.get(text__system="k1", text__name="t-2", question__position=0).delete()
    measures = measures_of("read-1", "k1")
    assert (measures["qa_recall"]["n"], measures["qa_recall"]["missing"]) == (1, 1)


def test_best_and_tested_against_the_base(rosa, grid):
    response = rosa.get(URL)
    table = tables(response)["read-1"]
    assert [row[0] for row in table] == ["1 base k1", "2 k2"]
    # ROUGE-L of k2 is 1: 0.314 above k1. Two topics that differ: the smallest p is 1/2.
    assert table[1][4].startswith("1.00 best")
    assert table[1][4].endswith("0.31, p 0.500")
    assert "best" not in table[0][4]
    assert "Common settings: llm llama." in text_of_page(response)
    assert list(response.context["report"].groups) == ["read-1", "delete"]


def test_all_systems_or_those_of_one_setting(rosa, grid):
    response = rosa.get(URL, {"vary": "system"})
    # k9 has no report at all: its topics are missing everywhere.
    rows = [row[0] for row in tables(response)["read-1"]]
    assert rows == ["k1 base", "k2", "k9"]
    llm = rosa.get(JSON, {"vary": "llm", "base": "k9"}).json()
    assert [(row["system"], row["n_reports"]) for row in llm["rows"]] == [("k9", 0)] * 2


def test_system_without_reports_is_no_base_unless_it_is_asked_for(rosa, grid):
    System.objects.create(dataset=grid, name="a-new-one", settings={"llm": "none yet"})
    rows = [row[0] for row in tables(rosa.get(URL, {"vary": "system"}))["read-1"]]
    assert rows == ["a-new-one", "k1 base", "k2", "k9"]


def test_data_change_invalidates_the_cache(rosa, grid, measures_of):
    assert measures_of("read-1", "k1")["similarity (m)"]["n"] == 1
    ReportValue.objects.all().delete()
    assert "similarity (m)" not in measures_of("read-1", "k1")
    Topic.objects.filter(name="t-1").update(group="")
    assert measures_of("", "k1")["bleu"]["n"] == 1
    System.objects.filter(name="k2").update(settings={"llm": "other", "k": 2})
    assert [row[0] for row in tables(rosa.get(URL, {"vary": "k"}))["read-1"]] == ["1 base k1"]


def test_files(rosa, grid):
    lines = csv_rows(rosa.get(f"{URL}grid.csv"))
    [line] = [
        line
        for line in lines
        if (line["group"], line["system"], line["measure"]) == ("read-1", "k2", "rouge_l")
    ]
    assert (line["value"], line["mean"], line["best"], line["p_holm"]) == ("2", "1.0", "1", "0.5")
    assert (line["tokens"], line["rules"], line["base"]) == ("words", "paper", "k1")
    items = csv_rows(rosa.get(f"{URL}items.csv"))
    assert [(item["system"], item["topic"]) for item in items] == [
        *(("k1", topic) for topic in ("t-1", "t-2", "t-3")),
        *(("k2", topic) for topic in ("t-1", "t-2")),
    ]
    assert items[2]["qa_recall"] == ""
    content = rosa.get(f"{URL}items.json", {"system": "k1"}).json()
    assert content["items"][0]["values"]["bleu_1"] == 0.8
    assert content["items"][2]["values"]["qa_recall"] is None


def test_imported_metrics_are_compared_with_ours(rosa, grid):
    report = ReportValue.objects.get().report
    ReportValue.objects.create(report=report, measure="crud:rouge-L", value=0.8)
    ReportValue.objects.create(report=report, measure="crud:length", value=20)
    rows = tables(rosa.get(URL))["Differences from the metrics in the files of CRUD-RAG"]
    assert rows == [["k1", "rouge_l", "1", "0", "0"], ["k1", "length", "1", "1", "2"]]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"vary": "colour"}, "There are: k, llm, system."),
        ({"base": "k9"}, "system with this setting"),
        ({"rules": "mine"}, "There are: paper, authors."),
        ({"tokens": "letters"}, "There are: words, characters, jieba."),
        ({"rater": "nobody"}, "There are: asker."),
    ],
)
def test_invalid_parameter_is_refused(rosa, grid, params, message):
    response = rosa.get(URL, params)
    assert response.status_code == 400
    assert message in text_of_page(response)


def test_grid_is_for_researchers(cast, grid):
    for path in ("/", "/grid.csv", ".json", "/items.json?system=k1"):
        url = f"{URL[:-1]}{path}"
        assert cast.client("researcher").get(url).status_code == 200
        assert cast.client("worker").get(url).status_code == 403
        assert cast.client("stranger").get(url).status_code == 302
        assert cast.client("admin").post(url).status_code == 405
    assert (
        cast.client("admin").get("/datasets/other/reports-against-references/").status_code == 404
    )
    assert cast.client("admin").get(f"{URL}other.csv").status_code == 404
    assert cast.client("admin").get(f"{URL}items.json?system=x").status_code == 400


def test_dataset_without_reports(rosa, dataset):
    dataset.texts.filter(kind="report").delete()
    assert "This dataset has no reports" in text_of_page(
        rosa.get(f"/datasets/{dataset.slug}/reports-against-references/")
    )


def command(*options):
    out = StringIO()
    call_command("grid", "grid", *options, stdout=out)
    return out.getvalue()


def test_command_prints_the_same(rosa, grid):
    printed = command("--vary", "k", "--base", "k2")
    assert "k varies; base k2; rules paper; tokens words, answers by asker" in printed
    assert "ROUGE-L: 1.0000" in printed
    assert json.loads(command("--json")) == rosa.get(JSON).json()
    page = rosa.get(f"{URL}grid.csv").content.decode()
    assert command("--csv") == page
    with pytest.raises(CommandError, match="There are: paper, authors"):
        command("--rules", "mine")


def test_more_systems_cost_a_few_queries_each(rosa, grid, django_assert_max_num_queries):
    """The data version is queried twice, and not once a system; a report is read once."""
    topic = Topic.objects.get(name="t-1")
    for number in range(10):
        Text.objects.create(
            dataset=grid, topic=topic, kind="report", system=f"z{number}", name="t-1", body="one"
        )
    with django_assert_max_num_queries(30 + 13 * 10):
        assert rosa.get(URL, {"vary": "system"}).status_code == 200


def test_system_on_fewer_topics_is_last_and_never_best(rosa, grid):
    report = Text.objects.get(kind="report", system="k1", topic__name="t-2")
    report.ratings.all().delete()
    report.delete()
    content = rosa.get(JSON).json()
    rows = [row for row in content["rows"] if row["group"] == "read-1" and row["n_reports"]]
    assert [(row["system"], row["n_reports"], row["on_same_topics"]) for row in rows] == [
        ("k2", 2, True),
        ("k1", 1, False),
    ]
    assert not any(measure["best"] for row in rows for measure in row["measures"].values())
    assert "on other topics than most systems: not marked as best" in text_of_page(rosa.get(URL))
