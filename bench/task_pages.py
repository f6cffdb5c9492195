"""Benchmark of the task pages: actions and time of a worker, by the peers' UI kit.

Also tests answers when the network goes away, the page is reloaded, or opened twice.

    python -m bench.task_pages [KIT]

KIT is the folder of the kit's ui.py (default: $CRUX_UI_KIT). It needs Playwright, Chromium, and axe-core
from npm below $PEERUI_ROOT/npm. Prints one JSON object; the item is tests/toolbox/browser_texts.py.
"""

import importlib.util
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from bench.smoke import MissingPartError
from tests.browser.user_input import keys_for, settled
from tests.toolbox.browser_texts import (
    EXPECTED_T1,
    EXPECTED_T2,
    PASSWORD,
    T1_ANSWERS,
    T2_ANSWERS,
    Answers,
)
from tests.toolbox.served_site import Site, served


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
    for index, (_, quotes) in enumerate(T1_ANSWERS):
        actor.click(f"#q-{index + 1} input[value='{1 if quotes else 0}']")
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
    """Answer T1 with both hands: mark words by mouse, answer no by key."""
    for _, quotes in T1_ANSWERS:
        for quote in quotes:
            actor.drag("#text", quote)  # the first span of the active question answers 1
        actor.key("Enter" if quotes else "0")
    settled(page)
    actor.key("Control+Enter")


def t2_mouse(ui, actor, page) -> None:
    for index, (_, grade, quote) in enumerate(T2_ANSWERS):
        actor.click(f"#q-{index + 1} input[value='{grade}']")
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


INPUT_METHODS = {
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


def offsets(site: Site, worker: str, campaign: str) -> str:
    """Compare the spans that the worker meant with those stored; see `compare_spans`."""
    rubric, meant = {"t1": ("answerable", EXPECTED_T1), "t2": ("graded", EXPECTED_T2)}[campaign]
    return compare_spans(meant, site.ratings(worker, rubric))


def compare_spans(meant: Answers, stored: Answers) -> str:
    """Return how many of the meant spans are stored at their question, and how many others.

    A span that agrees with its own quote is wrong all the same if other words were meant.
    """
    meant_spans, stored_spans = (
        {(position, *span) for position, (_, spans) in answers.items() for span in spans}
        for answers in (meant, stored)
    )
    n_meant = len(meant_spans & stored_spans)
    return f"{n_meant} of {len(meant_spans)} as meant, {len(stored_spans - meant_spans)} others"


def visible_text(page, selector: str) -> str:
    """Wait for the first matching element to be visible; return its text."""
    page.locator(selector).first.wait_for(state="visible")
    return page.locator(selector).first.inner_text()


def answer_no(page, numbers) -> None:
    for number in numbers:
        page.locator(f"#q-{number} input[value='0']").click()


def offline_in_the_middle(ui, context, site: Site, worker: str) -> dict[str, object]:
    """Answer twice online and three times offline; then reconnect without any action."""
    item = site.assignments(worker, "t1")[0]
    page = context.new_page()
    net = ui.Net(page)
    page.goto(f"{site.url}/work/{item}/")
    answer_no(page, (1, 2))
    settled(page)
    net.offline()
    answer_no(page, (3, 4, 5))
    message = visible_text(page, "#saved.failed")
    net.offline(False)
    began = time.monotonic()
    settled(page)
    seconds = time.monotonic() - began
    positions = [position for position, _ in site.answers(item)]
    page.close()
    return {
        "says": message,
        "resent_after_s": round(seconds, 1),
        "kept": f"{len(set(positions))} of 5, {len(positions)} rows, "
        f"in order: {positions == sorted(positions)}",
    }


def submit_offline(ui, context, site: Site, worker: str) -> dict[str, object]:
    item = site.assignments(worker, "t1")[0]
    page = context.new_page()
    net = ui.Net(page)
    page.goto(f"{site.url}/work/{item}/")
    answer_no(page, range(1, len(T1_ANSWERS) + 1))
    settled(page)
    net.offline()
    page.click("#submit button")
    message = visible_text(page, "#saved.failed")
    before = site.state(item)
    net.offline(False)
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    page.close()
    return {"says": message, "state_offline": before, "state_after": site.state(item)}


def second_tab(context, site: Site, worker: str) -> dict[str, object]:
    item = site.assignments(worker, "t1")[0]
    pages = [context.new_page() for _ in range(2)]
    for page in pages:
        page.goto(f"{site.url}/work/{item}/")
    began = time.monotonic()
    messages = [visible_text(page, "#elsewhere") for page in pages]
    notice_seconds = time.monotonic() - began
    answer_no(pages[0], (2,))
    pages[1].locator("#q-2 input[value='0']:checked").wait_for()
    for page in pages:
        page.close()
    return {
        "both_told_after_s": round(notice_seconds, 2),
        "says": messages[0],
        "answer_appears": True,
    }


def reload_in_the_middle(context, site: Site, worker: str) -> dict[str, object]:
    """Send five answers that fail, reload the page, and restore the network."""
    item = site.assignments(worker, "t1")[0]
    page = context.new_page()
    page.goto(f"{site.url}/work/{item}/")
    context.route("**/answers/**", lambda route: route.abort())
    answer_no(page, range(1, 6))
    visible_text(page, "#saved.failed")
    page.reload()
    n_checked = page.locator(".question input:checked").count()
    context.unroute("**/answers/**")
    settled(page)
    page.close()
    return {"shown_after_reload": f"{n_checked} of 5", "stored": f"{len(site.answers(item))} of 5"}


def t1_touch(ui, context, site: Site, worker: str) -> dict[str, object]:
    """Answer T1 by touch: a selection counts as one tap here, as does a button."""
    first, second = site.assignments(worker, "t1")
    page = context.new_page()
    page.goto(f"{site.url}/work/{first}/")
    taps, both_visible = 0, True
    for index, (_, quotes) in enumerate(T1_ANSWERS):
        buttons = [f"#q-{index + 1} .touch-take button:not([data-next])" for _ in quotes[1:]]
        for quote, button in zip(
            quotes, [*buttons, f"#q-{index + 1} .touch-take [data-next]"], strict=False
        ):
            ui.native_select(page, "#text", quote)
            page.locator(button).tap()
            taps += 2
        if not quotes:
            page.locator(f"#q-{index + 1} input[value='0']").tap()  # goes on by itself
            taps += 1
        boxes = [page.locator(name).bounding_box() for name in (".text-pane", ".question-pane")]
        both_visible &= boxes[0]["height"] > 100 and boxes[1]["y"] + boxes[1]["height"] <= 845
    settled(page)
    screens = page.evaluate("document.documentElement.scrollHeight / innerHeight")
    page.locator("#submit button").tap()
    page.wait_for_url(f"**/work/{second}/")
    page.close()
    return {
        "taps": taps + 1,
        "screens": round(screens, 2),
        "text_and_question_together": both_visible,
    }


def smoke() -> str:
    """Complete one item by mouse and keys; see bench.smoke."""
    folder = os.environ.get("CRUX_UI_KIT")
    if not folder:
        raise MissingPartError("no kit of the task pages (CRUX_UI_KIT=FOLDER of its ui.py)")
    axe = Path(os.environ.get("PEERUI_ROOT", "."), "npm/node_modules/axe-core/axe.min.js")
    if not axe.exists():
        raise MissingPartError(f"no axe-core of npm at {axe} (PEERUI_ROOT=FOLDER above npm)")
    method = "t2_mouse_and_keys"
    globals().update(INPUT_METHODS={method: INPUT_METHODS[method]})
    results: dict[str, object] = {}
    ui, seed = kit(folder), "from tests.browser.seed import seed; seed()"
    with (
        tempfile.TemporaryDirectory() as var,
        served(Path(var), seed) as site,
        ui.browser() as context,
    ):
        by_input_method(ui, context, site, results)
    if results[f"{method}_offsets"] != "2 of 2 as meant, 0 others":
        sys.exit(f"Stored spans: {results[f'{method}_offsets']}")
    return f"{results[f'{method}_answers']} answers stored, both spans as meant"


def main() -> None:
    ui = kit(sys.argv[1] if len(sys.argv) > 1 else os.environ["CRUX_UI_KIT"])
    results: dict[str, object] = {}
    seed = "from tests.browser.seed import seed; seed()"
    with served(Path(tempfile.mkdtemp()), seed) as site:
        with ui.browser() as context:
            by_input_method(ui, context, site, results)
            loads(ui, context, site, results)
            for number, (name, act) in enumerate(
                {
                    "offline": lambda *arguments: offline_in_the_middle(ui, *arguments),
                    "submit_offline": lambda *arguments: submit_offline(ui, *arguments),
                    "second_tab": second_tab,
                    "reload": reload_in_the_middle,
                }.items()
            ):
                print(name, file=sys.stderr)
                context.clear_cookies()
                log_in(context, site, worker := f"worker{10 + number}")
                results[name] = act(context, site, worker)
        with ui.browser(390, 844, touch=True) as phone:
            print("t1_touch", file=sys.stderr)
            log_in(phone, site, "worker21")
            results["t1_touch"] = t1_touch(ui, phone, site, "worker21")
            results["t1_touch_offsets"] = offsets(site, "worker21", "t1")
    print(json.dumps(results, indent=1))


def by_input_method(ui, context, site: Site, results: dict[str, object]) -> None:
    """Complete both items by mouse, by keyboard and by both."""
    for number, (method, (campaign, act)) in enumerate(INPUT_METHODS.items()):
        print(method, file=sys.stderr)
        context.clear_cookies()
        worker = f"worker{number}"
        log_in(context, site, worker)
        page = context.new_page()
        item = site.assignments(worker, campaign)[0]
        page.goto(f"{site.url}/work/{item}/")
        actor = ui.Actor(page)
        act(ui, actor, page)
        page.wait_for_url(lambda url, item=item: not url.endswith(f"/work/{item}/"))
        results[method] = actor.result()
        results[f"{method}_offsets"] = offsets(site, worker, campaign)
        results[f"{method}_answers"] = len(site.answers(item))
        page.close()


def loads(ui, context, site: Site, results: dict[str, object]) -> None:
    """Measure weight, load time and accessibility of both pages."""
    context.clear_cookies()
    log_in(context, site, "worker20")
    for campaign in ("t1", "t2"):
        print(campaign, file=sys.stderr)
        item = site.assignments("worker20", campaign)[0]
        page, _, loaded = ui.load(context, f"{site.url}/work/{item}/", "#q-1 :is(.choice, .level)")
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


if __name__ == "__main__":
    main()
