"""Texts of equal words in the draw of a campaign are remarked."""

import pytest

from annotation.models import Dataset, Text
from crux_site.imports.importing import import_dataset
from tests.annotation.builder.builder_material import make_draft, read, remarks
from tests.shared_cases import case


def repeated(client, draft) -> list[str]:
    return [remark for remark in remarks(client, draft) if "words of another text" in remark]


def test_case_of_equal_texts(admin, db):
    import_dataset(case("equal-texts-handed-out") / "study", "c14")
    draft = make_draft(admin, Dataset.objects.get(slug="c14"))
    [remark] = repeated(admin, draft)
    assert remark.startswith("2 texts have the words of another text of the same topic")
    assert remark in read(admin, draft, "texts")


@pytest.mark.parametrize(("ending", "says"), [(" \n", "1 text has"), (" more", "")])
def test_white_space_at_the_ends_makes_no_other_words(admin, draft, ending, says):
    assert repeated(admin, draft) == []
    first, second = draft.items.select_related("text").filter(text__topic__isnull=False)[:2]
    texts = Text.objects.filter(pk=second.text_id)
    texts.update(body=f"{first.text.body}{ending}", topic=first.text.topic)
    assert [remark.startswith(says) for remark in repeated(admin, draft)] == (
        [True] if says else []
    )
