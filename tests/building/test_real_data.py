"""The authors' own BM25 run, made again without their corpus; and their six runs, scored as they were."""

import json
import shutil

import pytest

from building.making import make_run
from building.steps import Kitchen
from crux_site.imports.importing import import_dataset
from evaluation.models import RankedText
from evaluation.scoring.options import ScoringForm
from evaluation.scoring.score import score
from tests.real_study import FOLDER, SLUG

BUILDING = FOLDER.parent / "building"
NEAR = 2e-4  # of a published score
EXACT = 1e-6


@pytest.fixture
def published():
    if not (BUILDING / "expected_values.json").is_file():
        pytest.skip(f"THE AUTHORS' RUNS ARE NOT CHECKED: no data at {BUILDING}")
    return BUILDING


def test_every_published_score_of_a_known_passage_and_their_order(real_study, published):
    line = f"bm25(background={published / 'bm25_background.json'})"
    run = make_run(real_study, "ours", line, Kitchen(real_study, opens_files=True)).run
    rows = RankedText.objects.filter(run=run).order_by("topic", "rank")
    ours: dict[str, dict[str, float]] = {}
    for topic, text, value in rows.values_list("topic__name", "text__name", "score"):
        ours.setdefault(topic, {})[text] = value
    known = set(real_study.texts.with_body().filter(kind="passage").values_list("name", flat=True))
    theirs: dict[str, list[tuple[str, float]]] = {}
    for published_line in (published / "runs" / "authors.bm25.run").open():
        topic, _, text, _, value, _ = published_line.split()
        if text in known:
            theirs.setdefault(topic, []).append((text, float(value)))
    assert len(theirs) == 30
    assert sum(map(len, theirs.values())) > 500
    for topic, pairs in theirs.items():
        assert all(ours[topic][text] == pytest.approx(value, abs=NEAR) for text, value in pairs)
        there = {text for text, _ in pairs}
        assert [text for text in ours[topic] if text in there] == [text for text, _ in pairs]


@pytest.mark.soak
def test_the_six_published_runs_score_as_they_should(real_study, published, tmp_path):
    (tmp_path / "six").mkdir()
    shutil.copytree(published / "runs", tmp_path / "six" / "runs")
    import_dataset(tmp_path / "six", SLUG)
    expected = json.loads((published / "expected_values.json").read_text())
    asked = {"source": expected["judge"], "eta": expected["eta"], "cutoff": 10, "rules": "authors"}
    options = ScoringForm(real_study, {name: str(value) for name, value in asked.items()}).options()
    scores = score(real_study, options, list(expected["runs"]))
    assert len(scores.rows) == 6
    for row in scores.rows:
        values = expected["runs"][row.row.name]
        assert row.means["coverage"].value == pytest.approx(values["coverage_at_10"], abs=EXACT)
        assert row.means["alpha_ndcg"].value == pytest.approx(values["alpha_ndcg_at_10"], abs=EXACT)
        for topic, of_topic in values["per_topic"].items():
            there = row.topics[topic]
            assert there.coverage.value == pytest.approx(of_topic["coverage_at_10"], abs=EXACT)
            assert there.alpha_ndcg.value == pytest.approx(of_topic["alpha_ndcg_at_10"], abs=EXACT)


def test_the_required_subsets_are_those_of_the_scores(real_study):
    run = make_run(real_study, "z", "required(judge=llama33_70b)", Kitchen(real_study)).run
    options = ScoringForm(real_study, {"source": "llama33_70b"}).options()
    pools = score(real_study, options, ["z"]).pools
    rows = RankedText.objects.filter(run=run).order_by("topic", "rank")
    ranked: dict[int, list[int]] = {}
    for topic, text in rows.values_list("topic_id", "text_id"):
        ranked.setdefault(topic, []).append(text)
    assert ranked == {pk: list(pool.required_texts) for pk, pool in pools.items() if pool.required}
