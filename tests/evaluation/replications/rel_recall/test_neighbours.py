"""Real reports of the paper's study, TREC and ALCE, via imported files and the JSON."""

import pytest
from django.core.management import call_command

from annotation.models import Dataset
from crux_site.imports.importing import import_dataset
from evaluation.metrics.exact_match import normalised
from evaluation.metrics.relevance_seen import MEASURES
from tests.toolbox.related_papers import FOLDER, expected, needs_neighbours

pytestmark = [pytest.mark.soak, needs_neighbours, pytest.mark.any_database]

CLOSE = 1e-9


def rel_recall_json(cast, dataset, **params):
    return (
        cast.client("researcher")
        .get(f"/datasets/{dataset.slug}/evidence-recall/evidence-recall.json", params)
        .json()
    )


def agrees(ours, theirs, *, with_missing=False):
    """An estimate of the page against one of the expected values."""
    assert ours["n"] == theirs["n"]
    assert (ours["value"] is None) == (theirs["value"] is None)
    if ours["value"] is not None:
        assert ours["value"] == pytest.approx(theirs["value"], abs=CLOSE, rel=0)
    else:
        assert "reason" in ours
    if with_missing:
        assert ours["missing"] == theirs["missing"]


@pytest.mark.parametrize("rater", ["annotator1", "annotator2", "annotator3", "majority"])
@pytest.mark.parametrize("rel", ["asked", "answerable"])
def test_real_study(real_study, cast, rater, rel):
    family = expected("rel_study")[rater]
    content = rel_recall_json(cast, real_study, rater=rater, rel=rel)
    rows = {row["system"].removeprefix("annotated."): row for row in content["answers"]}
    reports = {
        report_row["report"]: report_row for row in rows.values() for report_row in row["reports"]
    }
    assert set(reports) == set(family["reports"])
    for name, report in family["reports"].items():
        theirs, ours = report[f"rel_is_{rel}"], reports[name]
        for measure in MEASURES:
            agrees(ours[measure], theirs[measure])
        counts = {count: theirs[count] for count in ("n_unseen", "n_out", "n_rel")}
        assert {count: ours[count] for count in counts} == counts
        assert ours["n_unjudged"] == report["unjudged"]
        assert ours["n_unrated_passages"] == report["unrated_passages"]
        assert ours["n_passages"] == report["passages"]
    for system, means in family["means"][f"rel_is_{rel}"].items():
        row = rows["all systems" if system == "all" else system]
        for measure in MEASURES:
            agrees(row["macro"][measure], means[measure], with_missing=True)


@pytest.fixture
def neuclir(db):
    """Reports of three systems, the grades of a model and two runs."""
    import_dataset(FOLDER / "neuclir24", "neuclir24", form="ragtime")
    return Dataset.objects.get(slug="neuclir24")


def test_reports_of_trec(neuclir, cast):
    for name, theirs in expected("rel_neuclir24").items():
        system, retrieved = name.split(" | seen=")
        run, depth = retrieved.split("@")
        rows = rel_recall_json(cast, neuclir, seen=run, depth=depth)["citations"]
        row = next(row for row in rows if row["system"] == system)
        for measure in MEASURES:
            agrees(row["macro"][measure], theirs["means"][measure], with_missing=True)
        reports = {report_row["topic"]: report_row for report_row in row["reports"]}
        assert set(reports) == set(theirs["topics"])
        for topic, values in theirs["topics"].items():
            for measure in MEASURES:
                agrees(reports[topic][measure], values[measure])
            for count in ("n_unseen", "n_out", "n_rel", "n_rel_prime"):
                assert reports[topic][count] == values[count]
            assert reports[topic]["n_unjudged"] == values["n_cited_unrated"]
            citing = values["n_sentences"] - values["n_sentences_uncited"]
            assert reports[topic]["n_statements"] == citing


ALCE = FOLDER / "alce"


def test_utility_of_answers(db, cast):
    import_dataset(ALCE / "human_eval_utility.jsonl", "utility", form="alce")
    rows = rel_recall_json(cast, Dataset.objects.get())["utility"]
    by_system = {row["system"]: row for row in rows}
    family = expected("alce_utility")
    assert len(by_system) == len(family)
    for name, theirs in family.items():
        ours = by_system[name.partition(" | ")[2]]
        agrees(ours["utility"], theirs["utility"])
        assert ours["grades"] == theirs["grades"]
        agrees(ours["answered"], theirs["correctness"])
        expected_spearman = {"value": theirs["spearman_utility_correctness"], "n": theirs["n_both"]}
        agrees(ours["spearman"], expected_spearman)


@pytest.mark.skipif(
    not (ALCE / "qampari_demos.jsonl").exists(),
    reason=f"ALCE'S DEMONSTRATIONS ARE NOT CHECKED: no data at {ALCE}",
)
def test_demonstrations_of_qampari(db, cast):
    import_dataset(ALCE / "qampari_demos.jsonl", "demos", form="alce")
    dataset = Dataset.objects.get()
    call_command("exact_match", "demos")
    content = rel_recall_json(cast, dataset, rules="authors")
    (lists,) = content["lists"]
    (citations,) = content["citations"]
    of_items = "/datasets/demos/evidence-recall/items/{}.json"
    for theirs, listed, row in zip(
        expected("qampari_demos"), lists["reports"], citations["reports"], strict=True
    ):
        rosa = cast.client("researcher")
        items = rosa.get(of_items.format(row["text"])).json()
        rank_of = {name: index for index, name in enumerate(items["context"])}
        answers = listed["predictions"]
        assert answers == theirs["answers"]
        assert len(set(answers)) == theirs["answers_distinct"]
        cited = [
            [rank_of[name] for name in one["cited"]] for one in items["citations"]["statements"]
        ]
        assert cited == theirs["citations"]
        assert len(rank_of) == theirs["n_docs"]
        passages_by_answer = {
            normalised(item["question"]): item["seen_in"] for item in items["answers"]["items"]
        }
        holding = [[rank_of[name] for name in passages_by_answer[answer]] for answer in answers]
        assert holding == theirs["docs_that_hold_answer"]
        supported = [set(one) & set(docs) for one, docs in zip(cited, holding, strict=True)]
        assert sum(map(bool, supported)) == theirs["answers_in_cited_doc"]
        assert sum(map(bool, holding)) == theirs["relprime_answers"]
        of_paper = items["citations"]
        put_out = {rank_of[item["text"]] for item in of_paper["items"] if item["n_cited"]}
        assert sorted(put_out) == theirs["out_c"]
        for measure in MEASURES:
            agrees(of_paper[measure], theirs["rel_c"][measure])
        for count in ("n_unseen", "n_out", "n_rel", "n_rel_prime"):
            assert of_paper[count] == theirs["rel_c"][count]
