"""The order of exported lines: by names and positions, the same in every database."""

from django.db import connection
from django.db.models import F
from django.db.models.functions import Collate


def by_code_point(field: str) -> Collate:
    """Order by a name's code points. PostgreSQL would order by the rules of a language."""
    return Collate(F(field), "C" if connection.vendor == "postgresql" else "BINARY")
