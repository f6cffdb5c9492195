"""Label Studio, served from its own Python and database, with people at work in it."""

import json
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Locator, Page, Response

from tests.toolbox.model_process import ModelProcess
from tests.tools.hand import browser_at, drag
from tests.tools.material import PYTHON

OWNER, PASSWORD, TOKEN = "olga@mill.org", "pass-word-1", "0123456789abcdef" * 2
# With names and predictions: the plain export has a number in place of each.
WHOLE = {"annotations__completed_by": {"only_id": False}, "predictions": {"only_id": False}}


class LabelStudio(ModelProcess):
    """Label Studio server, without telemetry or requests to other machines."""

    name = "Label Studio"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "DJANGO_SETTINGS_MODULE": "label_studio.core.settings.label_studio",  # not that of the tests
            "LABEL_STUDIO_BASE_DATA_DIR": str(self.log.parent),
            "COLLECT_ANALYTICS": "False",
            "LATEST_VERSION_CHECK": "False",
            "SENTRY_DSN": "",
            "FRONTEND_SENTRY_DSN": "",
        }

    def command(self) -> list[str]:
        folder = self.log.parent
        options = {
            "database": folder / "label_studio.sqlite3",
            "internal-host": "127.0.0.1",
            "port": self.port,
            "username": OWNER,
            "password": PASSWORD,
            "user-token": TOKEN,
        }
        option_arguments = [
            argument for name, value in options.items() for argument in (f"--{name}", str(value))
        ]
        flags = ["--no-browser", "--enable-legacy-api-token"]
        return [str(Path(PYTHON).with_name("label-studio")), "start", *flags, *option_arguments]

    def owner(self) -> httpx.Client:
        return self.client(TOKEN)

    def client(self, token: str) -> httpx.Client:
        headers = {"Authorization": f"Token {token}"}
        return httpx.Client(base_url=self.address, headers=headers, trust_env=False, timeout=60)

    def joined(self, email: str) -> httpx.Client:
        """Create an account by the owner's invitation; return its client."""
        with self.owner() as owner:
            invitation = checked_json(owner.get("/api/invite"))["invite_url"]
        with httpx.Client(base_url=self.address, trust_env=False, timeout=60) as visitor:
            visitor.get(invitation)
            form = {"csrfmiddlewaretoken": visitor.cookies["csrftoken"]}
            visitor.post(invitation, data=form | {"email": email, "password": PASSWORD})
            return self.client(checked_json(visitor.get("/api/current-user/token"))["token"])

    @contextmanager
    def page(self, email: str):
        """Open Chromium with a new user logged in, without requests to other machines."""
        self.joined(email).close()
        with browser_at(self.address) as page:
            page.goto("/user/login/")
            page.locator("[name=email]").fill(email)
            page.locator("[name=password]").fill(PASSWORD)
            page.locator("[type=submit]").click()
            page.wait_for_url(lambda url: "login" not in url)
            yield page


def checked_json(answer: httpx.Response) -> Any:
    assert answer.is_success, f"{answer.url}: {answer.text[:500]}"
    return answer.json()


class Project:
    """Project with tasks in Label Studio; a task is found by the end of its pair's name."""

    def __init__(self, studio: LabelStudio, setup: str, tasks: Path) -> None:
        self.owner = studio.owner()
        created = self.owner.post("/api/projects/", json={"title": "small", "label_config": setup})
        self.number = checked_json(created)["id"]
        self.address = f"/api/projects/{self.number}"
        payload = json.loads(tasks.read_text(encoding="utf-8"))
        checked_json(self.owner.post(f"{self.address}/import", json=payload))
        everything = self.owner.get(
            f"{self.address}/export", params={"exportType": "JSON", "download_all_tasks": "true"}
        )
        self.tasks = checked_json(everything)
        assert len(self.tasks) == len(payload)

    def task(self, pair: str) -> dict[str, Any]:
        (task,) = [task for task in self.tasks if task["data"]["pair"].endswith(pair)]
        return task

    def page_of(self, pair: str) -> str:
        return f"/projects/{self.number}/data?task={self.task(pair)['id']}"

    def whole_export(self, path: Path) -> Path:
        created = self.owner.post(f"{self.address}/exports/", json={"serialization_options": WHOLE})
        download = self.owner.get(f"{self.address}/exports/{checked_json(created)['id']}/download")
        return _written(download, path)

    def export(self, form: str, path: Path) -> Path:
        return _written(self.owner.get(f"{self.address}/export", params={"exportType": form}), path)


def _written(answer: httpx.Response, path: Path) -> Path:
    checked_json(answer)
    path.write_bytes(answer.content)
    return path


def grade_input(page: Page, number: int) -> Locator:
    """Return the input of a grade of the first rubric."""
    return page.locator(f"input[name='{number}']").first


def mark(page: Page, first: str, last: str = "") -> None:
    """Drag over text, from the start of `first` to the end of `last`."""
    page.locator(".lsf-labels").get_by_text("graded").click()
    drag(page, ".lsf-htx-richtext", first, last)
    page.keyboard.press("Escape")  # the next words are another span


def save(page: Page) -> None:
    def is_saved(got: Response) -> bool:
        return got.request.method in ("POST", "PATCH") and "/annotations" in got.url and got.ok

    with page.expect_response(is_saved):
        page.get_by_role("button", name="submit").click()  # the label of Update, too
