"""Nuggets of TREC RAG 2025, ResearchRubrics criteria: compared with independent values.

Real assignments of nuggets are not public: those here follow a stated rule, and come in as a nuggetizer's file.
"""

import json
import re

import pytest

from crux_site.imports.importing import import_dataset
from evaluation.replications.nuggets.metrics import SCORES
from tests.toolbox.foreign_files import write
from tests.toolbox.related_papers import FOLDER, expected, lines, needs_neighbours

pytestmark = [pytest.mark.django_db, pytest.mark.soak, needs_neighbours]


def near(value: float) -> object:
    return pytest.approx(value, abs=1e-9)


def topics() -> dict[str, str]:
    rows = (FOLDER / "trec_rag25/topics.tsv").read_text().splitlines()
    return dict(row.split("\t", 1) for row in rows)


def tokens(text: str) -> set[str]:
    return set(re.findall("[a-z0-9]+", text.lower()))


def assigned(row: dict, narrative: str) -> dict:
    """The rule: by the share of a nugget's words that the narrative has."""

    def assignment(nugget: str) -> str:
        nugget_tokens = tokens(nugget)
        share = len(nugget_tokens & tokens(narrative)) / len(nugget_tokens)
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
    reference, content = expected("nuggets"), page(cast, "rag25")
    assert (content["support"], content["importance"]) == ("rule-assignments", "assessor")
    counts = content["counts"]
    assert (counts["topics"], counts["nuggets"]) == (reference["topics"], reference["nuggets"])
    assert {name: counts[name] for name in ("vital", "okay")} == reference["importance"]
    assert (counts["groups"], counts["unweighed"]) == (reference["sub_narratives"], 0)
    assert reference["repeated_texts"] == 0
    by_topic = {row["topic"]: row for row in content["reports"]}
    assert by_topic.keys() == reference["scores"].keys()
    for topic, right in reference["scores"].items():
        for name in SCORES:
            got = by_topic[topic][name]
            assert (got["value"], got["n"]) == (near(right[name]["value"]), right[name]["n"])
        assert {k: n for k, n in by_topic[topic]["assignment"].items() if n} == right["assignment"]
    (system,) = content["systems"]
    for name in SCORES:
        right = reference["means"][name]
        assert (system[name]["value"], system[name]["n"]) == (near(right["value"]), right["n"])
        assert system[name]["low"] < right["value"] < system[name]["high"]
    by_authors = page(cast, "rag25", "?rules=authors")["systems"][0]
    for name, right in reference["means_undefined_is_0"].items():
        assert by_authors[name]["value"] == near(right["value"])


def test_criteria_without_their_weights(cast, tmp_path):
    """Numbers of criteria and their axes are compared; weights have no column."""
    reference = expected("researchrubrics")
    rows = lines("researchrubrics/rubrics.jsonl")
    files = {
        "topics.jsonl": [{"id": row["qid"], "request": f"Topic {row['qid']}"} for row in rows],
        "rubrics.of.research.jsonl": rows,
    }
    import_dataset(write(tmp_path, files), "research", form="nuggets")
    content = page(cast, "research")
    got = {topic: counts["nuggets"] for topic, counts in content["topics"].items()}
    assert got == {topic: right["criteria"] for topic, right in reference["topics"].items()}
    assert content["counts"]["nuggets"] == sum(reference["axes"].values())
    # The axes of the questions, as an export tells them.
    axes = [criterion["axis"] for row in rows for criterion in row["rubrics"]]
    assert {axis: axes.count(axis) for axis in reference["axes"]} == reference["axes"]
    assert json.dumps(content["support"]) == "null"
