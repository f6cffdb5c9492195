"""From documents to a scored report in the browser, with workers in other processes.

The baseline writes passages and the request; a mock model is asked for the questions, of which one is
edited and one rejected.
"""

import os
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from bench.ports import free_port
from tests.browser.page_audit import axe_problems, faults
from tests.browser.user_input import press_place
from tests.toolbox.paths import ROOT
from tests.toolbox.served_site import served

DOCUMENTS = ROOT / "fixtures" / "building" / "documents.jsonl"
PATIENT = 180_000  # milliseconds: a worker has to start
SEED = """
from annotation.models import User
from annotation.models.projects import join_main
from building.engine.choosing import resolve_writer
from tests.toolbox.browser_texts import PASSWORD
from tests.browser.sessions import make_sessions
for name, role in (("ada", "admin"), ("rosa", "researcher")):
    join_main(User.objects.create_user(name, password=PASSWORD, role=role))
make_sessions()
"""


@pytest.fixture(scope="module")
def stand_in():
    """Return the address of the mock model."""
    port = str(free_port())
    command = [
        sys.executable,
        "-m",
        "building.writing.mock_model",
        "--seconds",
        "0",
        "--port",
        port,
    ]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="module")
def site(tmp_path_factory, prepared, stand_in):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_ENDPOINTS", f"stand-in={stand_in}")
        with served(tmp_path_factory.mktemp("collection"), SEED, prepared=prepared) as running:
            yield running


@contextmanager
def worker(site):
    env = os.environ | site.env
    command = [sys.executable, str(ROOT / "manage.py"), "judge_worker", "--interval", "0.2"]
    process = subprocess.Popen(command, env=env, cwd=ROOT)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def step(page, name: str):
    """Return the row of a step on the page of building."""
    return page.get_by_role("row", name=re.compile(rf"^{name} "))


def write(page, link: str, **fields: str) -> None:
    """Start a generation run from the page of building, and wait until it is finished."""
    page.get_by_role("link", name=link).click()
    for label, value in fields.items():
        field = page.get_by_label(label.replace("_", " "), exact=False).first
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    page.get_by_role("button", name="Estimate").click()
    expect(page.locator("#planned")).to_have_text(re.compile(r"\d tasks"))
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#live")).to_contain_text("finished", timeout=PATIENT)


def accept_all(page) -> None:
    page.get_by_role("link", name=re.compile("^Review")).click()
    page.get_by_role("button", name=re.compile("^Accept the remaining")).click()
    expect(page.locator(".notices")).to_contain_text("Accepted without review")


def build(page, site) -> None:
    page.goto(f"{site.url}/datasets/towns/building/")


def test_collection_is_built_from_documents_to_a_scored_report(visit, site):
    ada = visit("ada")
    page = ada.open("/import/")
    page.fill("#id_dataset", "towns")
    page.set_input_files("#id_files", [DOCUMENTS])
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.locator("h1")).to_have_text("Preview of changes to towns")
    page.get_by_role("button", name=re.compile("^Import")).click()
    expect(page.locator("h1")).to_have_text("The import into towns is done", timeout=PATIENT)
    with worker(site):
        build(page, site)
        expect(step(page, "documents")).to_contain_text("6")
        expect(step(page, "passages")).to_contain_text("6 documents have no passage")
        assert faults(page) == []
        write(page, "Write passages")
        assert faults(page) == []
        accept_all(page)
        build(page, site)
        write(page, "Write requests")
        accept_all(page)

        build(page, site)
        page.get_by_role("link", name="Write sub-questions").click()
        page.get_by_role("link", name="Create a writer").click()
        assert faults(page) == []
        page.get_by_label("Name").fill("stand-in-questions")
        page.get_by_role("textbox", name="Model").fill("stand-in")
        page.get_by_role("button", name="Create writer").click()
        expect(page.locator(".notices")).to_contain_text(
            "The writer stand-in-questions is created."
        )
        build(page, site)
        write(
            page,
            "Write sub-questions",
            Writer="stand-in-questions",
            Outputs_per_task="4",
            Server="stand-in",
        )
        decide_about_questions(page)

        build(page, site)
        expect(step(page, "sub-questions")).to_contain_text("7")
        page.get_by_role("link", name="New judge run").first.click()
        page.get_by_role("button", name="Estimate").click()
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#run-state")).to_have_text("finished", timeout=PATIENT)

        build(page, site)
        page.get_by_role("link", name="New retrieval run").click()
        page.get_by_label("Name").fill("bm25")
        page.get_by_label("Recipe").fill("bm25 % 20")
        page.get_by_role("button", name="Create run").click()
        build(page, site)
        page.get_by_role("link", name="Filter", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("proposed")
        assert faults(page) == []

        build(page, site)
        write(page, "Write reports", Passages_in_the_context="3", Length="words:80")
        accept_all(page)
        build(page, site)
        page.get_by_role("link", name="Read the reports").click()
        assert faults(page) == []
        page.get_by_role("link", name="ferry").click()
        assert faults(page) == []
        label = page.locator("a.label").first
        label.click()
        expect(page.locator(".cited:target")).to_be_visible()

        page.goto(f"{site.url}/judge-runs/new/?dataset=towns")
        page.get_by_role("button", name="Estimate").click()
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#run-state")).to_have_text("finished", timeout=PATIENT)
    scored = site.rows(
        "select count(*) from annotation_rating r join annotation_text t on t.id = r.text_id"
        " where t.kind = 'report'"
    )
    assert scored == [(7,)]  # two reports, on the questions of their topics
    page.goto(f"{site.url}/datasets/towns/matrix/?source=lexical")
    expect(page.locator("main")).to_contain_text("ferry")
    assert ada.faults() == []


def decide_about_questions(page) -> None:
    """By keys: the first is edited, the second rejected, the others accepted.

    On keyboards of several scripts, whose keys are known by their place.
    """
    page.get_by_role("link", name=re.compile("^Review 8")).click()
    assert faults(page) == []
    expect(page.locator("mark").first).to_be_visible()
    product_id = page.locator(".product[data-at]").get_attribute("id")
    press_place(page, "о", "KeyJ")
    assert page.locator(".product[data-at]").get_attribute("id") != product_id
    press_place(page, "л", "KeyK")
    assert page.locator(".product[data-at]").get_attribute("id") == product_id
    press_place(page, "ε", "KeyE")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Why was the ferry at Aldermoor stopped?")
    page.keyboard.press("Escape")
    with page.expect_navigation():
        press_place(page, "ф", "KeyA")
    expect(page.get_by_text("Accepted with edits, by ada")).to_be_visible()
    with page.expect_navigation():
        press_place(page, "ρ", "KeyR")
    expect(page.get_by_text("Rejected, by ada")).to_be_visible()
    for _ in range(6):
        with page.expect_navigation():
            page.keyboard.press("a")
    expect(page.locator("[data-open]")).to_have_count(0)
    assert axe_problems(page) == []


def test_researcher_reads_and_does_not_decide(visit, site):
    page = visit("rosa").open("/datasets/towns/building/")
    page.locator("th a").first.click()
    assert page.get_by_role("button", name=re.compile("Pause|Resume|Cancel|Retry")).count() == 0
    assert faults(page) == []
