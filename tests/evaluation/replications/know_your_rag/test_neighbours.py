"""Recall by type on real data of neighbouring papers, against independent values.

PubMedQA by its three decisions, CLAPNQ by answerable and not; BM25, and character trigrams as a stand-in for
dense vectors. Runs are read as they are: their texts are called like the questions.
"""

import shutil
from collections.abc import Iterator

import pytest

from tests.toolbox.paths import ROOT
from tests.toolbox.related_papers import (
    DECISION,
    DECISIONS,
    FOLDER,
    expected,
    import_files,
    line,
    lines,
    needs_neighbours,
)

pytestmark = [pytest.mark.django_db, pytest.mark.soak, needs_neighbours, pytest.mark.any_database]

KINDS = {"answerable": 1, "unanswerable": 0}
KIND = {
    "slug": "kind",
    "title": "Whether the text answers it",
    "scale": "nominal",
    "guideline": "Read the text.",
    "levels": [{"grade": n, "label": name, "name": name} for name, n in KINDS.items()],
}


def pubmedqa() -> Iterator[tuple[str, str, str, int]]:
    """Each question with its context, and the grade of its type."""
    for row in lines("pubmedqa/pqal.jsonl"):
        yield row["pmid"], row["question"], row["context"], DECISIONS[row["final_decision"]]


def clapnq() -> Iterator[tuple[str, str, str, int]]:
    for row in lines("clapnq/dev.jsonl"):
        yield row["id"], row["question"], f"{row['title']}\n{row['text']}", KINDS[row["kind"]]


@pytest.mark.parametrize(
    ("name", "read", "rubric"), [("pubmedqa", pubmedqa, DECISION), ("clapnq", clapnq, KIND)]
)
def test_recall_by_type_and_weight(tmp_path, cast, name, read, rubric):
    rows = list(read())
    (tmp_path / "runs").mkdir()
    for run in ("bm25", "trigram"):
        shutil.copy(FOLDER / name / "runs" / f"{run}.run", tmp_path / "runs")
    files = {
        "rubrics.jsonl": [rubric],
        "topics.jsonl": [{"id": key, "request": question} for key, question, *_ in rows],
        "subquestions.jsonl": [
            {"id": key, "subquestions": [question]} for key, question, *_ in rows
        ],
        "passages.jsonl": [{"id": key, "contents": context} for key, _, context, _ in rows],
        "ratings.jsonl": [
            line("people", rubric["slug"], key, grade, topic=key) for key, *_, grade in rows
        ],
    }
    import_files(tmp_path, name, files)
    reference = expected("recall_by_type")[name]
    assert len(rows) == reference["questions"]
    for how in ("raw", "minmax"):
        query = (
            f"how={how}&k={reference['k']}&lexical=bm25&dense=trigram&types={rubric['slug']}:people"
        )
        content = (
            cast.client("researcher").get(f"/datasets/{name}/question-types.json?{query}").json()
        )
        assert (content["gold"], content["n_without_type"], content["n_not_ranked"]) == (
            "own",
            0,
            0,
        )
        check(content, reference[how])
    composition = {row["type"]: row["n"] for row in content["rows"][1:]}
    assert composition == reference["composition"]


def check(content: dict, reference: dict) -> None:
    by_type = {row["type"]: row for row in content["rows"]}
    assert by_type.keys() == reference["best"].keys()
    for weight, of_types in reference["recall_at_5"].items():
        for kind, right in of_types.items():
            cell = next(c for c in by_type[kind]["recall"] if c["weight"] == float(weight))
            assert cell["value"] == pytest.approx(right["value"], abs=1e-9), (weight, kind)
            assert (cell["n"], cell["missing"]) == (right["n"], 0)
    for kind, right in reference["best"].items():
        assert by_type[kind]["best"]["weight"] == right["weight"]
        assert by_type[kind]["best"]["recall"] == pytest.approx(right["recall"], abs=1e-9)


def test_printed_rows_that_no_scan_gives():
    """Weights of the scan include both runs alone, so no best can be below them; here it is."""
    tables = expected("know_your_rag_tables")
    rows = tables["contradictions"]
    assert (tables["rows"], tables["n_contradictions"], len(rows)) == (96, 11, 11)
    assert all(row["best"] < max(row["dense"], row["lexical"]) for row in rows)
    page = (ROOT / "docs" / "papers" / "know-your-rag.md").read_text()
    assert "**11 of the 96 printed rows of Tables 2 to 6 contradict themselves**" in page
    assert {row["table"] for row in rows} <= {f"Table {n}" for n in range(2, 7)}
