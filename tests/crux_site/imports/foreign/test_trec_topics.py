"""TREC topics in SGML, known by their content."""

import pytest

from annotation.models import Topic
from tests.toolbox.foreign_files import read, refused, write

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

ONE = [
    "<top>",
    "<num> Number: 301",
    "<title> The mill",
    "",
    "<desc> Description:",
    "Who mended",
    "the wheel?",
    "<narr> Narrative:",
    "A relevant text names a person.",
    "</top>",
]
TWO = ["<top><num>302</num><title>The weir</title></top>"]


@pytest.mark.parametrize("form", ["trec-rag", "beir", "trec-diversity"])
def test_topics_in_sgml(tmp_path, form):
    read(write(tmp_path, {"topics.301-302": ["", *ONE, "", *TWO]}), form)
    assert list(Topic.objects.values_list("name", "request")) == [
        ("301", "The mill\n\nWho mended the wheel?"),
        ("302", "The weir"),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*ONE[:-1]], "topics.txt:1: <top> without </top>"),
        ([*ONE[:-1], *TWO], "topics.txt:10: <top> inside the topic that begins on line 1"),
        (["<top><title>The mill</top>"], "topics.txt:1: num: is missing"),
        (["<top><num>3 1<title>The mill</top>"], "topics.txt:1: num: must have 1 to 250"),
    ],
)
def test_broken_topic_names_its_line(tmp_path, lines, message):
    (problem,) = refused(write(tmp_path, {"topics.txt": lines}), "trec-rag")
    assert problem.startswith(message)
