"""manage.py build: the pipeline by a plan, and continuation after a stop."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rating, SubQuestion, Text, Topic
from building.engine.fill import fill
from building.engine.review import accept_rest
from building.models import Draft, Product, Writing
from evaluation.models import RetrievalRun
from tests.toolbox.document_texts import DOCUMENT
from tests.toolbox.generation_runs import a_writer, questions, started
from tests.toolbox.scripted_server import reply_with

pytestmark = pytest.mark.django_db
DOCUMENT_0 = f"Number 0. {DOCUMENT}".split("\n", 1)[0]
PLAN = """
accept_unseen = {unseen}
[passages]
[request]
[questions]
n = 3
[[runs]]
name = "bm25"
recipe = "bm25 % 10"
[[reports]]
run = "bm25"
length = "words:100"
"""

ACCEPTING_PLAN = PLAN.replace("{unseen}", "true")


def counts():
    models = (Text, SubQuestion, Rating, RetrievalRun, Writing, Draft, Product)
    return {model.__name__: model.objects.count() for model in models}


@pytest.fixture
def build(tmp_path):
    """The command on two documents of one topic, with a plan of these words."""
    rows = [{"id": f"t-1:{n}", "contents": f"Number {n}. {DOCUMENT}"} for n in range(2)]
    documents = tmp_path / "documents.jsonl"
    documents.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    path = tmp_path / "plan.toml"

    def build(plan_text=ACCEPTING_PLAN, slug="built", **options):
        path.write_text(plan_text)
        out = StringIO()
        options = {"documents": documents} | options
        call_command("build", slug, plan=path, stdout=out, **options)
        return out.getvalue()

    return build


def test_from_documents_to_scored_reports_and_the_same_again_changes_nothing(build):
    output = build()
    assert "documents: 2, of 1 topic" in output
    topic = Topic.objects.get()
    assert topic.request
    passages = Text.objects.filter(kind="passage", document__isnull=False)
    assert set(passages.values_list("document__name", flat=True)) == {"t-1:0", "t-1:1"}
    assert topic.questions.count() == 3
    report = Text.objects.get(kind="report")
    assert report.system == "extractive-report.bm25"
    assert report.citations.exclude(cited=None).exists()
    n_questions = topic.questions.filter(filtered_because="").count()
    assert Rating.objects.filter(text__kind="passage").count() == 3 * passages.count()
    assert Rating.objects.filter(text=report).count() in (3, n_questions)
    before = counts()
    second_output = build()
    assert counts() == before
    assert "run bm25: bm25 % 10, which is there" in second_output
    assert "No tasks" in second_output


def test_without_leave_each_step_waits_for_a_person(build):
    plan = PLAN.replace("{unseen}", "false")
    for task in ("passages", "request", "questions"):
        output = build(plan)
        assert f"{task}: " in output
        assert "to review, at" in output.splitlines()[-1]
        accept_rest(Writing.objects.get(writer__task=task), None)
    output = build(plan)
    assert "report: " in output.splitlines()[-1]
    assert not Text.objects.filter(kind="report").exists()
    assert RetrievalRun.objects.filter(name="bm25").exists()


def test_outputs_of_another_writer_are_not_accepted_by_a_plan(build, server):
    build("[passages]")
    dataset = Topic.objects.get().dataset
    server.script(DOCUMENT_0, reply_with(questions(1, 2)))
    second = started(a_writer(), dataset, server, {"n": 2})
    fill(second)
    build()
    theirs = Product.objects.filter(draft__order__run=second)
    assert set(theirs.values_list("decision", flat=True)) == {"proposed"}
    assert (
        not Product.objects.exclude(draft__order__run=second).filter(decision="proposed").exists()
    )


@pytest.mark.parametrize(
    ("plan_text", "message"),
    [
        ("[passages", "plan.toml: "),
        ("eta = 9", "plan.toml: eta: "),
        ("eta = 2.5", "plan.toml: eta: "),
        ("[poems]", "plan.toml: poems: "),
        ("[questions]\nn = -1", "plan.toml: questions.n: "),
        ("[[runs]]\nname = 'x'", "plan.toml: runs.0.recipe: "),
        ("", "Nothing is graded: there are no passages, or no sub-questions"),
        ("[passages]\nwriter = 'nobody'", "There is no writer of passages “nobody”"),
        ("[passages]\nprompt = 'x.txt'", "name its model"),
        ("[passages]\nmodel = 'm'\nwriter = 'w'\nprompt = 'x.txt'", "x.txt"),
        ("[judge]\nname = 'nobody'", "there is no judge nobody"),
    ],
)
def test_invalid_plan_is_reported(build, plan_text, message):
    with pytest.raises(CommandError) as refused:
        build(plan_text)
    assert message in str(refused.value)
    assert not Product.objects.exists()


def test_plan_without_a_dataset_says_what_to_do(build, tmp_path):
    with pytest.raises(CommandError, match="say --from which documents"):
        build(documents=None)
    with pytest.raises(CommandError, match="No such file"):
        call_command("build", "built", plan=tmp_path / "none.toml", stdout=StringIO())
