"""docs/spreadsheet.md and docs/ragas.md: each step by mouse, from an empty site to LaTeX."""

import re
from functools import partial

import pytest
from playwright.sync_api import Page, expect

from tests.browser.user_input import drag_over, grade, settled
from tests.toolbox.browser_texts import PASSWORD
from tests.toolbox.paths import ROOT

pytestmark = pytest.mark.soak

LABEL = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
NO_ANSWER = re.compile("does not name|Nothing is said|was extended|do not know")
ATTENTION = re.compile(r"[Cc]hoose (?:grade )?(\d)")
GRADE_NEEDS_WORDS = 2


class Tutorial:
    """A page of docs, with the text of each page that its reader has seen."""

    def __init__(self, name: str, page: Page, tmp_path) -> None:
        self.labels = {
            " ".join(label.split()) for label in LABEL.findall((ROOT / "docs" / name).read_text())
        }
        self.page = page
        self.folder = tmp_path
        self.n_acts = 0

    def press(self, role: str, name: str, page: Page | None = None) -> None:
        """Press what the docs call so, and count it."""
        page = page or self.page
        self.read_page(page)
        page.get_by_role(role, name=name, exact=role != "button").first.click()
        self.n_acts += 1

    def read_page(self, page: Page) -> None:
        """Cross out the labels that the page displays."""
        page.wait_for_load_state()
        text = " ".join(page.locator("body").text_content().split())
        self.labels -= {label for label in self.labels if label in text}

    def import_file(self, name: str, dataset: str) -> None:
        self.press("link", "Import")
        with self.page.expect_download() as download:
            self.press("link", name)
        file = self.folder / name
        download.value.save_as(file)
        self.page.fill("#table_dataset", dataset)
        self.page.set_input_files("#table_files", file)
        self.n_acts += 2
        self.press("button", "Upload and choose columns")
        self.page.wait_for_url("**/columns/")

    def finish_import(self, dataset: str) -> None:
        expect(self.page.locator("h1")).to_have_text(f"Preview of changes to {dataset}")
        self.page.get_by_role("button", name="Import", exact=True).click()
        expect(self.page.locator("h1")).to_have_text(f"The import into {dataset} is done")
        self.press("link", "Open the dataset")
        self.n_acts += 1

    def open_campaign(self, rubric: str) -> str:
        """Open a campaign for anyone with a link; return the link."""
        self.press("link", "New campaign")
        self.page.get_by_role("radio", name="Anyone with a link").check()
        self.n_acts += 1
        self.page.locator("select[name=rubric]").select_option(label=rubric)
        self.press("button", "Next")
        self.press("button", "Open campaign")
        self.page.wait_for_url("**/invitations/")
        return self.page.locator("#open-link").inner_text()

    def run_baseline(self, dataset: str) -> None:
        self.page.goto(re.sub(r"/campaigns/.*", f"/datasets/{dataset}/", self.page.url))
        self.press("link", "New judge run")
        self.press("button", "Start")
        expect(self.page.locator("h1")).to_contain_text("finished")

    def download_table(self, dataset: str, table: str) -> str:
        """Return the LaTeX of a table of the agreement page."""
        self.page.goto(re.sub(r"/judge-runs/.*", f"/datasets/{dataset}/", self.page.url))
        self.press("link", "Agreement")
        self.read_page(self.page)
        with self.page.expect_download() as download:
            self.page.locator(f"a[href*='/{table}.tex']").first.click()
        self.n_acts += 1
        return download.value.path().read_text()


@pytest.fixture
def tutorial(printed_address, open_page, tmp_path):
    """Return a function that starts a tutorial as the first admin of an empty site."""

    def start(name: str) -> Tutorial:
        page = open_page(printed_address)
        page.fill("#id_username", "ada")
        page.fill("#id_password1", PASSWORD)
        page.fill("#id_password2", PASSWORD)
        page.click("main button")
        expect(page.locator(".doors")).to_be_visible()
        return Tutorial(name, page, tmp_path)

    return start


def annotate(reader: Tutorial, page: Page, n_items: int, answer) -> None:
    """Answer so many items of one question, as the person who has the link."""
    reader.press("button", "I agree", page)
    reader.press("button", "Start", page)
    for number in range(1, n_items + 1):
        expect(page.locator(".task-bar")).to_contain_text(f" {number} of {n_items}")
        page.wait_for_load_state()
        answer(page)
        for position, question in enumerate(page.locator(".question").all(), start=1):
            if attention := ATTENTION.search(question.text_content()):
                grade(page, position, int(attention[1]))
        settled(page)
        reader.read_page(page)
        page.locator("#submit, button[name=submit]").first.click()
    expect(page.locator(".task-bar")).to_have_count(0)


def first_words(page: Page) -> str:
    return " ".join(page.locator("#text").inner_text().split()[:3])


def grade_passage(grades, page: Page) -> None:
    value = next(
        value for phrase, value in grades.items() if phrase in page.locator("#text").inner_text()
    )
    grade(page, 1, value)
    if value >= GRADE_NEEDS_WORDS:
        drag_over(page, first_words(page))


def decide_report(page: Page) -> None:
    is_answered = not NO_ANSWER.search(page.locator("#text").inner_text())
    grade(page, 1, int(is_answered))
    if is_answered:
        drag_over(page, first_words(page))


def test_from_a_spreadsheet_to_kappa(tutorial, open_page):
    reader = tutorial("spreadsheet.md")
    reader.import_file("tutorial-grades.csv", "mill")
    reader.press("button", "Preview")
    reader.finish_import("mill")
    link = reader.open_campaign("T2, grades 0 to 5")
    grades = {
        "barley and oats": 5,
        "stopped in 1954": 1,
        "The last keeper": 5,
        "two thirds": 4,
        "": 0,
    }
    annotate(reader, open_page(link), 8, partial(grade_passage, grades))
    reader.run_baseline("mill")
    table = reader.download_table("mill", "pairs")
    assert r"\begin{tabular}" in table
    assert "anna" in table
    assert reader.labels == set()
    assert reader.n_acts <= 25


def test_from_a_ragas_export_to_a_judge(tutorial, open_page):
    reader = tutorial("ragas.md")
    reader.import_file("tutorial-ragas.csv", "rag")
    reader.page.get_by_label("System").first.fill("bot")
    reader.n_acts += 1
    reader.press("button", "Preview as Ragas")
    reader.finish_import("rag")
    link = reader.open_campaign("T1, answerable or not")
    annotate(reader, open_page(link), 8, decide_report)
    reader.run_baseline("rag")
    table = reader.download_table("rag", "judge")
    assert r"\begin{tabular}" in table
    assert reader.labels == set()
    assert reader.n_acts <= 25
