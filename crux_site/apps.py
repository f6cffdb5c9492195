from django.apps import AppConfig


class CruxSiteConfig(AppConfig):
    name = "crux_site"
