"""manage.py build on the documents of the demo: what it waits for, wrong plans, going on once killed."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dataset, Text
from building.engine.deciding import accept, open_products, reject
from building.models import Writing
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from tests.crux_site.imports.study import contents

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


def build(plan: Path, *words: str, dataset: str = "towns") -> list[str]:
    out = StringIO()
    call_command("build", dataset, "--plan", str(plan), *words, stdout=out)
    return [line.strip() for line in out.getvalue().splitlines()]


@pytest.fixture
def plan(tmp_path):
    def written(words: str = WHOLE) -> Path:
        path = tmp_path / "plan.toml"
        path.write_text(words)
        return path

    return written


def test_somebody_decides_before_it_goes_on(db, plan):
    path = plan("[passages]\n[questions]\nn = 2\n")
    said = build(path, "--from", str(DOCUMENTS))
    run = Writing.objects.get()
    assert said[-1] == (
        f"passages: 12 products wait for somebody to decide, at {run.get_absolute_url()}review/. "
        "Then the same command goes on."
    )
    assert not Text.objects.filter(kind="passage").exists()
    first, *others = open_products(run)
    reject(first, None)
    for product in others:
        accept(product, None)
    assert "questions: 4 products wait" in build(path)[-1]
    for product in open_products(Writing.objects.get(writer__task="questions")):
        accept(product, None, f"{product.body} Why?")
    assert any(line.startswith("run required.lexical.eta3") for line in build(path))
    assert Text.objects.filter(kind="passage").count() == 11


def test_it_goes_on_where_a_collection_came_in_files(db, plan, tmp_path):
    path = plan(WHOLE)
    build(path, "--from", str(DOCUMENTS))
    export_folder(Dataset.objects.get(), tmp_path / "out")
    import_dataset(tmp_path / "out", "elsewhere")
    said = build(path, dataset="elsewhere")
    assert "run bm25: bm25 % 10, which came in a file" in said
    assert any(line.startswith("report: Nothing to write; 2") for line in said), said
    export_folder(Dataset.objects.get(slug="elsewhere"), tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("[passages", "plan.toml: "),
        ("[passages]\nm = 3", "plan.toml: passages.m: Extra inputs are not permitted"),
        ("eta = 9", "plan.toml: eta: Input should be less than or equal to 5"),
        ("[[reports]]\nk = '3'", "plan.toml: reports.0.run: Field required"),
        ("[judge]\nname = 'nobody'", "judge.name: there is no judge nobody"),
        ("[questions]\nwriter = 'nobody'", "There is no writer of questions “nobody”"),
        ("[questions]\nprompt = 'none.txt'", "say which model it asks"),
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
def test_what_is_wrong_is_said(db, plan, words, says):
    path = plan(words)
    with pytest.raises(CommandError) as refused:
        build(path, "--from", str(DOCUMENTS))
    assert says in str(refused.value)


def test_documents_and_plans_that_are_not_there(db, plan, tmp_path):
    with pytest.raises(CommandError, match="There is no dataset towns: say --from which documents"):
        build(plan())
    with pytest.raises(CommandError, match="cannot be read"):
        build(plan(), "--from", str(tmp_path / "none.jsonl"))
    with pytest.raises(CommandError, match="No such file"):
        build(tmp_path / "none.toml")
    assert not Dataset.objects.exists()


@pytest.mark.soak
def test_killed_in_the_middle_it_goes_on(tmp_path):
    """By -9, while it writes and while it grades: every order has its draft once."""
    database = tmp_path / "crux.sqlite3"
    env = os.environ | {
        "VAR_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{database}",
        "JUDGE_LEASE_SECONDS": "1",
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "migrate", "-v0"], env=env, check=True, timeout=120)
    path = tmp_path / "plan.toml"
    path.write_text(WHOLE)
    line = [*manage, "build", "towns", "--plan", str(path), "--from", str(DOCUMENTS)]

    def n(table: str) -> int:
        with closing(sqlite3.connect(database, timeout=30)) as connection:
            return connection.execute(f"select count(*) from {table}").fetchone()[0]  # noqa: S608

    for table, at_least in (("building_draft", 3), ("building_draft", 8), ("annotation_rating", 1)):
        process = subprocess.Popen(line, env=env, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while n(table) < at_least and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=True, timeout=300)
    assert "grades of reports by lexical (baseline)" in done.stdout
    assert n("building_draft") == n("building_order") == 12
    assert n("annotation_text where kind = 'passage'") == 12
    assert n("annotation_subquestion") == 8
