"""A study as its participant sees it: what there is to do, the way to it, and its end."""

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
from annotation.models import Assignment, CheckQuestion, Message, Part, Participant
from annotation.participation import active_time, assigning, earnings, entry, journey, leaving
from annotation.participation.forms import CheckForm, ConsentForm
from annotation.participation.parts import held_until
from annotation.participation.skips import needed, skips_of

SCREENING, COMPREHENSION = CheckQuestion.Purpose.SCREENING, CheckQuestion.Purpose.COMPREHENSION


@require_safe
def work_home(request: AuthenticatedRequest) -> HttpResponseBase:
    """The studies that the reader takes part in, and how far each is; in their language if they share one."""
    assignments = Assignment.objects.exclude(state=Assignment.State.RELEASED)
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
    """One study as its participant sees it: the part that is next or under way, and the guideline."""
    participant = _participant(request, slug)
    if step := journey.before_work(participant):
        return redirect(step)
    _study, submission = entry.came_for(request, participant.campaign)
    part = journey.under_way(participant)
    last = participant.parts.last()
    stopped = journey.stopped(participant, last)
    may_finish = stopped is not None and stopped.can_be_done
    if stopped:
        part = last if may_finish else None
    offer = None
    if part is None and not journey.is_spent(participant, submission):
        offer = journey.next_part(participant)
    platform = entry.PLATFORMS.get(participant.source)
    parts = _parts(participant)
    context = {
        "campaign": participant.campaign,
        "part": part,
        "stopped": stopped,
        "held_until": held_until(part, participant.campaign) if part else None,
        "offer": offer,
        "skips": skips_of(participant, part) if part else None,
        "number": participant.parts_done() + 1,
        "closed": entry.why_closed(participant.campaign),
        "ending": None if part or offer else journey.ending(participant, submission),
        "platform": participant.get_source_display() if platform else "",
        "give_up": platform.give_up if platform else "",
        "parts": parts,
        "hourly": earnings.an_hour(
            participant.campaign, [row.ms for row in parts if row.outcome == "done" and row.ms]
        ),
        "may_leave": participant.outcome == Participant.Outcome.UNDER_WAY,
        "handed_in": _handed_in(participant),
        "reopened": [] if stopped and not may_finish else _reopened(participant),
        "news": participant.campaign.messages_sent.filter(pk__gt=participant.seen_message),
        "is_guest": request.user.is_guest,
        "room": "work",
    }
    items = _items(last, leads_on=not stopped or may_finish)
    return render(request, "annotation/participation/work_campaign.html", context | items)


@require_POST
def begin(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Take the next part: its items are the participant's from now on."""
    participant = _participant(request, slug)
    if step := journey.before_work(participant):
        return redirect(step)
    study_id, session_id = entry.came_for(request, participant.campaign)
    if journey.under_way(participant) is None and journey.is_spent(participant, session_id):
        return redirect("study_end", slug)
    part = assigning.begin_part(participant, study_id=study_id, session_id=session_id)
    if part is None:
        messages.info(request, _("There is nothing more to do in this study at the moment."))
    if part is None or not participant.campaign.counts_answers():
        return redirect("work_campaign", slug)
    waiting = part.assignments.filter(state=Assignment.State.OPEN).first()
    return redirect(waiting or reverse("work_campaign", args=[slug]))


@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """The terms of the study, to be agreed to or not."""
    participant = _participant(request, slug)
    if journey.before_work(participant) != request.path:
        return redirect("work_campaign", slug)
    form = ConsentForm(request.POST or None)
    if form.is_valid():
        journey.consent(participant) if form.agrees else journey.decline(participant)
        return redirect("work_campaign", slug)
    context = {"campaign": participant.campaign, "form": form, "room": "work"}
    status = 422 if request.method == "POST" else 200
    return render(request, "annotation/participation/consent.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def check(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Questions before the work, in two steps: who may take part, and whether the task is clear."""
    participant = _participant(request, slug)
    if journey.before_work(participant) != request.path:
        return redirect("work_campaign", slug)
    tries = participant.check_tries
    asked = list(participant.campaign.check_questions.all())
    # Who has had a try at comprehension has been through the screening.
    screening = [question for question in asked if question.purpose == SCREENING and not tries]
    comprehension = [question for question in asked if question.purpose == COMPREHENSION]
    if request.method != "POST":
        step = SCREENING if screening else COMPREHENSION
        return _check_page(request, participant, CheckForm(screening or comprehension, step, tries))
    if request.POST.get("step") == SCREENING and screening:
        form = CheckForm(screening, SCREENING, tries, request.POST)
        if not form.is_valid():
            return _check_page(request, participant, form, status=422)
        if comprehension and not form.wrong(SCREENING):
            answers = {name: form.cleaned_data[name] for name in form.questions}
            form = CheckForm([*screening, *comprehension], COMPREHENSION, tries, None, answers)
            return _check_page(request, participant, form)
    else:
        form = CheckForm([*screening, *comprehension], COMPREHENSION, tries, request.POST)
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
        journey.screen_out(participant)
    elif form.cleaned_data["tries"] != participant.check_tries:
        return redirect("check", slug)  # an old page, from a second click or the way back
    elif wrong := form.wrong(COMPREHENSION):
        journey.miss_check(participant, participant.check_tries)
        participant.refresh_from_db()
        if not participant.outcome:
            form.explain(wrong)
            return _check_page(request, participant, form, status=422)
    else:
        journey.pass_check(participant)
    return redirect("work_campaign", slug)


def _check_page(
    request: AuthenticatedRequest, participant: Participant, form: CheckForm, status: int = 200
) -> HttpResponseBase:
    context = {
        "campaign": participant.campaign,
        "form": form,
        "step": form["step"].value(),
        "tries": participant.check_tries,
        "tries_left": journey.CHECK_TRIES - participant.check_tries,
        "room": "work",
    }
    return render(request, "annotation/participation/check.html", context, status=status)


@require_safe
def study_end(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """What came of a part, or of the visit, and the way back to the platform."""
    participant = _participant(request, slug)
    _study, submission = entry.came_for(request, participant.campaign)
    ending = journey.ending(participant, submission)
    if ending is None:
        return redirect("work_campaign", slug)
    platform = entry.PLATFORMS.get(participant.source)
    context = {
        "campaign": participant.campaign,
        "ending": ending,
        "platform": participant.get_source_display() if platform else "",
        "give_up": platform.give_up if platform else "",
        "room": "work",
    }
    return render(request, "annotation/participation/study_end.html", context)


@require_POST
def leave(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """End the reader's own participation, where it has not ended yet."""
    participant = _participant(request, slug)
    with suppress(leaving.ActionRefusedError):
        leaving.leave(participant)
    return redirect("study_end", slug)


@require_POST
def messages_seen(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Put away what the researchers had to say, up to the newest message that was shown."""
    participant = _participant(request, slug)
    newest = request.POST.get("newest", "")
    if not newest.isascii() or not newest.isdecimal() or len(newest) > 9:
        raise Http404("There is no such message.")
    message = get_object_or_404(Message, campaign=participant.campaign, pk=int(newest))
    Participant.objects.filter(pk=participant.pk, seen_message__lt=message.pk).update(
        seen_message=message.pk
    )
    return redirect("work_campaign", slug)


def _participant(request: AuthenticatedRequest, slug: str) -> Participant:
    participant = get_object_or_404(
        Participant.objects.exclude(campaign__state="draft").select_related("campaign__rubric"),
        campaign__slug=slug,
        rater__user=request.user,
    )
    participant.campaign.activate_language()
    return participant


def _items(part: Part | None, *, leads_on: bool) -> dict[str, object]:
    """The items of a part that are (still) the participant's, and which of them is next, if any is."""
    if part is None:
        return {"assignments": [], "next": None, "begun": False, "again": False}
    held = part.assignments.exclude(state=Assignment.State.RELEASED)
    assignments = list(held.select_related("item__text"))
    waiting = [
        assignment for assignment in assignments if assignment.state == Assignment.State.OPEN
    ]
    again = None if waiting or part.outcome else needed(held).first()
    return {
        "assignments": assignments,
        "next": (waiting[0] if waiting else again) if leads_on else None,
        "begun": len(waiting) < len(assignments),
        "again": again is not None,
    }


def _reopened(participant: Participant) -> list[Assignment]:
    """The texts that were handed in, and that a change since has opened again."""
    waiting = participant.assignments.filter(
        state=Assignment.State.OPEN, submitted_at__isnull=False
    )
    return (
        list(waiting.select_related("item__text")) if participant.campaign.counts_answers() else []
    )


def _parts(participant: Participant) -> list[Any]:
    """The parts of the participant so far: how many texts of each were handed in, and its active time."""
    submitted = Q(assignments__state=Assignment.State.SUBMITTED)
    parts: list[Any] = list(
        participant.parts.annotate(submitted=Count("assignments", filter=submitted))
    )
    spent = active_time.by_part(participant.parts.all())
    for part in parts:
        part.ms = spent.get(part.pk, 0)
    return parts


def _handed_in(participant: Participant) -> int:
    return participant.assignments.filter(state=Assignment.State.SUBMITTED).count()
