"""POST views of a coordinator's actions on a study and its participants.

Each handles a form and reports its effect in a message.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotation.http import AuthenticatedRequest, View, coordinators_only
from annotation.models import Assignment, Campaign, Participant
from annotation.monitoring import actions
from annotation.monitoring.forms import ConfirmForm, EraseForm, ExtendForm, LinkForm
from annotation.participation import withdrawal
from annotation.plurals import n_of

UNCONFIRMED = "Nothing was done: tick the box to confirm it."
STATES = {
    Campaign.State.OPEN: "{} is open.",
    Campaign.State.PAUSED: "{} is paused: no new work is assigned, and people can finish what they have.",
    Campaign.State.CLOSED: "{} is closed: later answers are stored, but do not become ratings.",
}


def _on_participant(act: Callable[..., str]) -> View:
    """Decorate an action on a participant: redirect to their page with a message."""

    @wraps(act)
    def view(request: AuthenticatedRequest, slug: str, pk: int, **kwargs: Any) -> HttpResponseBase:
        participants = Participant.objects.select_related("campaign", "rater__user")
        participant = get_object_or_404(participants, campaign__slug=slug, pk=pk)
        try:
            with transaction.atomic():
                actions.refuse_if_changed(participant, request.POST.get("seen", ""))
                done = act(request, participant, **kwargs)
            messages.success(request, done)
        except withdrawal.ParticipationError as error:
            messages.error(request, str(error))
        return redirect("campaign_participant", slug, pk)

    return require_POST(coordinators_only(view))


@require_POST
@coordinators_only
def campaign_state(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Pause, resume, close or reopen a study. Nothing that was saved changes."""
    campaign = get_object_or_404(Campaign, slug=slug)
    try:
        sent = request.POST
        changed = actions.set_state(
            campaign, sent.get("state", ""), request.user, known_state=sent.get("seen", "")
        )
    except withdrawal.ParticipationError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, STATES[Campaign.State(changed.state)].format(changed))
    return redirect(campaign)


@require_POST
@coordinators_only
def expire(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Return the untouched items of overdue parts to the pool, at once."""
    campaign = get_object_or_404(Campaign, slug=slug)
    n = actions.return_overdue(campaign, request.user)
    messages.success(request, f"{n_of(n, 'item')} returned to the pool.")
    return redirect(campaign)


@require_POST
@coordinators_only
def return_abandoned(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Release the begun items of overdue parts to the pool."""
    campaign = get_object_or_404(Campaign, slug=slug)
    try:
        _confirmed(request)
        n = actions.return_abandoned(campaign, request.user)
    except withdrawal.ParticipationError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{n_of(n, 'item')} returned to the pool; the answers are kept.")
    return redirect(campaign)


@_on_participant
def extend(request: AuthenticatedRequest, participant: Participant) -> str:
    """Give the last part more hours."""
    form = ExtendForm(request.POST)
    if not form.is_valid():
        raise withdrawal.ParticipationError(f"Hours: {form.errors['hours'][0]}")
    part = actions.extend(participant, form.cleaned_data["hours"], request.user)
    return f"The deadline of part {part.number} is {part.expires:%-d %B, %H:%M %Z}."


@_on_participant
def declare_done(request: AuthenticatedRequest, participant: Participant) -> str:
    """Declare the last part done: it is paid and has its code."""
    _confirmed(request)
    part = actions.declare_done(participant, request.user)
    return f"Part {part.number} is done: it is due for pay, and its completion code is shown."


@_on_participant
def release(request: AuthenticatedRequest, participant: Participant) -> str:
    """Release all untouched items of the participant to the pool."""
    _confirmed(request)
    return f"{n_of(actions.release_untouched(participant, request.user), 'item')} returned to the pool."


@_on_participant
def release_item(request: AuthenticatedRequest, participant: Participant, item: int) -> str:
    """Release an open item to the pool; its answers stay."""
    _confirmed(request)
    assignment = get_object_or_404(Assignment, participant=participant, pk=item)
    released = actions.release_item(assignment, request.user)
    return f"Item {released.item.position + 1} returned to the pool."


@_on_participant
def return_participant(request: AuthenticatedRequest, participant: Participant) -> str:
    """End the participation as returned."""
    _confirmed(request)
    n = actions.return_participant(participant, request.user)
    return f"The participation of {participant.rater} has ended, and {n_of(n, 'item')} returned to the pool."


@_on_participant
def readmit(request: AuthenticatedRequest, participant: Participant) -> str:
    """Let a person whose participation had ended go on."""
    actions.readmit(participant, request.user)
    if participant.source != Participant.Source.LINK:
        return f"{participant.rater} can continue."
    return f"{participant.rater} can continue with a new link, valid as long as the study: see Invitations."


@_on_participant
def renew_link(request: AuthenticatedRequest, participant: Participant) -> str:
    """Replace the invitation link by a new one."""
    form = LinkForm(request.POST)
    if not form.is_valid():
        raise withdrawal.ParticipationError(f"Days: {form.errors['days'][0]}")
    actions.renew_link(participant, form.cleaned_data["days"], request.user)
    return f"{participant.rater} has a new link: see Invitations. The previous link is revoked."


@_on_participant
def revoke_link(request: AuthenticatedRequest, participant: Participant) -> str:
    """Revoke the invitation link, and log out the guest who used it."""
    _confirmed(request)
    actions.revoke_link(participant, request.user)
    return f"The link of {participant.rater} is revoked, and its user is logged out."


@_on_participant
def exclude_work(request: AuthenticatedRequest, participant: Participant) -> str:
    """Exclude the person's answers, until that is undone."""
    n = actions.exclude_work(participant, request.user)
    return (
        f"The work of {participant.rater} is excluded: {n_of(n, 'submitted item')} no longer "
        f"count{'s' if n == 1 else ''}, and other people can get the texts."
    )


@_on_participant
def include_work(request: AuthenticatedRequest, participant: Participant) -> str:
    """Include excluded work again, where its slot is free."""
    n, n_without_slot = actions.include_work(participant, request.user)
    remark = (
        f" {n_of(n_without_slot, 'item')} do not count, because others have submitted them in the meantime."
        if n_without_slot
        else ""
    )
    return f"{n_of(n, 'item')} of {participant.rater} count{'s' if n == 1 else ''} again.{remark}"


@_on_participant
def erase(request: AuthenticatedRequest, participant: Participant) -> str:
    """Delete the personal data of a participant; labels stay."""
    _confirmed(request)
    form = EraseForm(request.POST)
    form.full_clean()
    actions.erase(participant, request.user, with_notes=form.cleaned_data["with_notes"])
    return f"The personal data of {participant.rater} is deleted. The labels stay under this name."


def _confirmed(request: AuthenticatedRequest) -> None:
    if not ConfirmForm(request.POST).is_valid():
        raise withdrawal.ParticipationError(UNCONFIRMED)
