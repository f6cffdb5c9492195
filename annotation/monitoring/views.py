"""Monitoring views: list of studies, and a study's numbers, people, log and export."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.http import AuthenticatedRequest, coordinators_only, researchers_only
from annotation.models import Assignment, Campaign, Dataset, Item, LogEntry, Part, Participant
from annotation.monitoring import actions, progress
from annotation.monitoring.conversations import (
    ConversationChangedError,
    answer_participant,
    conversations,
    mark_read,
)
from annotation.monitoring.export import archive
from annotation.monitoring.forms import ExtendForm, LinkForm, MessageForm, ReadForm, ReplyForm
from annotation.monitoring.participants import rows, statuses
from annotation.monitoring.plan_comparison import compare_with_plan
from annotation.monitoring.survey_counts import survey_counts
from annotation.participation.messages import newest_message
from annotation.participation.payout import outcome_payout, part_payout
from annotation.participation.skips import skips_by_part
from annotation.participation.withdrawal import ParticipationError
from annotation.plurals import n_of

PER_PAGE = 50


@require_safe
@researchers_only
@vary_on_headers("HX-Request")
def campaign(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show one study with its terms and progress; for htmx, the live numbers alone."""
    campaign = get_object_or_404(Campaign.objects.select_related("dataset", "rubric"), slug=slug)
    total, *systems = progress.items(campaign)
    context = {
        "campaign": campaign,
        "statuses": statuses(campaign),
        "assigned": progress.handed_out(campaign),
        "abandoned": progress.abandoned(campaign),
        "total": total,
        "systems": systems,
        "hands_out": campaign.assigns_work(),
        "room": "campaigns",
    }
    if request.htmx:
        return render(request, "annotation/monitoring/_numbers.html", context)
    amounts_due = progress.pay_due(campaign)
    total_due = progress.total_due(amounts_due)
    extra = campaign.items.exclude(purpose=Item.Purpose.STUDY).values_list("purpose", flat=True)
    assigned = Assignment.objects.filter(participant__campaign=campaign)
    notes = assigned.exclude(note="", reported_broken=False).order_by("-reported_broken", "pk")
    context |= {
        "extra": [extra.filter(purpose=p).count() for p in ("training", "gold")],
        "days": progress.by_day(campaign),
        "late": progress.late(campaign),
        "due": amounts_due,
        "total_due": total_due,
        "plan": []
        if campaign.is_draft
        else compare_with_plan(campaign, total.submitted, total_due),
        "part_due": part_payout(campaign, has_fee=bool(campaign.platform)),
        "time": progress.time_of_parts(campaign),
        "conversations": conversations(campaign, only_unread=True)
        if request.user.runs_campaigns
        else [],
        "n_notes": notes.count(),
        "notes": notes.select_related("participant__rater", "item__text").defer("item__text__body")[
            :PER_PAGE
        ],
    }
    return render(request, "annotation/monitoring/campaign.html", context)


@require_safe
@researchers_only
def participants(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """List the participants of a study, filtered by status, page by page."""
    campaign = get_object_or_404(Campaign, slug=slug)
    status = request.GET.get("status", "")
    participants = campaign.participants.select_related("rater__user").with_status()
    if status in Participant.STATUSES:
        participants = participants.filter(status=status)
    else:
        status = ""
    page = Paginator(participants.order_by("pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
        "statuses": statuses(campaign),
        "status": status,
        "page": page,
        "rows": rows(page),
        "query": f"status={status}&" if status else "",
        "room": "campaigns",
    }
    return render(request, "annotation/monitoring/participants.html", context)


@require_safe
@researchers_only
def participant(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Show a participant of a study: parts, items, the log, and the actions of staff."""
    participants = Participant.objects.select_related(
        "campaign__rubric", "rater__user"
    ).with_status()
    participant = get_object_or_404(participants, campaign__slug=slug, pk=pk)
    assigned = participant.assignments.select_related("item__text", "part", "check_asked")
    [row] = rows([participant])
    skips = skips_by_part(participant.campaign, participant.assignments.all())
    last = participant.parts.last()
    newest = participant.log.first()
    context = {
        "campaign": participant.campaign,
        "participant": participant,
        "row": row,
        "parts": [
            (
                part,
                skips.get(part.pk),
                outcome_payout(participant.campaign, participant.source, part.outcome),
            )
            for part in participant.parts.all()
        ],
        "items": assigned.defer("item__text__body"),
        "log": participant.log.select_related("by"),
        "extend": ExtendForm(),
        "link": LinkForm(),
        "has_link": participant.source == Participant.Source.LINK and not participant.erased_at,
        "is_guest": bool(participant.rater.user and participant.rater.user.is_guest),
        "has_ended": participant.outcome not in ("", Participant.Outcome.DONE),
        "unfinished": last if last and last.outcome != Part.Outcome.DONE else None,
        "seen": newest.pk if newest else 0,
        "is_extendable": not participant.outcome and last and last.is_extendable,
        "room": "campaigns",
    }
    return render(request, "annotation/monitoring/participant.html", context)


@require_safe
@researchers_only
def log(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show the audit log of a study, newest first."""
    campaign = get_object_or_404(Campaign, slug=slug)
    entries = campaign.log.select_related("by", "participant__rater")
    page = Paginator(entries, PER_PAGE).get_page(request.GET.get("page"))
    context = {"campaign": campaign, "page": page, "query": "", "room": "campaigns"}
    return render(request, "annotation/monitoring/log.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def campaign_messages(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """List the messages to all workers, and the conversations with single ones.

    Coordinators send messages to all and answer people.
    """
    campaign = get_object_or_404(Campaign, slug=slug)
    if request.method == "POST" and not request.user.runs_campaigns:
        raise PermissionDenied("Messages are sent by admins and coordinators.")
    form = MessageForm(request.POST) if request.method == "POST" else _message_form(campaign)
    if form.is_valid():
        sent = form.cleaned_data
        actions.send_message(campaign, sent["body"], request.user, sent["newest"])
        messages.success(request, "The message is sent.")
        return redirect("campaign_messages", slug)
    return _messages_page(request, campaign, form, status=422 if form.is_bound else 200)


def _message_form(campaign: Campaign) -> MessageForm:
    newest = campaign.messages_sent.addressed_to_all().order_by("-pk").first()
    return MessageForm(initial={"newest": newest.pk if newest else 0})


def _messages_page(
    request: AuthenticatedRequest,
    campaign: Campaign,
    form: MessageForm,
    *,
    status: int,
    refused: tuple[int, ReplyForm] | None = None,
) -> HttpResponseBase:
    context = {
        "campaign": campaign,
        "form": form,
        "sent": campaign.messages_sent.addressed_to_all().select_related("by").order_by("-pk"),
        # People may name themselves or others in them.
        "conversations": conversations(campaign, refused=refused)
        if request.user.runs_campaigns
        else [],
        "room": "campaigns",
    }
    return render(request, "annotation/monitoring/messages.html", context, status=status)


@require_safe
@researchers_only
def survey(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show the counts of the answers to the survey, without people."""
    campaign = get_object_or_404(Campaign, slug=slug)
    context = {"campaign": campaign, "counts": survey_counts(campaign), "room": "campaigns"}
    return render(request, "annotation/monitoring/survey.html", context)


@require_POST
@coordinators_only
def answer_message(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Answer the messages of one person."""
    participant = _messaging_participant(slug, pk)
    form = ReplyForm(request.POST, auto_id=f"id_{pk}_%s")
    status = 422
    if form.is_valid():
        body, newest = form.cleaned_data["body"], form.cleaned_data["newest"]
        try:
            answer_participant(participant, body, newest, request.user)
        except ConversationChangedError as error:
            # The page displays what is new, so the next try knows of it.
            form.data = request.POST.copy()
            form.data["newest"] = str(newest_message(participant))
            form.add_error("body", str(error))
            status = 409
        except ParticipationError as error:
            messages.error(request, str(error))
            return redirect("campaign_messages", slug)
        else:
            messages.success(request, f"The answer to {participant.rater} is sent.")
            return redirect("campaign_messages", slug)
    return _messages_page(
        request,
        participant.campaign,
        _message_form(participant.campaign),
        status=status,
        refused=(pk, form),
    )


@require_POST
@coordinators_only
def read_messages(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Mark the messages of one person as read without an answer."""
    participant = _messaging_participant(slug, pk)
    form = ReadForm(request.POST)
    if form.is_valid():
        n = mark_read(participant, form.cleaned_data["newest"])
        messages.success(request, f"{n_of(n, 'message')} of {participant.rater} marked as read.")
    else:
        messages.error(request, f"Nothing was marked as read. newest: {form.errors['newest'][0]}")
    return redirect("campaign_messages", slug)


def _messaging_participant(slug: str, pk: int) -> Participant:
    participants = Participant.objects.select_related("campaign", "rater")
    return get_object_or_404(participants, campaign__slug=slug, pk=pk)


@require_POST
@researchers_only
def export(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Export a study as an archive: in full for admins, without people for researchers."""
    campaign = get_object_or_404(Campaign.objects.select_related("dataset", "rubric"), slug=slug)
    kind = request.POST.get("kind")
    if kind not in ("full", "anonymous"):
        raise Http404("An export must be full or anonymous.")
    if kind == "full" and not request.user.runs_campaigns:
        raise PermissionDenied(
            "The full export has ids of people, so it is only for admins and coordinators."
        )
    LogEntry.record(campaign, request.user, "exported", kind)
    response = StreamingHttpResponse(
        archive(campaign, anonymous=kind == "anonymous"), content_type="application/zip"
    )
    name = f"{slug}.anonymous.zip" if kind == "anonymous" else f"{slug}.zip"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_safe
@researchers_only
def campaigns(request: AuthenticatedRequest) -> HttpResponseBase:
    """List the campaigns of the reader's projects, newest first; `?dataset=SLUG` those of one."""
    chosen = request.GET.get("dataset")
    dataset = (
        get_object_or_404(Dataset.objects.visible_to(request.user), slug=chosen) if chosen else None
    )
    is_work = ~Q(participants__assignments__item__purpose=Item.Purpose.TRAINING)
    submitted = Q(participants__assignments__state=Assignment.State.SUBMITTED) & is_work
    listed = (
        Campaign.objects.visible_to(request.user)
        .select_related("dataset", "rubric")
        .annotate(
            raters=Count("participants", distinct=True),
            assigned=Count("participants__assignments", filter=is_work, distinct=True),
            submitted=Count("participants__assignments", filter=submitted, distinct=True),
        )
        .order_by("-id")  # a model's own order does not hold where rows are counted
    )
    run_by_reader = Dataset.objects.run_by(request.user)
    if dataset:
        listed, run_by_reader = listed.filter(dataset=dataset), run_by_reader.filter(pk=dataset.pk)
    context = {
        "campaigns": listed,
        "dataset": dataset,
        "datasets": run_by_reader,
        "room": "campaigns",
    }
    return render(request, "annotation/monitoring/campaigns.html", context)
