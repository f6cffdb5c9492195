"""Publication folders: the Croissant datasheet (JSON-LD), and the Hugging Face folder."""

import hashlib
import json
import sys
from io import StringIO
from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError, call_command

from annotation.models import NuggetSpan, Participant, Rating
from crux_site.exports import parquet
from crux_site.exports.publication import CONFORMS_TO
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.import_study import contents

pq = pytest.importorskip(
    "pyarrow.parquet", reason="pyarrow is not installed (the extra cluster): no Parquet is checked"
)
# Croissant 1.0: "Required" of a data set, "Modified and Added Properties", FileObject; what a record set is.
OF_A_DATASET = {
    *("@context", "@type", "conformsTo", "description", "license", "name", "url", "creator"),
    *("datePublished", "distribution"),
}
OF_A_FILE = {"@type", "@id", "name", "contentUrl", "contentSize", "encodingFormat", "sha256"}
SECRET = "5f1e9c0a7b64d2e8f0c3a915"


@pytest.fixture
def ferry(cast):
    """A grade with a span by wil, whom a platform sent, in a study that asks for consent."""
    dataset = make_dataset()
    campaign = make_campaign(dataset, cast.worker)
    campaign.consent, campaign.consent_version = "Do you agree?", "2026-11"
    campaign.save()
    participant = campaign.participants.get()
    Participant.objects.filter(pk=participant.pk).update(source="prolific", external_id=SECRET)
    text = dataset.texts.filter(kind="report").first()
    rating = Rating.objects.create(
        rater=participant.rater,
        rubric=campaign.rubric,
        text=text,
        question=dataset.topics.get().questions.first(),
        grade=1,
    )
    NuggetSpan.objects.create(rating=rating, position=0, start=4, end=13, quote=text.body[4:13])
    return dataset


def exported(form: str, out: Path, *options: str) -> dict[str, bytes]:
    command = ("export_dataset", "ferry", "--format", form, "--out", str(out), *options)
    call_command(*command, stdout=StringIO())
    return contents(out)


def faults(datasheet: dict) -> list[str]:
    """Return fields that the Croissant specification requires and the datasheet lacks."""
    missing = [key for key in OF_A_DATASET if not datasheet.get(key)]
    if datasheet["@type"] != "sc:Dataset" or datasheet["conformsTo"] != CONFORMS_TO:
        missing.append("type or version")
    ids = [part["@id"] for part in (*datasheet["distribution"], *datasheet["recordSet"])]
    missing += [
        f"file {file['@id']}"
        for file in datasheet["distribution"]
        if file["@type"] != "cr:FileObject" or OF_A_FILE - file.keys()
    ]
    for records in datasheet["recordSet"]:
        fields = [field["@id"] for field in records["field"]]
        ids += fields
        if not all(field["dataType"].startswith("sc:") for field in records["field"]):
            missing.append(f"types of {records['@id']}")
        if not records["data"] or any(list(row) != fields for row in records["data"]):
            missing.append(f"data of {records['@id']}")
    return missing + [name for name in set(ids) if ids.count(name) > 1]


def records(datasheet: dict, name: str) -> list[tuple]:
    (record_set,) = [part for part in datasheet["recordSet"] if part["@id"] == name]
    return [tuple(row.values()) for row in record_set["data"]]


def test_datasheet_has_what_croissant_requires(ferry, tmp_path):
    files = exported(
        "publication", tmp_path, "--licence", "CC-BY-4.0", "--creator", "The Ferry Group"
    )
    datasheet = json.loads(files.pop("metadata.json"))
    assert faults(datasheet) == []
    assert datasheet["license"] == "CC-BY-4.0"
    assert datasheet["creator"]["name"] == "The Ferry Group"
    assert {file["name"]: file["sha256"] for file in datasheet["distribution"]} == {
        name: hashlib.sha256(data).hexdigest() for name, data in files.items()
    }
    assert exported("crux", tmp_path / "own") == files


def test_datasheet_counts_and_names_nobody(ferry, tmp_path):
    files = exported("publication", tmp_path)
    datasheet = json.loads(files["metadata.json"])
    assert (datasheet["license"], datasheet["creator"]["name"]) == ("not stated", "not stated")
    assert records(datasheet, "raters") == [("person", 1, 1)]
    assert dict(records(datasheet, "counts"))["passages"] == 2
    assert [(row[0], *row[4:]) for row in records(datasheet, "rubrics")] == [
        ("answerable", 1, "answerable"),
        ("answerable", 0, "not answerable"),
    ]
    consent = hashlib.sha256(b"Do you agree?").hexdigest()
    assert records(datasheet, "campaigns") == [
        ("ferry-answerable", "answerable", "2026-11", consent, 1)
    ]
    assert not [name for name, data in files.items() if SECRET.encode() in data]


def test_empty_dataset_has_a_datasheet_too(ferry, tmp_path):
    make_dataset("dry").topics.all().delete()
    call_command(
        *("export_dataset", "dry", "--format", "publication", "--out", str(tmp_path)),
        stdout=StringIO(),
    )
    datasheet = json.loads((tmp_path / "metadata.json").read_text())
    assert [part["@id"] for part in datasheet["recordSet"]] == ["counts", "not-carried"]


def test_folder_for_the_hub(ferry, tmp_path):
    files = exported("hugging-face", tmp_path, "--licence", "CC-BY-4.0")
    _, front, card = files["README.md"].decode().split("---\n", 2)
    front_matter = yaml.safe_load(front)
    assert front_matter["license"] == "cc-by-4.0"
    assert front_matter["pretty_name"] == "The ferry study"
    assert front_matter["size_categories"] == ["n<1K"]
    rows = {
        config["config_name"]: pq.read_table(tmp_path / config["data_files"]).to_pylist()
        for config in front_matter["configs"]
    }
    # Two reports and two passages, one without words; four questions; a grade, and its span.
    assert {name: len(of) for name, of in rows.items()} == {
        "texts": 4, "questions": 4, "ratings": 1, "spans": 1,
    }  # fmt: skip
    assert {row["text"] for row in rows["texts"] if row["body"] is None} == {"ferry-1:0#1"}
    assert rows["questions"][3]["filtered"] == "no passage answers it"
    assert (rows["ratings"][0]["rater"], rows["ratings"][0]["grade"]) == ("wil", 1)
    span = rows["spans"][0]
    (report,) = [
        row
        for row in rows["texts"]
        if (row["text"], row["system"]) == (span["text"], span["system"])
    ]
    assert report["body"][span["start"] : span["end"]] == span["quote"]
    assert "| `ratings` | 1 |" in card
    datasheet = json.loads(files["metadata.json"])
    assert faults(datasheet) == []
    assert {file["name"] for file in datasheet["distribution"]} == files.keys() - {"metadata.json"}


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("", {"license": "unknown"}),
        ("MIT", {"license": "mit"}),
        ("For peers: ask", {"license": "other", "license_name": "for-peers-ask"}),
        (
            "https://ferry.example/licence",
            {
                "license": "other",
                "license_name": "https-ferry.example-licence",
                "license_link": "https://ferry.example/licence",
            },
        ),
    ],
)
def test_licence_on_the_card(ferry, tmp_path, licence, expected):
    files = exported("hugging-face", tmp_path, "--licence", licence)
    front = yaml.safe_load(files["README.md"].decode().split("---\n")[1])
    assert {key: value for key, value in front.items() if "license" in key} == expected


def test_typed_license_keeps_card_valid(ferry, tmp_path):
    ferry.title = 'Über "ferries": a\\b # 🚢 {x} ---'
    ferry.save()
    files = exported("hugging-face", tmp_path)
    assert (
        yaml.safe_load(files["README.md"].decode().split("---\n")[1])["pretty_name"] == ferry.title
    )


def test_table_without_rows_is_not_made(ferry, tmp_path):
    NuggetSpan.objects.all().delete()
    files = exported("hugging-face", tmp_path)
    assert "data/spans.parquet" not in files
    assert b"spans.parquet" not in files["README.md"]


def test_long_table_as_parquet(ferry, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_AT_ONCE", 1)
    parquet.write_long_table(ferry, tmp_path / "long.parquet")
    (row,) = pq.read_table(tmp_path / "long.parquet").to_pylist()
    assert row["spans"] == [
        {"start": 4, "end": 13, "quote": "car ferry", "located": "exact", "source_quote": ""}
    ]


def test_folder_that_holds_something_is_refused(ferry, tmp_path):
    (tmp_path / "mine").touch()
    for form in ("publication", "hugging-face"):
        with pytest.raises(CommandError, match="not an empty folder"):
            exported(form, tmp_path)


def test_without_pyarrow_nothing_is_begun(ferry, tmp_path, monkeypatch):
    """manage.py makes a sentence of it, which names the extra."""
    for name in ("hugging_face", "parquet"):
        monkeypatch.delitem(sys.modules, f"crux_site.exports.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError) as raised:
        exported("hugging-face", tmp_path / "out")
    assert raised.value.name == "pyarrow"
    assert not (tmp_path / "out").exists()
