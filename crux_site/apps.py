from django.apps import AppConfig


class CruxSiteConfig(AppConfig):
    name = "crux_site"

    def ready(self) -> None:
        from crux_site import sessions  # noqa: F401, PLC0415 - it listens to logins
