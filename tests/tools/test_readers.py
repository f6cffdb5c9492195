"""Our files, read by the code of the tools that they are for; and Web Annotations by one of their readers."""

import json
import re
from pathlib import Path

import pytest

from annotation.formats.foreign.tools import escaped
from annotation.models import Dataset, NuggetSpan, Text
from tests.crux_site.datasets.test_tools import export, small
from tests.tools.material import run, told

__all__ = ["small"]
pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]


def setup_of_the_docs() -> str:
    """The setup that docs/files.md shows, with all grades and rubrics of the study."""
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    setup = re.search(r"    <View>.*?</View>", page, re.DOTALL)[0]
    choices, labels = (
        re.search(rf" *<{tag} .*?</{tag}>\n", setup, re.DOTALL)[0] for tag in ("Choices", "Labels")
    )
    every = "".join(f'<Choice value="{grade}"/>' for grade in range(10))
    rubrics = ("graded", "answerable", "question-type")
    named = "".join(f'<Choices name="{slug}" toName="text">{every}</Choices>' for slug in rubrics)
    of_spans = "".join(f'<Label value="{slug}"/>' for slug in rubrics)
    return setup.replace(choices, named).replace(
        labels, labels.replace('<Label value="graded"/>', of_spans)
    )


def test_label_studio_finds_nothing_wrong_under_the_setup_of_the_docs(tmp_path, small):
    export("small", "label-studio", tmp_path / "out.json")
    (tmp_path / "setup.xml").write_text(setup_of_the_docs(), encoding="utf-8")
    found = told("label-studio", tmp_path / "out.json", tmp_path / "setup.xml")
    assert len(found) > 20
    assert not [wrong for wrong in found if wrong]


def test_argilla_reads_every_record_and_writes_it_again(tmp_path, small):
    ours, theirs = tmp_path / "out.json", tmp_path / "again.json"
    export("small", "argilla", ours)
    n = told("argilla", ours, theirs)
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (ours, theirs))
    assert n == len(before) > 20
    assert [{name: record[name] for name in before[0]} for record in after] == before


def test_potato_finds_the_words_of_web_annotations_at_their_places(tmp_path, small):
    export("small", "web-annotation", tmp_path / "out.json")
    (tmp_path / "texts.jsonl").write_text(
        "".join(
            json.dumps({"source": source(text), "text": text.body}) + "\n" for text in bodies(small)
        ),
        encoding="utf-8",
    )
    made = tmp_path / "made"
    paths = ["-i", tmp_path / "out.json", "-o", made, "--texts", tmp_path / "texts.jsonl"]
    run("-m", "potato.importers", "-f", "web_annotation", *paths)
    lines = (made / "data" / "out.jsonl").read_text(encoding="utf-8").splitlines()
    read = {row["source"]: row for row in map(json.loads, lines)}
    for text in bodies(small):
        marked = NuggetSpan.objects.filter(rating__text=text, start__isnull=False)
        assert {as_read(span.quote) for span in marked} <= words_in(read.get(source(text), {}))


def as_read(words: str) -> str:
    """Potato reads a text with less white space, and looks for places in that."""
    return " ".join(words.split())


def words_in(row: dict) -> set[str]:
    spans = row.get("predictions", {}).get("spans", [])
    return {as_read(row["text"][span["start"] : span["end"]]) for span in spans}


def bodies(dataset: Dataset) -> list[Text]:
    return list(dataset.texts.exclude(body=None))


def source(text: Text) -> str:
    return "urn:x-crux:text/" + "/".join(map(escaped, (text.kind, text.system, text.name)))
