"""Entry into a campaign: from a recruiting platform, or by a link that was made for them."""

import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from urllib.parse import quote

from django.contrib.auth import login
from django.core import signing
from django.db import IntegrityError, transaction
from django.db.models import Count, F, Q
from django.http import Http404, HttpRequest, QueryDict
from django.urls import reverse
from django.utils import formats, timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Campaign, Item, Part, Participant, Rater, User
from annotation.participation import assigning

SESSION_KEY = "arrival"  # by campaign: the study and the submission that the guest came for
_SIGNER = signing.Signer(salt="annotation.invited", sep=".")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}")


@dataclass(frozen=True)
class Platform:
    """What a platform calls the ids that it puts into a study's address, and the way back to it.

    `worker` names the person and is needed; `study` and `session`, what they came for, may be
    missing. `asked` is what to put behind the address on the platform's own form; empty where the
    platform appends the ids by itself. An empty `back` means that each study has an address of
    its own for it (a campaign's completion_url), or that people paste the code. `ids` is the form of
    a person's id there: what has another form was made up by somebody. Where a platform does not tell
    small letters from capitals, `writes` is how it writes an id itself, and how one is kept here.
    """

    worker: str
    study: str
    session: str
    asked: str
    back: str
    give_up: str | Promise
    ids: re.Pattern[str] = _ID
    writes: Callable[[str], str] = str


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
        ids=re.compile(r"[0-9a-f]{24}"),
        writes=str.lower,  # the digits of a number, to the base 16
    ),
    Campaign.Platform.SONA: Platform(
        worker="id",
        study="",
        session="",
        asked="id=%SURVEY_CODE%",
        back="",
        give_up=gettext_lazy("Please cancel your sign-up in SONA."),
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
    ),
    Campaign.Platform.MTURK: Platform(
        worker="workerId",
        study="hitId",
        session="assignmentId",
        asked="",
        back="",
        give_up=gettext_lazy("Please return the HIT, so that somebody else can take it."),
        writes=str.upper,
    ),
}


class BadAddressError(Exception):
    """An address without the ids that a platform sends; the messages are for whoever opened it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


class NoEntryError(Exception):
    """Somebody who cannot take part, or not now; the message is for them."""


@dataclass(frozen=True)
class Arrival:
    """Who came, as the platform knows them, and for which study and submission there."""

    worker: str
    study_id: str = ""
    session_id: str = ""


def read_arrival(campaign: Campaign, sent: QueryDict) -> Arrival:
    """The ids of an arrival at a campaign.

    Raises BadAddressError where the person's id is missing, or where an id is too long, given
    twice, a placeholder that the platform did not fill in, or otherwise none.
    """
    platform = PLATFORMS[campaign.platform]
    problems: list[str] = []
    ids: dict[str, str] = {}
    for role in ("worker", "study", "session"):
        name: str = getattr(platform, role)
        values = sent.getlist(name) if name else []
        value = platform.writes(values[0]) if values else ""
        if not value and role == "worker":
            problems += _without_worker(campaign, sent)
        elif len(values) > 1:
            problems.append(_("%(name)s is there more than once.") % {"name": name})
        elif len(value) > 100:
            problems.append(_("%(name)s is too long.") % {"name": name})
        elif value and not (platform.ids if role == "worker" else _ID).fullmatch(value):
            problems.append(_("%(name)s is not an id.") % {"name": name})
        ids[role] = value
    if problems:
        raise BadAddressError(problems)
    return Arrival(ids["worker"], ids["study"], ids["session"])


def _without_worker(campaign: Campaign, sent: QueryDict) -> list[str]:
    """What to say to somebody whose id is missing: perhaps they come from elsewhere, or too early."""
    problems = [_("%(name)s is missing.") % {"name": PLATFORMS[campaign.platform].worker}]
    labels = dict(Campaign.Platform.choices)
    for key, other in PLATFORMS.items():
        if key != campaign.platform and other.worker in sent:
            problems.append(
                _("It looks like a link from %(other)s, and this study is on %(own)s.")
                % {"other": labels[key], "own": labels[campaign.platform]}
            )
    if sent.get("assignmentId") == "ASSIGNMENT_ID_NOT_AVAILABLE":  # a HIT that is looked at
        problems.append(_("Please accept the HIT first."))
    return problems


def why_closed(campaign: Campaign) -> str:
    """Why nobody is given work here at the moment, in words for workers; empty where they are."""
    if campaign.hands_out():
        return ""
    now = timezone.now()
    if campaign.state == Campaign.State.DRAFT:
        return _("This study has not been opened yet.")
    if campaign.state == Campaign.State.PAUSED:
        return _("This study is paused for the moment. You have done nothing wrong.")
    if campaign.state == Campaign.State.OPEN and campaign.opens_at and now < campaign.opens_at:
        when = formats.date_format(timezone.localtime(campaign.opens_at), _("j F Y, H:i T"))
        return _("This study opens on %(when)s.") % {"when": when}
    return _("This study is over. Nothing more is handed out.")


def known(campaign: Campaign, worker: str) -> Participant | None:
    """The participation of somebody who came from the campaign's platform before."""
    # Ids from before the platform's own way of writing was known may be in other letters.
    has_capitals = PLATFORMS[campaign.platform].writes is str
    name = "external_id" if has_capitals else "external_id__iexact"
    participants = campaign.participants.filter(source=campaign.platform, **{name: worker})
    return participants.select_related("rater__user", "campaign").first()


def admit(campaign: Campaign, worker: str) -> None:
    """Let a newcomer read the terms; nothing is stored.

    Raises NoEntryError where nothing can be given to them, and for somebody whose data was deleted
    at their own request.
    """
    if reason := why_closed(campaign):
        raise NoEntryError(reason)
    if not _has_room(campaign) and not (assigning.expire(campaign) and _has_room(campaign)):
        raise NoEntryError(_("All places in this study are taken."))
    _pseudonym(campaign, campaign.platform, worker)


def arrive(campaign: Campaign, worker: str) -> Participant:
    """The participation of somebody who came from the campaign's platform, made the first time.

    The person becomes a guest without a password, and a rater under a pseudonym; the platform's
    id is kept in the participant alone. Many at once make one participation. Raises NoEntryError, as
    `admit` does.
    """
    if participant := known(campaign, worker):
        return participant
    admit(campaign, worker)
    try:
        return _newcomer(campaign, campaign.platform, worker, secret=worker)
    except IntegrityError:  # made by another request a moment ago
        return campaign.participants.select_related("rater__user", "campaign").get(
            source=campaign.platform, external_id=worker
        )


def make_links(
    campaign: Campaign, names: Iterable[str], until: datetime | None = None
) -> list[Participant]:
    """A participation for each name, to be entered by its own link; an empty name is a link for anybody.

    New links end at `until`, if there is one. A name that has a link already keeps it.
    """
    made = []
    with transaction.atomic():
        for name in names:
            known = campaign.participants.filter(source=Participant.Source.LINK, external_id=name)
            participant = known.first() if name else None
            if participant is None:
                secret = secrets.token_hex()
                participant = _newcomer(campaign, Participant.Source.LINK, name, secret=secret)
                if until:
                    participant.link_until = until
                    participant.save(update_fields=["link_until"])
            made.append(participant)
    return made


def renew_link(participant: Participant, until: datetime | None) -> None:
    """A new link in place of the one before, which lets nobody in from now on.

    With an `until` that is past there is none: the link is revoked.
    """
    Participant.objects.filter(pk=participant.pk).update(
        link_serial=F("link_serial") + 1, link_until=until
    )
    participant.refresh_from_db(fields=["link_serial", "link_until"])


def link_of(participant: Participant, request: HttpRequest) -> str:
    """The whole address by which an invited person comes in, on any device."""
    token = _SIGNER.sign(f"{participant.pk}-{participant.link_serial}")
    return request.build_absolute_uri(reverse("invited", args=[token]))


def invited(token: str) -> tuple[Participant, int]:
    """Whose link it is, and the link's serial; links of before serials were have 0.

    Raises Http404 for one that we did not sign, or whose participation is gone.
    """
    try:
        key, _dash, number = _SIGNER.unsign(token).partition("-")
        pk, serial = int(key), int(number or 0)
    except (signing.BadSignature, ValueError) as error:
        raise Http404("This link is not one of ours.") from error
    links = Participant.objects.filter(source=Participant.Source.LINK, erased_at=None)
    participant = links.select_related("rater__user", "campaign").filter(pk=pk).first()
    if participant is None:
        raise Http404("Nobody has this link any more.")
    return participant, serial


def check_link(participant: Participant, serial: int) -> None:
    """Raises NoEntryError for a link that was replaced, was revoked, or has ended."""
    if participant.link_has_ended():
        raise NoEntryError(_("This link has ended. Ask for a new one."))
    if serial != participant.link_serial:
        raise NoEntryError(
            _("This link no longer holds: a newer one was made in its place. Ask for that one.")
        )


def enter(request: HttpRequest, participant: Participant, arrival: Arrival | None = None) -> None:
    """Log the participant in, in place of whoever was, and note what they came for.

    An arrival for a new submission, while the last part is not finished, goes on with that part
    under the new ids. Raises NoEntryError where the account has been closed.
    """
    user = participant.rater.user
    if user is None or not user.is_active:
        raise NoEntryError(_("You can no longer take part in this study."))
    if request.user != user:  # a new log-in would refuse what an open page still has to send
        login(request, user)
    if arrival is None or not arrival.session_id:
        return
    came = {str(participant.campaign_id): [arrival.study_id, arrival.session_id]}
    request.session[SESSION_KEY] = came
    in_time = Q(expires=None) | Q(expires__gt=timezone.now())
    participant.parts.filter(in_time, outcome=Part.Outcome.UNDER_WAY).update(
        study_id=arrival.study_id, session_id=arrival.session_id
    )


def came_for(request: HttpRequest, campaign: Campaign) -> tuple[str, str]:
    """The study and the submission of the last arrival in this browser; empty where unknown."""
    study_id, session_id = request.session.get(SESSION_KEY, {}).get(str(campaign.pk), ("", ""))
    return study_id, session_id


def back_url(campaign: Campaign, code: str, worker: str, *, is_done: bool) -> str:
    """Where a person goes with a completion code; empty where there is no such address.

    A completion_url without a place for the code speaks of finished work alone.
    """
    if own := campaign.completion_url:
        if not (code if "{code}" in own else is_done):
            return ""
        return own.replace("{code}", quote(code, safe="")).replace(
            "{worker}", quote(worker, safe="")
        )
    platform = PLATFORMS.get(campaign.platform)
    if not platform or not platform.back or not code:
        return ""
    return platform.back.replace("{code}", quote(code, safe=""))


def _newcomer(campaign: Campaign, source: str, external_id: str, *, secret: str) -> Participant:
    """A guest, a rater of the same name, and a participation. Raises IntegrityError if somebody made it."""
    name = _pseudonym(campaign, source, secret)
    with transaction.atomic():
        user = User(username=name, role=User.Role.WORKER, is_guest=True)
        user.set_unusable_password()
        user.save()
        rater = Rater.objects.create(user=user, name=name, kind=Rater.Kind.HUMAN)
        return assigning.invite(campaign, rater, source, external_id)


def _pseudonym(campaign: Campaign, source: str, secret: str) -> str:
    digest = hmac.new(campaign.salt.encode(), f"{source}:{secret}".encode(), sha256).hexdigest()
    name = f"w-{digest[:10]}"
    if Participant.objects.filter(
        campaign=campaign, rater__name=name, erased_at__isnull=False
    ).exists():
        raise NoEntryError(_("Your data was deleted as you asked, so you cannot take part again."))
    if Rater.objects.filter(name=name).exists():
        # Ten digits of two ids can be the same; those of this very id are found before.
        name = f"w-{digest}"
    return name


def _has_room(campaign: Campaign) -> bool:
    """Whether an item has a free slot."""
    held = Count("assignments", filter=assigning.HELD)
    study = campaign.items.filter(purpose=Item.Purpose.STUDY).annotate(held=held)
    return study.filter(held__lt=campaign.raters_per_item).exists()
