from typing import Any

from django.apps import AppConfig, apps
from django.core.management import call_command
from django.db.models.signals import post_migrate


class CruxSiteConfig(AppConfig):
    name = "crux_site"

    def ready(self) -> None:
        from crux_site import checks  # noqa: F401, PLC0415 - it registers itself
        from crux_site.login import session_end  # noqa: F401, PLC0415 - it listens to logins

        # This app has no models, and for such an app the signal is not sent.
        post_migrate.connect(_make_cache_table, sender=apps.get_app_config("annotation"))


def _make_cache_table(using: str, **_: Any) -> None:
    """Create the database cache table in which processes count failed log-ins together.

    No model has this table, so no migration creates it.
    """
    call_command("createcachetable", database=using, verbosity=0)
