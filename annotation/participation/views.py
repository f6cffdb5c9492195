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
from annotation.models import Assignment, CheckQuestion, Message, Participant, Sitting
from annotation.participation import assigning, earnings, entry, journey, leaving
from annotation.participation.forms import CheckForm, ConsentForm
from annotation.participation.skips import needed, skips_of

SCREENING, COMPREHENSION = CheckQuestion.Purpose.SCREENING, CheckQuestion.Purpose.COMPREHENSION


@require_safe
def work_home(request: AuthenticatedRequest) -> HttpResponseBase:
    """The studies that the reader takes part in, and how far each is; in their language if they share one."""
    lent = Assignment.objects.exclude(state=Assignment.State.RELEASED)
    stays = list(
        Participant.objects.filter(rater__user=request.user)
        .exclude(campaign__state="draft")
        .select_related("campaign__rubric")
        .prefetch_related(Prefetch("assignments", lent))
        .order_by("-id")
    )
    if len({stay.campaign.language for stay in stays}) == 1:
        stays[0].campaign.speak()
    return render(
        request, "annotation/participation/work_home.html", {"stays": stays, "room": "work"}
    )


@require_safe
def work_campaign(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """One study as its participant sees it: the part that is next or under way, and the guideline."""
    stay = _stay(request, slug)
    if step := journey.before_work(stay):
        return redirect(step)
    _study, submission = entry.came_for(request, stay.campaign)
    sitting = journey.under_way(stay)
    last = stay.sittings.last()
    stopped = journey.stopped(stay, last)
    part = None
    if sitting is None and not journey.is_spent(stay, submission):
        part = journey.next_part(stay)
    platform = entry.PLATFORMS.get(stay.source)
    parts = _parts(stay)
    context = {
        "campaign": stay.campaign,
        "sitting": None if stopped else sitting,
        "stopped": stopped,
        "part": part,
        "skips": skips_of(stay, sitting) if sitting else None,
        "number": journey.parts_done(stay) + 1,
        "closed": entry.why_closed(stay.campaign),
        "ending": None if sitting or part else journey.ending(stay, submission),
        "platform": stay.get_source_display() if platform else "",
        "give_up": platform.give_up if platform else "",
        "parts": parts,
        "hourly": earnings.an_hour(
            stay.campaign, [one.ms for one in parts if one.outcome == "done" and one.ms]
        ),
        "may_leave": stay.outcome == Participant.Outcome.UNDER_WAY,
        "handed_in": _handed_in(stay),
        "reopened": [] if stopped else _reopened(stay),
        "news": stay.campaign.messages_sent.filter(pk__gt=stay.seen_message),
        "is_guest": request.user.is_guest,
        "room": "work",
    }
    items = _items(last, leads_on=not stopped)
    return render(request, "annotation/participation/work_campaign.html", context | items)


@require_POST
def begin(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Take the next part: its items are the participant's from now on."""
    stay = _stay(request, slug)
    if step := journey.before_work(stay):
        return redirect(step)
    study_id, session_id = entry.came_for(request, stay.campaign)
    if journey.under_way(stay) is None and journey.is_spent(stay, session_id):
        return redirect("study_end", slug)
    sitting = assigning.begin_part(stay, study_id=study_id, session_id=session_id)
    if sitting is None:
        messages.info(request, _("There is nothing more to do in this study at the moment."))
    if sitting is None or not stay.campaign.counts_answers():
        return redirect("work_campaign", slug)
    waiting = sitting.assignments.filter(state=Assignment.State.OPEN).first()
    return redirect(waiting or reverse("work_campaign", args=[slug]))


@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """The terms of the study, to be agreed to or not."""
    stay = _stay(request, slug)
    if journey.before_work(stay) != request.path:
        return redirect("work_campaign", slug)
    form = ConsentForm(request.POST or None)
    if form.is_valid():
        journey.consent(stay) if form.agrees else journey.decline(stay)
        return redirect("work_campaign", slug)
    context = {"campaign": stay.campaign, "form": form, "room": "work"}
    status = 422 if request.method == "POST" else 200
    return render(request, "annotation/participation/consent.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def check(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Questions before the work, in two steps: who may take part, and whether the task is clear."""
    stay = _stay(request, slug)
    if journey.before_work(stay) != request.path:
        return redirect("work_campaign", slug)
    tries = stay.check_tries
    asked = list(stay.campaign.check_questions.all())
    # Who has had a try at comprehension has been through the screening.
    screening = [one for one in asked if one.purpose == SCREENING and not tries]
    comprehension = [one for one in asked if one.purpose == COMPREHENSION]
    if request.method != "POST":
        step = SCREENING if screening else COMPREHENSION
        return _check_page(request, stay, CheckForm(screening or comprehension, step, tries))
    if request.POST.get("step") == SCREENING and screening:
        form = CheckForm(screening, SCREENING, tries, request.POST)
        if not form.is_valid():
            return _check_page(request, stay, form, status=422)
        if comprehension and not form.wrong(SCREENING):
            answers = {name: form.cleaned_data[name] for name in form.questions}
            form = CheckForm([*screening, *comprehension], COMPREHENSION, tries, None, answers)
            return _check_page(request, stay, form)
    else:
        form = CheckForm([*screening, *comprehension], COMPREHENSION, tries, request.POST)
        if not form.is_valid():
            if any(form[name].is_hidden for name in form.errors if name in form.fields):
                return redirect("check", slug)
            return _check_page(request, stay, form, status=422)
    return _judged(request, stay, form)


def _judged(request: AuthenticatedRequest, stay: Participant, form: CheckForm) -> HttpResponseBase:
    slug = stay.campaign.slug
    if form.wrong(SCREENING):
        journey.screen_out(stay)
    elif form.cleaned_data["tries"] != stay.check_tries:
        return redirect("check", slug)  # an old page, from a second click or the way back
    elif wrong := form.wrong(COMPREHENSION):
        journey.miss_check(stay, stay.check_tries)
        stay.refresh_from_db()
        if not stay.outcome:
            form.explain(wrong)
            return _check_page(request, stay, form, status=422)
    else:
        journey.pass_check(stay)
    return redirect("work_campaign", slug)


def _check_page(
    request: AuthenticatedRequest, stay: Participant, form: CheckForm, status: int = 200
) -> HttpResponseBase:
    context = {
        "campaign": stay.campaign,
        "form": form,
        "step": form["step"].value(),
        "tries": stay.check_tries,
        "tries_left": journey.CHECK_TRIES - stay.check_tries,
        "room": "work",
    }
    return render(request, "annotation/participation/check.html", context, status=status)


@require_safe
def study_end(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """What came of a part, or of the visit, and the way back to the platform."""
    stay = _stay(request, slug)
    _study, submission = entry.came_for(request, stay.campaign)
    ending = journey.ending(stay, submission)
    if ending is None:
        return redirect("work_campaign", slug)
    platform = entry.PLATFORMS.get(stay.source)
    context = {
        "campaign": stay.campaign,
        "ending": ending,
        "platform": stay.get_source_display() if platform else "",
        "give_up": platform.give_up if platform else "",
        "room": "work",
    }
    return render(request, "annotation/participation/study_end.html", context)


@require_POST
def leave(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """End the reader's own stay, where it has not ended yet."""
    stay = _stay(request, slug)
    with suppress(leaving.ActionRefusedError):
        leaving.leave(stay)
    return redirect("study_end", slug)


@require_POST
def messages_seen(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Put away what the researchers had to say, up to the newest message that was shown."""
    stay = _stay(request, slug)
    newest = request.POST.get("newest", "")
    if not newest.isascii() or not newest.isdecimal() or len(newest) > 9:
        raise Http404("There is no such message.")
    message = get_object_or_404(Message, campaign=stay.campaign, pk=int(newest))
    Participant.objects.filter(pk=stay.pk, seen_message__lt=message.pk).update(
        seen_message=message.pk
    )
    return redirect("work_campaign", slug)


def _stay(request: AuthenticatedRequest, slug: str) -> Participant:
    stay = get_object_or_404(
        Participant.objects.exclude(campaign__state="draft").select_related("campaign__rubric"),
        campaign__slug=slug,
        rater__user=request.user,
    )
    stay.campaign.speak()
    return stay


def _items(sitting: Sitting | None, *, leads_on: bool) -> dict[str, object]:
    """The items of a part that are (still) the participant's, and which of them is next, if any is."""
    if sitting is None:
        return {"assignments": [], "next": None, "begun": False, "again": False}
    held = sitting.assignments.exclude(state=Assignment.State.RELEASED)
    assignments = list(held.select_related("item__text"))
    waiting = [one for one in assignments if one.state == Assignment.State.OPEN]
    again = None if waiting or sitting.outcome else needed(held).first()
    return {
        "assignments": assignments,
        "next": (waiting[0] if waiting else again) if leads_on else None,
        "begun": len(waiting) < len(assignments),
        "again": again is not None,
    }


def _reopened(stay: Participant) -> list[Assignment]:
    """The texts that were handed in, and that a change since has opened again."""
    waiting = stay.assignments.filter(state=Assignment.State.OPEN, submitted_at__isnull=False)
    return list(waiting.select_related("item__text")) if stay.campaign.counts_answers() else []


def _parts(stay: Participant) -> list[Any]:
    """The parts of the participant so far: how many texts of each were handed in, and its active time."""
    submitted = Q(assignments__state=Assignment.State.SUBMITTED)
    parts: list[Any] = list(
        stay.sittings.annotate(submitted=Count("assignments", filter=submitted))
    )
    spent = earnings.active_ms(stay.sittings.all())
    for one in parts:
        one.ms = spent.get(one.pk, 0)
    return parts


def _handed_in(stay: Participant) -> int:
    return stay.assignments.filter(state=Assignment.State.SUBMITTED).count()
