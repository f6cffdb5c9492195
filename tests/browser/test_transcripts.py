"""Transcripts of the task pages as a screen reader reads them, compared with stored ones.

They are the accessibility tree of Chromium: roles, names and states, in reading order. A change of a page that
changes what is heard shows in the diff of a text file. To renew them after such a change:

    RENEW_TRANSCRIPTS=1 .venv/bin/python -m pytest -n 0 tests/browser/test_transcripts.py
"""

import os
import re
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.user_input import settled
from tests.toolbox.browser_texts import T1_ANSWERS, T2_ANSWERS

TRANSCRIPTS = Path(__file__).parent / "transcripts"
RENEWS = bool(os.environ.get("RENEW_TRANSCRIPTS"))
LONGEST = 110
TIME = re.compile(r"\b\d{2}:\d{2}\b")
LABELLED = re.compile(r'- (?:radio|checkbox) "(.*?)"(?: \[.*\])?$')


def transcript(page: Page) -> str:
    """Return the accessibility tree without addresses, times and texts that repeat a label.

    Long lines are cut: they are of the study's own texts.
    """
    lines = page.locator("body").aria_snapshot().splitlines()
    lines = [line for line in lines if not line.lstrip().startswith("- /url:")]
    heard = [
        line
        for before, line in pairwise(["", *lines])
        if not (label := LABELLED.search(before)) or line.strip() != f"- text: {label[1]}"
    ]
    return "".join(f"{_shortened(TIME.sub('00:00', line.rstrip(':')))}\n" for line in heard)


def _shortened(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def check_transcript(page: Page, name: str) -> None:
    path, current = TRANSCRIPTS / f"{name}.txt", transcript(page)
    if RENEWS:
        path.write_text(current, encoding="utf-8")
    assert current.splitlines() == path.read_text(encoding="utf-8").splitlines()


def open_first_item(new_worker, site, study: str) -> Page:
    """Open the first text of a study for a worker who has it first, too: the order is random."""
    while True:
        worker = new_worker()
        page = worker.open(f"/work/{site.assignments(worker.name, study)[0]}/")
        if " 1 of " in page.locator(".where strong").inner_text():
            break
    expect(page.locator("html[data-started]")).to_be_attached()
    return page


def test_report_with_an_open_a_marked_and_an_incomplete_question(new_worker, site):
    page = open_first_item(new_worker, site, "t1")
    page.keyboard.press("t")
    page.keyboard.press("Space")  # marks the first sentence, which answers 1
    page.locator("#q-2 input[value='1']").check()
    page.locator("#q-3 input[value='0']").check()
    settled(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#missing a")).to_have_count(len(T1_ANSWERS) - 2)
    check_transcript(page, "t1")


def test_passage_with_an_incomplete_and_an_open_question(new_worker, site):
    page = open_first_item(new_worker, site, "t2")
    page.locator("#q-1 input[value='3']").check()
    settled(page)
    page.locator("#q-1 summary").click()
    expect(page.locator("#q-2 input:checked")).to_have_count(0)
    check_transcript(page, "t2")
    assert len(T2_ANSWERS) == page.locator(".question").count()
