"""Uploads of these tests are below their folder, and read in their process."""

import pytest

from crux_site.imports import uploads


@pytest.fixture(autouse=True)
def staging(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "STAGING", tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Read the upload in this process; test_process.py has the subprocess."""
    monkeypatch.setattr(uploads.Upload, "start", uploads.Upload.read)
