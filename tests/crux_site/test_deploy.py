"""The files to deploy with, and what the docs say of them."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
ADMINS = (DOCS / "admins.md").read_text()


def test_command_of_the_docs_is_that_of_the_unit():
    unit = (DOCS / "deploy" / "crux.service").read_text()
    (line,) = re.findall(r"^ExecStart=\S*/(granian .*)$", unit, re.MULTILINE)
    (printed,) = re.findall(r"\.venv/bin/(granian (?:.*\\\n)?.*)", ADMINS)
    flags = line.replace(" --log-level warning", "").split()
    assert printed.replace("\\\n", " ").split() == flags
    assert "--respawn-failed-workers" in flags


def test_deploy_files_are_documented():
    for path in (DOCS / "deploy").iterdir():
        assert path.name in ADMINS or path.suffix == ".timer"


def test_units_come_back_and_know_their_settings():
    for path in (DOCS / "deploy").glob("*.service"):
        unit = path.read_text()
        assert "Restart=always" in unit or "Type=oneshot" in unit, path.name
        assert "EnvironmentFile=/etc/crux/crux.env" in unit


def test_proxies_say_where_a_request_comes_from_and_not_where_it_says_so():
    nginx = (DOCS / "deploy" / "nginx.conf").read_text()
    for line in (
        "proxy_set_header X-Forwarded-For $remote_addr;",
        "proxy_set_header X-Forwarded-Proto $scheme;",
        "proxy_set_header Host $host;",
    ):
        assert line in nginx
