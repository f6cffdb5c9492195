"""The authors' BM25 run reproduced without their corpus, and their six runs scored."""

import json
import shutil

import pytest
from aiohttp import web

from building.retrieval.static import StaticEmbedder
from building.run_creation import make_run
from building.steps import RecipeContext
from crux_site.imports.importing import import_dataset
from evaluation.models import RankedText
from evaluation.scoring.options import ScoringQuery
from evaluation.scoring.score import score
from tests.building.static_models import write_wordllama
from tests.toolbox.real_study import FOLDER, SLUG

BUILDING = FOLDER.parent / "building"
pytestmark = pytest.mark.any_database

NEAR = 2e-4  # of a published score
EXACT = 1e-6


@pytest.fixture
def published():
    if not (BUILDING / "expected_values.json").is_file():
        pytest.skip(f"THE AUTHORS' RUNS ARE NOT CHECKED: no data at {BUILDING}")
    return BUILDING


def test_published_scores_and_order_are_reproduced(real_study, published):
    line = f"bm25(background={published / 'bm25_background.json'})"
    run = make_run(real_study, "ours", line, RecipeContext(real_study, opens_files=True)).run
    rows = RankedText.objects.filter(run=run).order_by("topic", "rank")
    ours: dict[str, dict[str, float]] = {}
    for topic, text, value in rows.values_list("topic__name", "text__name", "score"):
        ours.setdefault(topic, {})[text] = value
    passages = set(
        real_study.texts.with_body().filter(kind="passage").values_list("name", flat=True)
    )
    theirs: dict[str, list[tuple[str, float]]] = {}
    for published_line in (published / "runs" / "authors.bm25.run").open():
        topic, _, text, _, value, _ = published_line.split()
        if text in passages:
            theirs.setdefault(topic, []).append((text, float(value)))
    assert len(theirs) == 30
    assert sum(map(len, theirs.values())) > 500
    for topic, pairs in theirs.items():
        assert all(ours[topic][text] == pytest.approx(value, abs=NEAR) for text, value in pairs)
        texts = {text for text, _ in pairs}
        assert [text for text in ours[topic] if text in texts] == [text for text, _ in pairs]


@pytest.mark.soak
def test_six_published_runs_score_as_they_should(real_study, published, tmp_path):
    (tmp_path / "six").mkdir()
    shutil.copytree(published / "runs", tmp_path / "six" / "runs")
    import_dataset(tmp_path / "six", SLUG)
    expected = json.loads((published / "expected_values.json").read_text())
    query = {"source": expected["judge"], "eta": expected["eta"], "cutoff": 10, "rules": "authors"}
    options = ScoringQuery(real_study, {name: str(value) for name, value in query.items()}).options
    scores = score(real_study, options, list(expected["runs"]))
    assert len(scores.rows) == 6
    for row in scores.rows:
        values = expected["runs"][row.row.name]
        assert row.means["coverage"].value == pytest.approx(values["coverage_at_10"], abs=EXACT)
        assert row.means["alpha_ndcg"].value == pytest.approx(values["alpha_ndcg_at_10"], abs=EXACT)
        for topic, of_topic in values["per_topic"].items():
            topic_scores = row.topics[topic]
            assert topic_scores.coverage.value == pytest.approx(
                of_topic["coverage_at_10"], abs=EXACT
            )
            assert topic_scores.alpha_ndcg.value == pytest.approx(
                of_topic["alpha_ndcg_at_10"], abs=EXACT
            )


def test_hybrid_retrieval_finds_texts_of_both_rankings(real_study, tmp_path):
    model = write_wordllama(tmp_path / "wordllama")
    kitchen = RecipeContext(real_study, opens_files=True)
    near = f"static(model={model}) % 100"
    lines = {"words": "bm25 % 100", "near": near, "both": f"fuse(bm25 % 100, {near}) % 100"}
    for name, line in lines.items():
        run = make_run(real_study, name, line, kitchen).run
        assert run.origin["without_results"] == []
        assert RankedText.objects.filter(run=run).count() == 100 * run.origin["topics"]
    options = ScoringQuery(real_study, {"source": "llama33_70b", "cutoff": "10"}).options
    coverage = {
        row.row.name: row.means["coverage"].value
        for row in score(real_study, options, list(lines)).rows
    }
    # Which is the better one is not for us to say, only that each finds what answers.
    assert all(0.6 < value < 0.8 for value in coverage.values()), coverage


def test_model_behind_a_server_ranks_as_the_same_in_a_folder(real_study, tmp_path, server):
    model = write_wordllama(tmp_path / "wordllama")
    embedder = StaticEmbedder(model)

    async def embeddings(request, body):
        vectors = embedder.passages(body["input"]).vectors.tolist()
        items = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        return web.json_response({"model": body["model"], "data": items[::-1]})

    server.answers["/v1/embeddings"] = embeddings
    kitchen = RecipeContext(real_study, opens_files=True, asks_servers=True)
    lines = (f"static(model={model}) % 50", "embed(server=local, model=tiny) % 50")
    ours, theirs = (make_run(real_study, f"v{n}", lines[n], kitchen).run for n in (0, 1))
    rows = RankedText.objects.order_by("topic", "rank").values_list("topic", "text", "score")
    assert list(rows.filter(run=ours)) == list(rows.filter(run=theirs))
    assert theirs.origin["cut_passages"] == {}


def test_required_subsets_are_those_of_the_scores(real_study):
    run = make_run(real_study, "z", "required(judge=llama33_70b)", RecipeContext(real_study)).run
    options = ScoringQuery(real_study, {"source": "llama33_70b"}).options
    pools = score(real_study, options, ["z"]).pools
    rows = RankedText.objects.filter(run=run).order_by("topic", "rank")
    ranked: dict[int, list[int]] = {}
    for topic, text in rows.values_list("topic_id", "text_id"):
        ranked.setdefault(topic, []).append(text)
    assert ranked == {pk: list(pool.required_texts) for pk, pool in pools.items() if pool.required}
