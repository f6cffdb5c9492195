"""datasets/<slug>/question-types/

With raw scores, k = 1 and weights 0, 0.5 and 1 the first text is

    q1   q2:0 (0.9 : 0.8)   q1:0 (1.5 + 0.4 : 0.5 + 0.45)   q1:0
    q2   q2:0               q1:0 (2 : 1 + 0.45)             q1:0
    q3   q3:0               q1:0 (2.5 + 0.3 : 0.35)         q1:0

and q4 is ranked by neither run.
"""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rater, Rating, Rubric, SubQuestion, Text
from crux_site.imports.importing import import_dataset
from evaluation.models import RankedText, RetrievalRun
from tests.evaluation.replications.know_your_rag.material import make_mills
from tests.toolbox.foreign_files import write
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import csv_rows, links, text_of_page

URL = "/datasets/mills/question-types/"
JSON = "/datasets/mills/question-types.json"
QUERY = "k=1&weights=0,0.5,1"


@pytest.fixture
def mills(db):
    return make_mills()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def values(client, query: str) -> dict[str, list[float | None]]:
    rows = client.get(f"{JSON}?{query}").json()["rows"]
    return {row["type"]: [cell["value"] for cell in row["recall"]] for row in rows}


def test_recall_by_type_and_weight(rosa, mills):
    response = rosa.get(f"{URL}?{QUERY}")
    all_of_them, fact, summary = tables(response)["Recall@1 by the weight of bm25"]
    # The highest is marked by a word, at the smallest weight of equals.
    assert [cell.split("[")[0].strip() for cell in fact] == [
        *("fact_single", "0.500 best", "0.500", "0.500", "2", "0"),
    ]
    assert summary[1:4] == ["1.000 best", "0.000 no interval", "0.000 no interval"]
    assert all_of_them[1] == "0.667 best"  # a maximum has no interval
    assert all_of_them[2].split(" ", 1)[1] == "[0.000, 1.000]"
    assert all_of_them[-2:] == ["3", "1"]
    page_text = text_of_page(response)
    assert "1 question without a type by question-type:tess" in page_text
    assert "0 without a gold context, 1 ranked by neither run, 0 filtered" in page_text
    assert response.content.decode().count("<polyline") == 3 + 3 + 1  # one topic has no interval


def test_runs_are_taken_by_their_names_where_none_is_asked_for(rosa, mills):
    for name in ("annotated", "colbert"):
        run = RetrievalRun.objects.create(dataset=mills, name=name)
        RankedText.objects.create(
            run=run, **RankedText.objects.values("topic_id", "text_id")[0], rank=1
        )
    assert "Recall@1 by the weight of bm25" in tables(rosa.get(f"{URL}?{QUERY}"))
    assert "weight × bm25 + (1 − weight) × dense" in text_of_page(rosa.get(URL))


def test_other_ways_to_join(rosa, mills):
    # Equal sums, of 0.5 each, are in the order of names: q1:0 goes first.
    scaled = values(rosa, f"{QUERY}&how=minmax")
    assert (scaled["fact_single"], scaled["summary"]) == ([0.5, 0.5, 0.5], [1, 0, 0])
    assert scaled["inclusive"] == pytest.approx([2 / 3, 1 / 3, 1 / 3])
    # Of q2 both runs rank its own, one of them second; of q1 both rank both alike.
    assert values(rosa, f"{QUERY}&how=rrf")["fact_single"] == [0.5, 1, 0.5]
    assert values(rosa, "k=2")["summary"] == [1, 1, 1, 1, 1, 1]
    RankedText.objects.filter(run__name="dense").update(score=None)
    refused = rosa.get(f"{URL}?{QUERY}&how=raw")
    assert (refused.status_code, "dense has no scores" in text_of_page(refused)) == (400, True)
    assert rosa.get(f"{JSON}?{QUERY}").json()["how"] == "rrf"


def test_texts_of_the_same_words_are_one(rosa, mills):
    """Identical contexts of q1 and q4 count as one text at one rank."""
    copy, original = Text.objects.get(name="q4:0"), Text.objects.get(name="q1:0")
    copy.body = original.body
    copy.save()
    first = RankedText.objects.get(run__name="dense", topic__name="q1", rank=1)
    RankedText.objects.filter(pk=first.pk).update(text=copy)
    assert values(rosa, f"{QUERY}")["fact_single"] == [1.0, 0.5, 0.5]


def test_runs_may_name_contexts_by_their_chunks_or_their_questions(rosa, tmp_path):
    """Runs of other tools name a context by its chunk or by its question."""
    lines = [
        {"context": context, "question": f"{name}?", "qac_id": name, "chunk_id": chunk}
        for name, context, chunk in (
            *(("one", "Of wheels.", "c1"), ("two", "Of wheels.", "c1")),
            ("three", "Of tides.", "c2"),
        )
    ]
    run = ["one Q0 c1 1 2.0 a", "two Q0 c2 1 2.0 a", "two Q0 c1 2 1.0 a", "three Q0 three 1 1.0 a"]
    files = {"pairs.jsonl": lines, "bm25.run": run, "dense.run": run}
    import_dataset(write(tmp_path, files), "mills", form="qac")
    assert values(rosa, QUERY)["inclusive"] == pytest.approx([2 / 3] * 3)
    assert values(rosa, "k=2&weights=0,0.5,1")["inclusive"] == [1, 1, 1]


def test_rater_can_say_which_passage_is_the_right_one(rosa, mills):
    gold = Rater.objects.create(dataset=mills, name="qrels", kind="human")
    q3 = SubQuestion.objects.get(topic__name="q3")
    for name, grade in (("q1:0", 3), ("q2:0", 3), ("q3:0", 2)):
        Rating.objects.create(
            rater=gold,
            rubric=Rubric.objects.get(slug="graded"),
            text=Text.objects.get(name=name),
            question=q3,
            grade=grade,
        )
    content = rosa.get(f"{JSON}?{QUERY}&gold=graded:qrels").json()
    # At eta 3 q3 has two: one of them is first where the lexical run counts. The others have none.
    assert content["n_without_gold"] == 3
    summary = next(row for row in content["rows"] if row["type"] == "summary")
    assert [cell["value"] for cell in summary["recall"]] == [0, 0.5, 0.5]
    fact = next(row for row in content["rows"] if row["type"] == "fact_single")
    assert (fact["best"], fact["n"], fact["missing"]) == ({"weight": None, "recall": None}, 0, 2)
    assert "no question of this type has a gold context" in fact["recall"][0]["reason"]
    assert "Undefined, because" in text_of_page(rosa.get(f"{URL}?{QUERY}&gold=graded:qrels"))


def test_filtered_questions_are_in_no_row(rosa, mills):
    SubQuestion.objects.filter(topic__name="q1").update(filtered_because="it is not clear alone")
    content = rosa.get(f"{JSON}?{QUERY}").json()
    assert (content["n_filtered"], content["rows"][0]["n"]) == (1, 2)
    assert content["rows"][1]["recall"][0]["value"] == 1.0


def test_files_and_the_command_have_the_same(rosa, mills):
    lines = csv_rows(rosa.get(f"/datasets/mills/question-types.csv?{QUERY}"))
    assert [(line["type"], line["weight"], line["best"]) for line in lines[3:5]] == [
        ("fact_single", "0.0", "1"),
        ("fact_single", "0.5", "0"),
    ]
    assert float(lines[0]["recall_at_1"]) == pytest.approx(2 / 3)
    out = StringIO()
    arguments = ["mills", "--types", "tess", "--k", "1", "--weights", "0,0.5,1"]
    call_command("by_type", *arguments, "--json", stdout=out)
    assert json.loads(out.getvalue()) == rosa.get(f"{JSON}?{QUERY}").json()
    call_command("by_type", *arguments, stdout=out)
    assert "summary                  1.000     0.000     0.000         0         1         0" in (
        out.getvalue()
    )
    with pytest.raises(CommandError, match="no rater of question types, called “bob”"):
        call_command("by_type", "mills", "--types", "bob")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("types=question-type:bob", "There are: question-type:tess."),
        ("lexical=nope", "no run called “nope”. There are: bm25, dense"),
        ("lexical=dense&dense=dense", "both dense: choose two"),
        ("how=sum", "no fusion method, called “sum”. There are: raw, minmax, rrf"),
        ("gold=nobody", "There are: own."),
        ("k=0", "k is a whole number from 1"),
        ("k=many", "k is a whole number from 1"),
        ("weights=0,2", "different numbers from 0 to 1"),
        ("weights=0,0", "different numbers from 0 to 1"),
        ("weights=nan", "different numbers from 0 to 1"),
        ("weights=a", "different numbers from 0 to 1"),
    ],
)
def test_wrong_choices_are_answered_with_what_there_is(rosa, mills, query, message):
    response = rosa.get(f"{URL}?{query}")
    assert response.status_code == 400
    assert message in text_of_page(response)


def test_files_refuse_the_same(rosa, mills):
    for address in (JSON, "/datasets/mills/question-types.csv"):
        response = rosa.get(f"{address}?how=sum")
        assert (response.status_code, "raw, minmax, rrf" in text_of_page(response)) == (400, True)


def test_too_little_says_so(rosa, mills):
    Rating.objects.all().delete()
    response = rosa.get(URL)
    assert "These questions have no types yet" in text_of_page(response)
    assert [row["type"] for row in rosa.get(JSON).json()["rows"]] == ["inclusive"]
    RetrievalRun.objects.filter(name="dense").delete()
    assert "this dataset does not have two runs" in text_of_page(rosa.get(URL))
    assert rosa.get(JSON).status_code == 404
    with pytest.raises(CommandError, match="has not two runs"):
        call_command("by_type", "mills")


def test_pages_are_for_researchers_and_read_only(cast, rosa, mills):
    for address in (URL, JSON, "/datasets/mills/question-types.csv"):
        assert cast.client("worker").get(address).status_code == 403
        assert cast.client("stranger").get(address).status_code == 302
        assert rosa.post(address).status_code == 405
        assert rosa.get(address.replace("mills", "nowhere")).status_code == 404


def test_other_pages_lead_there(rosa, mills):
    assert any(link.startswith(URL) for link in links(rosa.get("/datasets/mills/systems/")))


def test_weights_are_as_exact_as_they_were_asked_for(rosa, mills):
    """Two that agree in six digits are two: in what is kept, and in the address of the file."""
    # q1's own text overtakes the other at 0.1 / 2.1 = 0.04761905: 1 w + 0.9 (1 - w) beside 3 w + 0.8 (1 - w).
    default_weights, exact_weights = (
        values(rosa, f"k=1&weights={weight}")["fact_single"]
        for weight in ("0.0476190", "0.0476191")
    )
    assert (default_weights, exact_weights) == ([0.5], [1.0])
    page = rosa.get(f"{URL}?weights=0,0.1234567,0.1234568")
    assert page.context["choice"].query().endswith("weights=0%2C0.1234567%2C0.1234568")


def test_figure_has_the_recall_of_the_page(rosa, mills):
    response = rosa.get(f"{URL}figure/?{QUERY}")
    rows = rosa.get(f"{URL}?{QUERY}").context["results"].rows
    figure = response.context["explore"].figure
    assert [trace["name"] for trace in figure["data"]] == [
        "inclusive, n = 3",
        "fact_single, n = 2",
        "summary, n = 1",
    ]
    for trace, row in zip(figure["data"], rows, strict=True):
        assert trace["x"] == [0, 0.5, 1]
        assert trace["y"] == [estimate.value for estimate in row.recall]
    # As in the table, the best of several values has no interval.
    inclusive, table_row = (
        figure["data"][0],
        tables(response)["Recall by the weight of the lexical run"][0],
    )
    assert inclusive["error_y"]["arrayminus"][0] == 0
    assert inclusive["error_y"]["arrayminus"][1] > 0
    assert inclusive["text"][0] == "inclusive<br>weight 0: 0.6667, n = 3, best"
    assert table_row[:2] == ["inclusive", "0.667 best"]
    assert figure["layout"]["yaxis"]["title"]["text"] == "recall@1 (share of questions)"
    assert "/question-types/figure/?" in rosa.get(f"{URL}?{QUERY}").content.decode()


def test_figure_without_gold_contexts_displays_the_reason(rosa, mills):
    RankedText.objects.all().delete()
    response = rosa.get(f"{URL}figure/?{QUERY}")
    assert "no question has a gold context and a ranking" in text_of_page(response)
    RetrievalRun.objects.all().delete()
    assert "does not have two runs" in text_of_page(rosa.get(f"{URL}figure/"))
