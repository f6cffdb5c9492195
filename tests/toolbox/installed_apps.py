"""The apps of this repository, read from the settings so that no test leaves one out."""

from django.conf import settings

OUR_APPS = tuple(app for app in settings.INSTALLED_APPS if (settings.BASE_DIR / app).is_dir())
