"""Fixtures of the tests of tables."""

import pytest


@pytest.fixture
def written(tmp_path):
    """Write bytes to a file: `written(b"a,b")`."""

    def written(data, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return written
