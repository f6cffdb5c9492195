"""Vectors of passages: near ones found, kept in files, embedded once, and never mixed."""

import json
import subprocess
import sys
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from annotation.errors import UserError
from annotation.models import Text
from building.retrieval.recipe import RecipeError
from building.retrieval.static import StaticEmbedder, StaticModelError
from building.retrieval.vectors import BrokenVectorsError, Vectors, make, unit
from building.run_creation import make_run
from building.steps import RecipeContext
from building.vectors import vectors_of
from evaluation.models import RetrievalRun
from manage import EXTRAS
from tests.building.material import BODIES, create_run, make_ferries, names, ranked
from tests.building.static_models import TINY, write_tiny, write_wordllama
from tests.toolbox.clock import HANGS

IN_16_BITS = 5e-4  # what half precision does to a cosine


@pytest.fixture
def study(db):
    return make_ferries()


@pytest.fixture
def model(tmp_path):
    return write_tiny(tmp_path / "tiny")


class CountingEmbedder(StaticEmbedder):
    """A real one that says what it was asked."""

    def __init__(self, folder):
        super().__init__(folder)
        self.asked = []

    def passages(self, texts):
        self.asked += texts
        return super().passages(texts)


def test_passages_are_ranked_by_their_cosine(study, model):
    run = create_run(study, f"static(model={model})").run
    # ferry (1, 0); boat (4, 3): 4/5; harbour 0; storm -1. One has no word of the model, and is not found.
    assert ranked(run) == [
        ("ferry-1:11#11", 1.0),
        ("ferry-1:2#2", 1.0),  # equal: by name
        ("ferry-1:10#10", pytest.approx(0.8, abs=IN_16_BITS)),
        ("ferry-1:0#0", 0.0),
        ("ferry-2:0#0", -1.0),
    ]
    assert run.origin["without_results"] == ["ferry-2"]  # no word of its request is known
    [step] = run.origin["steps"]
    assert (step["model"], step["dimension"], len(step["fingerprint"])) == ("tiny", 2, 16)
    assert not create_run(study, f"static(model={model})", "again").is_new


def test_ranking_is_made_of_texts_that_are_unlike(study, model):
    before = f"static(model={model}) % 4"
    run = create_run(study, f"{before} > mmr(vectors={model}, lambda=0.6)").run
    # Relevance 1, 1, 0.8, 0. First 11#11; then 2#2 0.6 - 0.4, 10#10 0.48 - 0.32, 0#0 0 - 0.
    assert names(run) == [
        "ferry-1:11#11",
        "ferry-1:2#2",
        "ferry-1:10#10",
        "ferry-1:0#0",
    ]
    novel = create_run(study, f"{before} > mmr(vectors={model}, lambda=0.4)", "novel").run
    # After 11#11: 2#2 0.4 - 0.6, 10#10 0.32 - 0.48, 0#0 0; then 10#10 still -0.16 and 2#2 -0.2.
    assert names(novel) == [
        "ferry-1:11#11",
        "ferry-1:0#0",
        "ferry-1:10#10",
        "ferry-1:2#2",
    ]
    # A text of the ranking that has no words is like no other.
    uncut = create_run(study, f"required(judge=judge) > mmr(vectors={model})", "all").run
    assert len(ranked(uncut)) == 3


def test_passages_are_embedded_once(study, model, tmp_path):
    first = CountingEmbedder(model)
    vectors = vectors_of(study.dataset, first)
    assert sorted(first.asked) == sorted(BODIES.values())
    [folder] = (tmp_path / "vectors").iterdir()
    assert np.load(folder / "vectors.npy").dtype == np.float16
    second = CountingEmbedder(model)
    vectors_of(study.dataset, second)
    assert second.asked == []
    # A new text, and one with the words of another: only what is new is asked.
    for name, body in (("new", "A new boat"), ("twin", "boat")):
        Text.objects.create(
            dataset=study.dataset, topic=study.topic, kind="passage", name=name, body=body
        )
    more = CountingEmbedder(model)
    current = vectors_of(study.dataset, more)
    assert more.asked == ["A new boat"]
    assert current.meta.n_texts == vectors.meta.n_texts + 2
    keys = dict(study.dataset.texts.values_list("name", "pk"))
    same = current.of([keys["twin"], keys["new"], keys["ferry-1:10#10"]])
    assert np.allclose(same, [[0.8, 0.6]] * 3, atol=1e-3)
    [only] = (tmp_path / "vectors").iterdir()
    assert only != folder


def test_vectors_of_an_interrupted_build_are_reused(study, model, tmp_path, monkeypatch):
    monkeypatch.setattr("building.vectors.AT_ONCE", 2)

    class Breaks(CountingEmbedder):
        def passages(self, texts):
            if len(self.asked) == 4:
                raise KeyboardInterrupt
            return super().passages(texts)

    broken = Breaks(model)
    with pytest.raises(KeyboardInterrupt):
        vectors_of(study.dataset, broken)
    [part] = (tmp_path / "vectors").iterdir()
    assert part.name.startswith(".")
    resumed = CountingEmbedder(model)
    vectors = vectors_of(study.dataset, resumed)
    assert sorted(broken.asked + resumed.asked) == sorted(BODIES.values())
    assert len(resumed.asked) == 2
    [folder] = (tmp_path / "vectors").iterdir()
    assert not folder.name.startswith(".")
    assert vectors.n_cut == 0


def test_models_have_separate_files(study, model, tmp_path):
    line = "bm25 > mmr(vectors={})"
    create_run(study, line.format(model))
    second = write_tiny(tmp_path / "other", {**TINY, "storm": (0, -1)})
    assert create_run(study, line.format(second), "other").is_new
    folders = sorted((tmp_path / "vectors").iterdir())
    assert len(folders) == 2
    # The same files under the name of the other, and another dimension under the same name.
    ours, theirs = StaticEmbedder(model), StaticEmbedder(second)
    [of_ours] = (path for path in folders if ours.fingerprint in path.name)
    with pytest.raises(BrokenVectorsError, match="are of another model than other"):
        Vectors(of_ours, theirs)
    meta = json.loads((of_ours / "meta.json").read_text())
    (of_ours / "meta.json").write_text(json.dumps({**meta, "dimension": 3}))
    n = RetrievalRun.objects.count()
    with pytest.raises(UserError, match=r"have 3 numbers each, and those of tiny have 2 now"):
        create_run(study, f"static(model={model})", "mixed")
    (of_ours / "meta.json").write_text("{")
    with pytest.raises(UserError, match=r"holds no vectors.* Delete it"):
        create_run(study, f"static(model={model})", "mixed")
    assert RetrievalRun.objects.count() == n


def test_many_texts_are_looked_at_in_parts(model, tmp_path, monkeypatch):
    monkeypatch.setattr("building.retrieval.vectors.AT_ONCE", 3)
    embedder = StaticEmbedder(model)
    bodies = ["ferry", "", "boat", "harbour", "boat", "storm", "ferry", "boat"]
    texts = [(100 + row, bytes([row + 1]) * 32) for row in range(len(bodies))]
    (tmp_path / "vectors").mkdir()
    folder = tmp_path / "vectors" / "1-tiny-corpus"
    make(folder, embedder, texts, lambda keys: iter([embedder.passages(bodies)]))
    vectors = Vectors(folder, embedder)
    ranked = vectors.nearest(embedder.query("ferry boat"), 4)  # (5, 3) / 2
    # boat 29 / (5 root 34), ferry 5 / root 34: both rounded; of three boats in their order.
    assert ranked.rows.tolist() == [2, 4, 7, 0]
    assert ranked.scores.tolist() == pytest.approx([0.9946, 0.9946, 0.9946, 0.8575], abs=IN_16_BITS)
    complete = vectors.nearest(embedder.query("storm"), 100)
    assert complete.rows.tolist() == [5, 3, 2, 4, 7, 0, 6]  # all but the empty one
    assert vectors.nearest(embedder.query("unknown"), 5).rows.tolist() == []
    empty = tmp_path / "vectors" / "2-tiny-corpus"
    make(empty, embedder, [], lambda keys: iter([]))
    assert Vectors(empty, embedder).nearest(embedder.query("ferry"), 5).rows.tolist() == []


def test_lengths_and_half_letters_do_not_matter(model):
    embedder = StaticEmbedder(model)
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [pytest.approx([0.6, 0.8]), [0, 0]]
    assert embedder.query("ferry \ud800").tolist() == [1, 0]
    long = embedder.query("boat " * 5_000 + "harbour " * 5_000)  # none of it is cut off
    assert long.tolist() == pytest.approx([2, 2])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("static", "static: add the folder of the model, model=FOLDER."),
        ("bm25 > mmr", "mmr: add the folder of the model, vectors=FOLDER."),
        ("static(model=minishlab/potion)", "tokenizer.json cannot be read (No such file"),
        ("mmr(vectors=x)", "mmr needs a ranking before it"),
        ("bm25 > mmr(vectors=x, lambda=-1)", "mmr: lambda is a number from 0 to 1"),
    ],
)
def test_impossible_recipe_is_reported(study, line, message):
    with pytest.raises(UserError) as error:
        create_run(study, line)
    assert message in str(error.value)
    with pytest.raises(RecipeError, match=r"only with manage\.py"):
        make_run(study.dataset, "page", "static(model=/etc)", RecipeContext(study.dataset))


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors", "config.json"])
def test_folder_with_a_broken_file_is_no_model(model, name):
    (model / name).write_text("{")
    with pytest.raises(StaticModelError, match="tiny holds no static model"):
        StaticEmbedder(model)
    (model / name).unlink()
    with pytest.raises(StaticModelError, match=f"{name} cannot be read"):
        StaticEmbedder(model)


def test_model_of_a_wheel_by_the_command(study, tmp_path):
    model = write_wordllama(tmp_path / "wordllama")
    line = f"fuse(bm25 % 100, static(model={model}) % 100) > mmr(vectors={model}, lambda=0.9) % 5"
    out = StringIO()
    call_command("retrieve", "ferry", name="mine", recipe=line, json=True, stdout=out)
    payload = json.loads(out.getvalue())
    [fused, mmr] = payload["origin"]["steps"]
    assert fused["of"][1][0]["dimension"] == mmr["dimension"] == 256
    # A ship is nearer to a ferry than nothing is.
    ranking = names(RetrievalRun.objects.get(name="mine"))
    assert ranking.index("ferry-1:10#10") < ranking.index("far-9:0#0")


def test_site_without_the_extra_is_told_which(study, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(ModuleNotFoundError) as error:
        create_run(study, f"static(model={model})")
    assert EXTRAS[error.value.name] == "static"


@pytest.mark.soak
def test_steps_load_no_model_until_one_is_named():
    code = (
        "import django, os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'crux_site.settings'; django.setup(); "
        "import building.steps; print(sorted({'model2vec', 'tokenizers', 'safetensors'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANGS
    )
    assert run.stdout.strip() == "[]", run.stderr
