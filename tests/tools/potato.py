"""Potato itself, served from its own Python in a folder of its own, and people at work in it."""

import html
import json
import re
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Response

from annotation.formats.foreign.tools import escaped
from tests.model_process import ModelProcess
from tests.tools.hand import browser_at, drag
from tests.tools.material import PYTHON, run

ROOT = Path(__file__).parents[2]
TEXT = "#text-content"
# Beside the rubric of the docs: a scale, and a choice with a box for words.
MORE = """
  - {annotation_type: likert, name: question-type, description: A scale, size: 5, min_label: a, max_label: b}
  - {annotation_type: radio, name: answerable, description: A choice, labels: ["0", "1"],
     has_free_response: {instruction: Why}}
"""


def setup_of_the_docs() -> str:
    """The setup that docs/files.md shows."""
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    lines = re.search(r"(?m)^    annotation_task_name:.*\n(?:    .*\n)+", page)[0]
    return re.sub(r"(?m)^    ", "", lines)


class Potato(ModelProcess):
    """It shows these texts, each asked a question: (pair's name, question, words)."""

    name = "Potato"
    ready = "/"

    def __init__(self, log: Path, texts: Iterable[tuple[str, str, str]]) -> None:
        super().__init__(log)
        self.folder = log.parent
        self.kept = self.folder / "annotation_output"
        self.setup = self.folder / "config.yaml"
        self.setup.write_text(setup_of_the_docs() + MORE, encoding="utf-8")
        rows = [
            {"pair": pair, "question": question, "text": html.escape(words)}
            for pair, question, words in texts
        ]
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        (self.folder / "pairs.jsonl").write_text(lines, encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        return {"POTATO_GENERATED_TEMPLATES_DIR": str(self.folder / "generated")}

    def command(self) -> list[str]:
        program = str(Path(PYTHON).with_name("potato"))
        return [program, "start", str(self.setup), "--host", "127.0.0.1", "--port", str(self.port)]

    def export(self) -> Path:
        """Its export, as JSON lines, of what it keeps by now."""
        made = self.folder / "exported"
        run("-m", "potato.export", "-c", self.setup, "-f", "jsonl", "-o", made)
        return made / "annotations.jsonl"

    def state(self, user: str) -> Path:
        return self.kept / user / "user_state.json"

    @contextmanager
    def page(self, user: str):
        """Chromium, in which somebody has logged in, and nothing comes from other machines."""
        with browser_at(self.address) as page:
            page.goto("/")
            page.locator("[name=email]").fill(user)
            page.locator("[type=submit]").click()
            page.wait_for_function("window.spanManager?.isInitialized")
            yield page


def pair_of(topic: str, place: int, kind: str, text: str) -> str:
    return "/".join(map(escaped, (topic, str(place), kind, "", text)))


def choose(page: Page, rubric: str, number: int) -> None:
    with page.expect_response(_kept(f'"{rubric}:{number}"')):
        page.locator(f"#{rubric}_{number}_radio").check(force=True)  # of a scale a label is over it


def say(page: Page, rubric: str, words: str) -> None:
    """In the box for words beside a choice."""
    with page.expect_response(_kept(words)):
        page.locator(f"#{rubric}_free_response_text").fill(words)


def mark(page: Page, first: str, last: str = "") -> None:
    """Drag over words of the text, from the beginning of `first` to the end of `last`."""
    page.locator("#nugget-spans_graded").set_checked(True)
    with page.expect_response(_kept('"type":"span"')):
        drag(page, TEXT, first, last)


def go_on(page: Page) -> None:
    """To the next text."""
    before = page.locator("#instance_id").input_value()
    page.locator("#next-btn").click()
    page.wait_for_function(
        "before => document.querySelector('#instance_id')?.value !== before"
        " && window.spanManager?.isInitialized",
        arg=before,
    )


def _kept(what: str) -> Callable[[Response], bool]:
    """Whether an answer of the server says that it has this: the page sends some things a while later."""

    def kept(got: Response) -> bool:
        said = got.request.post_data or ""
        return got.url.endswith("/updateinstance") and got.ok and what in said

    return kept


def shown(page: Page) -> dict[str, Any]:
    """Which pair the page asks about, and in which words."""
    return {
        "pair": page.locator("#instance_id").input_value(),
        "question": page.locator("#graded legend").inner_text(),
        "text": page.locator(TEXT).evaluate("node => node.textContent"),
    }
