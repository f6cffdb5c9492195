"""What a person does on our two task pages, counted with the kit that counted the peers'.

    python -m bench.task_pages [KIT]

KIT is the folder of the kit's ui.py (default: $CRUX_UI_KIT). It needs Playwright, Chromium, and axe-core
from npm below $PEERUI_ROOT/npm. Prints one JSON object; the item is tests/browser/material.py.
"""

import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

from tests.browser.hands import keys_for, settled
from tests.browser.material import PASSWORD, T1_ANSWERS, T1_BODY, T2_ANSWERS
from tests.browser.site import Site, served


def kit(folder: str):
    spec = importlib.util.spec_from_file_location("ui_kit", Path(folder) / "ui.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def log_in(context, site: Site, name: str) -> None:
    page = context.new_page()
    page.goto(f"{site.url}/login/")
    page.fill("#id_username", name)
    page.fill("#id_password", PASSWORD)
    page.click("main button")
    page.wait_for_url(lambda url: "login" not in url)
    page.close()


def t1_mouse(ui, actor, page) -> None:
    for at, (_, quotes) in enumerate(T1_ANSWERS):
        actor.click(f"#q-{at + 1} input[value='{1 if quotes else 0}']")
        for quote in quotes:
            actor.drag("#text", quote)
    settled(page)
    actor.click("#submit button")


def mark_by_keys(actor, page, quote: str) -> None:
    for key in keys_for(page, quote):
        actor.key(key)


def t1_keys(ui, actor, page) -> None:
    for _, quotes in T1_ANSWERS:
        if not quotes:
            actor.key("0")
            continue
        for quote in quotes:
            mark_by_keys(actor, page, quote)
        actor.key("Enter")
    settled(page)
    actor.key("Control+Enter")


def t1_both(ui, actor, page) -> None:
    """The hand that is free: words by mouse, what no words support by key."""
    for _, quotes in T1_ANSWERS:
        for quote in quotes:
            actor.drag("#text", quote)  # the first span of the active question answers 1
        actor.key("Enter" if quotes else "0")
    settled(page)
    actor.key("Control+Enter")


def t2_mouse(ui, actor, page) -> None:
    for at, (_, grade, quote) in enumerate(T2_ANSWERS):
        actor.click(f"#q-{at + 1} input[value='{grade}']")
        actor.drag("#text", quote)
    settled(page)
    actor.click("#submit button")


def t2_both(ui, actor, page) -> None:
    for _, grade, quote in T2_ANSWERS:
        actor.drag("#text", quote)
        actor.key(str(grade))
    settled(page)
    actor.key("Control+Enter")


def t2_keys(ui, actor, page) -> None:
    for _, grade, quote in T2_ANSWERS:
        mark_by_keys(actor, page, quote)
        actor.key(str(grade))
    settled(page)
    actor.key("Control+Enter")


WAYS = {
    "t1_mouse": ("t1", t1_mouse),
    "t1_mouse_and_keys": ("t1", t1_both),
    "t1_keyboard": ("t1", t1_keys),
    "t2_mouse": ("t2", t2_mouse),
    "t2_mouse_and_keys": ("t2", t2_both),
    "t2_keyboard": ("t2", t2_keys),
}


def tabs_to_first_answer(page) -> int:
    for pressed in range(1, 30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "grade":
            return pressed
        if page.evaluate("document.activeElement.className") == "skip-link":
            page.keyboard.press("Enter")
    return -1


def offsets(ui, site: Site, worker: str) -> str:
    stored = [span for _, spans in site.ratings(worker, "answerable").values() for span in spans]
    right = sum(ui.py_check(T1_BODY, *span)["python"] for span in stored)
    return f"{right} of {len(stored)} right"


def main() -> None:
    ui = kit(sys.argv[1] if len(sys.argv) > 1 else os.environ["CRUX_UI_KIT"])
    results: dict[str, object] = {}
    seed = "from tests.browser.seed import seed; seed()"
    with served(Path(tempfile.mkdtemp()), seed) as site, ui.browser() as context:
        for number, (way, (campaign, act)) in enumerate(WAYS.items()):
            print(way, file=sys.stderr)
            context.clear_cookies()
            worker = f"worker{number}"
            log_in(context, site, worker)
            page = context.new_page()
            item = site.assignments(worker, campaign)[0]
            page.goto(f"{site.url}/work/{item}/")
            actor = ui.Actor(page)
            act(ui, actor, page)
            page.wait_for_url(lambda url, item=item: not url.endswith(f"/work/{item}/"))
            results[way] = actor.result()
            if campaign == "t1":
                results[f"{way}_offsets"] = offsets(ui, site, worker)
            page.close()
        context.clear_cookies()
        log_in(context, site, "worker20")
        for campaign in ("t1", "t2"):
            print(campaign, file=sys.stderr)
            item = site.assignments("worker20", campaign)[0]
            page, _, loaded = ui.load(
                context, f"{site.url}/work/{item}/", "#q-1 :is(.choice, .level)"
            )
            results[f"{campaign}_load"] = loaded
            page.close()
            # What this machine and browser take for hardly any page at all, in the same run.
            page, _, bare = ui.load(context, f"{site.url}/nowhere/", "h1")
            results[f"{campaign}_bare_page_ms"] = bare["tti_ms"]
            page.goto(f"{site.url}/work/{item}/")
            results[f"{campaign}_axe"] = ui.axe(page)
            results[f"{campaign}_targets"] = ui.small_targets(page)
            results[f"{campaign}_tabs_to_first_answer"] = tabs_to_first_answer(page)
            page.close()
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
