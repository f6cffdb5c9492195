"""What raters see in another language: the translation is whole, and it stays on their pages."""

import ast
import gettext
import re
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation
from django.utils.translation.template import templatize

from annotation.builder.forms.checks import add_ready_made
from annotation.models import Campaign
from tests.crowd import PID, RIGHT, Walker, make_study
from tests.factories import make_campaign
from tests.markup import markup

LANGUAGES = [code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))
APPS = ("annotation", "crux_site", "evaluation", "judging")
STRING = r"""u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
# In the bar of every page.
FOR_STAFF = {
    "Datasets",
    "Campaigns",
    "Judges",
    "Rubrics",
    "Import",
    "People",
    "Tokens for programs",
}
NAMES = {"Crux workbench"}


def catalogue(language):
    """Every message of a .po: its English (one form or two), its translations, and its flags."""
    po = settings.LOCALE_PATHS[0] / language / "LC_MESSAGES" / "django.po"
    messages = []
    for block in po.read_text(encoding="utf-8").split("\n\n")[1:]:
        fields: dict[str, str] = {}
        for line in block.splitlines():
            if not line.startswith("#"):
                name, quoted = re.fullmatch(r'(\S*?) ?(".*")', line).groups()
                name = name or list(fields)[-1]
                fields[name] = fields.get(name, "") + ast.literal_eval(quoted)
        english = [text for name, text in fields.items() if name.startswith("msgid")]
        means = [text for name, text in fields.items() if name.startswith("msgstr")]
        messages.append((english, means, " ".join(re.findall("^#[,~].*", block, re.MULTILINE))))
    return messages


def in_templates():
    texts = set()
    for path in TEMPLATES:
        code = templatize(path.read_text(encoding="utf-8"), origin=str(path))
        for first, second in re.findall(rf"(?:gettext|_)\({STRING}(?:, {STRING})?", code):
            texts |= {ast.literal_eval(text) for text in (first, second) if text}
    return texts


def in_code():
    texts = set()
    for app in APPS:
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
def test_every_text_that_is_marked_is_in_the_catalogue(language):
    known = {text for english, _means, _flags in catalogue(language) for text in english}
    assert in_templates() | in_code() == known


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_empty_or_guessed(language):
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
def test_the_compiled_file_says_the_same(language):
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
def test_a_template_that_is_translated_is_so_as_a_whole(path):
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"{% blocktranslate.*?{% endblocktranslate %}", "", text, flags=re.DOTALL)
    text = re.sub(r"{% block (main|body)_class %}.*?{% endblock %}", "", text)
    text = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "\n", text, flags=re.DOTALL)
    read_aloud = re.findall(r'(?:aria-label|title|alt|placeholder)="([^"]*)"', text)
    shown = re.sub(r"<[^>]*>", "\n", re.sub(r"<kbd>.</kbd>", "", text)).splitlines()
    words = {piece.strip(" ,.:·") for piece in shown + read_aloud if re.search(r"[^\W\d_]", piece)}
    assert words <= NAMES | (FOR_STAFF if path.name == "base.html" else set())


# The pages


@pytest.fixture
def walker(db):
    return Walker(Client(), make_study(language="de"))


def test_a_study_is_german_from_the_door_to_the_task(walker):
    for page, says in (
        (walker.come(), "Bevor Sie beginnen"),
        (walker.agree(), "Zu Ihrer Person"),
        (walker.screening(), "Ist die Aufgabe klar?"),
        (walker.check(*RIGHT), "Als Nächstes kommt Teil 1 von 2:"),
        (walker.begin(), "Abgeben"),
    ):
        content = markup(page)
        assert '<html lang="de"' in content
        assert says in content
    assert "Bericht 1 von" in content
    assert "Wird gespeichert" in content  # for the scripts


def test_somebody_who_cannot_come_in_reads_why_in_german(db):
    make_study(language="de")
    Campaign.objects.update(state=Campaign.State.PAUSED)
    page = Client().get("/start/crowd/", {"PROLIFIC_PID": PID})
    assert page.status_code == 403
    assert "Diese Studie ruht" in page.content.decode()
    assert '<html lang="de"' in markup(page)


@pytest.fixture
def german(cast, dataset):
    campaign = make_campaign(dataset, cast.researcher)
    Campaign.objects.filter(pk=campaign.pk).update(language="de")
    return Campaign.objects.get(pk=campaign.pk)


def test_the_next_page_of_the_same_person_is_english_again(cast, german):
    client = cast.client("researcher")
    for path in (f"/work/in/{german.slug}/", "/work/", f"/campaigns/{german.slug}/preview/"):
        assert '<html lang="de"' in markup(client.get(path)), path
        for staff_page in (f"/campaigns/{german.slug}/", "/datasets/", "/nowhere/"):
            assert '<html lang="en-gb"' in markup(client.get(staff_page))
        assert translation.get_language() == settings.LANGUAGE_CODE


def test_studies_in_two_languages_are_listed_in_the_sites_own(cast, dataset, german):
    make_campaign(dataset, cast.researcher, rubric="graded")
    assert '<html lang="en-gb"' in markup(cast.client("researcher").get("/work/"))


def test_what_cannot_be_saved_is_refused_in_german(cast, german):
    assignment = german.participants.get().assignments.first()
    question = assignment.item.asked.first().question_id
    refused = cast.client("researcher").post(
        f"/work/{assignment.pk}/answers/{question}/",
        {"key": uuid4(), "grade": 7},
        headers={"X-Requested-With": "fetch"},
    )
    assert refused.status_code == 422
    assert refused.content.decode() == "Möglich sind die Stufen 0, 1, nicht 7."


def test_what_is_missing_is_missing_in_german(cast, german):
    page = cast.client("researcher").post(f"/work/in/{german.slug}/messages/", {"newest": "x"})
    assert page.status_code == 404
    assert "Unter dieser Adresse steht nichts" in page.content.decode()
    assert '<html lang="de"' in markup(page)


def test_a_ready_made_check_is_in_the_language_of_its_campaign(german):
    assert add_ready_made(german).body.startswith("Diese Frage prüft")
    german.language = "en-gb"
    assert add_ready_made(german).body.startswith("This question checks")
