"""Wording of a campaign's rubric: edited in the builder, frozen when it opens."""

import pytest

from annotation.builder.attention_checks import add_ready_made
from annotation.models import Campaign, Rubric, RubricLevel
from annotation.models.rubric_wording import Level, campaign_wording
from annotation.models.standard import GRADED, GUIDELINES, examples_in
from annotation.program_version import program_versions
from tests.toolbox.campaign_builder import (
    WORDING,
    make_draft,
    open_it,
    read,
    remarks,
    stored,
    url,
)
from tests.toolbox.factories import labels_of

GERMAN_LEVELS = (
    Level(5, "Beantwortet die Frage vollständig und klar"),
    Level(4, "Beantwortet sie; eine Einzelheit fehlt oder muss erschlossen werden"),
    Level(3, "Beantwortet den Hauptteil; anderes bleibt offen"),
    Level(2, "Nennt Fakten, die dafür von Bedeutung sind, aber keine Antwort"),
    Level(1, "Gleiches Thema, hilft bei der Frage nicht weiter"),
    Level(0, "Hat mit der Frage nichts zu tun"),
)
GERMAN_QUESTION = "Wie gut beantwortet dieser Abschnitt jede Frage?"
ENGLISH_LABELS = [label for _grade, label in labels_of(GRADED)]


def save(client, draft, **change) -> Campaign:
    response = client.post(url(draft, "guideline"), WORDING | change)
    assert response.status_code == 302, response.content.decode()
    return Campaign.objects.get(pk=draft.pk)


def as_it_is(draft) -> dict[str, str]:
    """The form as it comes, with the guideline that the draft has."""
    return WORDING | {"guideline": draft.guideline}


def test_form_comes_with_the_rubrics_own_words_and_saving_them_stores_none(admin, draft):
    page = read(admin, draft, "guideline")
    assert 'value="T2, grades 0 to 5"' in page
    for phrase in ("How well does this passage answer each question?", *ENGLISH_LABELS):
        assert f"> {phrase}</textarea>" in page
    assert save(admin, draft).wording == {}


def test_changed_wording_is_saved_and_displayed(admin, draft):
    saved_draft = save(
        admin, draft, level_3=" Most\r\nof it", question="How well?", rubric_title="Reading"
    )
    assert saved_draft.wording == {
        "title": "Reading",
        "question": "How well?",
        "levels": {"3": "Most of it"},
    }
    assert campaign_wording(saved_draft).labels() == dict(labels_of(GRADED)) | {3: "Most of it"}
    item = admin.get(f"/campaigns/{draft.slug}/preview/items/0/").content.decode()
    assert "How well?" in item
    assert "Most of it" in item
    assert ENGLISH_LABELS[2] not in item
    assert "> Most of it</textarea>" in read(admin, draft, "guideline")
    assert "Most of it" in read(admin, draft, "review")
    assert ENGLISH_LABELS[2] in admin.get("/rubrics/graded/").content.decode()  # staff read its own


def test_unchanged_wording_follows_the_language(admin, draft):
    saved_draft = save(admin, draft, **as_it_is(draft) | {"language": "de"})
    assert saved_draft.wording == {}
    rubric_wording = campaign_wording(saved_draft)
    assert (rubric_wording.title, rubric_wording.question) == (
        "T2, Stufen 0 bis 5",
        GERMAN_QUESTION,
    )
    assert rubric_wording.levels == GERMAN_LEVELS
    assert saved_draft.guideline == (GUIDELINES / "graded.de.md").read_text(encoding="utf-8")
    assert "> Hat mit der Frage nichts zu tun</textarea>" in read(admin, draft, "guideline")
    assert not any("in the rubric's own words" in remark for remark in remarks(admin, saved_draft))


def test_changed_wording_stays_in_another_language(admin, draft):
    save(admin, draft, level_3="Mostly")
    saved_draft = save(admin, draft, level_3="Mostly", guideline="# Meins", language="de")
    assert saved_draft.wording == {"levels": {"3": "Mostly"}}
    assert saved_draft.guideline == "# Meins"
    sent = {"language": "de", "rubric_title": "T2, Stufen 0 bis 5", "question": GERMAN_QUESTION}
    sent |= {f"level_{level.grade}": level.label for level in GERMAN_LEVELS}
    sent |= {"level_5": ENGLISH_LABELS[0]}  # on purpose: the form was German by then
    saved_draft = save(admin, draft, **sent)
    assert saved_draft.wording == {"levels": {"5": ENGLISH_LABELS[0]}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level_3": None}, "Grade 3 has no wording."),
        ({"level_3": "  "}, "Grade 3 has no wording."),
        ({"level_3": "x" * 201}, "The wording of grade 3 has more than 200 characters."),
        ({"level_9": "Perfect"}, "The rubric has no grade 9."),
        ({"level_x": "Perfect"}, "The rubric has no grade x."),
        ({"rubric_title": ""}, "Enter a title of the rubric."),
        ({"question": ""}, "Enter the question of the rubric."),
        ({"question": "x" * 201}, "at most 200 characters"),
        ({"language": "xx"}, "xx is not one of the available choices"),
    ],
)
def test_invalid_wording_is_refused_by_name(admin, draft, change, message):
    before = stored(draft)
    sent = {name: value for name, value in (WORDING | change).items() if value is not None}
    response = admin.post(url(draft, "guideline"), sent)
    assert response.status_code == 422
    assert message in response.content.decode()
    assert stored(draft) == before


def test_look_is_in_the_language_that_is_chosen_and_saves_nothing(admin, draft):
    before = stored(draft)
    sent = as_it_is(draft) | {"language": "de", "look": "1"}
    fragment = admin.post(url(draft, "guideline"), sent, HTTP_HX_REQUEST="true").content.decode()
    assert GERMAN_QUESTION in fragment
    assert "So entscheiden Sie" in fragment
    assert stored(draft) == before


def test_opening_freezes_every_word(admin, draft):
    save(admin, draft, **as_it_is(draft) | {"language": "de", "level_3": "Zum Teil"})
    open_it(admin, draft)
    draft.refresh_from_db()
    german = program_versions("de")
    assert draft.wording == {
        "title": "T2, Stufen 0 bis 5",
        "question": GERMAN_QUESTION,
        "levels": {str(level.grade): level.label for level in GERMAN_LEVELS} | {"3": "Zum Teil"},
        "examples": {
            str(grade): examples for grade, examples in examples_in("graded", "de").items()
        },
        "program": german,
    }
    assert german["catalogue"] == "locale/de/LC_MESSAGES/django.mo"
    assert len(german["catalogue_sha256"]) == 64
    before = campaign_wording(draft)
    Rubric.objects.update(title="Edited", guideline="Edited")
    RubricLevel.objects.update(label="Edited", examples=[])
    draft = Campaign.objects.get(pk=draft.pk)
    assert campaign_wording(draft) == before
    response = admin.post(url(draft, "guideline"), WORDING | {"level_3": "Edited"})
    assert (response.status_code, response.url) == (302, url(draft, "review"))
    assert campaign_wording(Campaign.objects.get(pk=draft.pk)) == before
    assert "Zum Teil" in read(admin, draft, "review")


def test_campaign_opened_without_wording_shows_the_rubrics_rows(admin, draft):
    save(admin, draft, **as_it_is(draft) | {"language": "de"})
    open_it(admin, draft)
    Campaign.objects.update(wording={})
    RubricLevel.objects.filter(grade=3).update(label="Edited")
    rubric_wording = campaign_wording(Campaign.objects.get(pk=draft.pk))
    assert rubric_wording.labels() == dict(labels_of(GRADED)) | {3: "Edited"}
    assert (rubric_wording.title, rubric_wording.question) == ("T2, grades 0 to 5", GERMAN_QUESTION)
    assert not rubric_wording.examples


def test_copy_has_the_words_that_were_given_and_follows_the_rubric_in_the_rest(admin, draft):
    save(admin, draft, **as_it_is(draft) | {"language": "de", "level_3": "Zum Teil"})
    open_it(admin, draft)
    admin.post(f"/campaigns/{draft.slug}/copy/")
    copied = Campaign.objects.latest("id")
    assert copied.wording == {"levels": {"3": "Zum Teil"}}
    assert campaign_wording(copied) == campaign_wording(Campaign.objects.get(pk=draft.pk))


def test_rubric_without_translation_is_remarked_until_it_has_words(admin, harbour):
    own_rubric = Rubric.objects.create(
        slug="own", title="Own", guideline="Read.", eta=1, span_from=1
    )
    for grade, label in ((1, "open"), (0, "closed")):  # words that the catalogue has elsewhere
        RubricLevel.objects.create(rubric=own_rubric, grade=grade, label=label)
    draft = make_draft(admin, harbour, rubric="own", kind="passage")
    sent = {"rubric_title": "Own", "guideline": "Read.", "language": "de"}
    sent |= {"question": campaign_wording(draft).question, "level_1": "open", "level_0": "closed"}
    assert admin.post(url(draft, "guideline"), sent).status_code == 302
    draft = Campaign.objects.get(pk=draft.pk)
    assert campaign_wording(draft).labels() == {1: "open", 0: "closed"}
    [remark] = [
        message for message in remarks(admin, draft) if "in the rubric's own words" in message
    ]
    assert "grades 1, 0 and the guideline" in remark
    sent |= {"question": campaign_wording(draft).question, "level_1": "ja", "level_0": "nein"}
    admin.post(url(draft, "guideline"), sent | {"guideline": "Lesen."})
    assert not any("in the rubric's own words" in message for message in remarks(admin, draft))


def test_ready_made_check_asks_in_the_words_that_are_given(admin, harbour):
    draft = make_draft(admin, harbour, rubric="answerable")
    draft.wording = {"levels": {"0": "nicht zu finden"}}
    draft.language = "de"
    assert add_ready_made(draft).body == (
        "Diese Frage prüft, ob Sie mitlesen: Bitte wählen Sie 0, nicht zu finden."
    )
