"""Each table of a dataset is part of a folder export, or listed as omitted."""

import json
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse

from crux_site.datasets.export_scope import EXPORT_OMISSIONS, EXPORTED_TABLES, OMITTED_TABLES
from crux_site.exports.publication import PublicationMetadata, export_publication
from crux_site.removal import TABLES


def test_tables_are_exported_or_listed_as_omitted():
    omitted = [model for models in OMITTED_TABLES.values() for model in models]
    assert len(omitted) == len(set(omitted))
    assert not EXPORTED_TABLES.intersection(omitted)
    assert {*EXPORTED_TABLES, *omitted} == set(TABLES)


@pytest.mark.parametrize("page", ["files/exports.md"])
def test_docs_have_the_list(page):
    text = " ".join((Path(settings.BASE_DIR) / "docs" / page).read_text().split())
    for sentence in EXPORT_OMISSIONS:
        assert f"- {sentence}" in text


def test_export_page_has_the_list(cast, dataset):
    page = cast.client("researcher").get(reverse("exports", args=[dataset.slug]))
    for sentence in EXPORT_OMISSIONS:
        assert sentence in page.content.decode()


def test_datasheet_has_the_list(dataset, tmp_path):
    export_publication(dataset, tmp_path / "out", PublicationMetadata())
    datasheet = json.loads((tmp_path / "out" / "metadata.json").read_text())
    (records,) = [part for part in datasheet["recordSet"] if part["@id"] == "not-carried"]
    assert [row["not-carried/what"] for row in records["data"]] == list(EXPORT_OMISSIONS)
