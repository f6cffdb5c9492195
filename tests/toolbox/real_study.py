"""The authors' own study in a separate database; its data are not in this repository.

It is imported once in each process of the tests. Each test sees it as imported: changes are
rolled back.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

from crux_site.imports.importing import import_dataset

SLUG = "crux-duc04"
DEFAULT_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / SLUG
FOLDER = Path(os.environ.get("CRUX_DATA", DEFAULT_FOLDER))
IS_AVAILABLE = (FOLDER / "topics.jsonl").is_file()
MISSING = f"THE REAL STUDY IS NOT CHECKED: no data at {FOLDER}; CRUX_DATA says where it is"


@contextmanager
def imported_study():
    """Clone the test database and import the study into it; yield its name and the summary."""
    connection.close()  # a file is copied whole; a template must have no visitors
    creation = connection.creation
    creation.clone_test_db("real", verbosity=0, autoclobber=True)
    name = creation.get_test_db_clone_settings("real")["NAME"]
    with connected_to(name):
        if connection.vendor == "postgresql":
            # The rolled back rows of other tests are copied along, and what the planner thinks of them: where
            # nothing vacuums by itself, an import that takes 10 seconds was seen to take 200.
            with connection.cursor() as cursor:
                cursor.execute("VACUUM")
        summary = import_dataset(FOLDER, SLUG)
    try:
        yield name, summary
    finally:
        connection.close()
        creation.destroy_test_db(suffix="real", verbosity=0)


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Point Django's connection at this database."""
    assert not connection.in_atomic_block, (
        "a test names `real_study` before what opens the database"
    )
    original_name = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = original_name
