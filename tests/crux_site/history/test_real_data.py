"""The authors' study, imported and undone: nothing is left of it, and it can be imported again."""

import pytest

from annotation.models import ProjectEntry, User
from crux_site.history.undoing import undo
from crux_site.imports.importing import import_dataset
from crux_site.removal import BROUGHT
from tests.real_study import FOLDER, SLUG

pytestmark = pytest.mark.soak


def test_nothing_is_left_of_the_real_study(real_study, db):
    ada = User.objects.create_user("ada", role="admin")
    counts = {model: model._base_manager.count() for model in BROUGHT}
    entry = ProjectEntry.objects.get(action="imported")
    found = undo(entry, real_study, ada)
    assert found.reasons == []
    assert found.n == sum(counts.values()) > 100_000
    assert not any(model._base_manager.exists() for model in BROUGHT)
    import_dataset(FOLDER, SLUG)
    assert {model: model._base_manager.count() for model in BROUGHT} == counts
