"""Page /datasets/<slug>/evidence-recall/: its numbers are computed in `material.py`."""

import json
from copy import deepcopy

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Citation, Rating, Text
from evaluation.metrics.relevance_seen import MEASURES
from evaluation.models import RankedText
from tests.evaluation.replications.rel_recall.material import make_weir, report
from tests.toolbox.factories import make_dataset
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import csv_rows, links, text_of_page

PAGE = "/datasets/weir/evidence-recall/"


@pytest.fixture(scope="module")
def imported_dataset(shared_world, tmp_path_factory):
    return shared_world(lambda: make_weir(tmp_path_factory.mktemp("weir")))


@pytest.fixture
def weir(db, imported_dataset):
    return deepcopy(imported_dataset)


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def content(client, query="", page="evidence-recall.json"):
    return client.get(f"{PAGE}{page}{query}").json()


def values(estimates):
    return [estimates[measure]["value"] for measure in MEASURES]


def by_name(content, kind):
    return {row["system"]: row for row in content[kind]}


def test_answers(rosa, weir):
    rows = by_name(content(rosa), "answers")
    assert list(rows) == ["all systems", "brook", "lake"]
    # Precision, recall, recall', ceiling, precision'.
    assert values(rows["brook"]["macro"]) == [1, 0.5, 1, 0.25, 0.5]
    assert values(rows["lake"]["macro"]) == [1, 0.5, 1, 0.5, 1]
    assert values(rows["all systems"]["macro"]) == [1, 0.5, 1, pytest.approx(1 / 3), 0.75]
    # All items together: 3 of 3 put out, 3 of 5 relevant, 2 of 2 seen, 2 of 5, 2 of 3.
    assert values(rows["all systems"]["micro"]) == [1, 0.6, 1, 0.4, pytest.approx(2 / 3)]
    brook = rows["brook"]["macro"]
    assert [brook[name]["n"] for name in MEASURES] == [1, 2, 1, 2, 1]
    assert [brook[name]["missing"] for name in MEASURES] == [1, 0, 1, 0, 1]
    assert brook["recall"]["ci95"] is not None
    assert (rows["brook"]["n_out"], rows["brook"]["n_unseen"]) == (2, 1)
    of_t2 = rows["brook"]["reports"][1]
    assert of_t2["precision"]["reason"] == "undefined, because the output is empty"
    assert of_t2["recall_seen"]["reason"] == "undefined, because no relevant item was retrieved"


def test_citations(rosa, weir):
    rows = by_name(content(rosa), "citations")
    assert list(rows) == ["brook"]
    (of_t1, of_t2) = rows["brook"]["reports"]
    assert values(of_t1) == [pytest.approx(2 / 3), 1, 1, 0.5, pytest.approx(1 / 3)]
    assert (of_t1["n_out"], of_t1["n_unseen"], of_t1["n_statements"]) == (3, 2, 3)
    assert values(of_t2) == [None, 0, None, 0, None]
    assert content(rosa)["left_out"]["citations"] == ["lake"]


def test_rules_of_the_authors(rosa, weir):
    rows = by_name(content(rosa, "?rules=authors"), "citations")
    (of_t1, of_t2) = rows["brook"]["reports"]
    # The text that is cited twice counts twice in precision, and once in recall.
    assert values(of_t1) == [0.75, 1, 1, 0.5, 0.5]
    # An empty output has a precision of 0, and is in the mean.
    assert values(of_t2) == [0, 0, None, 0, 0]
    assert rows["brook"]["macro"]["precision"]["value"] == 0.375
    assert rows["brook"]["micro"]["precision"] == rows["brook"]["micro"]["precision"] | {
        "value": 0.75, "n": 4, "missing": 0,
    }  # fmt: skip


def test_of_a_statement_alces_code_reads_three_citations(rosa, weir):
    brook = report("brook", "t1")
    third = Text.objects.get(name="t1:0#3")
    for position in range(4, 8):
        Citation.objects.create(
            report=brook, position=position, start=38, end=55, label=str(position), cited=third
        )
    # [9] and two of the four new ones: 3 of 6. All five: 2 of 4 different ones.
    of_t1 = by_name(content(rosa, "?rules=authors"), "citations")["brook"]["reports"][0]
    assert (of_t1["precision"]["value"], of_t1["n_out"]) == (0.5, 6)
    of_t1 = by_name(content(rosa), "citations")["brook"]["reports"][0]
    assert (of_t1["precision"]["value"], of_t1["n_out"]) == (0.5, 4)
    # The new one is not rated.
    assert of_t1["n_unjudged"] == 1


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # All questions asked: q3 too.
        ("?rel=asked", [1, pytest.approx(1 / 3), 1, pytest.approx(1 / 6), 0.5]),
        # From 2 on #1 answers q2, which was then seen.
        ("?eta=2", [1, 0.5, 1, 0.5, 1]),
        # Of what was seen the first passage alone.
        ("?depth=1&eta=2", [1, 0.5, 1, 0.25, 0.5]),
        # In lake's run the same passage is first; of t2 it has nothing, and nothing is known.
        ("?seen=lake", [1, 0.5, 1, 0.5, 0.5]),
    ],
)
def test_choices_change_the_scores(rosa, weir, query, expected):
    brook = by_name(content(rosa, query), "answers")["brook"]
    assert values(brook["macro"]) == expected


def test_unknown_output_is_missing(rosa, weir):
    ceiling = by_name(content(rosa, "?seen=lake"), "answers")["brook"]["macro"]["ceiling"]
    assert (ceiling["n"], ceiling["missing"]) == (1, 1)
    Rating.objects.filter(rater__name="ann", text=report("lake", "t1")).delete()
    state = content(rosa)
    assert list(by_name(state, "answers")) == ["brook"]
    assert state["left_out"]["answers"] == ["lake"]


def test_rater_of_reports_can_be_chosen(rosa, weir):
    # Ann alone rated reports: no majority, and the judge rated passages alone.
    assert content(rosa)["rater"] == "ann"
    assert content(rosa, "?rater=judge")["answers"] == []
    ann = Rating.objects.filter(rater__name="ann").select_related("rater")
    bea = ann[0].rater
    bea.pk, bea.name = None, "bea"
    bea.save()
    for rating in ann:
        Rating.objects.create(
            rater=bea, rubric=rating.rubric, text=rating.text, question=rating.question, grade=0
        )
    assert content(rosa)["rater"] == "majority"
    # They disagree on what ann says is answered: a tie is no grade.
    of_t1 = by_name(content(rosa), "answers")["brook"]["reports"][0]
    assert (of_t1["n_out"], of_t1["n_unjudged"]) == (0, 2)


def test_the_page(rosa, weir):
    response = rosa.get(PAGE)
    page_text = text_of_page(response)
    assert "Retrieved passages: the retrieval run with the system’s name." in page_text
    assert "Left out, because their reports have no citations: lake" in page_text
    rows = {row[0].split(" ")[0]: row for row in tables(response)["Answers"]}
    assert rows["brook"][1].startswith("1.00")
    assert "n = 1, 1 missing" in rows["brook"][1]
    assert rows["brook"][6] == "1 of 2"
    assert f"{PAGE}systems/brook/" in links(response)
    assert f"{PAGE}systems/brook/?eta=2" in links(rosa.get(f"{PAGE}?eta=2"))
    assert f"{PAGE}?judge=judge&eta=2&carried=1" in links(rosa.get("/datasets/weir/systems/?eta=2"))


def test_single_system_is_shown(rosa, weir):
    response = rosa.get(f"{PAGE}systems/brook/?eta=3")
    rows = tables(response)["Topics"]
    assert [row[:2] for row in rows] == [
        ["t1", "answers"], ["t1", "citations"], ["t2", "answers"], ["t2", "citations"],
    ]  # fmt: skip
    assert rows[1][2:] == [
        "0.67 n = 3",
        "1.00 n = 2",
        "1.00 n = 1",
        "0.50 n = 2",
        "0.33 n = 3",
        "3",
        "2",
    ]
    # Of citations it is known that there are none.
    assert rows[3][-2:] == ["0", "0"]
    assert f"{PAGE}items/{report('brook', 't1').pk}/?eta=3#answers" in links(response)
    nothing = text_of_page(rosa.get(f"{PAGE}systems/lake/?rater=judge"))
    assert (
        "The reports of this system have no ratings by judge on questions that are not filtered"
        in nothing
    )
    assert rosa.get(f"{PAGE}systems/nobody/").status_code == 404
    assert rosa.get(f"{PAGE}systems/all systems/").status_code == 404


def test_items_of_a_report(rosa, weir):
    brook = report("brook", "t1")
    response = rosa.get(f"{PAGE}items/{brook.pk}/")
    page_text = text_of_page(response)
    assert "2. Who paid? answered relevant reported, not retrieved" in page_text
    assert "3. Why? no no no" in page_text
    assert "When?" not in page_text
    assert "t1:0#2 1 time relevant cited, not retrieved" in page_text
    assert "[9] 1 time unknown text cited, not retrieved" in page_text
    items = content(rosa, page=f"items/{brook.pk}.json")
    assert items["context"] == ["t1:0#0", "t1:0#1"]
    assert [item["seen_in"] for item in items["answers"]["items"]] == [["t1:0#0"], [], []]
    assert [item["text"] for item in items["citations"]["items"]] == ["t1:0#0", "t1:0#2", "[9]"]
    assert items["citations"]["statements"][1] == {
        "words": "Ida Brandt paid.", "cited": ["t1:0#0", "t1:0#2"],
    }  # fmt: skip
    pair = f"/datasets/weir/pairs/{brook.pk}/{weir.topics.get(name='t1').questions.first().pk}/"
    assert pair in links(response)
    assert rosa.get(pair).status_code == 200
    # A text opens the pair with the question that it answers: #2 answers the second.
    third = Text.objects.get(name="t1:0#2")
    question = weir.topics.get(name="t1").questions.get(position=1)
    assert f"/datasets/weir/pairs/{third.pk}/{question.pk}/" in links(response)
    of_lake = text_of_page(rosa.get(f"{PAGE}items/{report('lake', 't1').pk}/"))
    assert "The reports of lake have no citations." in of_lake


def test_unknown_context_leaves_retrieved_values_undefined(rosa, weir, capsys):
    # lake's run has t1 alone, where brook answers q1 and q2: both are compared.
    rows = by_name(content(rosa, "?seen=lake"), "answers")
    assert (rows["brook"]["n_out"], rows["brook"]["n_compared"]) == (2, 2)
    RankedText.objects.filter(run__name="lake", topic__name="t1").delete()
    brook = by_name(content(rosa, "?seen=lake"), "answers")["brook"]
    assert (brook["n_out"], brook["n_compared"], brook["n_unseen"]) == (2, 0, 0)
    for count in ("n_unseen", "n_rel_prime"):
        assert [report[count] for report in brook["reports"]] == [None, None]
    rows_by_system = {
        row[0].split(" ")[0]: row for row in tables(rosa.get(f"{PAGE}?seen=lake"))["Answers"]
    }
    assert rows_by_system["brook"][-2] == "not known"
    assert tables(rosa.get(f"{PAGE}systems/brook/?seen=lake"))["Topics"][0][-1] == "not known"
    items = text_of_page(rosa.get(f"{PAGE}items/{report('brook', 't1').pk}/?seen=lake"))
    assert "Reported, not retrieved not known" in items
    call_command("seen", "weir", "--seen", "lake")
    assert " not known" in capsys.readouterr().out


def test_items_of_what_was_not_seen_by_anybody(rosa, weir):
    page_text = text_of_page(rosa.get(f"{PAGE}items/{report('brook', 't2').pk}/?seen=lake"))
    assert "The retrieved passages of this topic are not known." in page_text
    assert "retrieved passages of this topic" in page_text


def test_files(rosa, weir):
    systems = csv_rows(rosa.get(f"{PAGE}systems.csv?rel=asked"))
    assert [(row["what"], row["system"]) for row in systems] == [
        ("answers", "all systems"), ("answers", "brook"), ("answers", "lake"),
        ("citations", "brook"),
    ]  # fmt: skip
    assert float(systems[1]["recall"]) == pytest.approx(1 / 3)
    reports = csv_rows(rosa.get(f"{PAGE}reports.csv"))
    assert len(reports) == 5
    assert reports[1]["precision_reason"] == "undefined, because the output is empty"
    assert rosa.get(f"{PAGE}nothing.csv").status_code == 404


def test_command_prints_the_same(rosa, weir, capsys):
    call_command("seen", "weir", "--rel", "asked", "--json")
    assert json.loads(capsys.readouterr().out) == content(rosa, "?rel=asked")
    call_command("seen", "weir", "--rater", "ann")
    printed = capsys.readouterr().out
    assert "answered in reports by ann" in printed
    assert "1 of 2" in printed
    with pytest.raises(CommandError, match="There is no source of grades “x”"):
        call_command("seen", "weir", "--judge", "x")
    make_dataset()
    with pytest.raises(CommandError, match="has no ratings yet"):
        call_command("seen", "ferry")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("judge=x", "no source of grades “x”"),
        ("rater=x", "no source of grades “x”"),
        ("eta=9", "no eta “9”"),
        ("rel=some", "no reading of Rel “some”"),
        ("seen=x", "no retrieval run “x”. There are: own, brook, lake."),
        ("depth=0", "The depth is a whole number from 1."),
        ("depth=two", "The depth is a whole number from 1."),
        ("rules=mine", "no set of rules “mine”"),
    ],
)
def test_wrong_choice_says_which_there_are(rosa, weir, query, message):
    response = rosa.get(f"{PAGE}?{query}")
    assert response.status_code == 400
    assert message in text_of_page(response)


def test_dataset_without_ratings_has_no_page(rosa):
    make_dataset()
    assert "This dataset has no ratings" in text_of_page(
        rosa.get("/datasets/ferry/evidence-recall/")
    )
    assert rosa.get("/datasets/ferry/evidence-recall/evidence-recall.json").status_code == 404


@pytest.mark.parametrize(
    "page",
    ["", "systems/brook/", "items/{}/", "items/{}.json", "evidence-recall.json", "systems.csv"],
)
def test_page_is_for_researchers_only(cast, weir, page):
    address = PAGE + page.format(report("brook", "t1").pk)
    statuses = {
        role: cast.client(role).get(address).status_code
        for role in ("admin", "researcher", "worker", "stranger")
    }
    assert statuses == {"admin": 200, "researcher": 200, "worker": 403, "stranger": 302}
    assert cast.client("researcher").post(address).status_code == 405


def test_unknown_page_is_404(rosa, weir):
    make_dataset()
    assert rosa.get("/datasets/nowhere/evidence-recall/").status_code == 404
    assert rosa.get(f"{PAGE}items/{Text.objects.get(name='t1:0#0').pk}/").status_code == 404
    foreign_report = Text.objects.filter(dataset__slug="ferry", kind="report").first()
    assert rosa.get(f"{PAGE}items/{foreign_report.pk}/").status_code == 404
    topicless = Text.objects.create(dataset=weir, kind="report", system="x", name="x", body="x")
    assert rosa.get(f"{PAGE}items/{topicless.pk}/").status_code == 404


def test_new_citation_is_counted_at_once(rosa, weir):
    assert by_name(content(rosa), "citations")["brook"]["n_out"] == 3
    Citation.objects.create(
        report=report("brook", "t2"), position=0, start=0, end=7, label="1", cited=None
    )
    assert by_name(content(rosa), "citations")["brook"]["n_out"] == 4
