"""From an address one reaches a folder, and everything about its page is there: view, templates, tests."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from django.urls import URLPattern, get_resolver

from tests.apps import OUR_APPS

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


ADDRESSES = sorted(set(addresses(get_resolver().url_patterns)))
FOLDERS = sorted({"/".join(module.split(".")[:2]) for _, _, module in ADDRESSES})


@pytest.mark.parametrize(("address", "name", "module"), ADDRESSES)
def test_an_address_leads_to_a_folder_with_its_tests(address, name, module):
    app, page, *_ = module.split(".")
    assert (ROOT / app / page).is_dir() or (ROOT / app / f"{page}.py").is_file()
    asked = name, re.sub(r"<[^>]*>", "", address).strip("/").rpartition("/")[2] or page
    tests = _tests(app, page)
    assert any(
        re.search(rf"\b{re.escape(word)}\b", test.read_text()) for test in tests for word in asked
    ), f"no test of {page} asks for {address}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_names_templates_of_its_own_or_shared_ones(folder):
    for file in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and re.fullmatch(
                r"\w+/[\w/]+\.html", str(node.value)
            ):
                own = node.value.startswith(f"{folder}/")
                assert own or SHARED.fullmatch(node.value), f"{file}: {node.value}"
                assert (ROOT / "templates" / node.value).is_file()


def _tests(app: str, page: str) -> list[Path]:
    if page.startswith("api"):  # one API, whatever app an endpoint belongs to
        return sorted((ROOT / "tests" / "api").glob("*.py"))
    return sorted((ROOT / "tests" / app / page).rglob("test_*.py"))
