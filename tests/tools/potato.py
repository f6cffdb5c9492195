"""Potato, served from its own Python and folder, with people at work in it."""

import html
import json
import re
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Response

from annotation.formats.foreign.tools import escaped
from tests.toolbox.model_process import ModelProcess
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
    """Return the setup that docs/files/annotation-tools.md shows."""
    page = (ROOT / "docs" / "files" / "annotation-tools.md").read_text(encoding="utf-8")
    lines = re.search(r"(?m)^    annotation_task_name:.*\n(?:    .*\n)+", page)[0]
    return re.sub(r"(?m)^    ", "", lines)


class Potato(ModelProcess):
    """Potato server with texts, each with a question: (pair's name, question, body)."""

    name = "Potato"
    ready = "/"

    def __init__(self, log: Path, texts: Iterable[tuple[str, str, str]]) -> None:
        super().__init__(log)
        self.folder = log.parent
        self.output_folder = self.folder / "annotation_output"
        self.setup = self.folder / "config.yaml"
        self.setup.write_text(setup_of_the_docs() + MORE, encoding="utf-8")
        rows = [
            {"pair": pair, "question": question, "text": html.escape(body)}
            for pair, question, body in texts
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
        """Return its export, as JSON lines, of all that is stored so far."""
        output = self.folder / "exported"
        run("-m", "potato.export", "-c", self.setup, "-f", "jsonl", "-o", output)
        return output / "annotations.jsonl"

    def state(self, user: str) -> Path:
        return self.output_folder / user / "user_state.json"

    @contextmanager
    def page(self, user: str):
        """Open Chromium with a user logged in, without requests to other machines."""
        with browser_at(self.address) as page:
            page.goto("/")
            page.locator("[name=email]").fill(user)
            page.locator("[type=submit]").click()
            page.wait_for_function("window.spanManager?.isInitialized")
            yield page


def pair_of(topic: str, position: int, kind: str, text: str) -> str:
    return "/".join(map(escaped, (topic, str(position), kind, "", text)))


def choose(page: Page, rubric: str, number: int) -> None:
    with page.expect_response(_is_stored(f'"{rubric}:{number}"')):
        page.locator(f"#{rubric}_{number}_radio").check(force=True)  # of a scale a label is over it


def fill_comment(page: Page, rubric: str, comment: str) -> None:
    """Fill in the comment box of a choice."""
    with page.expect_response(_is_stored(comment)):
        page.locator(f"#{rubric}_free_response_text").fill(comment)


def mark(page: Page, first: str, last: str = "") -> None:
    """Drag over text, from the start of `first` to the end of `last`."""
    page.locator("#nugget-spans_graded").set_checked(True)
    with page.expect_response(_is_stored('"type":"span"')):
        drag(page, TEXT, first, last)


def go_on(page: Page) -> None:
    """Go to the next text."""
    before = page.locator("#instance_id").input_value()
    page.locator("#next-btn").click()
    page.wait_for_function(
        "before => document.querySelector('#instance_id')?.value !== before"
        " && window.spanManager?.isInitialized",
        arg=before,
    )


def _is_stored(content: str) -> Callable[[Response], bool]:
    """Return a predicate: a response confirms that the content is stored.

    The page sends some things a while later.
    """

    def is_stored(response: Response) -> bool:
        posted = response.request.post_data or ""
        return response.url.endswith("/updateinstance") and response.ok and content in posted

    return is_stored


def displayed_pair(page: Page) -> dict[str, Any]:
    """Return the pair, the question and the text that the page displays."""
    return {
        "pair": page.locator("#instance_id").input_value(),
        "question": page.locator("#graded legend").inner_text(),
        "text": page.locator(TEXT).evaluate("node => node.textContent"),
    }
