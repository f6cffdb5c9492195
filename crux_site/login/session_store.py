"""Session backend: Django's database sessions, read by a prepared statement.

Every request reads a session.
"""

from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from annotation.prepared import execute_prepared


class SessionStore(db.SessionStore):
    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def load(self) -> dict[str, Any]:
        """Return the session's data; empty, and the key is dropped, if it is missing or expired."""
        rows = execute_prepared(
            "select session_data from django_session where session_key = %s and expire_date > %s",
            [self.session_key, connection.ops.adapt_datetimefield_value(timezone.now())],
        )
        if rows:
            return self.decode(rows[0][0])
        self._session_key = None
        return {}
