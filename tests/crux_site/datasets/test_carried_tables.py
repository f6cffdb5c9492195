"""Every table of a dataset is carried by an export, or named on the list of what is left behind."""

import json
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse

from crux_site.datasets.carried import CARRIED, LEFT_BEHIND, NOT_CARRIED
from crux_site.exports.publication import Stated, export_publication
from crux_site.removal import TABLES


def test_every_table_is_carried_or_named_as_left_behind():
    left = [model for models in LEFT_BEHIND.values() for model in models]
    assert len(left) == len(set(left))
    assert not CARRIED.intersection(left)
    assert {*CARRIED, *left} == set(TABLES)


@pytest.mark.parametrize("page", ["files.md"])
def test_docs_have_the_list(page):
    text = " ".join((Path(settings.BASE_DIR) / "docs" / page).read_text().split())
    for sentence in NOT_CARRIED:
        assert f"- {sentence}" in text


def test_export_page_has_the_list(cast, dataset):
    page = cast.client("researcher").get(reverse("exports", args=[dataset.slug]))
    for sentence in NOT_CARRIED:
        assert sentence in page.content.decode()


def test_datasheet_has_the_list(dataset, tmp_path):
    export_publication(dataset, tmp_path / "out", Stated())
    sheet = json.loads((tmp_path / "out" / "metadata.json").read_text())
    (records,) = [part for part in sheet["recordSet"] if part["@id"] == "not-carried"]
    assert [row["not-carried/what"] for row in records["data"]] == list(NOT_CARRIED)
