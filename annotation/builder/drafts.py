"""Drafts of campaigns: create, copy, sample again, and open."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Decimal

from django.db import transaction
from django.utils.text import slugify

from annotation.builder import readiness, sampling
from annotation.builder.attention_checks import add_ready_made
from annotation.builder.audiences import fit_to_sample
from annotation.builder.expected_reasons import restore_reasons, stored_reasons
from annotation.builder.survey import copy_questions, survey_row
from annotation.errors import UserError
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
from annotation.models.rubric_wording import (
    campaign_wording,
    default_wording,
    guideline_in,
    overrides_of,
)
from annotation.participation import assigning
from annotation.participation.assigning import begin_part, invite
from annotation.participation.entry import make_links
from annotation.plurals import n_of
from annotation.row_versions import version_of

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


class IncompleteDraftError(UserError):
    """The draft cannot be opened yet; the message lists the missing settings."""


class ChangedDraftError(Exception):
    """The draft differs from what the person who opens it has read."""


def free_slug(title: str) -> str:
    """Return a slug made from a title, which no other campaign has."""
    base = slugify(title)[:70].strip("-") or "campaign"
    slug, number = base, 1
    while slug in RESERVED or Campaign.objects.filter(slug=slug).exists():
        number += 1
        slug = f"{base}-{number}"
    return slug


@transaction.atomic
def create_draft(
    campaign: Campaign,
    people: Iterable[User] = (),
    names: Iterable[str] = (),
    *,
    minutes_of_text: Decimal | None = None,
    pay_of_hour: Decimal | None = None,
) -> None:
    """Save a new draft with its guideline and checks, draw its items, and invite people.

    People with an account see it once it is open; each of the `names` gets a personal link. One text of
    equal words is handed out. Raises SampleError where no text can be drawn; nothing is created then.
    """
    campaign.state = Campaign.State.DRAFT
    campaign.copies_equal_texts = True
    campaign.guideline = guideline_in(campaign.rubric, campaign.language)
    campaign.save(force_insert=True)
    sampling.resample(campaign)
    fit_to_sample(campaign, minutes_of_text, pay_of_hour)
    for _ in range(campaign.attention_per_part):
        add_ready_made(campaign)
    set_invited(campaign, people)
    make_links(campaign, names)


@transaction.atomic
def save_sample(
    campaign: Campaign, fields: Iterable[str], further: Iterable[Rubric] | None = None
) -> sampling.Sample:
    """Save some settings of a draft and draw it again.

    Raises SampleError, and saves nothing then. `further` are its further rubrics; None leaves them
    unchanged.
    """
    campaign.save(update_fields=list(fields))
    if further is not None:
        campaign.further_rubrics.set(further)
    return sampling.resample(campaign)


@transaction.atomic
def set_invited(campaign: Campaign, people: Iterable[User]) -> None:
    """Set the accounts that are invited to a draft."""
    invited = {person.pk: person for person in people}
    participants = campaign.participants.filter(source=Participant.Source.ACCOUNT)
    participants.exclude(rater__user__in=invited).delete()
    for person in invited.values():
        assigning.invite(campaign, assigning.rater_of(person))


@transaction.atomic
def invite_more(campaign: Campaign, people: Iterable[User], by: User) -> int:
    """Invite further accounts to an open campaign; return the number of those added."""
    before = campaign.participants.count()
    for person in people:
        assigning.invite(campaign, assigning.rater_of(person))
    added = campaign.participants.count() - before
    if added:
        LogEntry.record(campaign, by, "invited", n_of(added, "account"))
    return added


@transaction.atomic
def copy_draft(source: Campaign, by: User) -> Campaign:
    """Create a draft with the settings, wording and checks of a campaign, without its people.

    Its items are drawn again; its times and completion codes are left out as well. Where nothing
    can be drawn, the draft has no items, and its review says so.
    """
    settings = {
        field.attname: getattr(source, field.attname)
        for field in Campaign._meta.concrete_fields
        if field.name not in NOT_COPIED
    }
    title = f"{source.title[:190]} (copy)"
    first = source.items.select_related("text").first()
    kind = {"kind": first.text.kind} if first else {}
    selection = kind | {
        key: setting for key, setting in source.selection.items() if key != "left_out"
    }
    if (
        source.wording and not source.is_draft
    ):  # all of its words: the rubric's own among them stay that
        rubric_wording = default_wording(source.rubric, source.language, source.kind_asked())
        settings["wording"] = overrides_of(campaign_wording(source), rubric_wording)
    draft = Campaign.objects.create(
        **settings, title=title, slug=free_slug(title), created_by=by, selection=selection
    )
    draft.further_rubrics.set(source.further_rubrics.all())
    CheckQuestion.objects.bulk_create(
        CheckQuestion(
            campaign=draft,
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
            campaign=draft, position=check.position, body=check.body, expected=check.expected
        )
        for check in source.attention_checks.all()
    )
    copy_questions(source, draft)
    with suppress(sampling.SampleError):
        sampling.resample(draft)
        restore_reasons(draft, stored_reasons(source))
    return draft


def draft_version(campaign: Campaign, steps: Iterable[readiness.Step]) -> str:
    """Return the version of all that a draft consists of, and of the remarks about it."""
    checks = ("purpose", "body", "options", "correct", "why")
    return version_of(
        [
            Campaign.objects.filter(pk=campaign.pk).values().get(),
            list(campaign.further_rubrics.values_list("pk", flat=True)),
            list(campaign.items.order_by("position").values_list("text", flat=True)),
            list(campaign.check_questions.values_list(*checks)),
            list(campaign.attention_checks.values_list("body", "expected")),
            [survey_row(question) for question in campaign.survey_questions.all()],
            sorted(campaign.participants.values_list("rater", flat=True)),
            [remark for step in steps for remark in step.odd],
            sorted(stored_reasons(campaign).items()),
        ]
    )


@transaction.atomic
def open_draft(campaign: Campaign, by: User, version: str) -> None:
    """Open a draft that lacks nothing; its invited people see it and begin parts themselves.

    Raises IncompleteDraftError where something is missing, SampleError where it was opened before, and
    ChangedDraftError where its version is not the one that `by` has read.
    """
    locked = Campaign.objects.select_for_update().filter(pk=campaign.pk).first()
    if locked is None:
        raise IncompleteDraftError("The draft was deleted in the meantime.")
    steps = readiness.steps(locked) if locked.is_draft else []
    if lacks := [remark for step in steps for remark in step.missing]:
        raise IncompleteDraftError(" ".join(lacks))
    if locked.is_draft and draft_version(locked, steps) != version:
        raise ChangedDraftError
    sampling.publish(locked)
    LogEntry.record(locked, by, "opened")


@transaction.atomic
def open_campaign(campaign: Campaign, texts: Sequence[Text], raters: Iterable[Rater]) -> None:
    """Open a study among known raters: all texts go to each of them, at once."""
    raters = list(raters)
    campaign.raters_per_item = max(1, len(raters))
    campaign.state = Campaign.State.DRAFT
    campaign.save()
    sampling.sample(campaign, texts)
    sampling.publish(campaign)
    for rater in raters:
        begin_part(invite(campaign, rater))
