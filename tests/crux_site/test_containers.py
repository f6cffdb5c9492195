"""The image and its composition agree with the files to deploy without them, and name what is there."""

import json
import re
import tomllib

import yaml
from django.core.management import get_commands

from tests.browser.site import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
ENV = (ROOT / "docs" / "deploy" / "compose.env").read_text()


def test_the_image_serves_as_the_unit_does_but_on_all_addresses():
    unit = (ROOT / "docs" / "deploy" / "crux.service").read_text()
    (line,) = re.findall(r"^ExecStart=\S*/(granian .*)$", unit, re.MULTILINE)
    (command,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE.replace("\\\n", ""), re.MULTILINE)
    assert json.loads(command) == line.replace("--host 127.0.0.1", "--host 0.0.0.0").split()


def test_all_that_runs_comes_along_and_nothing_that_is_not_there():
    kept = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert all((ROOT / name).exists() for name in kept)
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    apps = {name for name in tools["importlinter"]["root_packages"] if name != "client.crux_client"}
    assert {*apps, "templates", "static", "locale"} <= set(kept)
    assert not {"var", ".env", ".git"} & set(kept)


def test_what_the_services_name_is_there():
    for service in SERVICES.values():
        for needed in service.get("depends_on", {}):
            assert needed in SERVICES
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in COMPOSE["volumes"]
        for command in re.findall(r"manage\.py (\w+)", " ".join(service.get("command", ()))):
            assert command in get_commands()


def test_nobody_reaches_the_site_past_a_proxy_and_nothing_else_is_published():
    published = {name: service.get("ports", []) for name, service in SERVICES.items()}
    (port,) = published.pop("site")
    assert port.startswith("127.0.0.1:")
    assert not any(published.values())


def test_settings_that_are_asked_for_are_in_the_file_to_copy():
    settings = set(re.findall(r"^(?:# )?([A-Z_]+)=", ENV, re.MULTILINE))
    required = re.findall(r"\$\{(\w+):\?", (ROOT / "compose.yaml").read_text())
    for name in required:
        assert f"\n{name}=\n" in ENV  # a value to copy would be the same everywhere
    readme = (ROOT / "README.md").read_text().replace("JUDGE_KEY_<NAME>", "JUDGE_KEY_LAB")
    assert all(f"`{name}`" in readme for name in settings - {"POSTGRES_PASSWORD"})
