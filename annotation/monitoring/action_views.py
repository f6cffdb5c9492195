"""What admins do to a running study and to its participants. Each of it is logged."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotation.http import AuthenticatedRequest, View, admins_only
from annotation.models import Assignment, Campaign, Participant
from annotation.monitoring import actions
from annotation.monitoring.forms import ConfirmForm, EraseForm, ExtendForm
from annotation.participation import leaving

UNCONFIRMED = "Nothing was done: tick the box to confirm it."
STATES = {
    Campaign.State.OPEN: "{} is open.",
    Campaign.State.PAUSED: "{} is paused: nothing new is handed out, and people can finish what they have.",
    Campaign.State.CLOSED: "{} is closed: what is still answered is kept, and becomes no rating.",
}


def _on_participant(act: Callable[..., str]) -> View:
    """An admin's POST about a participant of this campaign; back to their page, saying what was done."""

    @wraps(act)
    def view(request: AuthenticatedRequest, slug: str, pk: int, **kwargs: Any) -> HttpResponseBase:
        participants = Participant.objects.select_related("campaign", "rater__user")
        participant = get_object_or_404(participants, campaign__slug=slug, pk=pk)
        try:
            messages.success(request, act(request, participant, **kwargs))
        except leaving.ActionRefusedError as error:
            messages.error(request, str(error))
        return redirect("campaign_participant", slug, pk)

    return require_POST(admins_only(view))


@require_POST
@admins_only
def campaign_state(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Pause a study, go on with it, close it, open it again. Nothing that was saved changes."""
    found = get_object_or_404(Campaign, slug=slug)
    try:
        changed = actions.set_state(found, request.POST.get("state", ""), request.user)
    except leaving.ActionRefusedError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, STATES[Campaign.State(changed.state)].format(changed))
    return redirect(found)


@require_POST
@admins_only
def expire(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Return the untouched items of parts whose time is over, at once."""
    found = get_object_or_404(Campaign, slug=slug)
    n = actions.return_overdue(found, request.user)
    messages.success(request, f"{_items(n)} went back to the pool.")
    return redirect(found)


@_on_participant
def extend(request: AuthenticatedRequest, participant: Participant) -> str:
    """More hours for the part under way."""
    form = ExtendForm(request.POST)
    if not form.is_valid():
        raise leaving.ActionRefusedError(f"Hours: {form.errors['hours'][0]}")
    part = actions.extend(participant, form.cleaned_data["hours"], request.user)
    return f"Part {part.number} runs until {part.expires:%-d %B, %H:%M %Z}."


@_on_participant
def release(request: AuthenticatedRequest, participant: Participant) -> str:
    """All untouched items in hand go back to the pool."""
    _confirmed(request)
    return f"{_items(actions.release_untouched(participant, request.user))} went back to the pool."


@_on_participant
def release_item(request: AuthenticatedRequest, participant: Participant, item: int) -> str:
    """One item in hand goes back to the pool; its answers stay."""
    _confirmed(request)
    assignment = get_object_or_404(Assignment, participant=participant, pk=item)
    released = actions.release_item(assignment, request.user)
    return f"Item {released.item.position + 1} went back to the pool."


@_on_participant
def return_participant(request: AuthenticatedRequest, participant: Participant) -> str:
    """The stay ends as returned."""
    _confirmed(request)
    n = actions.return_participant(participant, request.user)
    return f"{participant.rater} is returned, and {_items(n)} went back to the pool."


@_on_participant
def readmit(request: AuthenticatedRequest, participant: Participant) -> str:
    """Somebody whose stay had ended can go on."""
    actions.readmit(participant, request.user)
    return f"{participant.rater} can go on."


@_on_participant
def erase(request: AuthenticatedRequest, participant: Participant) -> str:
    """The personal data of a participant is deleted; labels stay."""
    _confirmed(request)
    form = EraseForm(request.POST)
    form.full_clean()
    actions.erase(participant, request.user, with_notes=form.cleaned_data["with_notes"])
    return f"The personal data of {participant.rater} is deleted. The labels stay under this name."


def _confirmed(request: AuthenticatedRequest) -> None:
    if not ConfirmForm(request.POST).is_valid():
        raise leaving.ActionRefusedError(UNCONFIRMED)


def _items(n: int) -> str:
    return f"{n} item{'' if n == 1 else 's'}"
