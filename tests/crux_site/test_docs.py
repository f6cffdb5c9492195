"""References in the docs exist: paths, headings, pictures; the README begins with a start."""

import re
import tokenize
from pathlib import Path

import pytest

from tests.browser.pictures import FILMS, FOLDER, PICTURES, still_name
from tests.toolbox.documentation import CODE_LINE, PAGES
from tests.toolbox.installed_apps import OUR_APPS
from tests.toolbox.paths import ROOT

LINK = re.compile(r"\]\(([^)\s]+)\)")
# One of our files begins with a folder of ours and ends as files do; a folder alone counts in words of code.
OURS = "|".join((*OUR_APPS, "bench", "client", "docs", "fixtures", "static", "templates", "tests"))
KINDS = "py|md|html|js|css|jsonl?|toml|txt|po"
FILE = re.compile(rf"(?<![\w./-])((?:{OURS})/(?:[\w-]+/)*[\w-]+\.(?:{KINDS}))\b")
FOLDER_NAMED = re.compile(rf"`((?:{OURS})/(?:[\w-]+/)*)`")
MODULE = re.compile(rf"(?<![\w./-])((?:{'|'.join(OUR_APPS)})(?:\.[a-z_]\w*)+)")
FIRST_SCREEN = 35
# What a folder of a page may hold.
OF_A_PAGE = (
    *("urls.py", "views.py", "query.py", "forms.py", "page.py", "tags.py", "export.py"),
    *("command.py", "__init__.py"),
)
OF_KITS = ("ui.py", "bench.py")
TEXT_TOKENS = {tokenize.STRING, tokenize.COMMENT}
FILLED_IN = re.compile(r"\{[^{}]*\}")
# Names of salts, of loggers and of files that look like modules.
NO_MODULES = (
    *("annotation.invited", "annotation.open_link"),
    *("building.md", "crux_site.logins", "judging.md"),
)


def prose_of(page: str) -> str:
    return CODE_LINE.sub("", (ROOT / page).read_text())


def anchors_of(path: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES)
def test_links_resolve(page):
    for link in LINK.findall(prose_of(page)):
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
def test_paths_in_docs_exist(page):
    text = (ROOT / page).read_text()
    for path in [*FILE.findall(text), *FOLDER_NAMED.findall(text)]:
        assert (ROOT / path).exists(), path


def test_map_of_contributing_names_whole_paths():
    for name in re.findall(r"`([\w./]+\.(?:py|js))`", (ROOT / "CONTRIBUTING.md").read_text()):
        assert (ROOT / name).is_file() or name in OF_A_PAGE + OF_KITS, name


@pytest.mark.parametrize("folder", [*OUR_APPS, "client", "tests", "bench"])
def test_code_references_in_code_exist(folder):
    """In docstrings and comments too, which no import checks."""
    for file in sorted((ROOT / folder).rglob("*.py")):
        if "migrations" in file.parts:
            continue
        with tokenize.open(file) as source:
            read = tokenize.generate_tokens(source.readline)
            text = "\n".join(
                FILLED_IN.sub("{}", token.string) for token in read if token.type in TEXT_TOKENS
            )
        for path in FILE.findall(text):
            assert (ROOT / path).exists() or (ROOT / "templates" / path).exists(), f"{file}: {path}"
        for dotted in MODULE.findall(text):
            assert dotted in NO_MODULES or name_exists(dotted), f"{file}: {dotted}"


def name_exists(dotted: str) -> bool:
    """Return True if a dotted name is a module of ours, or is defined in one."""
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


def test_first_screen_of_the_readme_says_what_it_is_and_how_to_begin():
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
    files = {path.name for path in FOLDER.iterdir()}
    assert files == {*PICTURES, *FILMS, *map(still_name, FILMS)}
    linked = {
        Path(link).name
        for page in PAGES
        for link in LINK.findall(prose_of(page))
        if Path(link).parent.name == FOLDER.name
    }
    assert linked == files


@pytest.mark.parametrize(
    "page", [p for p in PAGES if p == "README.md" or Path(p).parts[:-1] == ("docs",)]
)
def test_things_are_where_they_are(page):
    """Docs and code avoid "stand" and "say" for things. (`stand-in` is a name.)"""
    assert not re.findall(
        r"\bstands?\b(?!-| (?:in )?for\b).*|.*\b(?:is|are) said by\b.*", prose_of(page)
    )
