"""Potato is served with the setup of the docs, somebody works in it, and its own files are read."""

import pytest

from annotation.formats.summary import Mapped
from annotation.models import Dataset
from crux_site.imports.importing import import_dataset
from tests.crux_site.datasets.test_tools import BODY, PASSAGE, make_small, objects, table
from tests.crux_site.imports.study import QUESTIONS, write
from tests.tools.potato import Potato, choose, go_on, mark, pair_of, say, shown

pytestmark = pytest.mark.django_db
SPACED = "t-1:9#8"
# Of what Potato leaves out where it shows a text, and of what a reader of HTML would take for something else.
WIDE = "  Two  ships,\tone 🚢\r\nx < y &amp; <b>bold</b>.  One   ship, one 🚢\r\n"
TEXTS = [
    (pair_of("t-1", 0, "passage", PASSAGE), QUESTIONS["t-1"][0], BODY),
    (pair_of("t-1", 1, "passage", SPACED), QUESTIONS["t-1"][1], WIDE),
]
WHO = "hal@mill.org"


@pytest.fixture(scope="module")
def potato(tmp_path_factory):
    """Where a person has graded and marked both texts."""
    running = Potato(tmp_path_factory.mktemp("potato") / "log", TEXTS)
    running.start()
    try:
        work(running)
        yield running
    finally:
        running.kill()


def work(potato: Potato) -> None:
    """By the mouse, behind emoji, an accent, words from right to left and line ends of Windows."""
    with potato.page(WHO) as page:
        assert shown(page)["question"] == QUESTIONS["t-1"][0]
        assert shown(page)["text"] == BODY.replace("\r", "")
        choose(page, "graded", 2)
        choose(page, "graded", 4)  # another mind
        mark(page, "sank.", "It")
        mark(page, "sank")  # the second
        mark(page, "عبّارة هالدن")
        mark(page, "e\u0301 🚢")
        choose(page, "question-type", 2)
        choose(page, "answerable", 0)
        say(page, "answerable", "Nobody says.")
        go_on(page)
        assert shown(page)["pair"] == TEXTS[1][0]
        assert shown(page)["text"] == (
            "Two ships,one 🚢\nx < y &amp; <b>bold</b>. One ship, one 🚢"
        )
        choose(page, "graded", 0)
        mark(page, "y &amp; <b>bold</b>. One")
        mark(page, "ships,one 🚢")
        mark(page, "one 🚢")  # the second


@pytest.fixture
def small(tmp_path) -> Dataset:
    study = make_small(tmp_path / "small")
    more = {"passages.jsonl": [{"id": SPACED, "contents": WIDE}]}
    import_dataset(write(tmp_path / "more", more), "small")
    return study


def of_the_person(dataset: Dataset) -> dict[tuple, tuple]:
    """Grade and spans by text and question."""
    return {
        (row["text"], row["question_index"], row["rubric"]): (row["grade"], row["spans"])
        for row in table(dataset)
        if row["rater"] == "hal-mill-org"
    }


def exact(body: str, words: str) -> dict:
    """The last place of these words."""
    start = body.rindex(words)
    place = {"start": start, "end": start + len(words), "quote": words}
    return place | {"source_quote": "", "located": "exact"}


SAID = {
    (PASSAGE, 0, "graded"): (
        4,
        [exact(BODY, each) for each in ("sank.\r\nIt", "sank", "عبّارة هالدن", "e\u0301 🚢")],
    ),
    (PASSAGE, 0, "question-type"): (2, []),
    (PASSAGE, 0, "answerable"): (0, []),
    (SPACED, 1, "graded"): (
        0,
        [exact(WIDE, each) for each in ("y &amp; <b>bold</b>.  One", "ships,\tone 🚢", "one 🚢")],
    ),
}


@pytest.mark.parametrize("kept", ["export", "state", "folder"])
def test_what_it_keeps_and_exports_has_what_the_person_said_at_its_places(potato, small, kept):
    ways = {
        "export": potato.export,
        "state": lambda: potato.state(WHO),
        "folder": lambda: potato.kept,
    }
    path = ways[kept]()
    summary = import_dataset(path, "small", form="potato")
    assert of_the_person(small) == SAID
    assert summary.created["ratings"] == len(SAID)
    assert {what: n for what, n in summary.mapped.items() if n} == {Mapped.NO_GRADES: 1}
    # All of them are one and the same.
    for way in ways.values():
        assert not import_dataset(way(), "small", form="potato").changed


def test_its_export_has_the_words_that_it_shows(potato):
    """So its places are told apart from those of the text, which ours count."""
    lines = {line["instance_id"]: line for line in objects(potato.export())}
    assert {line["user_id"] for line in lines.values()} == {WHO}
    spans = lines[TEXTS[1][0]]["spans"]["nugget-spans"]
    assert [span["text"] for span in spans][1] == "ships,one 🚢"
    visible = BODY.replace("\r", "")
    for span in lines[TEXTS[0][0]]["spans"]["nugget-spans"]:
        assert visible[span["start"] : span["end"]] == span["text"]
