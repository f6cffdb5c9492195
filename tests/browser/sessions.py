"""Prepared log-in sessions of the served site, some for each user.

The log-in page hashes for half a second, on purpose, and hundreds of visitors would pay for it. It is used
only by tests about it, and when a user's sessions have run out.
"""

import json

from django.conf import settings
from django.db import transaction
from django.test import Client

from annotation.models import User

OF_A_WORKER, OF_STAFF = 1, 60  # a worker is mostly one test's


@transaction.atomic
def make_sessions() -> None:
    """Create sessions in the served site's own process.

    Writes their keys, by user name, to sessions.json beside the database.
    """
    keys = {
        user.username: [
            _session_of(user) for _ in range(OF_A_WORKER if user.role == "worker" else OF_STAFF)
        ]
        for user in User.objects.all()
    }
    (settings.VAR_DIR / "sessions.json").write_text(json.dumps(keys))


def _session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value
