"""Authentication backend: Django's ModelBackend with a prepared statement.

Every request reads an account.
"""

from django.contrib.auth.backends import ModelBackend
from django.db import DEFAULT_DB_ALIAS

from annotation.models import User
from annotation.prepared import Prepared

# Deferred fields (addresses, dates) are fetched on access.
_LEFT_OUT = ("email", "last_login", "date_joined")
_COLUMNS = [field.attname for field in User._meta.concrete_fields if field.name not in _LEFT_OUT]
_ACCOUNT = Prepared(lambda pk: User.objects.filter(pk=pk).values_list(*_COLUMNS), 1)


class AccountBackend(ModelBackend):
    def get_user(self, user_id: int) -> User | None:
        row = _ACCOUNT.first(user_id)
        user = User.from_db(DEFAULT_DB_ALIAS, _COLUMNS, row) if row else None
        return user if user and self.user_can_authenticate(user) else None
