"""The rater's pages: what there is to do, one item under the rubric, and saving it."""

from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation import assigning
from annotation.forms import AnswerForm, SkipForm
from annotation.http import AuthenticatedRequest
from annotation.models import Assignment, Campaign, Participant
from annotation.work import Asked, asked_of


@require_safe
def work_home(request: AuthenticatedRequest) -> HttpResponseBase:
    """The studies that the reader takes part in, and how far each is."""
    stays = (
        Participant.objects.filter(rater__user=request.user)
        .select_related("campaign__rubric")
        .prefetch_related("assignments")
        .order_by("-id")
    )
    return render(request, "annotation/work_home.html", {"stays": stays, "room": "work"})


@require_safe
def work_campaign(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """One study as its rater sees it: the guideline, and every item with its state."""
    stay = get_object_or_404(
        Participant.objects.select_related("campaign__rubric"),
        campaign__slug=slug,
        rater__user=request.user,
    )
    assignments = list(stay.assignments.select_related("item__text", "item__text__topic"))
    waiting = [one for one in assignments if one.state == Assignment.State.OPEN]
    done = sum(one.state == Assignment.State.SUBMITTED for one in assignments)
    return render(
        request,
        "annotation/work_campaign.html",
        {
            "campaign": stay.campaign,
            "assignments": assignments,
            "next": waiting[0] if waiting else None,
            "done": done,
            "begun": done > 0,
            "room": "work",
        },
    )


@require_safe
def work(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """One item: the text on one side, its questions on the other."""
    return _page(request, _own(request, pk))


@require_POST
def answer(request: AuthenticatedRequest, pk: int, question_pk: int) -> HttpResponseBase:
    """Save the answer to one question of an item, at once."""
    assignment = _own(request, pk)
    asked = get_object_or_404(assignment.item.asked, question=question_pk)
    campaign = assignment.participant.campaign
    form = AnswerForm(request.POST, text=assignment.item.text, rubric=campaign.rubric)
    if not form.is_valid():
        problem = " ".join(str(message) for field in form.errors.values() for message in field)
        return _refused(request, assignment, problem, asked.position + 1)
    try:
        assigning.save_answer(
            assignment,
            asked.question,
            key=form.cleaned_data["key"],
            grade=form.cleaned_data["grade"],
            spans=form.cleaned_data["span_list"],
        )
    except assigning.AnswerRefusedError as error:
        return _refused(request, assignment, str(error), asked.position + 1)
    if request.htmx:
        return HttpResponse(status=204)
    messages.success(request, f"Question {asked.position + 1} is saved.")
    return redirect(f"{assignment.get_absolute_url()}#q-{asked.position + 1}")


@require_POST
def submit(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Hand an item in, or say what it still lacks."""
    assignment = _own(request, pk)
    if assignment.participant.campaign.state != Campaign.State.OPEN:
        return _refused(request, assignment, "This study is closed.", 1)
    missing = [
        asked
        for asked in asked_of(assignment, assignment.participant.campaign.rubric)
        if not asked.is_done
    ]
    if missing:
        if request.htmx:
            context = {"missing": missing}
            return render(request, "annotation/_missing.html", context, status=422)
        return _page(request, assignment, missing=missing, status=422)
    assigning.submit(assignment)
    return _onwards(request, assignment)


@require_POST
def skip(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Put an item aside with a note, and go on with the next."""
    assignment = _own(request, pk)
    form = SkipForm(request.POST)
    if not form.is_valid():
        return _refused(request, assignment, "The note is too long: 2,000 characters at most.", 1)
    try:
        assigning.skip(assignment, form.cleaned_data["note"])
    except assigning.AnswerRefusedError as error:
        return _refused(request, assignment, str(error), 1)
    return _onwards(request, assignment)


def _own(request: AuthenticatedRequest, pk: int) -> Assignment:
    """The reader's own assignment; another person's is not there, as far as they can tell."""
    return get_object_or_404(
        Assignment.objects.select_related(
            "item__text__topic", "participant__campaign__rubric", "participant__rater"
        ),
        pk=pk,
        participant__rater__user=request.user,
    )


def _page(
    request: AuthenticatedRequest,
    assignment: Assignment,
    missing: list[Asked] | None = None,
    status: int = 200,
) -> HttpResponseBase:
    campaign = assignment.participant.campaign
    text = assignment.item.text
    if text.body is None:
        raise Http404("The words of this text are not here.")
    asked = asked_of(assignment, campaign.rubric)
    order = list(assignment.participant.assignments.values_list("pk", flat=True))
    place = order.index(assignment.pk)
    levels = list(campaign.rubric.levels.all())
    context = {
        "assignment": assignment,
        "campaign": campaign,
        "rubric": campaign.rubric,
        "text": text,
        "text_label": f"Text of the {text.get_kind_display()}",
        "asked": asked,
        "keys": {one.number: uuid4() for one in asked},
        "levels": levels,
        "is_binary": len(levels) == 2,
        "active": next((one.number for one in asked if not one.is_done), 1),
        "done": sum(one.is_done for one in asked),
        "missing": missing or [],
        "place": place + 1,
        "of": len(order),
        "previous": order[place - 1] if place else None,
        "is_closed": campaign.state != Campaign.State.OPEN,
        "marks": [
            {"start": s["start"], "end": s["end"], "mark": one.mark, "label": one.number}
            for one in asked
            for s in one.spans
        ],
    }
    return render(request, "annotation/work.html", context, status=status)


def _onwards(request: AuthenticatedRequest, assignment: Assignment) -> HttpResponseBase:
    following = assigning.next_open(assignment)
    if following:
        url = following.get_absolute_url()
    else:
        url = reverse("work_campaign", args=[assignment.participant.campaign.slug])
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": url})
    return redirect(url)


def _refused(
    request: AuthenticatedRequest, assignment: Assignment, problem: str, number: int
) -> HttpResponseBase:
    """Say what is wrong, where the person is looking. Nothing was changed."""
    if request.htmx:
        return HttpResponse(problem, status=422, content_type="text/plain; charset=utf-8")
    messages.error(request, f"Not saved. {problem}")
    return redirect(f"{assignment.get_absolute_url()}#q-{number}")
