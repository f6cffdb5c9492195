"""Version of the database within the transaction of a test.

The site's own version (`annotation/db_version.py`) is unknown within a transaction. With it every result page
of a test would be computed each time it is read, which takes twice as long and happens on no site.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from annotation import db_version

READS = ("SELECT", "SAVEPOINT", "RELEASE", "PRAGMA", "EXPLAIN")


class WriteCount:
    """Number of writes of a connection, and `current` as in `annotation/db_version.py`."""

    def __init__(self) -> None:
        self.writes = 0

    def __call__(self, execute, sql, *values) -> Any:
        if not str(sql).lstrip().upper().startswith(READS):
            self.writes += 1
        return execute(sql, *values)

    def current(self) -> db_version.Version | None:
        """Return the count in a transaction of the test alone, else the version of the site."""
        blocks = connection.atomic_blocks
        if blocks and self in connection.execute_wrappers and all(map(_is_of_a_test, blocks)):
            return db_version.Version("of the test", self.writes)
        return db_version.current()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Enter the site's snapshot; check that nothing is written, in a transaction, too."""
        before = self.writes
        with db_version.snapshot():
            yield
        assert self.writes == before, "a page of results wrote to the database"

    def is_in_use(self, version: db_version.Version) -> bool:
        return db_version.is_in_use(version)


def _is_of_a_test(block) -> bool:
    return block._from_testcase
