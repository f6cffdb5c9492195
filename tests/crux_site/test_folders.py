"""A URL leads to a package with everything about its page: view, templates, tests."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from django.urls import URLPattern, get_resolver

from tests.toolbox.installed_apps import OUR_APPS

ROOT = Path(__file__).resolve().parents[2]
# Templates of many pages lie beside the folders of pages.
SHARED = re.compile(rf"({'|'.join(OUR_APPS)})/(_\w+|refusal)\.html")


def addresses(patterns, before=""):
    for pattern in patterns:
        address = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            view = getattr(pattern.callback, "view_class", pattern.callback)
            module = inspect.unwrap(view).__module__
            if module.split(".")[0] in OUR_APPS:
                yield address, pattern.name or "", module
        else:
            yield from addresses(pattern.url_patterns, address)


def folder_of(module: str) -> str:
    """Return the folder of a view's page; a replication of a paper lies one level deeper."""
    parts = module.split(".")
    return "/".join(parts[: 3 if parts[1:2] == ["replications"] else 2])


ADDRESSES = sorted(set(addresses(get_resolver().url_patterns)))
FOLDERS = sorted({folder_of(module) for _, _, module in ADDRESSES})


@pytest.mark.parametrize(("address", "name", "module"), ADDRESSES)
def test_address_leads_to_a_folder_with_its_tests(address, name, module):
    folder = folder_of(module)
    page = folder.rpartition("/")[2]
    assert (ROOT / folder).is_dir() or (ROOT / f"{folder}.py").is_file()
    if name.endswith("_table"):  # the formats of a table share their tests
        address = re.sub(r"\.(json|tex)$", ".csv", address)
    names = name, re.sub(r"<[^>]*>", "", address).strip("/").rpartition("/")[2] or page
    assert any(
        re.search(rf"\b{re.escape(alias)}\b", test.read_text())
        for test in _tests(folder)
        for alias in names
    ), f"no test of {folder} asks for {address}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_names_templates_of_its_own_or_shared_ones(folder):
    for file in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and re.fullmatch(
                r"\w+/[\w/]+\.html", str(node.value)
            ):
                is_in_folder = node.value.startswith(f"{folder}/")
                assert is_in_folder or SHARED.fullmatch(node.value), f"{file}: {node.value}"
                assert (ROOT / "templates" / node.value).is_file()


def _tests(folder: str) -> list[Path]:
    if folder.split("/")[1].startswith("api"):  # one API, whatever app an endpoint belongs to
        return sorted((ROOT / "tests" / "api").glob("*.py"))
    path = ROOT / "tests" / folder
    return sorted([*path.rglob("test_*.py"), *path.parent.glob(f"test_{path.name}.py")])
