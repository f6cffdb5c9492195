"""Our files, read by the code of the tools that they are for.

Web Annotations are read by Potato.
"""

import json
from pathlib import Path

import pytest

from annotation.formats.foreign.tools import escaped
from annotation.models import Dataset, NuggetSpan, Rating, Text
from tests.toolbox.tool_exports import export, make_small
from tests.tools.label_studio_setup import setup_of_the_docs
from tests.tools.material import run, run_script

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]


@pytest.fixture
def small(tmp_path) -> Dataset:
    return make_small(tmp_path / "small")


def label_studio_finds(tasks: Path, setup: str) -> list[list[str]]:
    path = tasks.with_name("setup.xml")
    path.write_text(setup, encoding="utf-8")
    return json.loads(run_script("read_label_studio.py", tasks, path))


def test_label_studio_validates_export_under_the_setup_of_the_docs(tmp_path, small):
    export("small", "label-studio", tmp_path / "out.json")
    problems = label_studio_finds(tmp_path / "out.json", setup_of_the_docs())
    assert len(problems) > 20
    assert not [wrong for wrong in problems if wrong]
    # It does look: without the grade 5 it finds each of them.
    short = setup_of_the_docs().replace('<Choice value="5"/>', "")
    n = Rating.objects.of_dataset(small).filter(grade=5).count()
    assert (
        len([wrong for wrong in label_studio_finds(tmp_path / "out.json", short) if wrong]) == n > 0
    )


def test_argilla_round_trip_keeps_all_records(tmp_path, small):
    ours, theirs = tmp_path / "out.json", tmp_path / "again.json"
    export("small", "argilla", ours)
    run_script("read_argilla.py", ours, theirs)
    before, rewritten = (json.loads(path.read_text(encoding="utf-8")) for path in (ours, theirs))
    assert len(before) > 20
    assert [{name: record[name] for name in before[0]} for record in rewritten] == before


def read_by_potato(folder: Path, dataset: Dataset, page: dict) -> dict[str, dict]:
    """Read a page by Potato's reader of Web Annotations, given the texts.

    Returns an item for each text, by source.
    """
    folder.mkdir()
    (folder / "page.json").write_text(json.dumps(page), encoding="utf-8")
    text_lines = [
        json.dumps({"source": source(text), "text": text.body}) for text in bodies(dataset)
    ]
    (folder / "texts.jsonl").write_text("\n".join(text_lines), encoding="utf-8")
    paths = ["-i", folder / "page.json", "-o", folder / "made", "--texts", folder / "texts.jsonl"]
    run("-m", "potato.importers", "-f", "web_annotation", *paths)
    lines = (folder / "made" / "data" / "page.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["source"]: row for row in map(json.loads, lines)}


def test_potato_finds_the_quotes_of_web_annotations(tmp_path, small):
    export("small", "web-annotation", tmp_path / "out.json")
    read = read_by_potato(tmp_path / "potato", small, page_in(tmp_path / "out.json"))
    for text in bodies(small):
        assert marked(text) <= phrases_in(read.get(source(text), {}))


def test_potato_counts_positions_as_we_do(tmp_path, small):
    """By positions alone: with quotes it would search for them."""
    export("small", "web-annotation", tmp_path / "out.json")
    page = page_in(tmp_path / "out.json")
    for target in (target for item in page["items"] for target in item["target"]):
        positions = [selector for selector in target.get("selector", []) if "start" in selector]
        target["selector"] = positions
    read = read_by_potato(tmp_path / "potato", small, page)
    # It reads texts with less white space, where places are others.
    same = [text for text in bodies(small) if text.body == read.get(source(text), {}).get("text")]
    checked = [text for text in same if marked(text)]
    assert any("🚢" in text.body for text in checked)
    for text in checked:
        assert phrases_in(read[source(text)]) == marked(text)


def page_in(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def marked(text: Text) -> set[str]:
    spans = NuggetSpan.objects.filter(rating__text=text, start__isnull=False)
    return {as_read(span.quote) for span in spans}


def as_read(body: str) -> str:
    """Collapse white space, as Potato does before it looks for positions."""
    return " ".join(body.split())


def phrases_in(row: dict) -> set[str]:
    spans = row.get("predictions", {}).get("spans", [])
    return {as_read(row["text"][span["start"] : span["end"]]) for span in spans}


def bodies(dataset: Dataset) -> list[Text]:
    return list(dataset.texts.exclude(body=None))


def source(text: Text) -> str:
    return "urn:x-crux:text/" + "/".join(map(escaped, (text.kind, text.system, text.name)))
