"""The WSGI application that granian serves."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crux_site.settings")

try:
    application = get_wsgi_application()
except ImproperlyConfigured as error:
    sys.exit(str(error))
