"""Round trip through Potato.

It is served with the setup of the docs, a person works in it, and its own files are imported.
"""

import pytest

from annotation.formats.summary import Conversion
from annotation.models import Dataset
from crux_site.imports.importing import import_dataset
from tests.toolbox.import_study import QUESTIONS, write
from tests.toolbox.tool_exports import BODY, PASSAGE, make_small, objects, table
from tests.tools.potato import Potato, choose, displayed_pair, fill_comment, go_on, mark, pair_of

pytestmark = pytest.mark.django_db
SPACED = "t-1:9#8"
# Of what Potato leaves out where it shows a text, and of what a reader of HTML would take for something else.
WIDE = "  Two  ships,\tone 🚢\r\nx < y &amp; <b>bold</b>.  One   ship, one 🚢\r\n"
TEXTS = [
    (pair_of("t-1", 0, "passage", PASSAGE), QUESTIONS["t-1"][0], BODY),
    (pair_of("t-1", 1, "passage", SPACED), QUESTIONS["t-1"][1], WIDE),
]
USER = "hal@mill.org"


@pytest.fixture(scope="module")
def potato(tmp_path_factory):
    """Serve Potato, in which a person has graded and marked both texts."""
    running = Potato(tmp_path_factory.mktemp("potato") / "log", TEXTS)
    running.start()
    try:
        work(running)
        yield running
    finally:
        running.kill()


def work(potato: Potato) -> None:
    """Grade and mark by mouse, after emoji, an accent, right-to-left words, Windows lines."""
    with potato.page(USER) as page:
        assert displayed_pair(page)["question"] == QUESTIONS["t-1"][0]
        assert displayed_pair(page)["text"] == BODY.replace("\r", "")
        choose(page, "graded", 2)
        choose(page, "graded", 4)  # another mind
        mark(page, "sank.", "It")
        mark(page, "sank")  # the second
        mark(page, "عبّارة هالدن")
        mark(page, "e\u0301 🚢")
        choose(page, "question-type", 2)
        choose(page, "answerable", 0)
        fill_comment(page, "answerable", "Nobody says.")
        go_on(page)
        assert displayed_pair(page)["pair"] == TEXTS[1][0]
        assert displayed_pair(page)["text"] == (
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
    """Return grade and spans by text and question."""
    return {
        (row["text"], row["question_index"], row["rubric"]): (row["grade"], row["spans"])
        for row in table(dataset)
        if row["rater"] == "hal-mill-org"
    }


def exact(body: str, phrase: str) -> dict:
    """Return the span of the last occurrence of a phrase."""
    start = body.rindex(phrase)
    position = {"start": start, "end": start + len(phrase), "quote": phrase}
    return position | {"source_quote": "", "located": "exact"}


EXPECTED = {
    (PASSAGE, 0, "graded"): (
        4,
        [exact(BODY, phrase) for phrase in ("sank.\r\nIt", "sank", "عبّارة هالدن", "e\u0301 🚢")],
    ),
    (PASSAGE, 0, "question-type"): (2, []),
    (PASSAGE, 0, "answerable"): (0, []),
    (SPACED, 1, "graded"): (
        0,
        [
            exact(WIDE, phrase)
            for phrase in ("y &amp; <b>bold</b>.  One", "ships,\tone 🚢", "one 🚢")
        ],
    ),
}


@pytest.mark.parametrize("source", ["export", "state", "folder"])
def test_stored_and_exported_files_have_all_grades_and_positions(potato, small, source):
    sources = {
        "export": potato.export,
        "state": lambda: potato.state(USER),
        "folder": lambda: potato.output_folder,
    }
    path = sources[source]()
    summary = import_dataset(path, "small", form="potato")
    assert of_the_person(small) == EXPECTED
    assert summary.created["ratings"] == len(EXPECTED)
    assert {reason: n for reason, n in summary.mapped.items() if n} == {Conversion.NO_GRADES: 1}
    # All of them are one and the same.
    for locate in sources.values():
        assert not import_dataset(locate(), "small", form="potato").changed


def test_export_has_the_displayed_text(potato):
    """So its positions differ from those of the text, which ours count."""
    lines = {line["instance_id"]: line for line in objects(potato.export())}
    assert {line["user_id"] for line in lines.values()} == {USER}
    spans = lines[TEXTS[1][0]]["spans"]["nugget-spans"]
    assert [span["text"] for span in spans][1] == "ships,one 🚢"
    visible = BODY.replace("\r", "")
    for span in lines[TEXTS[0][0]]["spans"]["nugget-spans"]:
        assert visible[span["start"] : span["end"]] == span["text"]
