"""Undo of an import of the authors' study: no row is left, and it can be imported again."""

import pytest

from annotation.models import ProjectEntry, User
from crux_site.history.import_undo import undo
from crux_site.imports.importing import import_dataset
from crux_site.removal import IMPORTED_TABLES
from tests.toolbox.real_study import FOLDER, SLUG

pytestmark = pytest.mark.soak


def test_undo_removes_real_study(real_study, db):
    ada = User.objects.create_user("ada", role="admin")
    counts = {model: model._base_manager.count() for model in IMPORTED_TABLES}
    entry = ProjectEntry.objects.get(action="imported")
    undone = undo(entry, real_study, ada)
    assert undone.reasons == []
    assert undone.n == sum(counts.values()) > 100_000
    assert not any(model._base_manager.exists() for model in IMPORTED_TABLES)
    import_dataset(FOLDER, SLUG)
    assert {model: model._base_manager.count() for model in IMPORTED_TABLES} == counts
