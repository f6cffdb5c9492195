"""From a judge to its certificate: repeat test, refusal, campaign, labels, holds, void."""

import io
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser.mock_judging import PATIENT, served_with_mock_model, worker

SEED = "from tests.browser import certificate_seed; certificate_seed.{}()"
PAGES = (
    "agreement/?rubric=graded&judge=mock-judge",
    "disagreements/?rubric=graded&judge=mock-judge",
    "judges/?rubric=graded",
    "certificates/",
    "matrix/?source=mock-judge",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory, prepared):
    seed = SEED.format("seed")
    with served_with_mock_model(tmp_path_factory.mktemp("certificate"), seed, prepared) as running:
        yield running


def test_judge_is_tested_certified_and_void_after_a_change(visit, site):
    page = visit("ada").open("/judges/1/")
    page.get_by_role("link", name="Tests").click()
    page.get_by_label("Pairs").fill("5")
    page.get_by_role("button", name="Estimate").click()
    page.get_by_role("button", name="Start").click()
    with worker(site):
        expect(page.locator("#run-state")).to_have_text("finished", timeout=PATIENT)
    page.get_by_role("link", name="result of the test").click()
    expect(page.get_by_role("row", name="Grades that change")).to_contain_text("n")

    page.goto(f"{site.url}/datasets/stories/certificates/")
    page.get_by_role("link", name="mock-judge").click()
    expect(page.locator("main")).to_contain_text(
        "No person has graded a pair that mock-judge (baseline) graded"
    )
    page.get_by_role("link", name="Create campaign of missing pairs").click()
    page.get_by_label("Colleagues").check()
    page.get_by_label("People without an account").fill("Ann\nBen\nCat")
    page.get_by_role("button", name="Next").click()
    expect(page.locator("main")).to_contain_text("40 chosen pairs")
    page.get_by_role("button", name="Open campaign").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Invitations")
    site.run(SEED.format("annotate"))

    page.goto(f"{site.url}/datasets/stories/certificates/")
    page.get_by_role("link", name="mock-judge").click()
    page.get_by_role("button", name="Test judge").click()
    expect(page.locator("main .badge").first).to_have_text("holds")
    assert states(page, site) == dict.fromkeys(PAGES, "holds")
    assert "holds" in methods(page, site)

    site.run(SEED.format("change_a_grade"))
    void = states(page, site)
    assert all(state.startswith("void: 1 grade changed in ") for state in void.values()), void
    assert "void: 1 grade changed" in methods(page, site)


def states(page, site) -> dict[str, str]:
    """Return the badge of the judge on each page."""
    badges = {}
    for path in PAGES:
        page.goto(f"{site.url}/datasets/stories/{path}")
        badges[path] = page.locator("main .badge").first.inner_text()
    return badges


def methods(page, site) -> str:
    """Return the methods section of the paper's archive."""
    archive = page.request.get(f"{site.url}/datasets/stories/paper/paper.zip").body()
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        (name,) = [name for name in files.namelist() if name.endswith("methods.tex")]
        return " ".join(files.read(name).decode().split())
