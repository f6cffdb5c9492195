"""Summary of a draft in sentences, with estimates only from what is stated or measured."""

from dataclasses import dataclass, field

from annotation.builder.audiences import Audience, audience_of, standard_consent
from annotation.builder.task_minutes import MeasuredMinutes, measure_minutes
from annotation.models import Campaign, CheckQuestion, Participant
from annotation.participation.planning import Plan
from annotation.participation.workload import Workload, gold_plan
from annotation.plurals import n_of

MAX_NAMES = 5  # people who are named; the others are counted


@dataclass(frozen=True)
class Line:
    """A setting of the summary in words."""

    label: str
    text: str


@dataclass(frozen=True)
class Summary:
    """Size of a draft in one sentence, and its settings."""

    lead: str
    lines: list[Line] = field(default_factory=list)


def summarize(campaign: Campaign, work: Workload, plan: Plan) -> Summary:
    """Return the summary of a draft with drawn texts."""
    median = measure_minutes(campaign)
    lines = [Line("Who", _annotators(campaign)), Line("Time", _time(campaign, work, median))]
    if campaign.lease_hours or campaign.admits_strangers:
        lines.append(Line("Time limit", _lease(campaign)))
    lines += [Line("Consent", _consent(campaign)), Line("Checks", _checks(campaign, work))]
    if campaign.platform:
        lines.append(Line("Completion code", campaign.code_done or "none"))
    if campaign.platform or campaign.pay_per_part is not None:
        lines.append(Line("Pay", _pay(campaign, work, plan)))
    return Summary(_lead(campaign, work, median), lines)


def _lead(campaign: Campaign, work: Workload, median: MeasuredMinutes | None) -> str:
    """Return the size: 12 passages, 3 people each, parts of 4 texts, about 25 minutes a part."""
    people = "1 person" if work.raters == 1 else f"{work.raters} people"
    gold = gold_plan(campaign)
    n_gold = gold.in_first if gold else 0
    parts = (
        f"parts of {n_of(work.items_in_part + n_gold, 'text')}"
        if campaign.items_per_part
        else "all texts in one part"
    )
    if n_gold:
        parts += f" ({n_gold} of them hidden gold)"
    phrases = [n_of(work.items, campaign.kind), f"{people} each", parts]
    if minutes := _minutes_of_part(campaign, work, median):
        phrases.append(f"about {n_of(minutes, 'minute')} a part")
    return ", ".join(phrases)


def _minutes_of_part(
    campaign: Campaign, work: Workload, median: MeasuredMinutes | None
) -> int | None:
    if campaign.minutes_per_part:
        return campaign.minutes_per_part
    return max(1, round(median.minutes * (work.items_in_part + work.repeats))) if median else None


def _annotators(campaign: Campaign) -> str:
    audience = audience_of(campaign)
    if audience == Audience.LINK:
        return "anyone with the link, without an account"
    if audience != Audience.COLLEAGUES:
        return f"people from {campaign.get_platform_display()}"
    invited = campaign.participants.select_related("rater").order_by("pk")
    names = [
        participant.rater.name
        if participant.source == Participant.Source.ACCOUNT
        else f"{participant.external_id or 'somebody'} (personal link)"
        for participant in invited[:MAX_NAMES]
    ]
    n = invited.count()
    if n > MAX_NAMES:
        names.append(f"{n - MAX_NAMES} more")
    return ", ".join(names) or "nobody yet"


def _time(campaign: Campaign, work: Workload, median: MeasuredMinutes | None) -> str:
    minutes = _minutes_of_part(campaign, work, median)
    if not minutes:
        return "unknown: no earlier campaign here has measured such texts, and none is stated"
    hours = work.parts * minutes / 60
    total = f"{n_of(work.parts, 'part')}, {hours:.1f} hours in all"
    source = "" if campaign.minutes_per_part else ", estimated"
    text = f"about {n_of(minutes, 'minute')} a part{source}; {total}"
    if median:
        text += (
            f". Measured in “{median.campaign}”: {median.minutes:.1f} minutes a text, "
            f"median of {n_of(median.n, 'text')}"
        )
    return text


def _lease(campaign: Campaign) -> str:
    if not campaign.lease_hours:
        return "none"
    text = f"{n_of(campaign.lease_hours, 'hour')} for a part, then others get the untouched texts"
    if campaign.begun_lease_hours:
        text += f"; begun texts after {n_of(campaign.begun_lease_hours, 'hour')}"
    return text


def _consent(campaign: Campaign) -> str:
    if not campaign.consent.strip():
        return "none is asked"
    audience = audience_of(campaign)
    is_standard = audience and campaign.consent == standard_consent(audience)
    text = "our standard text, which your ethics board may want changed" if is_standard else "yours"
    contact = f"; contact {campaign.contact}" if campaign.contact else "; no contact is named"
    return f"{text}{contact}"


def _checks(campaign: Campaign, work: Workload) -> str:
    n_questions = campaign.check_questions.count()
    texts = []
    if campaign.attention_per_part:
        texts.append(f"{n_of(campaign.attention_per_part, 'attention check')} in a part")
    if n_questions:
        screening = campaign.check_questions.filter(purpose=CheckQuestion.Purpose.SCREENING)
        kind = "screening and comprehension" if screening.exists() else "comprehension"
        texts.append(f"{n_of(n_questions, f'{kind} question')} before the work")
    if work.repeats:
        texts.append(f"{n_of(work.repeats, 'text')} of a part graded twice by the same person")
    if campaign.n_gold:
        texts.append(f"{n_of(campaign.n_gold, 'hidden gold text')}")
    return ", ".join(texts) or "none"


def _pay(campaign: Campaign, work: Workload, plan: Plan) -> str:
    if campaign.pay_per_part is None:
        return "none is stated"
    text = f"{campaign.pay_per_part} {campaign.currency} a part"
    if work.hourly is not None:
        text += f", {work.hourly} {campaign.currency} an hour"
    text += f"; {plan.pay.text} {campaign.currency} in all"
    if campaign.platform and not campaign.platform_fee:
        return f"{text}, without the fee of {campaign.get_platform_display()}"
    return (
        f"{text}, {plan.total.text} {campaign.currency} with the fee" if campaign.platform else text
    )
