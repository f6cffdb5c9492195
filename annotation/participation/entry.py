"""Entry into a campaign: from a recruiting platform, or by a link that was made for them."""

import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import quote

from django.contrib.auth import login
from django.core import signing
from django.db import IntegrityError, transaction
from django.db.models import Count, F, Q
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import formats, timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.errors import UserError
from annotation.http import PageNotFoundError
from annotation.models import Campaign, Item, Part, Participant, Rater, User
from annotation.participation import assigning

SECOND_PRESS = timedelta(minutes=1)
"""After which the reply to “I agree” is there, with a log-in that a second press or tab has too."""

SESSION_KEY = "arrival"  # by campaign: the study and the submission that the guest came for
_SIGNER = signing.Signer(salt="annotation.invited", sep=".")
_OPEN_SIGNER = signing.Signer(salt="annotation.open_link", sep=".")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}")


BROKEN_LINK = gettext_lazy("This link is not complete. Copy the whole link from your message.")
WITHDRAWN_LINK = gettext_lazy("This link was withdrawn. You can ask the people who sent it why.")
DELETED_STUDY = gettext_lazy("This study was deleted.")
APPEAL = gettext_lazy("If you think this is a mistake, write to them.")


@dataclass(frozen=True)
class Platform:
    """Query parameters of a platform's ids in a study's URL, and the URL back to it.

    `worker` names the person and is needed; `study` and `session`, what they came for, may be
    missing. `asked` is what to put behind the address on the platform's own form; empty where the
    platform appends the ids by itself. An empty `back` means that each study has an address of
    its own for it (a campaign's completion_url), or that people paste the code. `ids` is the form of
    a person's id there: what has another form was made up by somebody. Where a platform does not tell
    small letters from capitals, `writes` is how it writes an id itself, and how one is stored here.
    """

    worker: str
    study: str
    session: str
    asked: str
    back: str
    give_up: str | Promise
    appeal: str | Promise
    ids: re.Pattern[str] = _ID
    normalize: Callable[[str], str] = str


PLATFORMS: dict[str, Platform] = {
    Campaign.Platform.PROLIFIC: Platform(
        worker="PROLIFIC_PID",
        study="STUDY_ID",
        session="SESSION_ID",
        asked="PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        back="https://app.prolific.com/submissions/complete?cc={code}",
        give_up=gettext_lazy(
            "Please return your submission on Prolific, so that your place becomes free. "
            "This does not count against you."
        ),
        appeal=gettext_lazy(
            "If you think this is a mistake, write to them before you return your submission."
        ),
        ids=re.compile(r"[0-9a-f]{24}"),
        normalize=str.lower,  # the digits of a number, to the base 16
    ),
    Campaign.Platform.SONA: Platform(
        worker="id",
        study="",
        session="",
        asked="id=%SURVEY_CODE%",
        back="",
        give_up=gettext_lazy("Please cancel your sign-up in SONA."),
        appeal=gettext_lazy(
            "If you think this is a mistake, write to them before you cancel your sign-up."
        ),
    ),
    Campaign.Platform.CONNECT: Platform(
        worker="participantId",
        study="projectId",
        session="assignmentId",
        asked="",
        back="",
        give_up=gettext_lazy(
            "Please leave the project on Connect, so that your place becomes free."
        ),
        appeal=gettext_lazy(
            "If you think this is a mistake, write to them before you leave the project."
        ),
    ),
    Campaign.Platform.MTURK: Platform(
        worker="workerId",
        study="hitId",
        session="assignmentId",
        asked="",
        back="",
        give_up=gettext_lazy("Please return the HIT, so that somebody else can take it."),
        appeal=gettext_lazy(
            "If you think this is a mistake, write to them before you return the HIT."
        ),
        normalize=str.upper,
    ),
}


class EntryURLError(UserError):
    """A URL without a platform's ids; the messages are for the person who opened it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


class EntryError(UserError):
    """Somebody who cannot take part, or not now; the message is for them."""


@dataclass(frozen=True)
class Arrival:
    """A person's id on their platform, and the study and submission that they came for."""

    worker: str
    study_id: str = ""
    session_id: str = ""


def read_arrival(campaign: Campaign, params: QueryDict) -> Arrival:
    """Parse the ids of an arrival at a campaign.

    Raises EntryURLError where the person's id is missing, or where an id is too long, given
    twice, a placeholder that the platform did not fill in, or otherwise none.
    """
    platform = PLATFORMS[campaign.platform]
    problems: list[str] = []
    ids: dict[str, str] = {}
    for role in ("worker", "study", "session"):
        name: str = getattr(platform, role)
        values = params.getlist(name) if name else []
        value = platform.normalize(values[0]) if values else ""
        if not value and role == "worker":
            problems += _missing_id_messages(campaign, params)
        elif len(values) > 1:
            problems.append(_("%(name)s is there more than once.") % {"name": name})
        elif len(value) > 100:
            problems.append(_("%(name)s is too long.") % {"name": name})
        elif value and not (platform.ids if role == "worker" else _ID).fullmatch(value):
            problems.append(_("%(name)s is not an id.") % {"name": name})
        ids[role] = value
    if problems:
        raise EntryURLError(problems)
    return Arrival(ids["worker"], ids["study"], ids["session"])


def _missing_id_messages(campaign: Campaign, sent: QueryDict) -> list[str]:
    """Return messages for a person whose id is missing, with likely causes."""
    problems = [_("%(name)s is missing.") % {"name": PLATFORMS[campaign.platform].worker}]
    labels = dict(Campaign.Platform.choices)
    for key, other_platform in PLATFORMS.items():
        if key != campaign.platform and other_platform.worker in sent:
            problems.append(
                _("It looks like a link from %(other)s, and this study is on %(own)s.")
                % {"other": labels[key], "own": labels[campaign.platform]}
            )
    if sent.get("assignmentId") == "ASSIGNMENT_ID_NOT_AVAILABLE":  # a HIT that is looked at
        problems.append(_("Please accept the HIT first."))
    return problems


def closed_reason(campaign: Campaign) -> str:
    """Return the reason for assigning no work now, in words for workers; empty if open."""
    if campaign.assigns_work():
        return ""
    current_time = timezone.now()
    if campaign.state == Campaign.State.DRAFT:
        return _("This study has not been opened yet.")
    if campaign.state == Campaign.State.PAUSED:
        return _("This study is paused for the moment. You have done nothing wrong.")
    if (
        campaign.state == Campaign.State.OPEN
        and campaign.opens_at
        and current_time < campaign.opens_at
    ):
        opening_time = formats.date_format(timezone.localtime(campaign.opens_at), _("j F Y, H:i T"))
        return _("This study opens on %(when)s.") % {"when": opening_time}
    return _("This study is over.")


def returning_participant(campaign: Campaign, worker: str) -> Participant | None:
    """Return the participation of a person who came from the campaign's platform before."""
    # Ids from before the platform's own way of writing was known may be in other letters.
    has_capitals = PLATFORMS[campaign.platform].normalize is str
    name = "external_id" if has_capitals else "external_id__iexact"
    participants = campaign.participants.filter(source=campaign.platform, **{name: worker})
    return participants.select_related("rater__user", "campaign").first()


def admit(campaign: Campaign, worker: str) -> None:
    """Check that a newcomer from the platform may join; nothing is stored.

    Raises EntryError where nothing can be given to them, and for somebody whose data was deleted
    at their own request.
    """
    check_places(campaign)
    _pseudonym(campaign, campaign.platform, worker)


def check_places(campaign: Campaign) -> None:
    """Raise EntryError where the campaign has no work for a newcomer."""
    if reason := closed_reason(campaign):
        raise EntryError(reason)
    if not _has_free_slot(campaign) and not (
        assigning.expire(campaign) and _has_free_slot(campaign)
    ):
        raise EntryError(_("All places in this study are taken."))


def get_or_create_participant(campaign: Campaign, worker: str) -> Participant:
    """Return the participation of a person from the platform; create it the first time.

    The person becomes a guest without a password, and a rater under a pseudonym; the platform's id
    is stored in the participant alone. Concurrent requests create one participation. Raises
    EntryError, as `admit` does.
    """
    if participant := returning_participant(campaign, worker):
        return participant
    admit(campaign, worker)
    try:
        return _create_guest(campaign, campaign.platform, worker, secret=worker)
    except IntegrityError:  # made by another request a moment ago
        return campaign.participants.select_related("rater__user", "campaign").get(
            source=campaign.platform, external_id=worker
        )


def make_links(
    campaign: Campaign, names: Iterable[str], until: datetime | None = None
) -> list[Participant]:
    """Create a participation with an invitation link for each name; an empty name is anybody.

    New links end at `until`, if there is one. A name that has a link already keeps it.
    """
    participants = []
    with transaction.atomic():
        for name in names:
            invited_before = campaign.participants.filter(
                source=Participant.Source.LINK, external_id=name
            )
            participant = invited_before.first() if name else None
            if participant is None:
                secret = secrets.token_hex()
                participant = _create_guest(campaign, Participant.Source.LINK, name, secret=secret)
                if until:
                    participant.link_until = until
                    participant.save(update_fields=["link_until"])
            participants.append(participant)
    return participants


def get_or_create_guest(campaign: Campaign, secret: str) -> Participant:
    """Return the guest who has just come by the open link with this secret, or create one.

    Concurrent requests create one participation. Later the secret lets nobody in: copies of a browser, as on
    the machines of a laboratory, have the same.
    """
    source = Participant.Source.LINK
    # Longer than a pseudonym: no two secrets have the same, and the database stores it once.
    username = f"w-{_digest(campaign, source, secret)[:20]}"
    guests = campaign.participants.select_related("rater__user", "campaign")
    if participant := guests.filter(rater__user__username=username).first():
        if timezone.now() - participant.joined < SECOND_PRESS:
            return participant
        return _create_guest(campaign, source, "", secret=secrets.token_hex())
    try:
        return _create_guest(campaign, source, "", secret=secret, username=username)
    except IntegrityError:  # made by another request a moment ago
        return guests.get(rater__user__username=username)


def renew_link(participant: Participant, until: datetime | None) -> None:
    """Replace the invitation link; the one before lets nobody in from now on.

    With an `until` that is past there is none: the link is revoked.
    """
    Participant.objects.filter(pk=participant.pk).update(
        link_serial=F("link_serial") + 1, link_until=until
    )
    participant.refresh_from_db(fields=["link_serial", "link_until"])


def link_of(participant: Participant, request: HttpRequest) -> str:
    """Return the absolute URL by which an invited person comes in, on any device."""
    token = _SIGNER.sign(f"{participant.pk}-{participant.link_serial}")
    return request.build_absolute_uri(reverse("invited", args=[token]))


def participant_of_link(token: str) -> tuple[Participant, int]:
    """Return the participant of a signed invitation token, and the link's serial.

    Links from before serials have 0. Raises PageNotFoundError for a token that we did not sign, or
    whose participation is gone.
    """
    try:
        key, _dash, number = _SIGNER.unsign(token).partition("-")
        pk, serial = int(key), int(number or 0)
    except (signing.BadSignature, ValueError) as error:
        raise PageNotFoundError(BROKEN_LINK) from error
    links = Participant.objects.filter(source=Participant.Source.LINK, erased_at=None)
    participant = links.select_related("rater__user", "campaign").filter(pk=pk).first()
    if participant is None:
        raise PageNotFoundError(WITHDRAWN_LINK)
    return participant, serial


def open_link_of(campaign: Campaign, request: HttpRequest) -> str:
    """Return the absolute URL by which anyone may join; it works while the campaign allows it."""
    token = _OPEN_SIGNER.sign(str(campaign.pk))
    return request.build_absolute_uri(reverse("join_study", args=[token]))


def campaign_of_open_link(token: str) -> Campaign:
    """Return the campaign of an open link. Raises PageNotFoundError for another token."""
    try:
        pk = int(_OPEN_SIGNER.unsign(token))
    except (signing.BadSignature, ValueError) as error:
        raise PageNotFoundError(BROKEN_LINK) from error
    campaign = Campaign.objects.filter(pk=pk).first()
    if campaign is None:
        raise PageNotFoundError(DELETED_STUDY)
    return campaign


def check_link(participant: Participant, serial: int) -> None:
    """Raise EntryError for a link that was replaced, was revoked, or has ended."""
    if participant.link_has_ended():
        raise EntryError(_("This link has ended. Ask for a new one."))
    if serial != participant.link_serial:
        raise EntryError(_("This link was replaced by a newer one. Please ask for the newer link."))


def enter(request: HttpRequest, participant: Participant, arrival: Arrival | None = None) -> None:
    """Log the participant in, in place of any other user, and note the submission's ids.

    An arrival for a new submission, while the last part is not finished, goes on with that part
    under the new ids. Raises EntryError where the account has been closed.
    """
    user = participant.rater.user
    if user is None or not user.is_active:
        raise EntryError(
            _("The researchers closed your account, so you can no longer take part in this study.")
        )
    if request.user != user:  # a new log-in would refuse what an open page still has to send
        login(request, user)
    if arrival is None or not arrival.session_id:
        return
    submission_of_campaign = {str(participant.campaign_id): [arrival.study_id, arrival.session_id]}
    request.session[SESSION_KEY] = submission_of_campaign
    in_time = Q(expires=None) | Q(expires__gt=timezone.now())
    participant.parts.filter(in_time, outcome=Part.Outcome.UNDER_WAY).update(
        study_id=arrival.study_id, session_id=arrival.session_id
    )


def submission_ids(request: HttpRequest, campaign: Campaign) -> tuple[str, str]:
    """Return study and submission ids of the last arrival in this browser, or empty ones."""
    study_id, session_id = request.session.get(SESSION_KEY, {}).get(str(campaign.pk), ("", ""))
    return study_id, session_id


def completion_redirect_url(campaign: Campaign, code: str, worker: str, *, is_done: bool) -> str:
    """Return the platform's completion URL for a code; empty where there is none.

    A completion_url without a place for the code speaks of finished work alone.
    """
    if completion_url := campaign.completion_url:
        if not (code if "{code}" in completion_url else is_done):
            return ""
        return completion_url.replace("{code}", quote(code, safe="")).replace(
            "{worker}", quote(worker, safe="")
        )
    platform = PLATFORMS.get(campaign.platform)
    if not platform or not platform.back or not code:
        return ""
    return platform.back.replace("{code}", quote(code, safe=""))


def _create_guest(
    campaign: Campaign, source: str, external_id: str, *, secret: str, username: str = ""
) -> Participant:
    """Create a guest, a rater and a participation; the default name is the rater's.

    Raises IntegrityError where a concurrent request created it.
    """
    name = _pseudonym(campaign, source, secret)
    with transaction.atomic():
        user = User(username=username or name, role=User.Role.WORKER, is_guest=True)
        user.set_unusable_password()
        user.save()
        rater = Rater.objects.create(user=user, name=name, kind=Rater.Kind.HUMAN)
        return assigning.invite(campaign, rater, source, external_id)


def _digest(campaign: Campaign, source: str, secret: str) -> str:
    return hmac.new(campaign.salt.encode(), f"{source}:{secret}".encode(), sha256).hexdigest()


def _pseudonym(campaign: Campaign, source: str, secret: str) -> str:
    digest = _digest(campaign, source, secret)
    name = f"w-{digest[:10]}"
    if Participant.objects.filter(
        campaign=campaign, rater__name=name, erased_at__isnull=False
    ).exists():
        raise EntryError(_("Your data in this study was deleted, so you cannot take part again."))
    if Rater.objects.filter(name=name).exists():
        # Ten digits of two ids can be the same; those of this very id are found before.
        name = f"w-{digest}"
    return name


def _has_free_slot(campaign: Campaign) -> bool:
    """Return whether an item has a free slot."""
    n_taken = Count("assignments", filter=assigning.HAS_SLOT)
    study_items = campaign.items.filter(purpose=Item.Purpose.STUDY).annotate(held=n_taken)
    return study_items.filter(held__lt=campaign.raters_per_item).exists()
