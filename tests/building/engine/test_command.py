"""manage.py write: from documents to proposals, and what it says where that cannot be."""

import json
import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import SubQuestion, Text
from building.models import Draft, Order, Product, Writer, Writing
from judging.execution import states
from tests.toolbox.generation_runs import PROMPTS, add_run, make_collection, questions
from tests.toolbox.scripted_server import reply_with
from tests.toolbox.training_lines import no_real_adapter

pytestmark = pytest.mark.django_db


def write(*arguments, **options):
    out, err = StringIO(), StringIO()
    call_command("write", *arguments, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def prompt(tmp_path):
    path = tmp_path / "prompt.txt"
    path.write_text(f"--- user ---\n{PROMPTS['questions']}\n")
    return path


@pytest.fixture
def line(server, prompt):
    """The same command line for a model, with its prompt."""
    make_collection()
    server.script("a", reply_with(questions(1, 2)))
    server.script("b", reply_with(questions(3, 4)))
    arguments = ["built", "--task", "questions", "--writer", "own", "--model", "tiny", "--n", "2"]
    return [*arguments, "--prompt", str(prompt), "--endpoint", server.url]


def test_baseline_writes_and_nothing_is_decided():
    make_collection()
    out, _ = write("built", "--task", "questions")
    number = Writing.objects.get().pk
    assert out.startswith(
        f"Generation run {number}, finished: 2 of 2 tasks; 20 outputs, 20 of them to review"
    )
    assert not SubQuestion.objects.exists()


def test_everything_unseen_is_kept_as_that():
    make_collection()
    out, _ = write("built", "--task", "passages", "--accept-all")
    n = Product.objects.count()
    assert out.startswith(f"Accepted without review: {n}.")
    assert set(Product.objects.values_list("decision", "unseen", "decided_by")) == {
        ("accepted", True, None)
    }
    assert Text.objects.filter(kind="passage", document__isnull=False).count() == n


def test_same_line_again_asks_nothing(line, server):
    write(*line)
    out, _ = write(*line)
    assert out == "No tasks; 2 done before by this writer.\n"
    assert Writer.objects.count() == 1
    assert server.asked == {"a": 1, "b": 1}


def test_dry_run_leaves_nothing_and_the_same_line_then_writes(line, server):
    out, _ = write(*line, "--dry-run")
    assert out.startswith("2 tasks. About ")
    assert "--- user ---\na\nDocument 0." in out
    assert not Writer.objects.exists()
    assert not Writing.objects.exists()
    assert not server.asked
    out, _ = write(*line)
    assert "finished: 2 of 2 tasks" in out


def test_line_that_was_wrong_leaves_no_writer_behind(line):
    with pytest.raises(CommandError, match="no topic “z”"):
        write(*line, "--topics", "z")
    assert not Writer.objects.exists()


def test_name_that_is_another_writers_is_refused(line, prompt):
    write(*line)
    prompt.write_text("--- user ---\nOther words: {document}\n")
    with pytest.raises(CommandError, match="The name own is taken"):
        write(*line)


def test_numbers_for_a_program_are_json_and_nothing_else(line):
    out, err = write(*line, "--json", "--accept-all")
    progress = json.loads(out)
    assert progress["done"] == 2
    assert progress["open"] == 0
    assert "Accepted without review: 4." in err


def test_budget_stops_it_and_a_larger_one_lets_it_go_on(line, server):
    out, _ = write(*line, "--max-messages", "1")
    assert "stopped at its budget: 1 of 2 tasks" in out
    number = str(Writing.objects.get().pk)
    with pytest.raises(CommandError, match="Set a larger budget"):
        write("built", "--join", number)
    out, _ = write("built", "--join", number, "--max-messages", "5")
    assert "finished: 2 of 2 tasks" in out
    assert server.asked == {"a": 1, "b": 1}


def test_open_writing_is_joined(line):
    write(*line, "--max-messages", "1")
    run = Writing.objects.get()
    Writing.objects.update(state="paused", max_messages=None)
    with pytest.raises(CommandError, match=f"Generation run {run.pk} of own is still open"):
        write(*line, "--samples", "2")
    out, _ = write("built", "--join", str(run.pk))
    assert "finished: 2 of 2" in out
    with pytest.raises(CommandError, match="has no writing 99"):
        write("built", "--join", "99")
    make_collection(slug="other")
    with pytest.raises(CommandError, match="has no writing"):
        write("other", "--join", str(run.pk))


def test_new_writer_says_where_its_model_runs(line):
    arguments = [argument for argument in line if argument not in ("--endpoint", line[-1])]
    out, _ = write(*arguments, "--backend", "vllm", "--revision", "abc", "--dry-run")
    assert out.startswith("2 tasks.")
    with pytest.raises(CommandError, match="vLLM is not installed in this environment"):
        write(*arguments, "--backend", "vllm", "--revision", "abc")
    assert Writer.objects.values_list("backend", "revision").get() == ("vllm", "abc")
    assert Writing.objects.get().state == "paused"
    with pytest.raises(CommandError, match="A model is asked at a server: --endpoint says which"):
        write("built", "--task", "questions", "--writer", "other", "--model", "m")


def test_cancelled_writing_is_taken_over(line):
    write(*line, "--max-messages", "1")
    run = Writing.objects.get()
    Writing.objects.update(state="running")
    run.refresh_from_db()
    states.cancel(run)
    out, _ = write(*line)
    assert "finished: 1 of 1 task;" in out
    assert Order.objects.count() == Draft.objects.count() == 2


def test_reports_of_a_run_and_its_required_subset():
    dataset = make_collection(request="What happened?")
    add_run(dataset)
    add_run(dataset, "needed", 2)
    options = ("--run", "bm25", "--required", "needed", "--k", "required")
    out, _ = write(
        "built", "--task", "report", *options, "--length", "match:required", "--accept-all"
    )
    assert "Accepted without review: 2." in out
    report = Text.objects.get(kind="report", name="a")
    assert report.system == "extractive-report.bm25"
    assert {c.cited.name for c in report.citations.all()} == {"a:0#0", "a:0#1"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--task", "questions"], "There is no dataset “nowhere”"),
        (
            ["built"],
            "--task passages, request, questions, nuggets, report, direct, statements, pairs",
        ),
        (["built", "--task", "questions", "--writer", "x"], "There is no writer of questions “x”"),
        (["built", "--task", "report"], "choose one."),
        (
            ["built", "--task", "questions", "--samples", "0"],
            "The number of samples must be from 1 to 100",
        ),
        (["built", "--task", "questions", "--concurrency", "0"], "concurrency"),
        (["built", "--task", "questions", "--length", "long"], "Only reports"),
        (["built", "--task", "questions", "--price-in", "-1"], "A price must be 0 or more"),
        (
            ["built", "--task", "questions", "--writer", "w", "--model", "m", "--prompt", "/none"],
            "No such file",
        ),
        (
            ["built", "--task", "questions", "--writer", "w o", "--model", "m"],
            "letters, digits",
        ),
        (["built", "--task", "questions", "--model", "m"], "needs a name"),
        (["built", "--task", "questions", "--prompt", "/none"], "name its model"),
        (["built", "--task", "questions", "--backend", "vllm"], "name its model"),
        (["built", "--task", "questions", "--revision", "a"], "A revision belongs to a new writer"),
    ],
)
def test_invalid_arguments_are_reported_and_store_nothing(arguments, message):
    make_collection()
    with pytest.raises(CommandError) as refused:
        write(*arguments)
    assert message in str(refused.value)
    assert not Writing.objects.exists()
    assert not Writer.objects.filter(backend="openai").exists()


def test_adapter_makes_another_writer(line, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "building.tuning.generating", raising=False)
    arguments = [argument for argument in line if argument not in ("--endpoint", line[-1])]
    arguments += ["--backend", "transformers", "--adapter", str(no_real_adapter(tmp_path / "one"))]
    out, _ = write(*arguments, "--dry-run")
    assert out.startswith("2 tasks.")
    # The folder is no real one, and without torch nobody finds that out.
    with pytest.raises(CommandError, match="is not installed in this environment: make env EXTRAS"):
        write(*arguments)
    one = Writer.objects.get()
    assert (one.backend, one.adapter) == ("transformers", str(tmp_path / "one"))
    assert Writing.objects.get().state == "paused"
    arguments[arguments.index("own")] = "other"
    with pytest.raises(CommandError, match="The writer own has exactly the same settings"):
        write(*arguments, "--dry-run")
    no_real_adapter(tmp_path / "one", b"trained on")
    out, _ = write(*arguments, "--dry-run")
    assert out.startswith("2 tasks.")


def test_adapter_is_a_folder_of_one_and_loaded_here(line, tmp_path):
    arguments = [*line[:-2], "--adapter", str(tmp_path)]
    with pytest.raises(CommandError, match="is loaded by transformers in process"):
        write(*arguments)
    with pytest.raises(CommandError, match="holds no adapter: there is no adapter_config"):
        write(*arguments, "--backend", "transformers")
    far = tmp_path / "/".join(["x" * 100] * 3)
    with pytest.raises(CommandError, match="The path of an adapter has at most 250 characters"):
        write(*line[:-2], "--backend", "transformers", "--adapter", str(far))
    with pytest.raises(CommandError, match="An adapter belongs to a new writer"):
        write("built", "--task", "questions", "--adapter", str(tmp_path))
    assert not Writer.objects.exists()


def test_prompt_that_cannot_be_used_is_refused(line, prompt):
    prompt.write_text("--- user ---\nWrite {n} on {nothing}.\n")
    with pytest.raises(CommandError, match="does not show the document"):
        write(*line)
    prompt.write_bytes(b"\xff\xfe")
    with pytest.raises(CommandError):
        write(*line)
    assert not Writer.objects.exists()
