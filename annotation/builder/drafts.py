"""A study before it is open: making one, copying one, drawing it again, and opening it."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from django.db import transaction
from django.utils.text import slugify

from annotation.builder import readiness, sampling
from annotation.models import (
    AttentionCheck,
    Campaign,
    CheckQuestion,
    LogEntry,
    Participant,
    Rater,
    Rubric,
    Text,
    User,
)
from annotation.models.wording import differing, guideline_in, rubrics_own, shown
from annotation.participation import assigning
from annotation.participation.assigning import begin_part, invite
from annotation.plurals import n_of

RESERVED = ("new",)  # addresses beside those of campaigns
NOT_COPIED = (
    # of one study alone: its times, its codes on the platform, its people and their pseudonyms
    *(
        "id",
        "slug",
        "title",
        "state",
        "opens_at",
        "closes_at",
        "opened_at",
        "created",
        "created_by",
    ),
    *("code_done", "code_screened_out", "code_failed_check", "adjudicator", "salt", "selection"),
)


class NotReadyError(Exception):
    """A draft that cannot be opened yet; the message says what is missing."""


class NotSeenError(Exception):
    """There are remarks on a draft that whoever opens it has not confirmed."""


def free_slug(title: str) -> str:
    """An address made from a title, which no other campaign has."""
    base = slugify(title)[:70].strip("-") or "campaign"
    slug, number = base, 1
    while slug in RESERVED or Campaign.objects.filter(slug=slug).exists():
        number += 1
        slug = f"{base}-{number}"
    return slug


@transaction.atomic
def make(campaign: Campaign, people: Iterable[User]) -> None:
    """Save a new draft with its guideline, draw its items, and invite people, who see it once it is open.

    Among people who are named, everybody gets everything. Raises SampleError where no text
    can be drawn; nothing is made then.
    """
    people = list(people)
    campaign.state = Campaign.State.DRAFT
    campaign.guideline = guideline_in(campaign.rubric, campaign.language)
    campaign.raters_per_item = max(1, len(people))
    campaign.save(force_insert=True)
    sampling.resample(campaign)
    set_invited(campaign, people)


@transaction.atomic
def save_sample(
    campaign: Campaign, fields: Iterable[str], further: Iterable[Rubric] | None = None
) -> sampling.Sample:
    """Save some settings of a draft and draw it again. Raises SampleError, and saves nothing then.

    `further` are its further rubrics; None leaves them as they are.
    """
    campaign.save(update_fields=list(fields))
    if further is not None:
        campaign.further_rubrics.set(further)
    return sampling.resample(campaign)


@transaction.atomic
def set_invited(campaign: Campaign, people: Iterable[User]) -> None:
    """Let exactly these accounts be invited to a draft."""
    wanted = {person.pk: person for person in people}
    participants = campaign.participants.filter(source=Participant.Source.ACCOUNT)
    participants.exclude(rater__user__in=wanted).delete()
    for person in wanted.values():
        assigning.invite(campaign, assigning.rater_of(person))


@transaction.atomic
def invite_more(campaign: Campaign, people: Iterable[User], by: User) -> int:
    """Invite accounts that are not in yet to a campaign that is open. Returns how many came in."""
    before = campaign.participants.count()
    for person in people:
        assigning.invite(campaign, assigning.rater_of(person))
    added = campaign.participants.count() - before
    if added:
        LogEntry.record(campaign, by, "invited", n_of(added, "account"))
    return added


@transaction.atomic
def copy(source: Campaign, by: User) -> Campaign:
    """A new draft with the settings, words and checks of a campaign, drawn anew; not its people.

    Its times and completion codes are left behind as well. Where nothing can be drawn, the draft
    has no items, and its review says so.
    """
    settings = {
        field.attname: getattr(source, field.attname)
        for field in Campaign._meta.concrete_fields
        if field.name not in NOT_COPIED
    }
    title = f"{source.title[:190]} (copy)"
    first = source.items.select_related("text").first()
    kind = {"kind": first.text.kind} if first else {}
    selection = kind | {key: of for key, of in source.selection.items() if key != "left_out"}
    if (
        source.wording and not source.is_draft
    ):  # all of its words: the rubric's own among them stay that
        own = rubrics_own(source.rubric, source.language, source.kind_asked())
        settings["wording"] = differing(shown(source), own)
    made = Campaign.objects.create(
        **settings, title=title, slug=free_slug(title), created_by=by, selection=selection
    )
    made.further_rubrics.set(source.further_rubrics.all())
    CheckQuestion.objects.bulk_create(
        CheckQuestion(
            campaign=made,
            purpose=question.purpose,
            position=question.position,
            body=question.body,
            options=question.options,
            correct=question.correct,
            why=question.why,
        )
        for question in source.check_questions.all()
    )
    AttentionCheck.objects.bulk_create(
        AttentionCheck(
            campaign=made, position=check.position, body=check.body, expected=check.expected
        )
        for check in source.attention_checks.all()
    )
    with suppress(sampling.SampleError):
        sampling.resample(made)
    return made


@transaction.atomic
def open_to_raters(campaign: Campaign, by: User, seen: Iterable[str]) -> None:
    """Open a draft that lacks nothing. Those who are invited see it; each begins parts by themselves.

    Raises NotReadyError where something is missing, or where it was opened before, and NotSeenError
    where a remark is not among those that were confirmed: somebody may have changed the draft since.
    """
    locked = Campaign.objects.select_for_update().filter(pk=campaign.pk).first()
    if locked is None:
        raise NotReadyError("The draft was thrown away meanwhile.")
    steps = readiness.steps(locked) if locked.is_draft else []
    if lacks := [what for step in steps for what in step.missing]:
        raise NotReadyError(" ".join(lacks))
    if {what for step in steps for what in step.odd} - set(seen):
        raise NotSeenError
    try:
        sampling.publish(locked)
    except sampling.SampleError as error:
        raise NotReadyError(str(error)) from error
    LogEntry.record(locked, by, "opened")


@transaction.atomic
def open_campaign(campaign: Campaign, texts: Sequence[Text], raters: Iterable[Rater]) -> None:
    """A study among people who are known: every text goes to every one of them, at once."""
    raters = list(raters)
    campaign.raters_per_item = max(1, len(raters))
    campaign.state = Campaign.State.DRAFT
    campaign.save()
    sampling.sample(campaign, texts)
    sampling.publish(campaign)
    for rater in raters:
        begin_part(invite(campaign, rater))
