"""Runs for TREC tools."""

import pytest

from annotation.exporters.errors import ExportError
from annotation.models import Dataset, Text
from crux_site.importing import import_dataset
from evaluation.exporters import trec_run
from evaluation.models import RetrievalRun
from tests.importers.study import BODILESS, study, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(tmp_path) -> Dataset:
    import_dataset(write(tmp_path), "small")
    return Dataset.objects.get(slug="small")


def lines(dataset: Dataset, name: str) -> list[str]:
    run = RetrievalRun.objects.get(dataset=dataset, name=name)
    return "".join(trec_run.lines(run)).splitlines()


def test_a_run_is_what_its_file_was(small):
    assert lines(small, "first_stage.lsr") == study()["runs/first_stage.lsr.run"]


def test_constant_ranks_are_counted_and_the_scores_stay(small):
    assert lines(small, "human_eval.bm25")[:2] == [
        "t-1 Q0 t-1:0#0 1 0.3333333333333333 human_eval_bm25",
        f"t-1 Q0 {BODILESS} 2 0.3333333333333333 human_eval_bm25",
    ]


def test_a_context_gets_reciprocal_ranks_and_its_name(small):
    assert lines(small, "annotated.oracle") == [
        "t-1 Q0 t-1:0#1 1 1.0 annotated.oracle",
        "t-1 Q0 t-1:0#0 2 0.5 annotated.oracle",
        "t-2 Q0 t-2:1#1 1 1.0 annotated.oracle",
    ]


def test_a_context_that_is_read_back_as_a_run_changes_nothing(tmp_path, small):
    name = "runs/annotated.oracle.run"
    run = lines(small, "annotated.oracle")
    summary = import_dataset(write(tmp_path / "out", {name: run}) / name, "small")
    assert not summary.changed
    assert summary.unchanged == 3


def test_a_name_with_white_space_cannot_be_written(small):
    Text.objects.filter(name="t-2:1#1").update(name="two words")
    with pytest.raises(ExportError, match="white space"):
        lines(small, "first_stage.lsr")
