"""The four accounts of the demo, which the log-in page of a demo offers."""

from annotation.models import User

PASSWORD = "crux-demo"  # noqa: S105 - of a demo on one's own machine, printed on the screen
PEOPLE = (
    ("admin", User.Role.ADMIN, "imports, runs campaigns and judges, and sees all else"),
    ("researcher", User.Role.RESEARCHER, "reads results: agreement, retrieval, the rating matrix"),
    ("worker1", User.Role.WORKER, "grades reports and passages"),
    ("worker2", User.Role.WORKER, "grades the same ones"),
)
WORKERS = tuple(person for person in PEOPLE if person[1] == User.Role.WORKER)


def log_ins() -> list[dict[str, str]]:
    """Return the demo accounts that exist: none in a database without the demo's data."""
    names = [name for name, _, _ in PEOPLE]
    usernames = set(
        User.objects.filter(username__in=names, is_active=True).values_list("username", flat=True)
    )
    return [
        {"name": name, "does": does, "password": PASSWORD}
        for name, _, does in PEOPLE
        if name in usernames
    ]
