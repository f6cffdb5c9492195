from typing import Any, TextIO

from django.apps import AppConfig, apps
from django.core.management import call_command
from django.db.models.signals import post_migrate


class CruxSiteConfig(AppConfig):
    name = "crux_site"

    def ready(self) -> None:
        from crux_site import checks  # noqa: F401, PLC0415 - it registers itself
        from crux_site.login import session_end  # noqa: F401, PLC0415 - it listens to logins

        # This app has no models, and for such an app the signal is not sent.
        annotation = apps.get_app_config("annotation")
        post_migrate.connect(_make_cache_table, sender=annotation)
        post_migrate.connect(_announce_first_admin, sender=annotation)


def _make_cache_table(using: str, **_: Any) -> None:
    """Create the database cache table in which processes count failed log-ins together.

    No model has this table, so no migration creates it.
    """
    call_command("createcachetable", database=using, verbosity=0)


def _announce_first_admin(
    using: str, verbosity: int, stdout: TextIO | None = None, **_: Any
) -> None:
    """Say after `migrate` how to create the first admin, while there is no account."""
    from annotation.models import User  # noqa: PLC0415 - apps are not loaded yet above

    if stdout and verbosity and not User.objects.using(using).exists():
        stdout.write("There is no account yet: `first_admin` prints where to create the first.\n")
