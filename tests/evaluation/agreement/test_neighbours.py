"""Agreement by scale on real data of related papers, against values computed elsewhere.

PubMedQA: three nominal labels of a question by two people and a final decision. UMBRELA of TREC RAG 2025:
grades 0 to 4 of passages by three models. ALCE: a person's 1 to 5 of the outputs of eight systems.
"""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import Dataset
from crux_site.imports.importing import import_dataset
from evaluation.agreement.report import alphas
from evaluation.data.ratings import load
from evaluation.data.selection import select
from evaluation.stats.correlation import spearman
from evaluation.stats.krippendorff import krippendorff_alpha
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

pytestmark = [pytest.mark.django_db, pytest.mark.soak, needs_neighbours]


def near(value: float) -> object:
    return pytest.approx(value, abs=1e-9)


def agreement(slug: str, *options: str) -> dict:
    out = StringIO()
    call_command("agreement", slug, *options, "--json", stdout=out)
    return json.loads(out.getvalue())


def pair_of(report: dict, name: str) -> dict:
    a, b = name.split(" | ")
    return next(pair for pair in report["cohen"] if (pair["a"], pair["b"]) == (a, b))


RATERS = {
    "final": "final_decision",
    "free": "reasoning_free_pred",
    "required": "reasoning_required_pred",
}


@pytest.fixture
def pubmedqa(tmp_path):
    rows = lines("pubmedqa/pqal.jsonl")
    files = {
        "rubrics.jsonl": [DECISION],
        "topics.jsonl": [{"id": row["pmid"], "request": row["question"]} for row in rows],
        "subquestions.jsonl": [
            {"id": row["pmid"], "subquestions": [row["question"]]} for row in rows
        ],
        "passages.jsonl": [{"id": f"{row['pmid']}:0", "contents": row["context"]} for row in rows],
        "ratings.jsonl": [
            line(rater, "decision", f"{row['pmid']}:0", DECISIONS[row[field]])
            for row in rows
            for rater, field in RATERS.items()
        ],
    }
    return import_files(tmp_path, "pubmedqa", files)


def test_three_nominal_labels(pubmedqa, cast):
    expected_values = expected("pubmedqa_labels")
    page = cast.client("researcher").get("/datasets/pubmedqa/agreement.json?rubric=decision")
    report = page.json()
    assert report == agreement("pubmedqa", "--rubric", "decision")
    assert (report["n_items"], report["raters"]) == (
        expected_values["items"],
        expected_values["raters"],
    )
    assert report["krippendorff_alpha"]["metric"] == "nominal"
    assert report["krippendorff_alpha"]["value"] == near(expected_values["alpha_nominal"]["value"])
    assert report["fleiss_kappa"]["value"] == near(expected_values["fleiss"]["value"])
    assert report["fleiss_kappa"]["n"] == expected_values["fleiss"]["n"]
    for rater, counts in expected_values["composition"].items():
        by_name = {
            report["level_names"][grade]: n for grade, n in report["composition"][rater].items()
        }
        assert by_name == counts, rater
    for row in report["against_majority"]:
        right = expected_values["against_majority"][row["rater"]]
        assert row["scott_pi"]["value"] == near(right["kappa"]["value"])
        assert row["cohen_kappa"] == near(right["cohen"]["value"])
        assert row["percent_agreement"] == near(right["percent"]["value"])
        assert row["scott_pi"]["n"] == right["kappa"]["n"]
        assert row["n_without_majority"] == expected_values["items"] - right["kappa"]["n"]
    for name, right in expected_values["pairs"].items():
        pair = pair_of(report, name)
        assert pair["value"] == near(right["cohen"]["value"])
        assert pair["scott_pi"] == near(right["scott_pi"]["value"])
        assert pair["percent_agreement"] == near(right["percent"]["value"])
        assert pair["matrix"] == right["confusion_rows_are_first"]
    for rater in ("free", "required"):
        pair, right = pair_of(report, f"final | {rater}"), expected_values[f"{rater}_vs_final"]
        assert pair["accuracy"] == near(right["accuracy"]["value"])
        assert pair["macro_f1"] == near(right["macro_f1"])
    # None of what takes an order or a threshold.
    assert (report["eta"], report["prevalence"], report["mean_coverage"]) == (None, None, {})
    assert pair_of(report, "final | free")["cohen_quadratic"] is None
    assert "names" in pair_of(report, "final | free")["details"]["spearman"]["reason"]


@pytest.fixture
def umbrela(db):
    """The files as they were published; the nuggets of the same topics are beside them."""
    import_dataset(FOLDER / "trec_rag25", "rag25", form="trec-rag")
    return Dataset.objects.get(slug="rag25")


def test_five_ordered_grades(umbrela, cast):
    expected_values = expected("umbrela")
    raters = ",".join(expected_values["raters"])
    page = f"/datasets/rag25/agreement.json?rubric=umbrela&judge=&raters={raters}"
    report = cast.client("researcher").get(page).json()
    assert report["n_items"] == expected_values["items"] == expected_values["pairs_rated_by_all"]
    assert report["krippendorff_alpha"]["metric"] == "ordinal"
    assert report["krippendorff_alpha"]["value"] == near(expected_values["alpha_ordinal"]["value"])
    assert report["fleiss_kappa"]["value"] == near(expected_values["fleiss"]["value"])
    assert list(report["by_topic"]) == expected_values["topics"]
    assert report["composition"] == expected_values["composition"]
    for name, right in expected_values["pairs"].items():
        pair = pair_of(report, name)
        assert pair["value"] == near(right["cohen"]["value"])
        assert pair["scott_pi"] == near(right["scott_pi"]["value"])
        assert pair["cohen_linear"] == near(right["cohen_linear"]["value"])
        assert pair["cohen_quadratic"] == near(right["cohen_quadratic"]["value"])
        assert pair["percent_agreement"] == near(right["percent"]["value"])
        assert pair["matrix"] == right["confusion_rows_are_first"]
    for row in report["against_majority"]:
        right = expected_values["against_majority"][row["rater"]]
        assert row["scott_pi"]["value"] == near(right["kappa"]["value"])
        assert row["cohen_kappa"] == near(right["cohen"]["value"])
        assert row["percent_agreement"] == near(right["percent"]["value"])
        assert row["scott_pi"]["n"] == right["kappa"]["n"]
    for rater, share in expected_values["share_at_or_above_2"].items():
        assert report["rater_counts"][rater]["prevalence"]["value"] == near(share["value"])
    # The other metrics of alpha, which the page does not choose for this scale.
    matrix = load(select(umbrela, rubric="umbrela", raters=[raters]))
    assert alphas(matrix, ["ordinal"])["ordinal"].value == near(
        expected_values["alpha_ordinal"]["value"]
    )
    for metric in ("nominal", "interval"):
        right = expected_values[f"alpha_{metric}"]["value"]
        assert krippendorff_alpha(matrix.grades.T, metric).value == near(right)


@pytest.fixture
def alce(tmp_path):
    """A person's utility of each answer as a whole, and checks of its parts by no person.

    The whole request is a sub-question that no coverage counts; the parts are others of the topic.
    """
    rows = [row for row in lines("alce/human_eval_utility.jsonl") if "utility_score" in row]
    parts: dict[str, int] = {}
    for row in rows:
        row["topic"] = f"{row['dataset']}{row['id']}"
        parts[row["topic"]] = len(row["automatic_correctness_scores"])
    questions = {
        topic: ["the whole request", *(f"part {part}" for part in range(1, n + 1))]
        for topic, n in parts.items()
    }
    whole = {"0": {"because": "the whole request"}}
    files = {
        "topics.jsonl": [{"id": topic, "request": f"About {topic}"} for topic in parts],
        "subquestions.jsonl": [
            {"id": topic, "subquestions": bodies, "filtered": whole}
            for topic, bodies in questions.items()
        ],
        "ratings.jsonl": [],
    }
    for row in rows:
        topic, system = row["topic"], row["system"]
        files.setdefault(f"reports_all.{system}.jsonl", []).append(
            {
                "qid": topic,
                "topic": f"About {topic}",
                "questions": questions[topic],
                "response": row["output"],
            }
        )
        report = {"text_kind": "report", "system": f"human_eval.{system}"}
        files["ratings.jsonl"] += [
            line("person", "utility", topic, row["utility_score"], **report),
            *(
                line(
                    *("automatic", "answerable", topic, int(is_right)),
                    **report | {"kind": "baseline", "question_index": part},
                )
                for part, is_right in enumerate(row["automatic_correctness_scores"], start=1)
            ),
        ]
    import_files(tmp_path, "alce", files)
    return rows


def test_utility_and_correctness_by_system(alce):
    rows = alce
    ratings = agreement("alce", "--rubric", "utility")
    assert (ratings["eta"], ratings["mean_coverage"], ratings["prevalence"]) == (None, {}, None)
    of_parts = agreement("alce", "--rubric", "answerable", "--raters", "automatic")
    graded = {(f"human_eval.{row['system']}", row["topic"]): row["utility_score"] for row in rows}
    for expected_of, right in expected("alce_utility").items():
        name = f"human_eval.{expected_of.partition(' | ')[2]}"
        mean = ratings["mean_grade"][name]["person"]
        assert (mean["value"], mean["n"]) == (
            near(right["utility"]["value"]),
            right["utility"]["n"],
        )
        assert ratings["composition_by_system"][name]["person"] == right["grades"]
        assert of_parts["mean_coverage"][name]["automatic"] == near(right["correctness"]["value"])
        covered = {
            report.removeprefix(f"{name}/"): share
            for report, share in of_parts["coverage"]["automatic"].items()
            if report.startswith(f"{name}/")
        }
        assert len(covered) == right["n_both"]
        utility = [graded[name, topic] for topic in covered]
        correlation = spearman(utility, list(covered.values()))
        assert correlation.value == near(right["spearman_utility_correctness"])
