"""What the docs name is there: paths, headings, pictures; and the README says at once how to begin."""

import re
from pathlib import Path

import pytest

from tests.browser.pictures import FOLDER, PICTURES
from tests.browser.site import ROOT

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "bench/README.md"]
PAGES += [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("docs/**/*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^    .*\n", re.MULTILINE)
# In words of code, what is one of our files: it begins with a folder of ours and ends as files do.
OURS = "annotation|bench|crux_site|docs|evaluation|fixtures|judging|static|templates|tests"
NAMED = re.compile(rf"`((?:{OURS})/[\w./-]+\.\w+|(?:{OURS})/(?:[\w-]+/)*)`")
FIRST_SCREEN = 35


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


# A decision says how things were when it was made.
@pytest.mark.parametrize("page", [page for page in PAGES if "decisions" not in page])
def test_every_path_that_is_named_is_there(page):
    for path in NAMED.findall(words_of(page)):
        assert (ROOT / path).exists(), path


def test_the_first_screen_of_the_readme_says_what_it_is_and_how_to_begin():
    lines = (ROOT / "README.md").read_text().splitlines()[:FIRST_SCREEN]
    before = lines[: lines.index("    make demo")]
    assert not [line for line in before if "![" in line]  # a picture alone may fill the screen
    said = " ".join(lines).lower()
    for searched in (
        "rag evaluation",
        "llm as a judge",
        "human agreement",
        "inter-annotator agreement",
    ):
        assert searched in said
    for searched in ("nuggets", "controlled retrieval-augmented context evaluation", "arxiv.org"):
        assert searched in said


def test_make_pictures_makes_every_picture_and_each_is_shown():
    assert "-m tests.browser.pictures" in (ROOT / "Makefile").read_text()
    there = {path.name for path in FOLDER.iterdir()}
    assert there == set(PICTURES)
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
