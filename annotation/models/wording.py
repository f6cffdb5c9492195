"""Wording of a rubric as the raters of a campaign read it: its title, instruction, levels and guideline.

A rubric has words of its own, in one language. Those of the rubrics that come with the program are
translated in the catalogues and beside their guidelines. A draft holds in `Campaign.wording` what it words
otherwise, and its opening puts the whole of it there: an edited rubric, or a later translation, then
changes nothing of it. A campaign without any that is no draft was opened before that was so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import override

from annotation.models.campaign import Campaign
from annotation.models.corpus import Text
from annotation.models.rubric import Rubric
from annotation.models.standard import GUIDELINES, STANDARD


@dataclass(frozen=True)
class Level:
    """A grade and the words that define it."""

    grade: int
    label: str


@dataclass(frozen=True)
class Wording:
    """All words of a rubric that raters read, in one language; levels from the highest grade down."""

    title: str
    question: str
    levels: tuple[Level, ...]
    guideline: str
    further: "Mapping[str, Wording]" = field(default_factory=dict)
    """The words of the campaign's further rubrics, by slug."""

    @property
    def whole_guideline(self) -> str:
        """The guidelines of all rubrics, each under the title of its own where there are several."""
        if not self.further:
            return self.guideline
        every = (self, *self.further.values())
        return "\n\n".join(f"## {words.title}\n\n{words.guideline}" for words in every)

    def labels(self) -> dict[int | None, str]:
        """The words of each level by its grade."""
        return {level.grade: level.label for level in self.levels}

    def stored(self) -> dict[str, Any]:
        """As `Campaign.wording` holds it. The guideline has a column of its own."""
        return {
            "title": self.title,
            "question": self.question,
            "levels": {str(level.grade): level.label for level in self.levels},
        }


def shown(campaign: Campaign, kind: str = "") -> Wording:
    """What raters of a campaign read of its rubric; every page for them asks here.

    A draft's is what raters would read if it opened now. `kind` is that of the text that is asked about;
    empty: of those that the campaign was made for.
    """
    if campaign.wording and not campaign.is_draft:
        frozen = campaign.wording.get("further", {})
        further = {slug: _read(words) for slug, words in frozen.items()}
        return replace(_merged(Wording("", "", (), ""), campaign), further=further)
    kind = kind or campaign.kind
    if campaign.is_draft:
        further = {
            rubric.slug: rubrics_own(rubric, campaign.language, kind)
            for rubric in (campaign.further_rubrics.all() if campaign.pk else ())
        }
        own = _merged(rubrics_own(campaign.rubric, campaign.language, kind), campaign)
        return replace(own, further=further)
    return _merged(_untranslated(campaign.rubric, campaign.language, kind), campaign)


def rubrics_own(rubric: Rubric, language: str, kind: str) -> Wording:
    """The rubric's own words in a language, as far as they are translated, asking about a kind of text."""
    own = _untranslated(rubric, language, kind)
    shipped = STANDARD.get(rubric.slug)
    if shipped is None:
        return own
    ours = {shipped.title, shipped.question, *(level.label for level in shipped.levels)}
    with override(language):
        return Wording(
            title=_(own.title) if own.title in ours else own.title,
            question=_(own.question) if own.question in ours else own.question,
            levels=tuple(
                Level(level.grade, _(level.label) if level.label in ours else level.label)
                for level in own.levels
            ),
            guideline=guideline_in(rubric, language),
        )


def guideline_in(rubric: Rubric, language: str) -> str:
    """A rubric's guideline in a language; as it is, where it was edited or has no translation."""
    translated = GUIDELINES / f"{rubric.slug}.{language}.md"
    if not translated.exists():
        return rubric.guideline
    shipped = (GUIDELINES / f"{rubric.slug}.md").read_text(encoding="utf-8")
    is_ours = same_words(rubric.guideline, shipped)
    return translated.read_text(encoding="utf-8") if is_ours else rubric.guideline


def same_words(one: str, other: str) -> bool:
    """Whether two texts say the same; browsers send their line ends in their own way."""
    return one.split() == other.split()


def differing(given: Wording, own: Wording) -> dict[str, Any]:
    """What of some words is not the rubric's own, as `Campaign.wording` of a draft holds it."""
    wording: dict[str, Any] = {
        name: getattr(given, name)
        for name in ("title", "question")
        if getattr(given, name) != getattr(own, name)
    }
    labels = own.labels()
    levels = {
        str(level.grade): level.label
        for level in given.levels
        if level.label != labels.get(level.grade)
    }
    return wording | ({"levels": levels} if levels else {})


def _read(stored: Mapping[str, Any]) -> Wording:
    """The words of a further rubric, as an opened campaign holds them."""
    levels = sorted(stored["levels"].items(), key=lambda level: -int(level[0]))
    return Wording(
        stored["title"],
        stored["question"],
        tuple(Level(int(grade), label) for grade, label in levels),
        stored["guideline"],
    )


def _untranslated(rubric: Rubric, language: str, kind: str) -> Wording:
    """The rubric's words as they are in the database, and the program's own question in a language."""
    levels = tuple(Level(level.grade, level.label) for level in rubric.levels.all())
    with override(language):
        if rubric.eta is not None and len(levels) == 2:
            programs = _("Can each question be answered from this %(kind)s alone?")
        elif rubric.is_nominal:
            programs = _("Which of these fits each question and this %(kind)s?")
        else:
            programs = _("How well does this %(kind)s answer each question?")
        question = rubric.question or programs % {"kind": Text.Kind(kind).label}
        return Wording(rubric.title, question, levels, rubric.guideline)


def _merged(own: Wording, campaign: Campaign) -> Wording:
    """Some words with those in place of them that a campaign gives. An opened one gives all of them."""
    given: Mapping[str, Any] = campaign.wording
    labels: dict[str, str] = given.get("levels", {})
    levels = own.levels or [Level(grade, "") for grade in sorted(map(int, labels), reverse=True)]
    return Wording(
        title=given.get("title", own.title),
        question=given.get("question", own.question),
        levels=tuple(
            Level(level.grade, labels.get(str(level.grade), level.label)) for level in levels
        ),
        guideline=campaign.guideline if campaign.guideline.strip() else own.guideline,
    )
