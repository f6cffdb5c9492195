"""Readiness of a draft: missing settings and warnings, by the step that fixes them."""

from dataclasses import dataclass, field
from decimal import Decimal

from django.conf import settings
from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from annotation.builder import equal_texts
from annotation.models import Campaign, CheckQuestion, Item
from annotation.models.rubric_wording import campaign_wording, is_same_text
from annotation.models.standard import kind_for
from annotation.participation import repeats
from annotation.participation.attention_checks import LONG_STUDY
from annotation.participation.workload import gold_plan, hourly, workload
from annotation.plurals import n_of

STEPS = {
    "texts": "Texts",
    "parts": "Assignment",
    "gold": "Training and gold",
    "guideline": "Guideline and consent",
    "checks": "Checks",
    "survey": "Survey",
    "terms": "Terms and people",
    "review": "Review and open",
}
SETTLES = {
    "texts": "title, kind, systems, topics, random sample, questions, further rubrics",
    "parts": "people for each text, parts, time limits, skips, repeats, number of attention checks",
    "gold": "practice texts and hidden texts with a known answer",
    "guideline": "language, wording of the rubric, guideline, consent",
    "checks": "questions before the work, wording of the attention checks",
    "survey": "questions about people and the study, before and after the work",
    "terms": "pay, minutes, contact, dates, feedback, platform, codes, open link, pilot, invited accounts",
    "review": "",
}
LOW_PAY = {"GBP": Decimal(9), "USD": Decimal(12), "EUR": Decimal("10.50")}  # an hour
SUBMISSION_HOURS = 24  # for which Prolific keeps a submission open


@dataclass
class Step:
    """A step of the builder, with its missing settings and its warnings."""

    name: str
    title: str
    url: str
    settles: str
    missing: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)


def steps(campaign: Campaign) -> list[Step]:
    """Return all steps of a draft in order. It can be opened when none has a missing setting."""
    by_name = {
        name: Step(name, title, reverse(f"campaign_{name}", args=[campaign.slug]), SETTLES[name])
        for name, title in STEPS.items()
    }
    _texts(campaign, by_name["texts"])
    _parts(campaign, by_name["parts"])
    _gold(campaign, by_name["gold"])
    _guideline(campaign, by_name["guideline"])
    _checks(campaign, by_name["checks"])
    _terms(campaign, by_name["terms"])
    return list(by_name.values())


def _texts(campaign: Campaign, step: Step) -> None:
    if not campaign.items.filter(purpose=Item.Purpose.STUDY).exists():
        step.missing.append("No texts are drawn yet.")
    for rubric in campaign.rubrics():
        if rubric.is_retired:
            step.odd.append(f"The rubric “{rubric}” is retired.")
    kind, rubric_kind = campaign.selection.get("kind"), kind_for(campaign.rubric)
    if kind and rubric_kind and kind != rubric_kind:
        step.odd.append(
            f"The rubric “{campaign.rubric}” is made for {rubric_kind}s, and these texts are {kind}s."
        )
    step.odd += equal_texts.remarks(campaign)
    if n := equal_texts.count_edited(campaign):
        step.missing.append(
            f"{n_of(n, 'text')} had the same words as another text at the draw and {_was(n)} "
            "edited since: save this step to draw again."
        )


def _parts(campaign: Campaign, step: Step) -> None:
    work = workload(campaign)
    if work and campaign.repeat_percent and campaign.repeat_after:
        # The texts may have been drawn again since the step was saved.
        problem = repeats.refusal(
            work.items_in_part, campaign.repeat_percent, campaign.repeat_after
        )
        step.missing += [problem] if problem else []
    if not campaign.admits_strangers:
        return
    if campaign.platform and work and 1 < work.items_in_part <= work.skips + 1:
        step.odd.append(
            f"{work.skips} of the {work.items_in_part} texts of a part may be skipped, so one is "
            "enough for the completion code."
        )
    if campaign.platform and not campaign.items_per_part:
        step.odd.append("There is only one part with every text; paid people need short parts.")
    if not campaign.lease_hours:
        step.odd.append(
            "Texts of people who left never return to the pool: set the hours to finish a part."
        )
        return
    if not campaign.begun_lease_hours:
        step.odd.append(
            "Begun texts of people who left stay reserved without limit: set a number of hours."
        )
    if campaign.platform == Campaign.Platform.PROLIFIC and campaign.lease_hours > SUBMISSION_HOURS:
        step.odd.append(
            f"A part has {campaign.lease_hours} hours, but a submission on Prolific has at most "
            f"{SUBMISSION_HOURS} hours."
        )


def _gold(campaign: Campaign, step: Step) -> None:
    if _gold_is_recognizable(campaign):
        step.odd.append(
            "A gold text has fewer questions than any text of the study, so people can recognise "
            "it. Save this step to draw it again."
        )
    plan = gold_plan(campaign)
    if plan is None or plan.min_labelled >= plan.enough:
        return
    n = (
        f"{plan.min_labelled}"
        if plan.min_labelled == plan.most
        else f"{plan.min_labelled} to {plan.most}"
    )
    whom = "nobody" if plan.most < plan.enough else "not everybody"
    step.odd.append(
        f"Hidden gold can flag {whom}: in {n_of(plan.parts, 'part')} a person meets "
        f"{n_of(plan.texts, 'gold text')} with {n} labelled question{_s(plan.most)}, and fewer than "
        f"{plan.enough} answers say too little. More gold texts for one person are more answers."
    )


def _gold_is_recognizable(campaign: Campaign) -> bool:
    """Return whether gold items ask fewer questions than any study item, and so can be told.

    As in a draft from when gold asked no more than its labelled questions.
    """
    numbers = (
        campaign.items.annotate(n=Count("asked")).order_by().values_list("purpose", "n").distinct()
    )
    fewest = dict(sorted(numbers, key=lambda number: -number[1]))
    gold, study = (fewest.get(purpose) for purpose in (Item.Purpose.GOLD, Item.Purpose.STUDY))
    return gold is not None and study is not None and gold < study


def _guideline(campaign: Campaign, step: Step) -> None:
    if not campaign.guideline.strip():
        step.odd.append("The guideline is empty; raters will see the rubric's guideline.")
    if untranslated := _untranslated(campaign):
        step.odd.append(
            f"The pages are in {campaign.get_language_display()}, and these are in the rubric's own "
            f"words: {' and '.join(untranslated)}. Where we have translated them, saving this step puts "
            "the translation there."
        )
    if not campaign.consent.strip():
        if campaign.admits_strangers:
            step.odd.append("There is no consent text, so no consent is requested.")
    elif not campaign.consent_version:
        step.odd.append("The consent text has no version.")


def _untranslated(campaign: Campaign) -> list[str]:
    """Return the parts of the rubric that are untranslated on pages in another language."""
    if campaign.language == settings.LANGUAGE_CODE:
        return []
    rubric_wording = campaign_wording(campaign)
    labels = {level.grade: level.label for level in campaign.rubric.levels.all()}
    grades = [
        str(level.grade) for level in rubric_wording.levels if level.label == labels[level.grade]
    ]
    parts = [f"{rubric_wording.level_noun}{_s(len(grades))} {', '.join(grades)}"] if grades else []
    if is_same_text(rubric_wording.guideline, campaign.rubric.guideline):
        parts.append("the guideline")
    stored = {level.grade: level.examples for level in campaign.rubric.levels.all()}
    if any(examples == stored[grade] for grade, examples in rubric_wording.examples.items()):
        parts.append("the examples")
    return parts


def _checks(campaign: Campaign, step: Step) -> None:
    n_written, n_asked = campaign.attention_checks.count(), campaign.attention_per_part
    if n_asked and not n_written:
        step.missing.append(
            f"Each part should have {n_of(n_asked, 'attention check')}, but there are none."
        )
    if n_written and not n_asked:
        step.odd.append(
            f"{n_of(n_written, 'attention check')} {_is(n_written)} written, and none is asked: "
            "see Assignment."
        )
    if n_asked > n_written > 0:
        step.odd.append(
            f"A part asks {n_asked} attention checks, and {n_written} {_is(n_written)} written, so the "
            "same one comes more than once."
        )
    if (
        campaign.platform == Campaign.Platform.PROLIFIC
        and (campaign.minutes_per_part or 0) >= LONG_STUDY
        and n_asked < 2
    ):
        step.odd.append(
            f"On Prolific a part of {LONG_STUDY} minutes or more needs two failed attention checks "
            f"before they are a reason for review; there {_is(n_asked)} {n_asked}."
        )


def _terms(campaign: Campaign, step: Step) -> None:
    if campaign.closes_at and campaign.closes_at <= timezone.now():
        step.missing.append("The closing time is in the past.")
    if campaign.platform:
        _platform(campaign, step)
    rate = hourly(campaign)
    if rate is not None and rate < LOW_PAY.get(campaign.currency, Decimal(0)):
        step.odd.append(
            f"The pay comes to {rate} {campaign.currency} an hour, less than "
            f"{LOW_PAY[campaign.currency]}."
        )
    invited = campaign.participants.count()
    work = workload(campaign)
    if campaign.admits_strangers:
        return
    if not invited:
        step.odd.append(
            "Nobody is invited yet. You can invite people later, by account or by link."
        )
    elif work and invited < work.people:
        step.odd.append(
            f"{invited} {'person is' if invited == 1 else 'people are'} invited, and the work needs "
            f"{work.people} at least."
        )


def _platform(campaign: Campaign, step: Step) -> None:
    name = campaign.get_platform_display()
    if campaign.platform == Campaign.Platform.PROLIFIC and not campaign.code_done:
        step.missing.append("Prolific needs a completion code for finished parts.")
    elif not campaign.code_done and not campaign.completion_url:
        step.missing.append(f"{name} needs a completion code or address for finished parts.")
    purposes = set(campaign.check_questions.values_list("purpose", flat=True))
    if CheckQuestion.Purpose.SCREENING in purposes and not campaign.code_screened_out:
        step.odd.append("People can be screened out, but there is no code for it.")
    if CheckQuestion.Purpose.COMPREHENSION in purposes and not campaign.code_failed_check:
        step.odd.append("People can fail the comprehension check, but there is no code for it.")
    if campaign.pay_per_part is None:
        step.odd.append(f"{name} is a paid platform, but no pay is stated.")
    if not campaign.minutes_per_part:
        step.odd.append("The minutes for a part are not stated.")


def _s(number: int) -> str:
    return "" if number == 1 else "s"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"
