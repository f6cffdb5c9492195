"""Our files, read by the code of the tools that they are for; and Web Annotations by one of their readers."""

import json
import re
from pathlib import Path

import pytest

from annotation.formats.foreign.tools import escaped
from annotation.models import Dataset, NuggetSpan, Rating, Text
from tests.crux_site.datasets.test_tools import export, make_small
from tests.tools.material import run, told_by

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]


@pytest.fixture
def small(tmp_path) -> Dataset:
    return make_small(tmp_path / "small")


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


def label_studio_finds(tasks: Path, setup: str) -> list[list[str]]:
    path = tasks.with_name("setup.xml")
    path.write_text(setup, encoding="utf-8")
    return json.loads(told_by("read_label_studio.py", tasks, path))


def test_label_studio_finds_nothing_wrong_under_the_setup_of_the_docs(tmp_path, small):
    export("small", "label-studio", tmp_path / "out.json")
    found = label_studio_finds(tmp_path / "out.json", setup_of_the_docs())
    assert len(found) > 20
    assert not [wrong for wrong in found if wrong]
    # It does look: without the grade 5 it finds each of them.
    short = setup_of_the_docs().replace('<Choice value="5"/>', "")
    n = Rating.objects.of_dataset(small).filter(grade=5).count()
    assert (
        len([wrong for wrong in label_studio_finds(tmp_path / "out.json", short) if wrong]) == n > 0
    )


def test_argilla_reads_every_record_and_writes_it_again(tmp_path, small):
    ours, theirs = tmp_path / "out.json", tmp_path / "again.json"
    export("small", "argilla", ours)
    told_by("read_argilla.py", ours, theirs)
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (ours, theirs))
    assert len(before) > 20
    assert [{name: record[name] for name in before[0]} for record in after] == before


def read_by_potato(folder: Path, dataset: Dataset, page: dict) -> dict[str, dict]:
    """What Potato's reader of Web Annotations makes of a page, given the texts: an item for each, by source."""
    folder.mkdir()
    (folder / "page.json").write_text(json.dumps(page), encoding="utf-8")
    given = [json.dumps({"source": source(text), "text": text.body}) for text in bodies(dataset)]
    (folder / "texts.jsonl").write_text("\n".join(given), encoding="utf-8")
    paths = ["-i", folder / "page.json", "-o", folder / "made", "--texts", folder / "texts.jsonl"]
    run("-m", "potato.importers", "-f", "web_annotation", *paths)
    lines = (folder / "made" / "data" / "page.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["source"]: row for row in map(json.loads, lines)}


def test_potato_finds_the_words_of_web_annotations(tmp_path, small):
    export("small", "web-annotation", tmp_path / "out.json")
    read = read_by_potato(tmp_path / "potato", small, page_in(tmp_path / "out.json"))
    for text in bodies(small):
        assert marked(text) <= words_in(read.get(source(text), {}))


def test_potato_counts_their_places_as_we_do(tmp_path, small):
    """By the places alone: with the words it would look for those where a place is wrong."""
    export("small", "web-annotation", tmp_path / "out.json")
    page = page_in(tmp_path / "out.json")
    for target in (target for item in page["items"] for target in item["target"]):
        of_places = [each for each in target.get("selector", []) if "start" in each]
        target["selector"] = of_places
    read = read_by_potato(tmp_path / "potato", small, page)
    # It reads texts with less white space, where places are others.
    same = [text for text in bodies(small) if text.body == read.get(source(text), {}).get("text")]
    checked = [text for text in same if marked(text)]
    assert any("🚢" in text.body for text in checked)
    for text in checked:
        assert words_in(read[source(text)]) == marked(text)


def page_in(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def marked(text: Text) -> set[str]:
    spans = NuggetSpan.objects.filter(rating__text=text, start__isnull=False)
    return {as_read(span.quote) for span in spans}


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
