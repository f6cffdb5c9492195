"""Screenshots for the docs, taken from the demo: light scheme, 1280 wide, the phone's 390.

    python -m tests.browser.pictures [FOLDER]

`make pictures` writes them into docs/images. A picture is a function here: its name is that of the file,
it gets a page on which a user of the demo is logged in, and returns the last element that the picture shows.
A film yields, once for each step, the element that is pressed next.
"""

import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect, sync_playwright

from bench.ports import free_port
from tests.browser.user_input import drag_over, grade, select_by_touch, settled, until
from tests.toolbox.paths import ROOT
from tests.toolbox.served_site import CHROMIUM, Site, launched, served

FOLDER = ROOT / "docs" / "images"
DATASET = "/datasets/coastal-demo/"
SEED = """
from django.core.management import call_command
from tests.browser.sessions import make_sessions
call_command("demo")
make_sessions()
"""


@dataclass(frozen=True)
class Picture:
    account: str  # an account of the demo
    draw: Callable[[Page, Site], Locator | None]  # returns the last element shown; None: the window
    width: int
    height: int
    scale: float


PICTURES: dict[str, Picture] = {}


def picture(account: str, *, width: int = 1280, height: int = 800, scale: float = 1):
    def register(draw):
        name = draw.__name__.replace("_", "-") + ".png"
        PICTURES[name] = Picture(account, draw, width, height, scale)
        return draw

    return register


@dataclass(frozen=True)
class Film:
    account: str
    play: Callable[
        [Page, Site], Iterator[Locator | None]
    ]  # the element pressed next gets a ring; None: no ring
    width: int
    height: int


FILMS: dict[str, Film] = {}
RING = (190, 60, 20)
SECONDS, LAST_SECONDS = 3, 5  # display time of a step, and of the last


def film(account: str, *, width: int, height: int):
    def register(play):
        FILMS[play.__name__.replace("_", "-") + ".gif"] = Film(account, play, width, height)
        return play

    return register


@film("researcher", width=1200, height=860)
def from_a_number_to_words(page: Page, site: Site) -> Iterator[Locator | None]:
    """Lead from a kappa to a sentence that one rater marked and another did not."""
    page.goto(f"{site.url}{DATASET}")
    for pressed in (
        page.locator("main").get_by_role("link", name=re.compile("^Agreement")),
        page.locator(".tiles a.figure").first,
        page.locator(".cases a").first,
        page.locator("a[rel=next]"),
        page.locator(".divided a").first,
    ):
        expect(pressed).to_be_visible()
        if page.locator("#text").count():
            until(page, "CSS.highlights.size > 0")
        yield pressed
        was = page.url
        pressed.click()
        page.wait_for_url(lambda url, was=was: url != was)
    until(page, "CSS.highlights.size > 0")
    yield None


@picture("researcher")
def agreement(page: Page, site: Site) -> Locator:
    """Show the judge beside people.

    The demo has no model, so it is the baseline, and is labelled as such.
    """
    page.goto(f"{site.url}{DATASET}agreement/?judge=lexical")
    return page.locator("figure").first.locator(".panels")


@picture("researcher", height=900)
def pair(page: Page, site: Site) -> None:
    differ = "disagreements/?kind=both-answerable-no-overlap&raters=demo_rater2&raters=demo_rater3"
    page.goto(f"{site.url}{DATASET}{differ}&judge=lexical")
    page.locator(".cases a").first.click()
    expect(page.locator("#text .sentence").first).to_be_visible()
    until(page, "CSS.highlights.size > 0")


@picture("researcher")
def retrieval(page: Page, site: Site) -> Locator:
    page.goto(f"{site.url}{DATASET}systems/?judge=lexical")
    return page.locator("table").first


@picture("researcher")
def matrix(page: Page, site: Site) -> Locator:
    page.goto(f"{site.url}{DATASET}matrix/?judge=lexical")
    page.locator("main").get_by_role("link", name="coast-2").first.click()
    page.locator(".filter > summary").click()
    page.get_by_label("Retrieval run").select_option("first_stage.bm25")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("first_stage.bm25 in rank order")).to_be_visible()
    return page.locator("table.matrix")


@picture("admin")
def campaign(page: Page, site: Site) -> Locator:
    page.goto(f"{site.url}/campaigns/demo-crowd/")
    return page.locator("main table").first


@picture("admin")
def builder(page: Page, site: Site) -> Locator:
    page.goto(f"{site.url}/campaigns/demo-crowd/")
    rooms = page.get_by_role("navigation", name="Campaign")
    rooms.get_by_role("link", name="Settings").click()
    page.get_by_role("button", name="Copy as a new draft").click()
    page.locator("main").get_by_role("link", name="Texts").click()
    return page.locator("main")


@picture("worker1", height=760)
def t1(page: Page, site: Site) -> None:
    """Show four of five questions answered, the fourth active."""
    page.goto(f"{site.url}/work/{_item_with(site, 'worker1', 'Divers found a cavity')}/")
    for number, quotes in enumerate(T1, 1):
        grade(page, number, 1)
        for quote in quotes:
            drag_over(page, quote)
    settled(page)


T1 = (
    (
        "tidal currents had washed the sand from beneath the rubble base",
        "the iron ties had rusted through",
    ),
    (
        "Thirty-one boats were shut in for sixteen days",
        "two thirds of the January catch was missed",
    ),
    ("a cavity up to two metres deep under the toe of the wall",),
    ("The regional government pays 60 per cent",),
)


@picture("worker2", width=390, height=844, scale=1.5)
def phone(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/work/{_item_with(site, 'worker2', 'The bill for the new breakwater')}/")
    select_by_touch(page, "The regional government will pay 60 per cent of it")
    page.locator("#q-1 .touch-take button:not([data-next])").tap()
    grade(page, 1, 5)
    settled(page)


@picture("admin")
def judge_run(page: Page, site: Site) -> Locator:
    """Show a run of the mock model, started in the browser, while it is at work."""
    with _judging(site):
        [(judge,)] = site.rows("select id from judging_judge where model = 'stand-in'")
        page.goto(f"{site.url}/judge-runs/new/?dataset=coastal-demo&judge={judge}")
        page.get_by_label("Server").select_option("stand-in")
        page.get_by_role("button", name="Start").click()
        # A worker is a process that has to start; then a fifth is judged in two seconds.
        expect(page.locator("#share")).to_have_text(re.compile(r"^[2-7]\d%"), timeout=300_000)
        # What is told from now on comes too late for this picture.
        page.route("**/judge-runs/*/?state=*", lambda route: route.fulfill(status=204))
        return page.locator("#reply-rows tr").nth(3)


def _item_with(site: Site, worker: str, fragment: str) -> int:
    """Return the item of a worker whose text contains a fragment."""
    [(key,)] = site.rows(
        "select a.id from annotation_assignment a"
        " join annotation_item i on i.id = a.item_id join annotation_text t on t.id = i.text_id"
        " join annotation_participant p on p.id = a.participant_id"
        " join annotation_rater r on r.id = p.rater_id"
        " where r.name = ? and t.kind in ('report', 'passage') and t.body like ?",
        worker,
        f"%{fragment}%",
    )
    return key


@contextmanager
def _judging(site: Site) -> Iterator[None]:
    """Run a worker and the mock model beside the server, as `make demo` starts them."""
    port = site.env["JUDGE_ENDPOINTS"].rpartition(":")[2].partition("/")[0]
    commands = (
        ["-m", "judging.mock_model", "--port", port, "--seconds", "0.2"],
        ["manage.py", "judge_worker", "--verbosity", "0"],
    )
    running = [
        subprocess.Popen([sys.executable, *command], env=site.env, cwd=ROOT) for command in commands
    ]
    try:
        yield
    finally:
        # The worker first: it finishes what it has asked, and the stand-in has to be there to answer.
        for process in reversed(running):
            process.terminate()
            process.wait(180)


@contextmanager
def demo_site(folder: Path, prepared: Path | None = None) -> Iterator[Site]:
    """Serve the demo from a database of its own."""
    stand_in = f"stand-in=http://127.0.0.1:{free_port()}/v1"
    with served(folder, SEED, prepared=prepared, DEMO="1", JUDGE_ENDPOINTS=stand_in) as site:
        yield site


def take(name: str, browser: Browser, site: Site, folder: Path) -> list[str]:
    """Write one picture; return script errors of the page."""
    shot = PICTURES[name]
    with _logged_in(browser, site, shot, shot.scale) as (page, errors):
        last = shot.draw(page, site)
        page.mouse.move(0, 0)
        _in_256_colours(_screenshot(page, last)).save(folder / name, optimize=True)
    return errors


def take_film(name: str, browser: Browser, site: Site, folder: Path) -> list[str]:
    """Write a film as a GIF, and its last step as a PNG; return script errors of the page."""
    shot = FILMS[name]
    with _logged_in(browser, site, shot) as (page, errors):
        frames = []
        for pressed in shot.play(page, site):
            page.mouse.move(0, 0)
            box = pressed.bounding_box() if pressed else None
            frames.append(_in_256_colours(_ringed(page.screenshot(animations="disabled"), box)))
    times = [SECONDS * 1000] * (len(frames) - 1) + [LAST_SECONDS * 1000]
    frames[-1].save(folder / still_name(name), optimize=True)
    frames[0].save(
        folder / name,
        save_all=True,
        append_images=frames[1:],
        duration=times,
        loop=0,
        optimize=True,
    )
    return errors


def still_name(film: str) -> str:
    return film.replace(".gif", ".png")


@contextmanager
def _logged_in(
    browser: Browser, site: Site, shot: Picture | Film, scale: float = 1
) -> Iterator[tuple[Page, list[str]]]:
    errors: list[str] = []
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        device_scale_factor=scale,
        color_scheme="light",
        has_touch=shot.width < 600,
    )
    cookie = {"name": "sessionid", "value": site.sessions[shot.account].pop(), "url": site.url}
    context.add_cookies([{**cookie, "httpOnly": True, "sameSite": "Lax"}])
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page, errors
    context.close()


def _screenshot(page: Page, last: Locator | None) -> bytes:
    if last is None:
        return page.screenshot(animations="disabled")
    box = last.bounding_box()
    height = min(
        box["y"] + box["height"] + 12, page.evaluate("document.documentElement.scrollHeight")
    )
    clip = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}
    return page.screenshot(full_page=True, clip=clip, animations="disabled")


def _ringed(png: bytes, box: FloatRect | None) -> bytes:
    """Draw a ring around the element that is pressed next: screenshots show no mouse."""
    if box is None:
        return png
    with Image.open(io.BytesIO(png)) as image:
        x, y, right, bottom = box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]
        ImageDraw.Draw(image).rounded_rectangle(
            (x - 6, y - 6, right + 6, bottom + 6), radius=8, outline=RING, width=3
        )
        ringed = io.BytesIO()
        image.save(ringed, "png")
    return ringed.getvalue()


def _in_256_colours(png: bytes) -> Image.Image:
    """Reduce to 256 colours, which is a third of the size; our pages use fewer."""
    with Image.open(io.BytesIO(png)) as image:
        return image.convert("RGB").quantize(dither=Image.Dither.NONE)


def main(folder: Path) -> None:
    with (
        tempfile.TemporaryDirectory() as var,
        demo_site(Path(var)) as site,
        sync_playwright() as playwright,
    ):
        browser = launched(playwright, CHROMIUM)
        for name in sys.argv[2:] or [*PICTURES, *FILMS]:
            write = take if name in PICTURES else take_film
            if errors := write(name, browser, site, folder):
                raise SystemExit(f"{name}: {errors}")
            sys.stdout.write(f"  {name}\n")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else FOLDER)
