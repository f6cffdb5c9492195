"""Examples of each grade, in the built-in rubrics and on the pages of a study."""

import re

import pytest

from annotation.models import Campaign, Rubric, RubricLevel
from annotation.models.rubric_wording import RubricWording, default_wording
from annotation.models.standard import GRADED, STANDARD, add_standard, examples_in
from tests.toolbox.campaign_builder import make_draft, open_it, read, remarks, url
from tests.toolbox.responses import markup

GRADED_REASON = GRADED.examples[5][0]["reason"]
NAMED_LEVEL = re.compile(r"^\| \*\*(\D.*?)\*\* \|", re.MULTILINE)


def phrases(rubric_wording: RubricWording) -> set[str]:
    """Return all texts of a rubric that raters read."""
    examples = [example for level in rubric_wording.examples.values() for example in level]
    return {
        *(rubric_wording.title, rubric_wording.question, *rubric_wording.labels().values()),
        *(line for line in rubric_wording.guideline.splitlines() if re.search(r"\w\w", line)),
        *(text for example in examples for text in example.values() if text),
    }


@pytest.mark.parametrize("slug", STANDARD)
def test_built_in_rubric_has_two_examples_of_each_grade_in_both_languages(db, slug):
    rubric = add_standard(STANDARD[slug])
    english, german = (default_wording(rubric, language, "passage") for language in ("en", "de"))
    for rubric_wording in (english, german):
        assert list(rubric_wording.examples) == [level.grade for level in STANDARD[slug].levels]
        for level in rubric_wording.examples.values():
            assert [set(example) for example in level] == [{"text", "question", "reason"}] * 2
            assert all(example["text"] and example["reason"] for example in level)
    assert not phrases(english) & phrases(german)
    # Grades that the German guideline names are named as on their buttons.
    assert set(NAMED_LEVEL.findall(german.guideline)) <= set(german.labels().values())


def test_german_study_has_no_english_sentence_of_the_rubric(admin, harbour):
    english = phrases(default_wording(add_standard(STANDARD["nugget-support"]), "en", "passage"))
    draft = make_draft(admin, harbour, rubric="nugget-support", kind="passage")
    form = admin.get(url(draft, "guideline")).context["form"]
    sent = {name: form[name].value() or "" for name in form.fields} | {"language": "de"}
    assert admin.post(url(draft, "guideline"), sent).status_code == 302
    examples = examples_in("nugget-support", "de")
    for page in (f"/campaigns/{draft.slug}/preview/", f"/campaigns/{draft.slug}/preview/items/0/"):
        response = admin.get(page)
        page_html = markup(response)
        assert not [phrase for phrase in english if phrase in page_html]
        assert all(
            example["reason"] in page_html for level in examples.values() for example in level
        )
        assert "<summary>Beispiele</summary>" in page_html
        assert "<h3>2 Er sagt es</h3>" in page_html
    for step in ("guideline", "review"):  # staff see what raters see, in the language of the study
        assert "Warum: Der Text nennt eine andere Zahl." in read(admin, draft, step)


def test_examples_are_frozen_when_the_campaign_opens(admin, harbour):
    draft = make_draft(admin, harbour, rubric="graded", kind="passage")
    open_it(admin, draft)
    assert GRADED_REASON in read(admin, draft, "review")
    RubricLevel.objects.update(examples=[])
    assert GRADED_REASON in read(admin, draft, "review")


def test_edited_examples_stay_and_are_remarked_in_a_german_study(admin, harbour):
    edited = [{"text": "Mine.", "question": "", "reason": "I say so."}]
    RubricLevel.objects.filter(rubric__slug="graded", grade=3).update(examples=edited)
    rubric = Rubric.objects.get(slug="graded")
    examples = default_wording(rubric, "de", "passage").examples
    assert examples == examples_in("graded", "de") | {3: edited}
    draft = make_draft(admin, harbour, rubric="graded", kind="passage")
    Campaign.objects.update(language="de")
    assert any("the examples" in remark for remark in remarks(admin, draft))
