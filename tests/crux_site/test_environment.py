"""Settings from the environment: right, or refused with their name before anything runs."""

import os
import stat
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from crux_site import environment
from tests.toolbox.commands import run_python

ROOT = Path(__file__).resolve().parent.parent.parent
DATABASE_PATH = Path("/srv/crux/crux.sqlite3")


def test_valid_values_are_parsed(monkeypatch):
    monkeypatch.setenv("SOME", "a=http://h/v1?x=1  b=2")
    assert environment.parse_pairs("SOME") == {"a": "http://h/v1?x=1", "b": "2"}
    monkeypatch.setenv("SOME", '{"n": 2}')
    assert environment.json_object("SOME") == {"n": 2}
    monkeypatch.setenv("SOME", " 7 ")
    assert environment.whole_number("SOME", 3) == 7


@pytest.mark.parametrize("value", [None, ""])
def test_missing_values_have_defaults(monkeypatch, value):
    monkeypatch.delenv("SOME", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME", value)
    assert environment.parse_pairs("SOME") == {}
    assert environment.json_object("SOME") == {}
    assert environment.whole_number("SOME", 3) == 3


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (environment.parse_pairs, "nonsense"),
        (environment.parse_pairs, "a=1 b="),
        (environment.parse_pairs, "a=1, b=2"),
        (environment.parse_pairs, "a=1,b=2"),
        (environment.json_object, "{bad"),
        (environment.json_object, "[1]"),
        (lambda name: environment.whole_number(name, 3), "two"),
        (lambda name: environment.whole_number(name, 3), "0"),
        (lambda name: environment.whole_number(name, 3), "-1"),
        (environment.switch, "true"),
        (environment.time_zone, "Mars/Olympus"),
        (environment.time_zone, "/etc"),
        (lambda name: environment.hosts(name, "a"), "https://crux.example.org"),
        (lambda name: environment.hosts(name, "a"), "crux.example.org localhost"),
        (lambda name: environment.database(name, DATABASE_PATH), "postgres//u:secret@h/crux"),
        (lambda name: environment.database(name, DATABASE_PATH), "postgres://u:secret[@h/crux"),
        (lambda name: environment.database(name, DATABASE_PATH), "postgres://u:secret@h"),
        (lambda name: environment.database(name, DATABASE_PATH), "mysql://u:secret@h/crux"),
        (lambda name: environment.private_folder(name, DATABASE_PATH), "/proc/nowhere/var"),
    ],
)
def test_invalid_value_names_variable(monkeypatch, read, value):
    monkeypatch.setenv("SOME", value)
    with pytest.raises(ImproperlyConfigured, match=r"^SOME") as refused:
        read("SOME")
    assert "secret" not in str(refused.value)


def test_other_settings_are_read(monkeypatch):
    monkeypatch.setenv("SOME", "1")
    assert environment.switch("SOME") is True
    monkeypatch.setenv("SOME", "Europe/Berlin")
    assert environment.time_zone("SOME") == "Europe/Berlin"
    monkeypatch.setenv("SOME", "a.org, .b.org,")
    assert environment.hosts("SOME", "localhost") == ["a.org", ".b.org"]
    monkeypatch.setenv("SOME", "postgres://u:p@h:5433/crux")
    database = environment.database("SOME", DATABASE_PATH)
    assert (database["ENGINE"], database["NAME"], database["PORT"]) == (
        environment.POSTGRESQL,
        "crux",
        5433,
    )
    monkeypatch.setenv("SOME", "")
    assert environment.switch("SOME") is False
    assert environment.time_zone("SOME") == "UTC"
    assert environment.hosts("SOME", "localhost") == ["localhost"]
    assert environment.database("SOME", DATABASE_PATH)["NAME"] == str(DATABASE_PATH)


def test_options_behind_a_pooler_are_refused(monkeypatch):
    monkeypatch.setenv("SOME", "postgres://u:secret@h/crux?options=-c%20lock_timeout=5s")
    assert "lock_timeout" in environment.database("SOME", DATABASE_PATH)["OPTIONS"]["options"]
    with pytest.raises(ImproperlyConfigured, match=r"^SOME has options.* ALTER ROLE") as refused:
        environment.database("SOME", DATABASE_PATH, is_pooled=True)
    assert "secret" not in str(refused.value)


# The key


def test_key_is_made_once_for_its_owner_alone(monkeypatch, tmp_path):
    monkeypatch.delenv("SOME", raising=False)
    path = tmp_path / "secret-key"
    key = environment.secret_key("SOME", path)
    assert len(key) >= 50
    assert environment.secret_key("SOME", path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    monkeypatch.setenv("SOME", "given")
    assert environment.secret_key("SOME", path) == "given"


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "is empty"), (b" \n", "is empty"), (b"\xff\xfe", "other signs")]
)
def test_key_that_cannot_be_read_is_named(monkeypatch, tmp_path, content, message):
    monkeypatch.delenv("SOME", raising=False)
    path = tmp_path / "secret-key"
    path.write_bytes(content)
    with pytest.raises(ImproperlyConfigured, match=message) as refused:
        environment.secret_key("SOME", path)
    assert str(path) in str(refused.value)


# A process that starts


@pytest.mark.parametrize(
    "command",
    [("manage.py", "check"), ("manage.py", "demo"), ("-c", "import crux_site.wsgi")],
    ids=["manage", "our own command", "wsgi"],
)
def test_process_says_what_is_wrong_and_ends(tmp_path, command):
    ended = run_python(*command, VAR_DIR=str(tmp_path), API_PER_MINUTE="many")
    assert ended.returncode == 1
    assert ended.stderr == "API_PER_MINUTE: 'many' is no number of 1 or more.\n"


def test_created_files_are_private(tmp_path):
    old = os.umask(0)
    try:
        process = run_python(
            "manage.py",
            "shell",
            "-v0",
            "-c",
            "from django.db import connection as c; c.cursor().execute('create table t (a)')\n"
            "import os; print(sorted(os.listdir(os.environ['VAR_DIR']))); os._exit(0)",
            VAR_DIR=str(tmp_path / "var"),
            DATABASE_URL="",
            PYTHONUNBUFFERED="1",
        )
    finally:
        os.umask(old)
    assert "crux.sqlite3-wal" in process.stdout, process.stderr
    var = tmp_path / "var"
    assert stat.S_IMODE(var.stat().st_mode) == 0o700
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in var.iterdir()}
    databases = {"crux.sqlite3", "crux.sqlite3-wal", "crux.sqlite3-shm"}
    assert databases | {"secret-key", "judge-secret-keys"} == set(files)
    assert set(files.values()) == {0o600}


def test_fernet_keys_are_made_once_or_given(monkeypatch, tmp_path):
    monkeypatch.delenv("SOME", raising=False)
    path = tmp_path / "judge-secret-keys"
    (key,) = environment.fernet_keys("SOME", path)
    assert environment.fernet_keys("SOME", path) == [key]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    second_key = "x" * 43 + "="
    monkeypatch.setenv("SOME", f"{second_key}, {key}")
    assert environment.fernet_keys("SOME", path) == [second_key, key]


@pytest.mark.parametrize("wrong", ["too-short", "x" * 44, "\u00e4" * 44])
def test_invalid_fernet_key_is_refused_without_quoting(monkeypatch, tmp_path, wrong):
    monkeypatch.setenv("SOME", wrong)
    with pytest.raises(ImproperlyConfigured, match="SOME holds no Fernet keys") as refused:
        environment.fernet_keys("SOME", tmp_path / "keys")
    assert wrong not in str(refused.value)


def test_file_that_is_named_must_be_there(monkeypatch, tmp_path):
    monkeypatch.setenv("SOME", str(tmp_path / "missing.pem"))
    with pytest.raises(ImproperlyConfigured, match=r"SOME: there is no file .*missing\.pem"):
        environment.readable_file("SOME")
    monkeypatch.setenv("SOME", "")
    assert environment.readable_file("SOME") == ""


SQLITE_CONFIG = {"ENGINE": "crux_site.sqlite"}
POSTGRESQL_CONFIG = {"ENGINE": "crux_site.postgresql"}


@pytest.mark.parametrize(
    ("url", "primary"),
    [
        ("postgres://u@h/crux", SQLITE_CONFIG),
        ("sqlite:////srv/crux/copy.sqlite3", POSTGRESQL_CONFIG),
    ],
)
def test_only_postgresql_has_a_replica(monkeypatch, url, primary):
    monkeypatch.setenv("SOME", url)
    with pytest.raises(ImproperlyConfigured, match="SOME: only PostgreSQL has replicas"):
        environment.replica("SOME", primary, is_pooled=False)


def test_replica_is_optional(monkeypatch):
    monkeypatch.delenv("SOME", raising=False)
    assert environment.replica("SOME", SQLITE_CONFIG, is_pooled=False) is None
    monkeypatch.setenv("SOME", "postgres://u@h/crux")
    config = environment.replica("SOME", POSTGRESQL_CONFIG, is_pooled=False)
    assert (config["HOST"], config["NAME"]) == ("h", "crux")
