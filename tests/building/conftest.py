import pytest


@pytest.fixture(autouse=True)
def own_indexes(settings, tmp_path):
    """Indexes of a test are its own: keys of datasets begin anew in each."""
    settings.VAR_DIR = tmp_path
    return tmp_path / "indexes"
