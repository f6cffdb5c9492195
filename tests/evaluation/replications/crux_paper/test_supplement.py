"""Tables of the supplement: those of the result pages, and the reasons of missing ones.

The study is that of the paper's tables; see material.py.
"""

import csv
from copy import deepcopy

import pytest

from annotation.models import Rating, Rubric
from evaluation.replications.crux_paper.parts import make_parts
from evaluation.replications.crux_paper.supplement import (
    example,
    supplement_file,
    supplement_files,
    supplement_of,
)
from judging.engine.judges import make_judge
from tests.evaluation.replications.crux_paper.material import make_mill
from tests.evaluation.scoring.choosing import choose

pytestmark = pytest.mark.any_database

DATASET = "/datasets/mill/"
SELECTION = "?rubric=answerable&judge=judge&eta=3"


@pytest.fixture(scope="module")
def world(shared_world):
    return shared_world(make_mill)


@pytest.fixture
def mill(db, world):
    return deepcopy(world)


def supplement_texts(dataset, systems=(), **options):
    supplement = supplement_of(dataset, choose(dataset, source="judge", **options), systems)
    return supplement_files(
        supplement, make_parts(dataset, choose(dataset, source="judge")), "0" * 64
    )


def csv_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_tables_are_those_of_the_pages(mill, cast):
    files = supplement_texts(mill).files
    pages = {
        "agreement_answerable": f"agreement/measures.csv{SELECTION}",
        "agreement_systems_answerable": f"agreement/systems.csv{SELECTION}",
        "agreement_topics_answerable": f"agreement/topics.csv{SELECTION}",
        "agreement_pairs_answerable": f"agreement/pairs.csv{SELECTION}",
        "judge_answerable": f"agreement/judge.csv{SELECTION}",
        "judge_eta_answerable": f"agreement/sweep.csv{SELECTION}",
    }
    rosa = cast.client("researcher")
    for name, url in pages.items():
        assert files[f"{name}.csv"] == rosa.get(DATASET + url).content.decode(), name
        assert rf"\label{{tab:{name.replace('_', '-')}}}" in files[f"{name}.tex"]


def test_tests_leave_out_oracles_and_systems_that_are_not_chosen(mill):
    rows = csv_rows(supplement_texts(mill).files["tests_runs_coverage.csv"])
    assert len(rows) == 6
    assert not any("oracle" in row["first"] + row["second"] for row in rows)
    chosen = supplement_texts(mill, ("human_eval.good", "human_eval.mid")).files
    assert [row["second"] for row in csv_rows(chosen["tests_runs_coverage.csv"])] == [
        "human_eval.mid"
    ]
    assert "Holm" not in chosen["methods.tex"]
    left_out = supplement_texts(mill, ("human_eval.good",)).left_out
    assert left_out["tests_runs_coverage"] == "fewer than two retrieval runs can be compared"


def test_missing_tables_have_reasons(mill):
    left_out = supplement_texts(mill).left_out
    assert (
        left_out["mixed_model_answerable"] == "people have rated texts on fewer than three topics"
    )
    assert left_out["calibration_answerable"] == "judge has no stored probabilities"
    Rating.objects.filter(rater__name="ben").delete()
    left_out = supplement_texts(mill).left_out
    assert left_out["agreement_answerable"] == (
        "only one person has rated under T1, answerable or not"
    )
    Rating.objects.filter(rater__name="judge", text__kind="report").delete()
    assert "no judge has graded the texts" in supplement_texts(mill).left_out["judge_answerable"]
    Rating.objects.filter(rater__name="ann").delete()
    files, left_out = supplement_texts(mill)
    assert left_out["judge"] == left_out["agreement"] == "no person has rated a text"
    assert "No person rated a pair that ``judge'' graded" in files["methods.tex"]


def test_mixed_model_of_three_topics(db):
    mill = make_mill("third")
    topic = mill.topics.create(name="mill-3", request="Why?", position=2)
    questions = [topic.questions.create(position=n, body=f"Question {n}?") for n in range(3)]
    rubric = Rubric.objects.get(slug="answerable")
    for system, grades in {"human_eval.good": (1, 1, 0), "human_eval.mid": (0, 1, 0)}.items():
        text = mill.texts.create(topic=topic, kind="report", name=system, system=system, body="w")
        for rater in mill.raters.filter(kind="human"):
            for question, grade in zip(questions, grades, strict=True):
                Rating.objects.create(
                    rater=rater, rubric=rubric, text=text, question=question, grade=grade
                )
    files, left_out = supplement_texts(mill)
    assert not {"mixed_model_answerable", "variances_answerable"} & left_out.keys()
    assert "A linear mixed model of the coverage" in files["methods.tex"]
    assert {row["base"] for row in csv_rows(files["mixed_model_answerable.csv"])} == {
        "human_eval.good"
    }
    assert "component" in files["variances_answerable.tex"]


def test_undefined_values_keep_letters_and_footnotes(mill):
    Rating.objects.filter(rater__kind="human").update(grade=1)
    files = supplement_texts(mill).files
    assert r"--\textsuperscript{a}" in files["agreement_answerable.tex"]
    assert r"\textsuperscript{a}~undefined, because all" in files["agreement_answerable.tex"]
    assert "is undefined, because all ratings are in one category" in " ".join(
        files["methods.tex"].split()
    )


def test_judge_with_a_prompt_is_described(mill):
    fields = {"backend": "openai", "model": "vendor/model_1", "parser": "integer-1"}
    judge = make_judge("second", rubric=Rubric.objects.get(slug="graded"), **fields)
    passage = mill.texts.filter(kind="passage").first()
    judge.rater.ratings.create(
        rubric=judge.rubric, text=passage, question=passage.topic.questions.first(), grade=4
    )
    text = supplement_texts(mill).files["methods.tex"]
    assert r"The judge ``second'' (model ``vendor/model\_1''" in text
    assert f"\\texttt{{{judge.short}}}, temperature 0) graded 1 pair under" in text
    assert "No person rated a pair that ``second'' graded" in text


def test_example_inputs_every_table(mill):
    files = supplement_texts(mill).files
    inputs = [name for name in files if name.endswith(".tex") and name != "example.tex"]
    assert {"methods.tex", "agreement_answerable.tex"} <= set(inputs)
    assert all(rf"\input{{{name.removesuffix('.tex')}}}" in files["example.tex"] for name in inputs)
    assert r"\input{table1}" in files["example.tex"]
    assert example(["figure4.svg"]).count(r"\input") == 1


def test_single_file_equals_that_of_all(mill):
    supplement = supplement_of(mill, choose(mill, source="judge"), ())
    result = make_parts(mill, choose(mill, source="judge"))
    assert supplement_file(supplement, result, "nothing.tex") is None
    assert supplement_file(supplement, result, "agreement_answerable.pdf") is None
    whole = supplement_texts(mill).files["agreement_pairs_answerable.tex"]
    assert supplement_file(supplement, result, "agreement_pairs_answerable.tex") == whole
