"""Acts of admins as their forms send them, and what the log has of them."""

from annotation.models import LogEntry, Participant

HOME = "/campaigns/crowd/"


def post(cast, path: str, role: str = "admin", **data):
    return cast.client(role).post(HOME + path, data, follow=True)


def about(participant: Participant, act: str = "") -> str:
    return f"participants/{participant.pk}/{act}"


def logged() -> list[tuple[str, str, str]]:
    return [
        (entry.action, entry.detail, str(entry.by)) for entry in LogEntry.objects.order_by("pk")
    ]


def states(participant: Participant) -> list[str]:
    return [assignment.state for assignment in participant.assignments.order_by("position")]
