"""manage.py make_questions: typed questions on passages, reviewed and exported."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dataset, Rating, Text, Topic
from building.engine.generation_spec import GenerationSpec, SpecError
from building.engine.review import ReviewError, accept, reject
from building.engine.sources import planned_orders
from building.models import Order, Product, Writer, Writing
from building.tuning import lines as training
from building.writing.tasks import TASKS
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from tests.toolbox.generation_runs import make_collection
from tests.toolbox.import_study import empty_database
from tests.toolbox.scripted_server import reply_with
from tests.toolbox.training_lines import no_real_adapter

pytestmark = pytest.mark.django_db
SENTENCES = "Ottilie Marsh mended the tide wheel. The wheel turned in May. Saltrigg paid for it."


@pytest.fixture
def mill() -> Dataset:
    """Two topics, one with a passage, and a passage of no topic."""
    dataset = make_collection("mill", "weir")
    topic = dataset.topics.get(name="mill")
    for name, of, body in (("mill:0#0", topic, SENTENCES), ("other", None, "Nothing.")):
        Text.objects.create(dataset=dataset, topic=of, kind="passage", name=name, body=body)
    return dataset


def make(*options: str) -> str:
    out = StringIO()
    call_command("make_questions", "built", *options, stdout=out, stderr=out)
    return out.getvalue()


def pairs_of(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_question_of_each_type_is_proposed_and_goes_out_when_it_is_accepted(mill, tmp_path, cast):
    out = tmp_path / "pairs.jsonl"
    output = make("--types", "fact_single,reasoning", "--out", str(out))
    assert "pairs: passages of no topic, which are left out: 1" in output
    assert "pairs: Generation run" in output
    assert "finished: 2 tasks; 2 outputs to review" in output
    assert (pairs_of(out), Topic.objects.count()) == ([], 2)  # nobody has decided yet
    fact, reasoning = Product.objects.order_by("pk")
    assert fact.body == (
        "What is said about Marsh and wheel?\nOttilie Marsh mended the tide wheel."
    )
    accept(fact, cast.admin, "Who mended the wheel?\nOttilie  Marsh")
    reject(reasoning, cast.admin)
    assert "pairs: No tasks; 2 done before by this writer; 1 left out: its passage" in make(
        *("--types", "fact_single,reasoning", "--out", str(out))
    )
    [pair] = pairs_of(out)
    assert pair | {"qac_id": "", "created": ""} == {
        "context": SENTENCES,
        "question": "Who mended the wheel?",
        "answer": "Ottilie Marsh",
        "created": "",
        "paths": [""],
        "doc_id": "mill:0",
        "chunk_id": "mill:0#0",
        "qac_id": "",
        "labels": {"information": "fact_single"},
        "critiques": {},
    }
    import_dataset(out, "pairs", form="qac")
    topic = Topic.objects.get(dataset__slug="pairs")
    assert (topic.name, topic.request) == (pair["qac_id"], "Who mended the wheel?")
    ratings = Rating.objects.order_by("rubric__slug").values_list("rater__name", "grade")
    assert list(ratings) == [("gold", 1), ("requested", 1)]
    second_file = tmp_path / "again.jsonl"
    call_command("export_dataset", "pairs", "--format", "qac", "--out", str(second_file))
    assert second_file.read_bytes() == out.read_bytes()


def test_from_statements(mill, tmp_path):
    output = make("--how", "statements", "--accept-all", "--out", str(tmp_path / "pairs.jsonl"))
    # The baseline notes three facts, the first sentence as a summary, the last as a conclusion.
    statements = Product.objects.filter(draft__order__writer__task="statements")
    assert list(statements.order_by("position").values_list("body", flat=True)) == [
        "fact_single: Ottilie Marsh mended the tide wheel.",
        "fact_single: The wheel turned in May.",
        "fact_single: Saltrigg paid for it.",
        "summary: Ottilie Marsh mended the tide wheel.",
        "reasoning: Saltrigg paid for it.",
    ]
    assert "Accepted without review: 3." in output
    of_types = {order.inputs["kind"]: order.inputs["statement"] for order in pair_orders()}
    assert of_types["summary"] == "Ottilie Marsh mended the tide wheel."
    assert of_types["reasoning"] == "Saltrigg paid for it."
    assert f"fact_single: {of_types['fact_single']}" in {statement.body for statement in statements}
    written = pairs_of(tmp_path / "pairs.jsonl")
    assert [pair["labels"]["information"] for pair in written] == list(of_types)
    assert [pair["answer"] for pair in written] == list(of_types.values())


def pair_orders() -> list[Order]:
    return list(Order.objects.filter(writer__task="pairs").order_by("number"))


def test_rejected_statement_gives_no_question(mill, cast):
    call_command("write", "built", "--task", "statements", stdout=StringIO())
    for product in Product.objects.filter(body__startswith="reasoning"):
        reject(product, cast.admin)
    spec = GenerationSpec(statements="extractive-statements")
    plans = list(planned_orders(TASKS["pairs"], mill, spec))
    assert [(plan.inputs["kind"], plan.why_not) for plan in plans] == [
        ("fact_single", ""),
        ("summary", ""),
        ("reasoning", "no statement of its passage is for a reasoning question"),
    ]


def test_model_is_asked_for_statements_and_then_for_questions(mill, server):
    server.script(
        "Passage:", reply_with("<f>It turned in May.</f>"), reply_with("<q>When?</q><a>In May</a>")
    )
    output = make(
        *("--how", "statements", "--types", "fact_single", "--writer", "own", "--model", "tiny"),
        *("--endpoint", server.url, "--concurrency", "1"),
    )
    assert output.count("finished: 1 task;") == 2
    assert set(Writer.objects.values_list("slug", "task")) == {
        ("own", "pairs"),
        ("own-statements", "statements"),
    }
    assert Product.objects.get(draft__order__writer__slug="own").body == "When?\nIn May"
    with pytest.raises(CommandError, match="--endpoint says which"):
        make("--writer", "another", "--model", "other")


def test_tuned_model_is_asked_with_the_string_that_it_was_tuned_on(mill, tmp_path):
    folder = no_real_adapter(tmp_path / "adapter")
    arguments = ("--writer", "small", "--model", "m", "--adapter", str(folder))
    with pytest.raises(CommandError, match="An adapter is loaded by transformers in process"):
        make(*arguments)
    with pytest.raises(CommandError):  # it is no real one
        make(*arguments, "--backend", "transformers", "--revision", "abc")
    writer = Writer.objects.get()
    assert (writer.system, writer.prompt) == ("", "<<{type}>> {document}{statement}")
    assert (writer.backend, writer.revision, writer.adapter) == ("transformers", "abc", str(folder))


def test_accepted_pairs_train_a_small_model(mill, tmp_path):
    out, lines = tmp_path / "pairs.jsonl", tmp_path / "lines.jsonl"
    make("--types", "summary", "--accept-all", "--out", str(out))
    import_dataset(out, "pairs", form="qac")
    call_command("export_dataset", "pairs", "--format", "t5", "--out", str(lines))
    [line] = training.read(lines).all
    assert (line.context, line.output.partition(" ")[0]) == (SENTENCES, "<<summary>>")


def test_pair_without_an_answer_is_not_accepted(mill, cast):
    make("--types", "summary")
    with pytest.raises(ReviewError, match="one is missing"):
        accept(Product.objects.get(), cast.admin, "Who mended the wheel?")
    assert Product.objects.get().is_open


def test_pairs_and_statements_come_back_with_the_collection(mill, tmp_path, cast):
    make("--how", "statements", "--types", "summary", "--accept-all", "--out", str(tmp_path / "a"))
    for product in Product.objects.filter(draft__order__writer__task="statements"):
        accept(product, cast.admin)
    export_folder(mill, tmp_path / "first")
    empty_database()
    import_dataset(tmp_path / "first", "built")
    export_folder(Dataset.objects.get(slug="built"), tmp_path / "second")
    files = [(tmp_path / name / "written.jsonl").read_bytes() for name in ("first", "second")]
    assert files[0] == files[1]
    make("--how", "statements", "--types", "summary", "--out", str(tmp_path / "b"))
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--types", "opinion"], "no type of question “opinion”. There are: fact_single, summary"),
        (["--types", ","], "Enter types of questions"),
        (["--topics", "nope"], "no topic “nope”"),
        (["--writer", "nobody"], "no writer of pairs “nobody”"),
        (
            ["--how", "statements", "--writer", "nobody"],
            "no writer of statements “nobody-statements”",
        ),
    ],
)
def test_invalid_options_are_reported(mill, options, message):
    with pytest.raises(CommandError, match=message):
        make(*options)
    assert not Writing.objects.exists()


def test_statements_of_nobody(mill):
    with pytest.raises(SpecError):
        GenerationSpec(types=()).check("pairs", mill)
    with pytest.raises(Exception, match="no writer of statements “x”"):
        GenerationSpec(statements="x").check("pairs", mill)
