"""Translation catalogues: complete for raters' pages, translated, and compiled."""

import ast
import gettext
import re

import pytest
from django.conf import settings
from django.utils.translation.template import templatize

from tests.toolbox.installed_apps import OUR_APPS
from tests.toolbox.message_catalogue import catalogue

LANGUAGES = [code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))
STRING = r"""u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
# In the bar of every page.
FOR_STAFF = {
    "Home",
    "Campaigns",
    "Projects",
    "Judges",
    "Rubrics",
    "Search",
    "Share",
    "Import",
    "Site settings",
}
NAMES = {"Crux workbench"}


def in_templates():
    texts = set()
    for path in TEMPLATES:
        code = templatize(path.read_text(encoding="utf-8"), origin=str(path))
        for first, second in re.findall(rf"(?:gettext|_)\({STRING}(?:, {STRING})?", code):
            texts |= {ast.literal_eval(text) for text in (first, second) if text}
    return texts


def in_code():
    texts = set()
    for app in OUR_APPS:
        for path in (settings.BASE_DIR / app).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    if node.func.id not in (
                        "_",
                        "gettext",
                        "gettext_lazy",
                        "gettext_noop",
                        "ngettext",
                    ):
                        continue
                    arguments = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
                    texts |= {text for text in arguments if isinstance(text, str)}
    return texts


@pytest.mark.parametrize("language", LANGUAGES)
def test_marked_texts_are_in_catalogue(language):
    translated = {text for english, _means, _flags in catalogue(language) for text in english}
    assert in_templates() | in_code() == translated


@pytest.mark.parametrize("language", LANGUAGES)
def test_catalogue_has_no_empty_or_fuzzy_entry(language):
    for english, means, flags in catalogue(language):
        assert all(means), english
        assert len(means) >= len(english), english
        assert "fuzzy" not in flags, english
        assert "~" not in flags, english


@pytest.mark.parametrize("language", LANGUAGES)
def test_placeholders_and_elements_survive(language):
    def parts(text):
        return sorted(re.findall(r"%\(\w+\)s|%%|\{\w+\}|</?\w+", text))

    for english, means, _flags in catalogue(language):
        assert parts(means[0]) == parts(english[0])
        for form in means[1:]:
            assert parts(form) == parts(english[-1])


@pytest.mark.parametrize("language", LANGUAGES)
def test_compiled_file_says_the_same(language):
    mo = settings.LOCALE_PATHS[0] / language / "LC_MESSAGES" / "django.mo"
    with mo.open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for english, means, _flags in catalogue(language):
        if len(english) == 1:
            assert compiled.gettext(english[0]) == means[0]
        else:
            assert compiled.ngettext(*english, 1) == means[0]
            assert compiled.ngettext(*english, 2) in means[1:]


@pytest.mark.parametrize(
    "path",
    [
        template
        for template in TEMPLATES
        if re.search(r"{% load [^%]*\bi18n\b", template.read_text("utf-8"))
    ],
    ids=lambda path: path.name,
)
def test_template_that_is_translated_is_so_as_a_whole(path):
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"{% blocktranslate.*?{% endblocktranslate %}", "", text, flags=re.DOTALL)
    text = re.sub(r"{% block (main|body)_class %}.*?{% endblock %}", "", text)
    text = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "\n", text, flags=re.DOTALL)
    read_aloud = re.findall(r'(?:aria-label|title|alt|placeholder)="([^"]*)"', text)
    lines = re.sub(r"<[^>]*>", "\n", re.sub(r"<kbd[^>]*>.</kbd>", "", text)).splitlines()
    untranslated = {
        piece.strip(" ,.:·") for piece in lines + read_aloud if re.search(r"[^\W\d_]", piece)
    }
    assert untranslated <= NAMES | (FOR_STAFF if path.name == "base.html" else set())
