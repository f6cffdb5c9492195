"""Nuggets of TREC RAG 2025 and criteria of ResearchRubrics, against values computed elsewhere.

Real assignments of nuggets are not public: those here follow a stated rule, and come in as a nuggetizer's file.
"""

import json
import re

import pytest

from crux_site.imports.importing import import_dataset
from evaluation.metrics.nuggets import SCORES
from tests.crux_site.imports.foreign.folders import write
from tests.neighbours import FOLDER, expected, lines, needs_them

pytestmark = [pytest.mark.django_db, pytest.mark.soak, needs_them]


def near(value: float) -> object:
    return pytest.approx(value, abs=1e-9)


def topics() -> dict[str, str]:
    rows = (FOLDER / "trec_rag25/topics.tsv").read_text().splitlines()
    return dict(row.split("\t", 1) for row in rows)


def words(text: str) -> set[str]:
    return set(re.findall("[a-z0-9]+", text.lower()))


def assigned(row: dict, narrative: str) -> dict:
    """The rule: by the share of a nugget's words that the narrative has."""

    def assignment(nugget: str) -> str:
        own = words(nugget)
        share = len(own & words(narrative)) / len(own)
        if share >= 1 / 2:
            return "support"
        return "partial_support" if share >= 1 / 4 else "not_support"

    nuggets = [{**nugget, "assignment": assignment(nugget["text"])} for nugget in row["nuggets"]]
    return {
        "query": narrative,
        "qid": row["qid"],
        "nuggets": nuggets,
        "run_id": "narrative",
        "answer_text": narrative,
        "response_length": len(narrative.split()),
    }


def page(cast, slug: str, query: str = "") -> dict:
    response = cast.client("researcher").get(f"/datasets/{slug}/nuggets.json{query}")
    assert response.status_code == 200
    return response.json()


@pytest.fixture
def nuggets(tmp_path):
    narratives = topics()
    rows = lines("trec_rag25/nuggets.jsonl")
    files = {
        "topics.tsv": (FOLDER / "trec_rag25/topics.tsv").read_text().splitlines(),
        "nuggets.jsonl": rows,
        "rule.assignments.jsonl": [assigned(row, narratives[row["qid"]]) for row in rows],
    }
    import_dataset(write(tmp_path, files), "rag25", form="trec-rag")


def test_scores_of_real_nuggets(cast, nuggets):
    wanted, found = expected("nuggets"), page(cast, "rag25")
    assert (found["support"], found["importance"]) == ("rule-assignments", "assessor")
    counts = found["counts"]
    assert (counts["topics"], counts["nuggets"]) == (wanted["topics"], wanted["nuggets"])
    assert {name: counts[name] for name in ("vital", "okay")} == wanted["importance"]
    assert (counts["groups"], counts["unweighed"]) == (wanted["sub_narratives"], 0)
    assert wanted["repeated_texts"] == 0
    by_topic = {row["topic"]: row for row in found["reports"]}
    assert by_topic.keys() == wanted["scores"].keys()
    for topic, right in wanted["scores"].items():
        for name in SCORES:
            got = by_topic[topic][name]
            assert (got["value"], got["n"]) == (near(right[name]["value"]), right[name]["n"])
        assert {k: n for k, n in by_topic[topic]["assignment"].items() if n} == right["assignment"]
    (system,) = found["systems"]
    for name in SCORES:
        right = wanted["means"][name]
        assert (system[name]["value"], system[name]["n"]) == (near(right["value"]), right["n"])
        assert system[name]["low"] < right["value"] < system[name]["high"]
    by_authors = page(cast, "rag25", "?rules=authors")["systems"][0]
    for name, right in wanted["means_undefined_is_0"].items():
        assert by_authors[name]["value"] == near(right["value"])


def test_criteria_without_their_weights(cast, tmp_path):
    """How many there are, and of which axes: their weights have no column."""
    wanted = expected("researchrubrics")
    rows = lines("researchrubrics/rubrics.jsonl")
    files = {
        "topics.jsonl": [{"id": row["qid"], "request": f"Topic {row['qid']}"} for row in rows],
        "rubrics.of.research.jsonl": rows,
    }
    import_dataset(write(tmp_path, files), "research", form="nuggets")
    found = page(cast, "research")
    got = {topic: counts["nuggets"] for topic, counts in found["topics"].items()}
    assert got == {topic: right["criteria"] for topic, right in wanted["topics"].items()}
    assert found["counts"]["nuggets"] == sum(wanted["axes"].values())
    # The axes of the questions, as an export tells them.
    axes = [criterion["axis"] for row in rows for criterion in row["rubrics"]]
    assert {axis: axes.count(axis) for axis in wanted["axes"]} == wanted["axes"]
    assert json.dumps(found["support"]) == "null"
