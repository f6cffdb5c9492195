"""Origins of accepted outputs, and of runs by their recipes."""

from importlib import import_module

import pytest
from django.apps import apps

from annotation.models import Rater, Rating, Rubric, SubQuestion, Text
from annotation.origins import origin
from annotation.text.versions import edit_wording
from building.engine.review import accept
from building.run_creation import make_run
from building.steps import RecipeContext
from evaluation.models import RankedText, RetrievalRun
from tests.toolbox.document_texts import sample_text
from tests.toolbox.generation_runs import (
    a_writer,
    add_run,
    in_tags,
    make_collection,
    passages,
    questions,
    run_with_replies,
    started,
    store_replies,
)
from tests.toolbox.judging_runs import a_judge

pytestmark = pytest.mark.django_db
REPORT = f"{sample_text(30)[:-1]} [1]."
FIELDS = {"model": "meta-llama/Llama-3.3-70B", "revision": "abc"}
WROTE = origin("wrote", *FIELDS.values())


def outputs(task, *replies, dataset=None, fields=FIELDS, **spec):
    dataset = dataset or make_collection("a", request="About the ferry.")
    writer = a_writer(task, f"w-{task}", **fields)
    return store_replies(started(writer, dataset, spec=spec), *replies)


def test_passage_has_the_model_of_its_writer(cast):
    first, second = outputs("passages", passages(2))
    accept(first, cast.admin)
    accept(second, cast.admin, f"Edited. {second.body}")
    stored = [text.origins for text in Text.objects.order_by("pk")]
    assert stored == [[WROTE], [WROTE | {"edited": True}]]


def test_question_and_nugget_have_the_model_that_asked(cast):
    first, second = outputs("questions", questions(1, 2), n=2)
    accept(first, cast.admin)
    accept(second, cast.admin, "Who paid?")
    question_origin = origin("asked", *FIELDS.values())
    assert list(SubQuestion.objects.values_list("origins", flat=True)) == [
        [question_origin],
        [question_origin | {"edited": True}],
    ]


def test_nugget_of_other_importance_has_no_other_words(cast):
    nuggets = in_tags("n", "[vital] The ferry lost steering.", "[okay] Divers came.")
    first, second = outputs("nuggets", nuggets, n=2)
    accept(first, cast.admin, "[okay] The ferry lost steering.")
    accept(second, cast.admin, "[okay] Nobody came.")
    edited = [origins[0].get("edited") for origins in _origins_of(SubQuestion)]
    assert edited == [None, True]


def _origins_of(model):
    return model.objects.order_by("pk").values_list("origins", flat=True)


def test_report_has_the_models_of_its_context_as_it_was_planned(cast):
    """Another run takes the name of the first before the report is accepted."""
    dataset = make_collection("a", request="About the ferry.")
    run = add_run(dataset)
    RetrievalRun.objects.filter(pk=run.pk).update(origins=[origin("reranked", "gpt-4o")])
    [report] = outputs("report", REPORT, dataset=dataset, run="bm25")
    RankedText.objects.filter(run=run).delete()
    run.delete()
    RetrievalRun.objects.create(dataset=dataset, name="bm25", origins=[origin("reranked", "x")])
    accept(report, cast.admin)
    text = Text.objects.get(kind="report")
    assert text.origins == [WROTE, origin("reranked", "gpt-4o")]


def test_report_of_a_run_of_unknown_origin_has_its_writer(cast):
    dataset = make_collection("a", request="About the ferry.")
    add_run(dataset)
    [report] = outputs("report", REPORT, dataset=dataset, run="bm25")
    accept(report, cast.admin)
    assert Text.objects.get(kind="report").origins == [WROTE]


def test_baseline_is_named_by_its_own_name(cast):
    dataset = make_collection("a", request="About the ferry.")
    [report] = outputs("direct", sample_text(30), dataset=dataset, fields={"model": "stand-in"})
    accept(report, cast.admin)
    assert Text.objects.get(kind="report").origins == [origin("wrote", "w-direct")]


def graded_by(dataset, rater):
    text = dataset.texts.filter(kind="passage").first()
    question = SubQuestion.objects.create(topic=text.topic, position=0, body="Who?")
    rubric = Rubric.objects.get(slug="graded")
    Rating.objects.create(rater=rater, rubric=rubric, text=text, question=question, grade=5)


def create_run(dataset, name, line):
    return make_run(dataset, name, line, RecipeContext(dataset)).run


@pytest.fixture
def collection():
    dataset = make_collection("a", request="About the ferry.")
    add_run(dataset, "published")
    return dataset


def test_run_has_the_method_of_its_lexical_step(collection):
    assert create_run(collection, "mine", "bm25 % 3").origins == [origin("retrieved", "bm25")]


def test_run_that_reads_a_run_has_its_origins_each_once(collection):
    stated_origins = [origin("retrieved", "bm25"), origin("reranked", "gpt-4o")]
    RetrievalRun.objects.filter(name="published").update(origins=stated_origins)
    run = create_run(collection, "mine", "fuse(bm25 % 3, run(name=published)) % 2 > xquad")
    assert run.origins == [*stated_origins, origin("reranked", "xquad")]


def test_grades_rerank_in_the_name_of_the_judges_model(collection):
    judge = a_judge("tiny-judge", model="Qwen/Qwen3-8B", revision="r1")
    graded_by(collection, judge.rater)
    reranked = origin("reranked", "Qwen/Qwen3-8B", "r1")
    run = create_run(collection, "mine", "bm25 > by_ratings(judge=tiny-judge)")
    assert run.origins == [origin("retrieved", "bm25"), reranked]
    assert create_run(collection, "best", "required(judge=tiny-judge)").origins == [reranked]


@pytest.mark.parametrize(
    ("kind", "origins"), [("model", [origin("reranked", "llama33_70b")]), ("human", [])]
)
def test_rater_of_a_file_is_a_model_by_its_name(collection, kind, origins):
    rater = Rater.objects.create(dataset=collection, name="llama33_70b", kind=kind)
    graded_by(collection, rater)
    assert create_run(collection, "best", "required(judge=llama33_70b)").origins == origins


def test_migration_fills_origins_of_accepted_outputs_and_of_runs(cast, collection):
    judge = a_judge("tiny-judge", model="Qwen/Qwen3-8B")
    graded_by(collection, judge.rater)
    create_run(collection, "mine", "bm25 > by_ratings(judge=tiny-judge)")
    create_run(collection, "read", "run(name=mine)")
    first, second = outputs("passages", passages(2), dataset=collection)
    accept(first, cast.admin)
    accept(second, cast.admin, f"Edited. {second.body}")
    [nugget] = run_with_replies(
        "nuggets", in_tags("n", "[vital] Divers came."), dataset=collection, spec={"n": 2}
    )
    accept(nugget, cast.admin)
    text = Text.objects.get(written_as=first)
    edit_wording(text, "Other words.", by=cast.admin, reason="", counts=True)
    _forget_origins(text)

    migration = import_module("building.migrations.0004_origins_of_outputs")
    migration.fill_origins(apps, None)
    text.refresh_from_db()
    assert text.origins == []  # nobody knows who made the words after the edit
    assert text.versions.get().had["origins"] == [WROTE]
    assert Text.objects.get(written_as=second).origins == [WROTE | {"edited": True}]
    assert SubQuestion.objects.get(body="Divers came.").origins[0]["role"] == "asked"
    expected = [origin("retrieved", "bm25"), origin("reranked", "Qwen/Qwen3-8B", judge.revision)]
    assert RetrievalRun.objects.get(name="mine").origins == expected
    assert RetrievalRun.objects.get(name="read").origins == expected
    assert RetrievalRun.objects.get(name="published").origins == []


def test_run_of_a_run_of_unknown_origin_names_that(collection):
    fused = create_run(collection, "fused", "fuse(bm25 % 3, run(name=published)) % 2")
    assert fused.origins == [origin("retrieved", "bm25"), origin("retrieved", "published")]


def _forget_origins(text):
    """Set the state of before the migration."""
    for model in (Text, SubQuestion, RetrievalRun):
        model.objects.update(origins=[])
    version = text.versions.get()
    del version.had["origins"]
    version.save(update_fields=["had"])
