"""docs/spreadsheet.md and docs/ragas.md: each step by mouse, from an empty site to LaTeX."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from crux_site.imports.table_views import TEMPLATE_FOLDER
from tests.browser.conftest import serve_empty_site
from tests.browser.user_input import drag_over, settled
from tests.toolbox.browser_texts import PASSWORD
from tests.toolbox.paths import ROOT
from tests.toolbox.served_site import CHROMIUM_SHELL, USUAL_FONTS

pytestmark = pytest.mark.soak

LABEL = re.compile(r"\*\*(.+?)\*\*")
FIGURE = re.compile(r"[−]?[01]\.\d\d")
ATTENTION = re.compile(r"please choose (?:grade )?(\d)")
SPAN_FROM = 1  # the grade from which both rubrics ask for words
MOST_ACTS = 28  # of both people, without the grades themselves
Grader = Callable[[str], int]


class Tutorial:
    """Page of the docs, followed by mouse: all labels that it names must be on the site."""

    def __init__(self, name: str, dataset: str, page: Page, folder: Path) -> None:
        self.text = " ".join((ROOT / "docs" / name).read_text().split())
        self.unseen_labels = set(LABEL.findall(self.text))
        self.dataset = dataset
        self.page = page
        self.folder = folder
        self.n_acts = 0

    def number(self, unit: str) -> int:
        """Return the number of something that the page of the docs states."""
        match = re.search(rf"(\d+) {unit}", self.text)
        assert match, f"it states no number of {unit}"
        return int(match[1])

    def read_page(self, page: Page) -> None:
        """Cross out the labels that a page displays."""
        text = " ".join((page.locator("body").text_content() or "").split())
        self.unseen_labels -= {label for label in self.unseen_labels if label in text}

    def press(self, role: str, name: str, page: Page | None = None) -> None:
        """Press a button or link that the page of the docs names."""
        assert f"**{name}**" in self.text or f"`{name}`" in self.text, f"it does not name {name}"
        page = page or self.page
        shortcut = "( Ctrl ↵)?"  # on the button that submits
        locator = page.get_by_role(role, name=re.compile(rf"^{re.escape(name)}{shortcut}$")).first
        locator.wait_for()
        self.read_page(page)
        locator.click()
        self.n_acts += 1

    def heading(self, text: str) -> None:
        expect(self.page.locator("h1")).to_contain_text(text)
        self.read_page(self.page)

    def upload(self, template: str) -> None:
        self.press("link", "Import")
        with self.page.expect_download() as download:
            self.press("link", template)
        file = self.folder / template
        download.value.save_as(file)
        self.page.get_by_label("Dataset:").first.fill(self.dataset)
        self.page.get_by_label("Files:").first.set_input_files(file)
        self.n_acts += 2
        self.press("button", "Upload and choose columns")
        self.heading("Import a table")

    def finish_import(self, counts: dict[str, int]) -> None:
        self.heading(f"Preview of changes to {self.dataset}")
        created = self.page.get_by_role("region", name="Will be created")
        for name, count in counts.items():
            expect(created.get_by_role("row", name=f"{name} +{count}", exact=True)).to_be_visible()
        self.press("button", "Import")
        self.heading(f"The import into {self.dataset} is done")
        self.press("link", "Open the dataset")
        self.heading(self.dataset)

    def open_campaign(self, rubric: str = "") -> str:
        """Open a campaign for anyone with a link; return the link."""
        self.press("link", "New campaign")
        self.page.get_by_role("radio", name="Anyone with a link").check()
        self.n_acts += 1
        if rubric:
            self.page.get_by_label("Rubric:").select_option(label=rubric)
            self.n_acts += 1
        self.press("button", "Next")
        expect(self.page.locator(".summary")).to_be_visible()
        self.press("button", "Open campaign")
        self.heading("Invitations")
        return self.page.locator("#open-link").inner_text()

    def annotate(self, page: Page, kind: str, grade_text: Grader) -> None:
        """Grade all texts of a part, as the person who has the link."""
        n_texts = self.number(f"{kind}s of a part")
        self.press("button", "I agree, continue", page)
        self.press("button", "Start part 1", page)
        n_checks = 0
        for number in range(1, n_texts + 1):
            expect(page.locator(".task-bar")).to_contain_text(f" {number} of {n_texts}")
            expect(page.locator("html")).to_have_attribute("data-started", "")
            grade = grade_text(page.locator("#text").inner_text())
            for question in page.locator(".question").all():
                n_checks += answer_question(page, question, grade)
            settled(page)
            self.press("button", f"Submit, next {kind}", page)
        expect(page.locator("h1")).to_have_text("This part is done. Thank you!")
        self.n_acts -= n_texts - 1  # one Submit; the others belong to the grading
        assert n_checks == 1

    def open_dataset(self) -> None:
        self.press("link", self.dataset)
        self.heading(self.dataset)

    def run_baseline(self, texts: str = "") -> None:
        self.press("link", "Home")
        self.open_dataset()
        self.press("link", "New judge run")
        self.heading("New judge run")
        chosen = self.page.get_by_label("Judge:").locator("option:checked")
        expect(chosen).to_contain_text("lexical")
        if texts:
            self.page.get_by_label("Texts:").select_option(label=texts)
            self.n_acts += 1
        self.press("button", "Start")
        self.heading("finished")

    def open_agreement(self) -> Locator:
        """Open the agreement page; return its section of the judge."""
        self.open_dataset()
        self.press("link", "Agreement")
        self.heading("Agreement")
        return self.page.get_by_role("region", name="The judge against the raters")

    def open_pairs(self, number: Locator) -> None:
        """Press a number to read the pairs behind it, and go back."""
        count = int(number.inner_text())
        number.click()
        expect(self.page.locator("#rows-title")).to_have_text(re.compile(rf"^\s*{count} pairs?: "))
        self.page.go_back()
        self.heading("Agreement")
        self.n_acts += 2

    def download_table(self, label: str, file_name: str) -> str:
        """Return the LaTeX of a table, by the menu above it."""
        assert f"`{file_name}`" in self.text
        link = self.page.locator(f"a[aria-label='{label}, as LaTeX']")
        self.page.locator(".menu", has=link).locator("summary").click()
        with self.page.expect_download() as download:
            link.click()
        self.n_acts += 2
        assert download.value.suggested_filename == file_name
        return Path(download.value.path()).read_text()

    def assert_is_followed(self) -> None:
        assert self.unseen_labels == set()
        assert self.n_acts <= MOST_ACTS


def answer_question(page: Page, question: Locator, grade: int) -> bool:
    """Answer a question, with marked words if it asks for them; return if it is a check."""
    check = ATTENTION.search(question.inner_text())
    value = int(check[1]) if check else grade
    question.locator(f"input[value='{value}']").click()
    takes_span = not check and value >= SPAN_FROM
    expect(question.locator(".needs")).to_be_visible(visible=takes_span)
    if takes_span:
        tokens = page.locator("#text").inner_text().split()
        drag_over(page, " ".join(tokens[:3]))
    expect(question).to_have_attribute("data-state", "answered" if takes_span else "absent")
    return bool(check)


def template_rows(name: str) -> list[dict[str, str]]:
    with (TEMPLATE_FOLDER / name).open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def site_address(browsers, tmp_path_factory, migrated_database):
    """Serve an empty site with its first admin, ada; return the address of its log-in page."""
    with serve_empty_site(tmp_path_factory.mktemp("empty-site"), migrated_database) as address:
        page = browsers(CHROMIUM_SHELL, USUAL_FONTS).new_page()
        page.goto(address)
        page.fill("#id_username", "ada")
        page.fill("#id_password1", PASSWORD)
        page.fill("#id_password2", PASSWORD)
        page.click("main button")
        expect(page.locator(".doors")).to_be_visible()
        page.close()
        yield address.replace("/first-admin/", "/login/")


@pytest.fixture
def follow(site_address, open_page, tmp_path):
    """Return a function that opens the site as its admin, with a tutorial at hand."""

    def start(name: str, dataset: str) -> Tutorial:
        page = open_page(site_address)
        page.fill("#id_username", "ada")
        page.fill("#id_password", PASSWORD)
        page.click("main button")
        expect(page.locator("h1")).to_have_text("Home")
        return Tutorial(name, dataset, page, tmp_path)

    return start


def test_spreadsheet_is_followed_to_kappa(follow, open_page):
    tutorial = follow("spreadsheet.md", "mill")
    tutorial.upload("tutorial-grades.csv")
    tutorial.press("button", "Preview")
    tutorial.finish_import(
        {name: tutorial.number(name) for name in ("topics", "passages", "ratings")}
    )
    link = tutorial.open_campaign()
    rows = template_rows("tutorial-grades.csv")
    grades = {row["passage"]: 2 if row["grade"] == "1" else int(row["grade"]) for row in rows}
    tutorial.annotate(open_page(link), "passage", grades.__getitem__)
    tutorial.run_baseline()
    judge = tutorial.open_agreement()
    kappa = tutorial.page.locator(".tile", has_text="Fleiss κ")
    expect(kappa.locator(".figure")).to_have_text(FIGURE)
    expect(kappa).to_contain_text("n = 8, 4 pairs with one rating left out")
    expect(judge.locator(".quadrants")).to_contain_text("Binary κ")
    tutorial.open_pairs(tutorial.page.locator(".tile", has_text="Items n").locator(".figure"))
    table = tutorial.download_table("Pairs of raters", "mill-agreement-pairs.tex")
    assert r"\begin{tabular}" in table
    assert "anna" in table
    tutorial.assert_is_followed()


def test_ragas_export_is_followed_to_a_judge(follow, open_page):
    tutorial = follow("ragas.md", "rag")
    tutorial.upload("tutorial-ragas.csv")
    tutorial.page.get_by_label("System").first.fill("bot")
    tutorial.n_acts += 1
    tutorial.press("button", "Preview as Ragas")
    n = tutorial.number("questions")
    tutorial.finish_import(
        {"topics": n, "sub-questions": n, "reports": n, "values of reports": 2 * n}
    )
    link = tutorial.open_campaign("T1, answerable or not")
    rows = template_rows("tutorial-ragas.csv")
    grades = {row["response"]: int(float(row["answer_relevancy"]) > 0.5) for row in rows}
    tutorial.annotate(open_page(link), "report", grades.__getitem__)
    tutorial.run_baseline(f"reports ({n} with words)")
    judge = tutorial.open_agreement()
    for name in ("Precision, answerable", "Recall, answerable", "Binary κ"):
        expect(judge.locator(".quadrants")).to_contain_text(name)
    tutorial.open_pairs(judge.locator(".confusion td a").first)
    table = tutorial.download_table(
        "The judge against each rater and by system", "rag-agreement-judge.tex"
    )
    assert r"\begin{tabular}" in table
    tutorial.assert_is_followed()
