"""Pages of a study for its participant: overview, consent, check, parts and completion."""

import math
from collections import Counter
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.db.models import Count, Prefetch, Q
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.http import AuthenticatedRequest
from annotation.models import Assignment, CheckQuestion, Item, Message, Part, Participant
from annotation.participation import (
    active_time,
    assigning,
    endings,
    entry,
    feedback,
    pay_rate,
    screening,
    survey,
    withdrawal,
    workflow,
)
from annotation.participation.forms import CheckForm, ConsentForm, WriteForm
from annotation.participation.messages import newest_message, write_to_researchers
from annotation.participation.parts import release_time
from annotation.participation.pay_state import pay_states
from annotation.participation.skips import skipped_gold, skips_of
from annotation.participation.time_left import minutes_left
from annotation.throttling import WorkerMessages

SCREENING, COMPREHENSION = CheckQuestion.Purpose.SCREENING, CheckQuestion.Purpose.COMPREHENSION


@require_safe
def work_home(request: AuthenticatedRequest) -> HttpResponseBase:
    """List the reader's studies with progress, in their language if they share one."""
    assignments = Assignment.objects.exclude(state=Assignment.State.RELEASED).select_related("item")
    participants = list(
        Participant.objects.filter(rater__user=request.user)
        .exclude(campaign__state="draft")
        .select_related("campaign__rubric")
        .prefetch_related(Prefetch("assignments", assignments))
        .order_by("-id")
    )
    if len({participant.campaign.language for participant in participants}) == 1:
        participants[0].campaign.activate_language()
    return render(
        request,
        "annotation/participation/work_home.html",
        {"participants": participants, "room": "work"},
    )


@require_safe
def work_campaign(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Page of a study for its participant: next or active part, and the guideline."""
    participant = get_own_participant(request, slug)
    if step := workflow.required_step_url(participant):
        return redirect(step)
    _study, submission = entry.submission_ids(request, participant.campaign)
    part = workflow.under_way(participant)
    last = participant.parts.last()
    stopped = endings.stopped(participant, last)
    may_finish = stopped is not None and stopped.can_be_done
    if stopped:
        part = last if may_finish else None
    offer = None
    if part is None and not workflow.has_used_submission(participant, submission):
        offer = workflow.next_part(participant)
    platform = entry.PLATFORMS.get(participant.source)
    parts = _parts(participant)
    context = {
        "campaign": participant.campaign,
        "part": part,
        "stopped": stopped,
        "held_until": release_time(part, participant.campaign) if part else None,
        "offer": offer,
        "skips": skips_of(participant, part) if part else None,
        "minutes_left": minutes_left(part),
        "number": participant.parts_done() + 1,
        "closed": entry.closed_reason(participant.campaign),
        "ending": None if part or offer else endings.ending(participant, submission),
        "platform": participant.get_source_display() if platform else "",
        "give_up": platform.give_up if platform else "",
        "appeal": platform.appeal if platform else entry.APPEAL,
        "parts": parts,
        "hourly": pay_rate.hourly_pay(
            participant.campaign, [row.ms for row in parts if row.outcome == "done" and row.ms]
        ),
        "pay_states": pay_states(participant),
        "may_leave": participant.outcome == Participant.Outcome.UNDER_WAY,
        "handed_in": _handed_in(participant),
        "reopened": [] if stopped and not may_finish else _reopened(participant),
        "news": Message.objects.for_reading(participant).filter(pk__gt=participant.seen_message),
        "n_decided": len(feedback.decided_pairs(participant)),
        **_conversation(participant),
        "is_guest": request.user.is_guest,
        "personal_link": _personal_link(participant, request),
        "folds_guideline": participant.checked_at is not None,
        "room": "work",
    }
    items = _items(last, leads_on=not stopped or may_finish)
    return render(request, "annotation/participation/work_campaign.html", context | items)


def _personal_link(participant: Participant, request: AuthenticatedRequest) -> str:
    """Return the link that a person who came by the open link has to keep; else empty."""
    campaign = participant.campaign
    is_by_link = participant.source == Participant.Source.LINK and not participant.external_id
    return entry.link_of(participant, request) if campaign.admits_anyone and is_by_link else ""


@require_POST
def begin(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Take the next part: its items are the participant's from now on."""
    return _begin(request, get_own_participant(request, slug))


def _begin(request: AuthenticatedRequest, participant: Participant) -> HttpResponseBase:
    slug = participant.campaign.slug
    if step := workflow.required_step_url(participant):
        return redirect(step)
    study_id, session_id = entry.submission_ids(request, participant.campaign)
    part = assigning.begin_part(participant, study_id=study_id, session_id=session_id)
    if part is None and workflow.has_used_submission(participant, session_id):
        return redirect("study_end", slug)
    if part is None:
        messages.info(request, _("There is nothing more to do in this study at the moment."))
    if part is None or not participant.campaign.counts_answers():
        return redirect("work_campaign", slug)
    waiting = part.assignments.filter(state=Assignment.State.OPEN).first()
    return redirect(waiting or reverse("work_campaign", args=[slug]))


@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show the terms of the study; record consent or refusal."""
    participant = get_own_participant(request, slug)
    if workflow.required_step_url(participant) != request.path:
        return redirect("work_campaign", slug)
    form = ConsentForm(workflow.screening_questions(participant.campaign), request.POST or None)
    if form.is_valid():
        if form.agrees:
            workflow.consent(participant)
            screening.record(request, participant, form)
        else:
            workflow.decline(participant)
        return redirect("work_campaign", slug)
    context = {"campaign": participant.campaign, "form": form, "room": "work"}
    status = 422 if request.method == "POST" else 200
    return render(request, "annotation/participation/consent.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def check(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show the check before the work in two steps: screening, then comprehension questions."""
    participant = get_own_participant(request, slug)
    if workflow.required_step_url(participant) != request.path:
        return redirect("work_campaign", slug)
    tries = participant.check_tries
    questions = list(participant.campaign.check_questions.all())
    # Who has had a try at comprehension has been through the screening.
    skips_screening = tries or screening.has_passed_screening(request, participant)
    screening_questions = [q for q in questions if q.purpose == SCREENING and not skips_screening]
    comprehension = [question for question in questions if question.purpose == COMPREHENSION]
    if request.method != "POST":
        step = SCREENING if screening_questions else COMPREHENSION
        form = CheckForm(screening_questions or comprehension, step, tries)
        return _check_page(request, participant, form)
    if request.POST.get("step") == SCREENING and screening_questions:
        form = CheckForm(screening_questions, SCREENING, tries, request.POST)
        if not form.is_valid():
            return _check_page(request, participant, form, status=422)
        if comprehension and not form.wrong(SCREENING):
            answers = {name: form.cleaned_data[name] for name in form.questions}
            both_steps = [*screening_questions, *comprehension]
            form = CheckForm(both_steps, COMPREHENSION, tries, None, answers)
            return _check_page(request, participant, form)
    else:
        both_steps = [*screening_questions, *comprehension]
        form = CheckForm(both_steps, COMPREHENSION, tries, request.POST)
        if not form.is_valid():
            if any(form[name].is_hidden for name in form.errors if name in form.fields):
                return redirect("check", slug)
            return _check_page(request, participant, form, status=422)
    return _judged(request, participant, form)


def _judged(
    request: AuthenticatedRequest, participant: Participant, form: CheckForm
) -> HttpResponseBase:
    slug = participant.campaign.slug
    if form.wrong(SCREENING):
        workflow.screen_out(participant)
    elif form.cleaned_data["tries"] != participant.check_tries:
        return redirect("check", slug)  # an old page, from a second click or the way back
    elif wrong := form.wrong(COMPREHENSION):
        workflow.miss_check(participant, participant.check_tries)
        participant.refresh_from_db()
        if not participant.outcome:
            form.explain(wrong)
            return _check_page(request, participant, form, status=422)
    else:
        workflow.pass_check(participant)
        participant.refresh_from_db()
        if not participant.parts.exists():
            return _begin(request, participant)  # the page said so, with what it means
    return redirect("work_campaign", slug)


def _check_page(
    request: AuthenticatedRequest, participant: Participant, form: CheckForm, status: int = 200
) -> HttpResponseBase:
    step = form["step"].value()
    begins = step == COMPREHENSION and not participant.parts.exists()
    begins = begins and not survey.is_due_before(participant)
    context = {
        "campaign": participant.campaign,
        "form": form,
        "offer": workflow.next_part(participant) if begins else None,
        "hourly": pay_rate.hourly_pay(participant.campaign, ()),
        "step": step,
        "tries": participant.check_tries,
        "tries_left": workflow.CHECK_TRIES - participant.check_tries,
        "room": "work",
    }
    return render(request, "annotation/participation/check.html", context, status=status)


@require_safe
def study_end(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show the outcome of a part or visit, and the way back to the platform."""
    participant = get_own_participant(request, slug)
    _study, submission = entry.submission_ids(request, participant.campaign)
    ending = endings.ending(participant, submission)
    if ending is None or ending.kind == endings.Kind.NOTHING:
        return redirect("work_campaign", slug)
    unanswered = survey.unanswered_after(participant)
    if ending.kind == endings.Kind.ALL_DONE and any(
        question.is_required for question in unanswered
    ):
        return redirect("survey_after", slug)
    platform = entry.PLATFORMS.get(participant.source)
    context = {
        "campaign": participant.campaign,
        "ending": ending,
        "n_left": len(unanswered) if ending.is_done else 0,
        "has_survey": ending.is_done and survey.can_change_after(participant),
        "platform": participant.get_source_display() if platform else "",
        "give_up": platform.give_up if platform else "",
        "appeal": platform.appeal if platform and not ending.code else entry.APPEAL,
        "pay_states": pay_states(participant) if ending.is_early else [],
        **_conversation(participant),
        "room": "work",
    }
    return render(request, "annotation/participation/study_end.html", context)


@require_POST
def leave(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """End the reader's own participation, where it has not ended yet."""
    participant = get_own_participant(request, slug)
    with suppress(withdrawal.ParticipationError):
        withdrawal.leave(participant)
    return redirect("study_end", slug)


@require_POST
def messages_seen(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Dismiss the researchers' messages, up to the newest one that was displayed."""
    participant = get_own_participant(request, slug)
    newest = request.POST.get("newest", "")
    if not newest.isascii() or not newest.isdecimal() or len(newest) > 9:
        raise Http404("There is no such message.")
    message = get_object_or_404(Message.objects.for_reading(participant), pk=int(newest))
    Participant.objects.filter(pk=participant.pk, seen_message__lt=message.pk).update(
        seen_message=message.pk
    )
    return redirect("work_campaign", slug)


@require_http_methods(["GET", "HEAD", "POST"])
def write_message(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show the conversation with the researchers; send a message, also after the end."""
    participant = get_own_participant(request, slug)
    form = WriteForm(request.POST) if request.method == "POST" else None
    status = 200
    if form and form.is_valid():
        throttle = WorkerMessages()
        if throttle.allow_request(request):
            return _send(request, participant, form)
        form.add_error("body", _("You sent many messages. Please wait, then send it again."))
        status = 429
    elif form:
        status = 422
    context = {"campaign": participant.campaign, "room": "work"}
    context |= _conversation(participant, form)
    response = render(
        request, "annotation/participation/write_message.html", context, status=status
    )
    if status == 429:
        response.headers["Retry-After"] = str(math.ceil(throttle.wait() or 60))
    return response


def _send(
    request: AuthenticatedRequest, participant: Participant, form: WriteForm
) -> HttpResponseBase:
    try:
        write_to_researchers(participant, form.cleaned_data["body"], form.cleaned_data["newest"])
    except withdrawal.ParticipationError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Your message is sent. You can read the answer here."))
    return redirect("write_message", participant.campaign.slug)


def _conversation(participant: Participant, form: WriteForm | None = None) -> dict[str, Any]:
    """Return the messages between a person and the researchers, and the form for another."""
    form = form or WriteForm(initial={"newest": newest_message(participant)})
    conversation = participant.messages.select_related("about__question").order_by("pk")
    return {"conversation": conversation, "write_form": form}


def get_own_participant(request: AuthenticatedRequest, slug: str) -> Participant:
    """Return the reader's participation in a campaign, whose language is activated."""
    participant = get_object_or_404(
        Participant.objects.exclude(campaign__state="draft").select_related("campaign__rubric"),
        campaign__slug=slug,
        rater__user=request.user,
    )
    participant.campaign.activate_language()
    return participant


def _items(part: Part | None, *, leads_on: bool) -> dict[str, object]:
    """Return the participant's items of a part, and the next one if there is any."""
    if part is None:
        return {"assignments": [], "next": None, "begun": False, "again": False}
    unreleased = part.assignments.exclude(state=Assignment.State.RELEASED)
    assignments = list(unreleased.select_related("item__text"))
    waiting = [
        assignment for assignment in assignments if assignment.state == Assignment.State.OPEN
    ]
    next_skipped = None if waiting or part.outcome else skipped_gold(unreleased).first()
    _number(assignments)
    return {
        "assignments": assignments,
        "next": (waiting[0] if waiting else next_skipped) if leads_on else None,
        "begun": len(waiting) < len(assignments),
        "again": next_skipped is not None,
    }


def _number(assignments: list[Any]) -> None:
    """Number the items of a part as their own pages do: practice by itself."""
    numbers: Counter[bool] = Counter()
    for assignment in assignments:
        is_practice = assignment.item.purpose == Item.Purpose.TRAINING
        numbers[is_practice] += 1
        assignment.number = numbers[is_practice]


def _reopened(participant: Participant) -> list[Assignment]:
    """List submitted texts that a later change has opened again."""
    waiting = participant.assignments.filter(
        state=Assignment.State.OPEN, submitted_at__isnull=False
    )
    return (
        list(waiting.select_related("item__text")) if participant.campaign.counts_answers() else []
    )


def _parts(participant: Participant) -> list[Any]:
    """List the participant's parts with active time, and submitted texts without practice."""
    submitted = Q(assignments__state=Assignment.State.SUBMITTED) & ~Q(
        assignments__item__purpose=Item.Purpose.TRAINING
    )
    parts: list[Any] = list(
        participant.parts.annotate(submitted=Count("assignments", filter=submitted))
    )
    part_ms = active_time.by_part(participant.parts.all())
    for part in parts:
        part.ms = part_ms.get(part.pk, 0)
    return parts


def _handed_in(participant: Participant) -> int:
    """Count the submitted texts of a participant; practice is none of them."""
    submitted = participant.assignments.filter(state=Assignment.State.SUBMITTED)
    return submitted.exclude(item__purpose=Item.Purpose.TRAINING).count()
