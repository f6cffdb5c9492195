"""manage.py build on the demo's documents: reviews, invalid plans, kills."""

import time
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dataset, Rating, SubQuestion, Text
from building.engine.review import accept, open_products, reject
from building.models import Draft, Order, Writing
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from tests.toolbox import worker_processes
from tests.toolbox.clock import HANGS
from tests.toolbox.import_study import contents

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ROOT / "fixtures" / "building"
WHOLE = """
accept_unseen = true
[passages]
[request]
[questions]
n = 4
[[runs]]
name = "bm25"
recipe = "bm25 % 10"
[[reports]]
run = "bm25"
k = "required"
length = "match:required"
"""
SHORT = "accept_unseen = true\n[passages]\n[request]\n[questions]\nn = 2\n"


def build(plan: Path, *arguments: str, dataset: str = "towns") -> list[str]:
    out = StringIO()
    call_command("build", dataset, "--plan", str(plan), *arguments, stdout=out)
    return [line.strip() for line in out.getvalue().splitlines()]


@pytest.fixture
def plan(tmp_path):
    def written(plan_text: str = WHOLE) -> Path:
        path = tmp_path / "plan.toml"
        path.write_text(plan_text)
        return path

    return written


def test_somebody_decides_before_it_goes_on(db, plan):
    path = plan("[passages]\n[questions]\nn = 2\n")
    output = build(path, "--from", str(DOCUMENTS))
    run = Writing.objects.get()
    assert output[-1] == (
        f"passages: 12 outputs to review, at {run.get_absolute_url()}review/. "
        "Then repeat the same command."
    )
    assert not Text.objects.filter(kind="passage").exists()
    first, *further = open_products(run)
    reject(first, None)
    for product in further:
        accept(product, None)
    assert "questions: 4 outputs to review" in build(path)[-1]
    for product in open_products(Writing.objects.get(writer__task="questions")):
        accept(product, None, f"{product.body} Why?")
    assert any(line.startswith("run required.lexical.eta3") for line in build(path))
    assert Text.objects.filter(kind="passage").count() == 11


def test_pipeline_continues_an_imported_collection(db, plan, tmp_path):
    path = plan(WHOLE)
    build(path, "--from", str(DOCUMENTS))
    export_folder(Dataset.objects.get(), tmp_path / "out")
    import_dataset(tmp_path / "out", "elsewhere")
    output = build(path, dataset="elsewhere")
    assert "run bm25: bm25 % 10, which came in a file" in output
    assert any(line.startswith("report: No tasks; 2") for line in output), output
    export_folder(Dataset.objects.get(slug="elsewhere"), tmp_path / "again")
    # But for the baseline: its definition is of the first dataset, whose words it knows.
    second, out = (contents(tmp_path / name) for name in ("again", "out"))
    assert second.pop("raters.jsonl") != out.pop("raters.jsonl")
    assert second == out


@pytest.mark.parametrize(
    ("plan_text", "message"),
    [
        ("[passages", "plan.toml: "),
        ("[passages]\nm = 3", "plan.toml: passages.m: Extra inputs are not permitted"),
        ("eta = 9", "plan.toml: eta: Input should be less than or equal to 5"),
        ("[[reports]]\nk = '3'", "plan.toml: reports.0.run: Field required"),
        ("[judge]\nname = 'nobody'", "judge.name: there is no judge nobody"),
        ("[questions]\nwriter = 'nobody'", "There is no writer of questions “nobody”"),
        ("[questions]\nprompt = 'none.txt'", "name its model, too"),
        (
            "[questions]\nbackend = 'gpu'",
            "questions.backend: Input should be '', 'openai', 'vllm' or 'transformers'",
        ),
        (
            "[questions]\nwriter = 'w'\nmodel = 'm'\nbackend = 'vllm'\nrevision = 'a'",
            "vLLM is not installed in this environment.",
        ),
        (
            "[questions]\nwriter = 'w'\nmodel = 'm'\nbackend = 'transformers'\nadapter = 'none'",
            "none holds no adapter: there is no adapter_config.json.",
        ),
        (
            "accept_unseen = true\n[passages]",
            "Nothing is graded: there are no passages, or no sub-",
        ),
        (f"{SHORT}[[reports]]\nrun = 'none'", "There is no run “none”"),
        (f"{SHORT}[[runs]]\nname = 'x'\nrecipe = 'bm26'", "There is no step “bm26”"),
    ],
)
def test_invalid_plan_is_reported(db, plan, plan_text, message):
    path = plan(plan_text)
    with pytest.raises(CommandError) as refused:
        build(path, "--from", str(DOCUMENTS))
    assert message in str(refused.value)


def test_documents_and_plans_that_are_not_there(db, plan, tmp_path):
    with pytest.raises(CommandError, match="There is no dataset towns: say --from which documents"):
        build(plan())
    with pytest.raises(CommandError, match="cannot be read"):
        build(plan(), "--from", str(tmp_path / "none.jsonl"))
    with pytest.raises(CommandError, match="No such file"):
        build(tmp_path / "none.toml")
    assert not Dataset.objects.exists()


@pytest.mark.timing
@pytest.mark.django_db(transaction=True)
def test_killed_in_the_middle_it_goes_on(plan, tmp_path):
    """By -9, while it writes and while it grades: every order has its draft once."""
    line = ["build", "towns", "--plan", str(plan()), "--from", str(DOCUMENTS)]

    def started(name: str):
        overrides = {"VAR_DIR": tmp_path, "JUDGE_LEASE_SECONDS": 1}
        return worker_processes.start(worker_processes.command, tmp_path / name, *line, **overrides)

    for model, at_least in ((Draft, 3), (Draft, 8), (Rating, 1)):
        process = started("killed")
        while model.objects.count() < at_least and process.is_alive():
            time.sleep(0.005)
        process.kill()
        process.join()
    last = started("last")
    last.join(HANGS)
    log = (tmp_path / "last").read_text()
    assert last.exitcode == 0, log
    assert "grades of reports by lexical (baseline)" in log
    assert Draft.objects.count() == Order.objects.count() == 12
    assert Text.objects.filter(kind="passage").count() == 12
    assert SubQuestion.objects.count() == 8
