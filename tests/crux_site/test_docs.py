"""What the docs name is there: paths, headings, pictures; and the README says at once how to begin."""

import re
import tokenize
from pathlib import Path

import pytest

from tests.apps import OUR_APPS
from tests.browser.pictures import FILMS, FOLDER, PICTURES, still_of
from tests.browser.site import ROOT

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "bench/README.md"]
PAGES += [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("docs/**/*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^    .*\n", re.MULTILINE)
# One of our files begins with a folder of ours and ends as files do; a folder alone counts in words of code.
OURS = "|".join((*OUR_APPS, "bench", "client", "docs", "fixtures", "static", "templates", "tests"))
KINDS = "py|md|html|js|css|jsonl?|toml|txt|po"
FILE = re.compile(rf"(?<![\w./-])((?:{OURS})/(?:[\w-]+/)*[\w-]+\.(?:{KINDS}))\b")
FOLDER_NAMED = re.compile(rf"`((?:{OURS})/(?:[\w-]+/)*)`")
MODULE = re.compile(rf"(?<![\w./-])((?:{'|'.join(OUR_APPS)})(?:\.[a-z_]\w*)+)")
FIRST_SCREEN = 35
# What a folder of a page may hold.
OF_A_PAGE = ("urls.py", "views.py", "params.py", "forms.py", "page.py", "tags.py", "export.py")
OF_KITS = ("ui.py", "bench.py")
SAID = {tokenize.STRING, tokenize.COMMENT}
FILLED_IN = re.compile(r"\{[^{}]*\}")
# Names of salts, of loggers and of files that look like modules.
NO_MODULES = ("annotation.invited", "building.md", "crux_site.logins")


def words_of(page: str) -> str:
    return CODE.sub("", (ROOT / page).read_text())


def anchors_of(path: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page):
    for link in LINK.findall(words_of(page)):
        if re.match(r"https?:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


# A decision says how things were when it was made, and so does what was changed.
@pytest.mark.parametrize(
    "page", [page for page in PAGES if "decisions" not in page and page != "CHANGELOG.md"]
)
def test_every_path_that_is_named_is_there(page):
    words = (ROOT / page).read_text()
    for path in [*FILE.findall(words), *FOLDER_NAMED.findall(words)]:
        assert (ROOT / path).exists(), path


def test_the_map_of_contributing_names_whole_paths():
    for name in re.findall(r"`([\w./]+\.(?:py|js))`", (ROOT / "CONTRIBUTING.md").read_text()):
        assert (ROOT / name).is_file() or name in OF_A_PAGE + OF_KITS, name


@pytest.mark.parametrize("folder", [*OUR_APPS, "client", "tests", "bench"])
def test_what_code_says_of_other_code_is_there(folder):
    """In docstrings and comments too, which no import checks."""
    for file in sorted((ROOT / folder).rglob("*.py")):
        if "migrations" in file.parts:
            continue
        with tokenize.open(file) as source:
            read = tokenize.generate_tokens(source.readline)
            words = "\n".join(
                FILLED_IN.sub("{}", token.string) for token in read if token.type in SAID
            )
        for path in FILE.findall(words):
            assert (ROOT / path).exists() or (ROOT / "templates" / path).exists(), f"{file}: {path}"
        for dotted in MODULE.findall(words):
            assert dotted in NO_MODULES or is_there(dotted), f"{file}: {dotted}"


def is_there(dotted: str) -> bool:
    """Whether a dotted name is a module of ours, or something that one defines."""
    *above, last = parts = dotted.split(".")
    if module_of(parts):
        return True
    while len(above) > 1 and not module_of(above):
        last = above.pop()
    module = module_of(above)
    return module is not None and re.search(rf"\b{last}\b", module.read_text()) is not None


def module_of(parts: list[str]) -> Path | None:
    path = ROOT.joinpath(*parts)
    candidates = [path / "__init__.py", path.with_suffix(".py")]
    return next((file for file in candidates if file.is_file()), None)


def test_the_first_screen_of_the_readme_says_what_it_is_and_how_to_begin():
    lines = (ROOT / "README.md").read_text().splitlines()[:FIRST_SCREEN]
    before = lines[: lines.index("    make demo")]
    assert not [line for line in before if "![" in line]  # a picture alone may fill the screen
    screen = " ".join(lines).lower()
    for searched in (
        "rag evaluation",
        "llm as a judge",
        "human agreement",
        "inter-annotator agreement",
    ):
        assert searched in screen
    for searched in ("nuggets", "controlled retrieval-augmented context evaluation", "arxiv.org"):
        assert searched in screen


def test_make_pictures_makes_every_picture_and_each_is_shown():
    assert "-m tests.browser.pictures" in (ROOT / "Makefile").read_text()
    there = {path.name for path in FOLDER.iterdir()}
    assert there == {*PICTURES, *FILMS, *map(still_of, FILMS)}
    shown = {
        Path(link).name
        for page in PAGES
        for link in LINK.findall(words_of(page))
        if Path(link).parent.name == FOLDER.name
    }
    assert shown == there


@pytest.mark.parametrize(
    "page", [p for p in PAGES if p == "README.md" or Path(p).parts[:-1] == ("docs",)]
)
def test_things_are_where_they_are(page):
    """They do not stand there, and nothing is said by anybody who could say it. (`stand-in` is a name.)"""
    assert not re.findall(r"\bstands?\b(?!-| for\b).*|.*\b(?:is|are) said by\b.*", words_of(page))
