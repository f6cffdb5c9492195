"""Imports by the function and by the command."""

from io import StringIO

import pytest
from django.core.management import call_command

from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.toolbox.import_study import fingerprint


def import_problems(path, **options) -> list:
    """The problems of an import, which must leave every table as it was."""
    before = fingerprint()
    with pytest.raises(DatasetImportError) as raised:
        import_dataset(path, "small", **options)
    assert fingerprint() == before
    assert raised.value.problems
    return raised.value.problems


def run_import(*arguments: object) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    status = 0
    try:
        call_command("import_dataset", *map(str, arguments), stdout=out, stderr=err)
    except SystemExit as stop:
        status = int(stop.code or 0)
    return status, out.getvalue(), err.getvalue()
