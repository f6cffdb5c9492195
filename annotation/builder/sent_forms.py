"""Drafts of forms that were sent before: by a double click, or again after Back."""

from contextlib import suppress
from uuid import uuid4

from django.contrib.sessions.backends.base import UpdateError

from annotation.http import AuthenticatedRequest
from annotation.models import Campaign, User
from annotation.row_versions import version_of

FORM_ID = "form_id"  # hidden field of a form that creates a draft
_SESSION_KEY = "drafts_of_forms"
_MAX_FORMS = 5


def form_id(request: AuthenticatedRequest) -> str:
    """Return the name of a form on a new page, or of the form that was sent."""
    return request.POST.get(FORM_ID) or uuid4().hex


def draft_of(request: AuthenticatedRequest) -> Campaign | None:
    """Return the draft that the same form with the same values created before; else None.

    Call it in a transaction: the second of two requests of a person waits here for the first.
    """
    if not request.POST.get(FORM_ID):
        return None
    list(User.objects.select_for_update(no_key=True).filter(pk=request.user.pk))
    # The other request may have stored its draft after this one had read the session.
    stored = type(request.session)(request.session.session_key).get(_SESSION_KEY, {})
    return Campaign.objects.filter(
        pk=stored.get(_version(request)), state=Campaign.State.DRAFT
    ).first()


def remember(request: AuthenticatedRequest, draft: Campaign) -> None:
    """Store which draft a form has created, before another request of the person goes on."""
    if not request.POST.get(FORM_ID):
        return
    stored = {**request.session.get(_SESSION_KEY, {}), _version(request): draft.pk}
    request.session[_SESSION_KEY] = dict(list(stored.items())[-_MAX_FORMS:])
    with suppress(UpdateError):  # logged out meanwhile: nobody sends the form again
        request.session.save()


def _version(request: AuthenticatedRequest) -> str:
    values = {name: sent for name, sent in request.POST.lists() if name != "csrfmiddlewaretoken"}
    return version_of([request.get_full_path(), values])
