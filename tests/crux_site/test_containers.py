"""Container image and compose file agree with the deploy files, and name existing files."""

import json
import re
import tomllib

import yaml
from django.core.management import get_commands

from tests.toolbox.paths import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
ENV = (ROOT / "docs" / "deploy" / "compose.env").read_text()


def test_image_serves_as_the_unit_does_but_on_all_addresses():
    unit = (ROOT / "docs" / "deploy" / "crux.service").read_text()
    (line,) = re.findall(r"^ExecStart=\S*/(granian .*)$", unit, re.MULTILINE)
    (command,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE.replace("\\\n", ""), re.MULTILINE)
    assert json.loads(command) == line.replace("--host 127.0.0.1", "--host 0.0.0.0").split()


def test_all_that_runs_comes_along_and_nothing_that_is_not_there():
    included = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert all((ROOT / name).exists() for name in included)
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    apps = {name for name in tools["importlinter"]["root_packages"] if name != "client.crux_client"}
    assert {*apps, "templates", "static", "locale"} <= set(included)
    assert not {"var", ".env", ".git"} & set(included)


def test_service_paths_exist():
    for service in SERVICES.values():
        for needed in service.get("depends_on", {}):
            assert needed in SERVICES
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in COMPOSE["volumes"]
        for command in re.findall(r"manage\.py (\w+)", " ".join(service.get("command", ()))):
            assert command in get_commands()


def test_files_that_the_site_keeps_are_in_volumes_with_its_owner():
    volumes = dict(volume.split(":") for volume in SERVICES["site"]["volumes"])
    assert {"uploads", "archive"} <= {*volumes}
    for path in volumes.values():  # a volume has the owner of the folder in the image
        assert path.replace("/var/lib/crux", "$VAR_DIR") in DOCKERFILE


def test_site_is_published_by_proxy_alone():
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
