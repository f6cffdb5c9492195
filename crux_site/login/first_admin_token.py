"""Token that allows to create the first admin, printed in the server's terminal.

It is derived from SECRET_KEY, so that all processes and machines of a site have the same one and
nothing has to be stored, and from the time of the first migration, so that a new database under an
old key has another one. It is valid while there is no account; the site never deletes an account.
"""

from django.conf import settings
from django.db.migrations.recorder import MigrationRecorder
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.http import urlencode

from annotation.models import User

SALT = "crux_site.login.first_admin_token"
LENGTH = 32  # hexadecimal digits: 128 bits


def is_site_empty() -> bool:
    """Return whether the site has no account at all."""
    return not User.objects.exists()


def is_valid(token: str) -> bool:
    return constant_time_compare(token, current_token())


def current_token() -> str:
    migrations = MigrationRecorder.Migration.objects.order_by("pk")
    created = migrations.values_list("applied", flat=True).first()
    return salted_hmac(SALT, str(created), algorithm="sha256").hexdigest()[:LENGTH]


def first_admin_url(site: str) -> str:
    """Return the address of the page with the token, on a site at an address like http://host."""
    query = urlencode({"token": current_token()})
    return f"{site.rstrip('/')}{reverse('first_admin')}?{query}"


def site_address() -> str:
    """Return the address of this site by its settings: a guess, as a proxy may be in front."""
    if settings.HTTPS and settings.ALLOWED_HOSTS:
        return f"https://{settings.ALLOWED_HOSTS[0].lstrip('.')}"
    return "http://127.0.0.1:8000"
