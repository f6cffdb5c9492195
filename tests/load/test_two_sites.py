"""Two server processes before one PostgreSQL, and a standby for pages of results."""

import json
import os
import re
from contextlib import contextmanager
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import psycopg
import pytest

from bench.serving import Server
from tests.load.standby import PROGRAMS, primary_and_standby
from tests.toolbox.clock import wait_for
from tests.toolbox.empty_site import manage

PER_MINUTE = 30  # requests of an account to the API; strangers have a tenth
PASSWORD = "pass-word-1"
SEED = """
from annotation.models import ApiToken, User
from tests.toolbox.agreement_study import make_study
study = make_study()
for name in ("ann", "ben", "reader"):
    user = User.objects.create_user(name, password="pass-word-1", role=User.Role.ADMIN)
print(ApiToken.objects.make(user, "test"))
"""
AGREEMENT = "/datasets/ferry/agreement/"
COPY_IS_BEHIND = "These results are from a copy of the database that is behind."

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not PROGRAMS, reason="NO STANDBY IS TESTED: no PostgreSQL server programs"),
]


class Client:
    """Browser of one person, who may ask either server."""

    def __init__(self, servers, **headers):
        self.servers, self.headers = servers, headers
        self.cookies = CookieJar()
        self.opener = build_opener(HTTPCookieProcessor(self.cookies))

    def ask(self, site, path, data=None):
        """Return the status and the text of a response."""
        headers = self.headers
        if data is not None:
            tokens = {cookie.name: cookie.value for cookie in self.cookies}
            data = urlencode(data | {"csrfmiddlewaretoken": tokens["csrftoken"]}).encode()
        url = f"http://127.0.0.1:{self.servers[site].port}{path}"
        try:
            with self.opener.open(Request(url, data=data, headers=headers)) as response:
                return response.status, response.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()

    def log_in(self, site, name, password):
        self.ask(site, "/login/")
        return self.ask(site, "/login/", {"username": name, "password": password})[0]


@pytest.fixture(scope="module")
def two_sites(tmp_path_factory, prepared):
    """Two servers with folders of their own, as on two machines; yield them and the databases."""
    with primary_and_standby() as (primary, standby):
        env = os.environ | {
            "DATABASE_URL": primary,
            "DATABASE_REPLICA_URL": standby,
            "SECRET_KEY": "the same on both machines",
            "API_PER_MINUTE": str(PER_MINUTE),
            "DJANGO_SETTINGS_MODULE": "crux_site.settings",
        }
        folders = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
        envs = [env | {"VAR_DIR": str(folder)} for folder in folders]
        manage(envs[0], "migrate", "-v0")
        for folder in folders:
            folder.joinpath("static").symlink_to(prepared / "static")
        token = manage(envs[0], "shell", "-v0", "-c", SEED).split()[-1]
        servers = [Server(site_env, workers=1) for site_env in envs]
        try:
            for server in servers:
                server.start()
            yield servers, token, primary, standby
        finally:
            for server in servers:
                server.kill()


@pytest.fixture
def servers(two_sites):
    return two_sites[0]


@pytest.fixture
def reader(servers):
    client = Client(servers)
    assert client.log_in(0, "reader", PASSWORD) == 200
    return client


def statuses(client, path, number):
    """Return the statuses of requests to the servers in turn."""
    return [client.ask(turn % 2, path)[0] for turn in range(number)]


def test_rate_limit_of_an_account_holds_across_processes(two_sites):
    servers, token, *_ = two_sites
    client = Client(servers, Authorization=f"Token {token}")
    codes = statuses(client, "/api/v1/datasets/", PER_MINUTE + 4)
    assert codes == [200] * PER_MINUTE + [429] * 4


def test_rate_limit_of_an_address_holds_across_processes(servers):
    assert statuses(Client(servers), "/api/v1/datasets/", 5) == [401] * 3 + [429] * 2


def test_failed_log_ins_are_counted_across_processes(servers):
    client = Client(servers)
    codes = [client.log_in(turn % 2, "ann", f"guess {turn}") for turn in range(12)]
    assert codes == [200] * 10 + [429] * 2
    assert client.log_in(0, "ann", PASSWORD) == client.log_in(1, "ann", PASSWORD) == 429


def test_session_and_log_out_hold_on_the_other_process(servers):
    client = Client(servers)
    client.log_in(0, "ben", PASSWORD)
    assert "Home" in client.ask(1, "/")[1]
    client.ask(1, "/logout/", {})
    assert 'name="password"' in client.ask(0, "/")[1]


def agreement(client, site):
    """Return the numbers of the page, without what each request has of its own."""
    status, page = client.ask(site, AGREEMENT)
    assert status == 200
    main = page[page.index("<main") : page.index("</main>")]
    return re.sub(r"since=\d+", "", main)


def flip_grade(primary):
    """Change the first grade, from no to yes or back."""
    with psycopg.connect(primary) as database:
        database.execute(
            "update annotation_rating set grade = 1 - grade"
            " where id = (select min(id) from annotation_rating)"
        )


def test_cached_results_are_new_in_each_process(two_sites, reader):
    for _ in range(2):
        before = [agreement(reader, site) for site in (0, 1)]
        assert before[0] == before[1]
        flip_grade(two_sites[2])
        wait_for(lambda: COPY_IS_BEHIND not in reader.ask(0, AGREEMENT)[1])
        later = [agreement(reader, site) for site in (0, 1)]
        assert later[0] == later[1] != before[0]


@contextmanager
def replay_paused(standby):
    """Let the standby fall behind within this context."""
    with psycopg.connect(standby, autocommit=True) as copy:
        copy.execute("select pg_wal_replay_pause()")
        try:
            paused = "select pg_get_wal_replay_pause_state() = 'paused'"
            wait_for(lambda: copy.execute(paused).fetchone()[0])
            yield
        finally:
            copy.execute("select pg_wal_replay_resume()")


def test_page_says_that_its_copy_of_the_database_is_behind(two_sites, reader):
    _, _, primary, standby = two_sites
    before = agreement(reader, 0)
    assert COPY_IS_BEHIND not in before
    with replay_paused(standby):
        flip_grade(primary)
        for site in (0, 1):
            page = agreement(reader, site)
            assert COPY_IS_BEHIND in page
            assert "It has what was stored until" in page
            assert re.sub(
                r'<p class="note" role="status">.*?</p>', "", page, flags=re.S
            ).split() == (before.split())
        # Files, and pages that people work with, read the primary.
        file = json.loads(reader.ask(0, "/datasets/ferry/agreement.json")[1])
        assert COPY_IS_BEHIND not in reader.ask(0, "/datasets/ferry/")[1]
    wait_for(lambda: COPY_IS_BEHIND not in reader.ask(0, AGREEMENT)[1])
    assert agreement(reader, 0) == agreement(reader, 1) != before
    assert json.loads(reader.ask(1, "/datasets/ferry/agreement.json")[1]) == file


def test_right_that_is_taken_away_does_not_wait_for_the_copy(two_sites, reader):
    _, _, primary, standby = two_sites
    role = "update annotation_user set role = %s where username = 'reader'"
    assert reader.ask(0, AGREEMENT)[0] == 200
    with psycopg.connect(primary, autocommit=True) as database:
        try:
            with replay_paused(standby):
                database.execute(role, ["worker"])
                assert reader.ask(1, AGREEMENT)[0] == 403
        finally:
            database.execute(role, ["admin"])


def page_with_replica(servers, reader, url):
    """Return the page of agreement by a server with this replica, and what that logged."""
    server = Server(servers[0].env | {"DATABASE_REPLICA_URL": url}, workers=1)
    logged = server.log.stat().st_size
    try:
        server.start()
        reader.servers = [server]
        status, page = reader.ask(0, AGREEMENT)
    finally:
        server.kill()
    assert status == 200
    return page, server.log.read_text()[logged:]


def test_pages_read_the_primary_while_the_copy_is_away(servers, reader):
    page, log = page_with_replica(servers, reader, "postgres://postgres@127.0.0.1:9/postgres")
    assert "copy of the database" not in page
    assert "the replica does not answer" in log


def test_database_that_is_no_standby_is_said_to_be_of_unknown_age(two_sites, reader):
    servers, _, primary, _ = two_sites
    page, _ = page_with_replica(servers, reader, primary)
    assert "its age is unknown" in page
