"""Undo, renames and removals of two owners at the same time."""

from functools import partial

import pytest

from annotation.models import Dataset, ProjectEntry, Rater, Text
from crux_site.imports.importing import import_dataset
from evaluation.models import RetrievalRun
from tests.crux_site.history.grade_files import more_grades
from tests.toolbox.concurrent_clients import at_once, rounds
from tests.toolbox.import_study import write
from tests.toolbox.users import make_cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path, transactional_db):
    """A dataset of one import, and two owners."""
    cast = make_cast()
    import_dataset(write(tmp_path / "small"), "small")
    return cast, Dataset.objects.get(slug="small")


def test_of_two_undos_one_is_told_that_it_is_done(world, tmp_path):
    cast, dataset = world
    folder = write(tmp_path / "more", more_grades())

    def prepare(number):
        import_dataset(folder, "small")
        entry = dataset.log.exclude(rows={}).first()
        address = f"/datasets/small/history/{entry.pk}/undo/"
        return [partial(cast.client("admin").post, address) for _ in range(2)]

    for outcomes in rounds(3, prepare, after_reading=ProjectEntry):
        assert sorted(outcome.status for outcome in outcomes) == [302, 422]
        refused = next(outcome.value for outcome in outcomes if outcome.status == 422)
        assert "already undone" in refused.content.decode()


def test_concurrent_renames_leave_a_single_system(world):
    cast, dataset = world
    name = "bm25"
    Text.objects.filter(kind="report", system__endswith="bm25").update(system=name)
    RetrievalRun.objects.all().delete()
    rename = f"/datasets/small/contents/system/?name={name}"
    outcomes = at_once(
        *(
            partial(cast.client("admin").post, rename, {"act": "rename", "new": new})
            for new in ("one", "two")
        ),
        after_reading=Text,
    )
    systems = set(dataset.texts.filter(system__in=["one", "two"]).values_list("system"))
    assert len(systems) == 1
    assert not dataset.texts.filter(system=name).exists()
    assert sorted(outcome.status for outcome in outcomes) == [302, 422]


def test_rater_is_renamed_or_removed_and_never_half(world):
    cast, dataset = world
    address = "/datasets/small/contents/rater/?name=ann"
    renamed, removed = at_once(
        partial(cast.client("admin").post, address, {"act": "rename", "new": "anna"}),
        partial(cast.client("admin").post, address, {"act": "remove"}),
        after_reading=Rater,
    )
    names = set(dataset.raters.values_list("name", flat=True)) & {"ann", "anna"}
    assert 500 not in (renamed.status, removed.status)
    assert names == ({"anna"} if removed.status != 302 else set())
