"""Stylesheets: each file is linked, and each page loads the rules that it needs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STYLES = {path.name: path.read_text() for path in (ROOT / "static" / "css").glob("*.css")}
TEMPLATES = {
    str(path.relative_to(ROOT / "templates")): path.read_text()
    for path in (ROOT / "templates").rglob("*.html")
}


def links(text: str) -> set[str]:
    return set(re.findall(r"{% static 'css/([\w-]+\.css)' %}", text))


def classes_of(styles: set[str]) -> set[str]:
    """Return the classes that the selectors of some stylesheets name."""
    text = re.sub(r"/\*.*?\*/", "", "".join(STYLES[name] for name in styles), flags=re.DOTALL)
    return set(re.findall(r"\.([a-z][\w-]*)", re.sub(r"{[^{}]*}", "{}", text)))


def with_parents(name: str) -> list[str]:
    """Return the texts of a template and of the templates that it extends."""
    texts = [TEMPLATES[name]]
    while parent := re.search(r'{% extends "([^"]+)"', texts[-1]):
        texts.append(TEMPLATES[parent[1]])
    return texts


def styles_of(name: str) -> set[str]:
    """Return the stylesheets that a page links."""
    *texts, root = with_parents(name)
    page_styles = "".join(texts)
    if "{% block styles %}" in page_styles and "{{ block.super }}" not in page_styles:
        root = root[: root.index("{% block styles %}")]
    return links(page_styles + root)


def classes_in(name: str) -> set[str]:
    """Return the literal classes of a page, its parents but the root, and its includes."""
    texts, visited, classes = with_parents(name)[:-1], set(), set()
    while texts:
        text = texts.pop()
        values = " ".join(re.findall(r'class="(.*?)"', text, re.DOTALL))
        values = re.sub(r"\S*{{.*?}}\S*", " ", re.sub(r"{%.*?%}", " ", values, flags=re.DOTALL))
        classes |= set(values.split())
        includes = set(re.findall(r'{% include "([^"]+)"', text)) - visited
        visited |= includes
        texts += [TEMPLATES[include] for include in includes]
    return classes


def test_each_stylesheet_is_linked():
    assert links("".join(TEMPLATES.values())) == set(STYLES)


def test_base_stylesheet_sets_the_order_of_layers():
    (order,) = re.findall(r"^@layer ([\w, ]+);", STYLES["base.css"], re.MULTILINE)
    layers = set(re.findall(r"^@layer (\w+) {", "".join(STYLES.values()), re.MULTILINE))
    assert set(order.split(", ")) == layers


@pytest.mark.parametrize("page", [name for name, text in TEMPLATES.items() if "{% extends" in text])
def test_page_loads_the_rules_of_its_classes(page):
    loaded = styles_of(page)
    missing = classes_of(set(STYLES) - loaded) - classes_of(loaded)
    assert classes_in(page) & missing == set()
