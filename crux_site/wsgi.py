"""WSGI application that granian serves."""

import os
import sys

import pandas as pd  # noqa: F401 - a third of a second, which the first visitor would wait for
from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application
from django.db import connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crux_site.settings")

try:
    application = get_wsgi_application()
except ImproperlyConfigured as error:
    sys.exit(str(error))

if connection.vendor == "sqlite":
    # Commands are patient. Behind a request somebody waits, whose browser asks again.
    connection.settings_dict["OPTIONS"]["timeout"] = 5
