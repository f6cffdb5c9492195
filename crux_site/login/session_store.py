"""Sessions in the database, as Django's own; every request reads one, so by a prepared statement."""

from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from annotation.prepared import run


class SessionStore(db.SessionStore):
    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def load(self) -> dict[str, Any]:
        """What the session holds; nothing, and no key any longer, where it is not there or over."""
        rows = run(
            "select session_data from django_session where session_key = %s and expire_date > %s",
            [self.session_key, connection.ops.adapt_datetimefield_value(timezone.now())],
        )
        if rows:
            return self.decode(rows[0][0])
        self._session_key = None
        return {}
