"""Pages of the demo by the links from the home page, a sample of each kind.

Most tests of pages run on SQLite only (`tests/toolbox/databases.py`): these requests run the queries of all
pages on PostgreSQL, too.
"""

import pytest
from django.core.management import call_command
from django.db import connection

from tests.crux_site.projects.site_addresses import client_of
from tests.toolbox.site_links import crawl


@pytest.fixture(scope="module", autouse=True)
def _demo(shared_world):
    return shared_world(lambda: call_command("demo", verbosity=0))


@pytest.mark.soak
@pytest.mark.skipif(connection.vendor == "sqlite", reason="other tests open all pages on SQLite")
def test_links_of_the_demo_open(db):
    visited = crawl(client_of("admin"), "/")
    # The form of a new campaign names a dataset, and the walk sends no fields.
    refused = {address: code for address, code in visited.codes.items() if code >= 400}
    assert refused == {"/campaigns/new/": 404}
    assert len(visited.pages) > 150
