"""Wording of a rubric in a campaign: its title, question, levels, guideline and examples.

A rubric is written in one language. The rubrics of the program are translated in the message
catalogues and in files beside their guidelines. `Campaign.wording` of a draft holds only its
overrides; opening the campaign freezes the complete wording there, so that editing the rubric or
adding a translation later does not change it. A campaign that is no draft and has no wording was
opened before this was introduced.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import override

from annotation.models.campaign import Campaign
from annotation.models.corpus import Text
from annotation.models.rubric import Rubric, grade_of_label, join_labels
from annotation.models.standard import GUIDELINES, STANDARD, Examples, Standard, examples_in


@dataclass(frozen=True)
class Level:
    """A grade and its label."""

    grade: int
    label: str


@dataclass(frozen=True)
class RubricWording:
    """Texts of a rubric that raters read, in one language; levels in descending order."""

    title: str
    question: str
    levels: tuple[Level, ...]
    guideline: str
    examples: Examples = field(default_factory=dict)
    further: "Mapping[str, RubricWording]" = field(default_factory=dict)
    """The words of the campaign's further rubrics, by slug."""
    is_multi_label: bool = False
    """Whether an answer is a set of the levels: see `Rubric.is_multi_label`."""

    @property
    def whole_guideline(self) -> str:
        """Return the guidelines of all rubrics, each under its title where there are several."""
        if not self.further:
            return self.guideline
        wordings = (self, *self.further.values())
        sections = (f"## {rubric.title}\n\n{rubric.guideline}" for rubric in wordings)
        return "\n\n".join(sections)

    def rubrics_with_examples(self) -> "list[RubricWording]":
        """Return the wordings of the rubrics that have examples, the campaign's own first."""
        return [rubric for rubric in (self, *self.further.values()) if rubric.examples]

    def levels_with_examples(self) -> Iterator[tuple[Level, Sequence[Mapping[str, str]]]]:
        """Yield each level that has examples with them, in descending order."""
        for level in self.levels:
            if examples := self.examples.get(level.grade):
                yield level, examples

    @property
    def level_noun(self) -> str:
        """Noun for a level: "label" of a multi-label rubric, else "grade"; in files and for staff."""
        return "label" if self.is_multi_label else "grade"

    def label_of(self, grade: int | None) -> str:
        """Return the label of a grade, or those of a set of labels; "" for no grade."""
        labels = {level.grade: level.label for level in self.levels}
        if not self.is_multi_label or grade is None:
            return labels.get(grade, "") if grade is not None else ""
        return join_labels(grade, labels) or _("none of these")

    def grade_text(self, grade: int | None) -> str:
        """Return a grade with its label, of a multi-label rubric its labels; "" for no grade."""
        label = self.label_of(grade)
        return label if self.is_multi_label or grade is None else f"{grade} {label}".rstrip()

    def labels(self) -> dict[int, str]:
        """Return the label of each grade of one level; of a multi-label rubric, also of none."""
        if not self.is_multi_label:
            return {level.grade: level.label for level in self.levels}
        ascending = sorted(self.levels, key=lambda level: level.grade)
        return {grade_of_label(level.grade): level.label for level in ascending} | {
            0: self.label_of(0)
        }

    def stored(self) -> dict[str, Any]:
        """Return the JSON for `Campaign.wording`. The guideline has a column of its own."""
        return {
            "title": self.title,
            "question": self.question,
            "levels": {str(level.grade): level.label for level in self.levels},
            "examples": {str(grade): examples for grade, examples in self.examples.items()},
            **({"is_multi_label": True} if self.is_multi_label else {}),
        }


def campaign_wording(campaign: Campaign, kind: str = "") -> RubricWording:
    """Return the wording of a campaign's rubric that raters read, for every page.

    For a draft, it is the wording that opening it now would freeze. `kind` is that of the text that
    is asked about; empty: of those that the campaign was made for.
    """
    if campaign.wording and not campaign.is_draft:
        frozen = campaign.wording.get("further", {})
        further = {slug: _from_json(stored) for slug, stored in frozen.items()}
        return replace(_with_overrides(RubricWording("", "", (), ""), campaign), further=further)
    kind = kind or campaign.kind
    if campaign.is_draft:
        further = {
            rubric.slug: default_wording(rubric, campaign.language, kind)
            for rubric in (campaign.further_rubrics.all() if campaign.pk else ())
        }
        default = _with_overrides(
            default_wording(campaign.rubric, campaign.language, kind), campaign
        )
        return replace(default, further=further)
    # Examples did not exist when it was opened.
    default = replace(_untranslated(campaign.rubric, campaign.language, kind), examples={})
    return _with_overrides(default, campaign)


def default_wording(rubric: Rubric, language: str, kind: str) -> RubricWording:
    """Return the rubric's default wording for a kind of text, translated where possible."""
    default = _untranslated(rubric, language, kind)
    standard = STANDARD.get(rubric.slug)
    if standard is None:
        return default
    built_in = {standard.title, standard.question, *(level.label for level in standard.levels)}
    with override(language):
        return RubricWording(
            title=_(default.title) if default.title in built_in else default.title,
            question=_(default.question) if default.question in built_in else default.question,
            levels=tuple(
                Level(level.grade, _(level.label) if level.label in built_in else level.label)
                for level in default.levels
            ),
            guideline=guideline_in(rubric, language),
            examples=_translated_examples(standard, default.examples, language),
        )


def guideline_in(rubric: Rubric, language: str) -> str:
    """Return a rubric's guideline in a language; unchanged if edited or not translated."""
    translated = GUIDELINES / f"{rubric.slug}.{language}.md"
    if not translated.exists():
        return rubric.guideline
    shipped = (GUIDELINES / f"{rubric.slug}.md").read_text(encoding="utf-8")
    is_unedited = is_same_text(rubric.guideline, shipped)
    return translated.read_text(encoding="utf-8") if is_unedited else rubric.guideline


def _translated_examples(standard: Standard, stored: Examples, language: str) -> Examples:
    """Return the examples of each grade, translated where they are as shipped."""
    shipped, translated = standard.examples, examples_in(standard.slug, language)
    return {
        grade: translated.get(grade, examples) if examples == shipped.get(grade) else examples
        for grade, examples in stored.items()
    }


def is_same_text(body: str, other_body: str) -> bool:
    """Return whether two texts are equal but for white space: browsers change line ends."""
    return body.split() == other_body.split()


def overrides_of(edited: RubricWording, default: RubricWording) -> dict[str, Any]:
    """Return the fields that differ from the rubric's default, for a draft's `wording`."""
    overrides: dict[str, Any] = {
        name: getattr(edited, name)
        for name in ("title", "question")
        if getattr(edited, name) != getattr(default, name)
    }
    levels = {
        str(level.grade): level.label for level in edited.levels if level not in default.levels
    }
    return overrides | ({"levels": levels} if levels else {})


def _from_json(stored: Mapping[str, Any]) -> RubricWording:
    """Return the stored wording of a further rubric of an opened campaign."""
    levels = sorted(stored["levels"].items(), key=lambda level: -int(level[0]))
    return RubricWording(
        stored["title"],
        stored["question"],
        tuple(Level(int(grade), label) for grade, label in levels),
        stored["guideline"],
        _examples_from_json(stored),
        is_multi_label=stored.get("is_multi_label", False),
    )


def _examples_from_json(stored: Mapping[str, Any]) -> Examples:
    """Return the stored examples; none of a campaign that was opened before they existed."""
    return {int(grade): examples for grade, examples in stored.get("examples", {}).items()}


def _untranslated(rubric: Rubric, language: str, kind: str) -> RubricWording:
    """Return the rubric's wording as stored, with the program's question in a language."""
    rows = rubric.levels.all()
    levels = tuple(Level(level.grade, level.label) for level in rows)
    examples = {level.grade: level.examples for level in rows if level.examples}
    with override(language):
        if rubric.eta is not None and len(levels) == 2:
            default_question = _("Can each question be answered from this %(kind)s alone?")
        elif rubric.is_multi_label:
            default_question = _(
                "Which of these fit each question and this %(kind)s? Choose all that apply."
            )
        elif rubric.is_nominal:
            default_question = _("Which of these fits each question and this %(kind)s?")
        else:
            default_question = _("How well does this %(kind)s answer each question?")
        question = rubric.question or default_question % {"kind": Text.Kind(kind).label}
        return RubricWording(
            rubric.title,
            question,
            levels,
            rubric.guideline,
            examples,
            is_multi_label=rubric.is_multi_label,
        )


def _with_overrides(default: RubricWording, campaign: Campaign) -> RubricWording:
    """Return a wording with the campaign's overrides. An opened campaign overrides all of it."""
    overrides: Mapping[str, Any] = campaign.wording
    labels: dict[str, str] = overrides.get("levels", {})
    levels = default.levels or [
        Level(grade, "") for grade in sorted(map(int, labels), reverse=True)
    ]
    return RubricWording(
        title=overrides.get("title", default.title),
        question=overrides.get("question", default.question),
        levels=tuple(
            Level(level.grade, labels.get(str(level.grade), level.label)) for level in levels
        ),
        guideline=campaign.guideline if campaign.guideline.strip() else default.guideline,
        examples=_examples_from_json(overrides) or default.examples,
        is_multi_label=overrides.get("is_multi_label", default.is_multi_label),
    )
