"""Conversion of Matplotlib drawings to inline <svg>: without styles, with unique ids."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from django.utils.safestring import SafeString, mark_safe

# The rules of its style sheet for all elements, as inherited attributes.
EVERYWHERE = {"stroke-linejoin": "round", "stroke-linecap": "butt"}
LEFT_OUT = ("metadata", "style")
# Matplotlib writes each text as a comment too, and names may have characters that XML forbids.
COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
REFERENCE = re.compile(r"url\(#(?=[^)]+\))")


def inline_svg(svg: bytes, label: str, title: str) -> SafeString:
    """Return the drawing as markup, titled `title`, as wide as its container.

    The policy of the site forbids styles, so each declaration becomes the attribute of its name.
    `label` begins all ids: two drawings of one page name the same letters.
    """
    root = ET.fromstring(COMMENT.sub(b"", svg))  # noqa: S314 - drawn here
    for element in root.iter():
        for child in list(element):
            if _local(child.tag) in LEFT_OUT:
                element.remove(child)
        attributes, element.tag = dict(element.attrib), _local(element.tag)
        style = attributes.pop("style", "")
        element.attrib.clear()
        for name, value in [*attributes.items(), *_declarations(style)]:
            element.set(_local(name), REFERENCE.sub(f"url(#{label}-", value))
        if "id" in element.attrib:
            element.set("id", f"{label}-{element.get('id')}")
        if element.get("href", "").startswith("#"):
            element.set("href", f"#{label}-{element.get('href', '')[1:]}")
    box = {"viewBox": root.get("viewBox", ""), "role": "img", "aria-label": title}
    root.attrib.clear()
    root.attrib.update(box | EVERYWHERE)
    return mark_safe(ET.tostring(root, encoding="unicode"))  # noqa: S308 - ElementTree escapes


def _local(name: str) -> str:
    """Return a name without its namespace, as HTML has it."""
    return name.rpartition("}")[2]


def _declarations(style: str) -> list[tuple[str, str]]:
    pairs = (declaration.split(":", 1) for declaration in style.split(";") if declaration.strip())
    return [(name.strip(), value.strip()) for name, value in pairs]
