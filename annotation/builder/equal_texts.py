"""Texts of equal words in the draw of a campaign: their numbers."""

from annotation.builder.question_selection import can_copy_grades, copies_grades
from annotation.models import Campaign, EqualText, Item
from annotation.plurals import n_of
from annotation.text.equal_texts import wording_key

SAME = "the same words as another text of the topic, except for white space at the ends"


def count_copies(campaign: Campaign) -> int:
    """Count the texts that get the grades of a text of equal words."""
    return EqualText.objects.filter(item__campaign=campaign).count()


def count_repeated(campaign: Campaign) -> int:
    """Count the study items that have the words of an earlier one of the same topic."""
    items = campaign.items.filter(purpose=Item.Purpose.STUDY).order_by()
    earlier: set[tuple[int | None, str]] = set()
    n = 0
    for topic, body in items.values_list("text__topic", "text__body").iterator(chunk_size=500):
        key = topic, wording_key(body or "")
        n += key in earlier
        earlier.add(key)
    return n


def can_choose(campaign: Campaign) -> bool:
    """Return whether the draw has texts of equal words of which one could be handed out."""
    return can_copy_grades(campaign) and bool(count_copies(campaign) or count_repeated(campaign))


def count_edited(campaign: Campaign) -> int:
    """Count the texts that were to get the grades of another and have other words by now."""
    equal = EqualText.objects.filter(item__campaign=campaign).order_by()
    bodies = equal.values_list("item__text__body", "text__body").iterator(chunk_size=500)
    return sum(wording_key(body or "") != wording_key(equal or "") for body, equal in bodies)


def remarks(campaign: Campaign) -> list[str]:
    """Return the remarks about texts of equal words in a draft."""
    sentences = []
    if n := count_copies(campaign):
        sentences.append(
            f"{n_of(n, 'text')} {_has(n)} {SAME}: one of equal texts is assigned, and its grades are copied."
        )
    if n := count_repeated(campaign):
        remark = f"{n_of(n, 'text')} {_has(n)} {SAME}: each of them is assigned."
        if copies_grades(campaign):
            remark += " Save this step to draw again: then one of them is assigned."
        elif can_copy_grades(campaign):
            remark += " Judges grade one of them, and the grade is copied."
        sentences.append(remark)
    return sentences


def _has(n: int) -> str:
    return "has" if n == 1 else "have"
