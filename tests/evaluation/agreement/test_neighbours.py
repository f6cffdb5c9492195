"""Agreement by scale on the real data of neighbouring papers, against values computed elsewhere.

PubMedQA: three nominal labels of a question by two people and a final decision. UMBRELA of TREC RAG 2025:
grades 0 to 4 of passages by three models. ALCE: a person's 1 to 5 of the outputs of eight systems.
"""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion
from annotation.models.standard import STANDARD, add_standard
from evaluation.agreement.page import alpha
from evaluation.data.ratings import load
from evaluation.data.selection import select
from evaluation.stats.correlation import spearman
from evaluation.stats.krippendorff import krippendorff_alpha
from evaluation.stats.majority import scott_pi
from tests.neighbours import FOLDER, expected, lines, make_rubric, needs_them, store

pytestmark = [pytest.mark.django_db, needs_them]


def near(value: float) -> object:
    return pytest.approx(value, abs=1e-9)


def agreement(slug: str, *options: str) -> dict:
    out = StringIO()
    call_command("agreement", slug, *options, "--json", stdout=out)
    return json.loads(out.getvalue())


def pair_of(found: dict, name: str) -> dict:
    a, b = name.split(" | ")
    return next(pair for pair in found["cohen"] if (pair["a"], pair["b"]) == (a, b))


def check_scott(dataset: Dataset, rubric: str, wanted: dict) -> None:
    """Scott's pi of every two raters: what the page has of a rater and a majority."""
    matrix = load(select(dataset, rubric=rubric, raters=[",".join(wanted["raters"])]))
    place = {rater.name: column for column, rater in enumerate(matrix.selection.raters)}
    for name, right in wanted["pairs"].items():
        a, b = (matrix.grades[:, place[rater]] for rater in name.split(" | "))
        assert scott_pi(a, b, matrix.selection.levels).value == near(right["scott_pi"]["value"])


@pytest.fixture
def pubmedqa():
    dataset = Dataset.objects.create(slug="pubmedqa", title="PubMedQA")
    rubric = make_rubric("decision", {0: "yes", 1: "no", 2: "maybe"}, scale="nominal")
    grade_of = {"yes": 0, "no": 1, "maybe": 2}
    fields = {
        "final": "final_decision",
        "free": "reasoning_free_pred",
        "required": "reasoning_required_pred",
    }
    store(
        dataset,
        rubric,
        (
            (row["pmid"], "", row["pmid"], rater, grade_of[row[field]])
            for row in lines("pubmedqa/pqal.jsonl")
            for rater, field in fields.items()
        ),
    )
    return dataset


def test_three_nominal_labels(pubmedqa):
    wanted = expected("pubmedqa_labels")
    found = agreement("pubmedqa", "--rubric", "decision")
    assert (found["n_items"], found["raters"]) == (wanted["items"], wanted["raters"])
    assert found["krippendorff_alpha"]["metric"] == "nominal"
    assert found["krippendorff_alpha"]["value"] == near(wanted["alpha_nominal"]["value"])
    assert found["fleiss_kappa"]["value"] == near(wanted["fleiss"]["value"])
    assert found["fleiss_kappa"]["n"] == wanted["fleiss"]["n"]
    for rater, counts in wanted["composition"].items():
        by_name = {
            found["level_names"][grade]: n for grade, n in found["composition"][rater].items()
        }
        assert by_name == counts, rater
    for row in found["against_majority"]:
        right = wanted["against_majority"][row["rater"]]
        assert row["scott_pi"]["value"] == near(right["kappa"]["value"])
        assert row["cohen_kappa"] == near(right["cohen"]["value"])
        assert row["percent_agreement"] == near(right["percent"]["value"])
        assert row["scott_pi"]["n"] == right["kappa"]["n"]
        assert row["n_without_majority"] == wanted["items"] - right["kappa"]["n"]
    for name, right in wanted["pairs"].items():
        pair = pair_of(found, name)
        assert pair["value"] == near(right["cohen"]["value"])
        assert pair["percent_agreement"] == near(right["percent"]["value"])
        assert pair["matrix"] == right["confusion_rows_are_first"]
    for rater in ("free", "required"):
        pair, right = pair_of(found, f"final | {rater}"), wanted[f"{rater}_vs_final"]
        assert pair["accuracy"] == near(right["accuracy"]["value"])
        assert pair["macro_f1"] == near(right["macro_f1"])
    check_scott(pubmedqa, "decision", wanted)
    # None of what takes an order or a threshold.
    assert (found["eta"], found["prevalence"], found["mean_coverage"]) == (None, None, {})
    assert pair_of(found, "final | free")["cohen_quadratic"] is None
    assert "names" in pair_of(found, "final | free")["details"]["spearman"]["reason"]


@pytest.fixture
def umbrela():
    dataset = Dataset.objects.create(slug="rag25", title="TREC RAG 2025")
    files = {
        "codex-gpt5-5": "codex-gpt5.5",
        "ministral-3-14b": "ministral-3-14b",
        "qwen3-5-9b": "qwen3.5-9b",
    }
    rows = []
    for rater, name in files.items():
        for line in (FOLDER / f"trec_rag25/umbrela/{name}.qrels").read_text().splitlines():
            topic, _, text, grade = line.split()
            rows.append((topic, "", text, rater, int(grade)))
    store(dataset, add_standard(STANDARD["umbrela"]), rows, raters="model")
    return dataset


def test_five_ordered_grades(umbrela):
    wanted = expected("umbrela")
    raters = ",".join(wanted["raters"])
    found = agreement("rag25", "--rubric", "umbrela", "--raters", raters)
    assert found["n_items"] == wanted["items"] == wanted["pairs_rated_by_all"]
    assert found["krippendorff_alpha"]["metric"] == "ordinal"
    assert found["krippendorff_alpha"]["value"] == near(wanted["alpha_ordinal"]["value"])
    assert found["fleiss_kappa"]["value"] == near(wanted["fleiss"]["value"])
    assert list(found["by_topic"]) == wanted["topics"]
    assert found["composition"] == wanted["composition"]
    for name, right in wanted["pairs"].items():
        pair = pair_of(found, name)
        assert pair["value"] == near(right["cohen"]["value"])
        assert pair["cohen_linear"] == near(right["cohen_linear"]["value"])
        assert pair["cohen_quadratic"] == near(right["cohen_quadratic"]["value"])
        assert pair["percent_agreement"] == near(right["percent"]["value"])
        assert pair["matrix"] == right["confusion_rows_are_first"]
    for row in found["against_majority"]:
        right = wanted["against_majority"][row["rater"]]
        assert row["scott_pi"]["value"] == near(right["kappa"]["value"])
        assert row["cohen_kappa"] == near(right["cohen"]["value"])
        assert row["percent_agreement"] == near(right["percent"]["value"])
        assert row["scott_pi"]["n"] == right["kappa"]["n"]
    for rater, share in wanted["share_at_or_above_2"].items():
        assert found["rater_counts"][rater]["prevalence"]["value"] == near(share["value"])
    check_scott(umbrela, "umbrela", wanted)
    # The other metrics of alpha, which the page does not choose for this scale.
    matrix = load(select(umbrela, rubric="umbrela", raters=[raters]))
    assert alpha(matrix).value == near(wanted["alpha_ordinal"]["value"])
    for metric in ("nominal", "interval"):
        right = wanted[f"alpha_{metric}"]["value"]
        assert krippendorff_alpha(matrix.grades.T, metric).value == near(right)


@pytest.fixture
def alce():
    """A person's utility of each answer as a whole, and what was checked of its parts, by no person.

    The whole request is a sub-question that no coverage counts; the parts are others of the topic.
    """
    dataset = Dataset.objects.create(slug="alce", title="ALCE")
    rows = [row for row in lines("alce/human_eval_utility.jsonl") if "utility_score" in row]
    for row in rows:
        row["topic"] = f"{row['dataset']}{row['id']}"
        row["system"] = f"{row['dataset']} | {row['system']}"
    store(
        dataset,
        add_standard(STANDARD["utility"]),
        (
            (row["topic"], row["system"], row["topic"], "person", row["utility_score"])
            for row in rows
        ),
        kind="report",
    )
    SubQuestion.objects.update(filtered_because="the whole request")
    topics = {topic.name: topic for topic in dataset.topics.all()}
    parts = {row["topic"]: len(row["automatic_correctness_scores"]) for row in rows}
    questions = {
        (name, part): SubQuestion(topic=topics[name], position=part, body=f"part {part}")
        for name, n in parts.items()
        for part in range(1, n + 1)
    }
    SubQuestion.objects.bulk_create(questions.values())
    automatic = Rater.objects.create(dataset=dataset, name="automatic", kind="baseline")
    texts = {(text.system, text.name): text for text in dataset.texts.all()}
    Rating.objects.bulk_create(
        Rating(
            rater=automatic,
            rubric=Rubric.objects.get(slug="answerable"),
            text=texts[row["system"], row["topic"]],
            question=questions[row["topic"], part],
            grade=int(is_right),
        )
        for row in rows
        for part, is_right in enumerate(row["automatic_correctness_scores"], start=1)
    )
    return rows


def test_utility_and_correctness_by_system(alce):
    rows = alce
    found = agreement("alce", "--rubric", "utility")
    assert (found["eta"], found["mean_coverage"], found["prevalence"]) == (None, {}, None)
    of_parts = agreement("alce", "--rubric", "answerable", "--raters", "automatic")
    graded = {(row["system"], row["topic"]): row["utility_score"] for row in rows}
    for name, right in expected("alce_utility").items():
        mean = found["mean_grade"][name]["person"]
        assert (mean["value"], mean["n"]) == (
            near(right["utility"]["value"]),
            right["utility"]["n"],
        )
        assert found["composition_by_system"][name]["person"] == right["grades"]
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
