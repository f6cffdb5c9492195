"""WSGI application that granian serves."""

import ctypes
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module

from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application
from django.db import OperationalError, connection, connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crux_site.settings")
# Before numpy is imported. Requests use the cores already: further threads for products of matrices wait for
# each other, and took a quarter of the CPU time of the agreement page of a large study.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import_module("pandas")  # a third of a second, which the first visitor would wait for

M_MMAP_THRESHOLD = -3
# The C library of Linux keeps the memory of large arrays for later ones. With a fixed size from which it maps
# them, it gives that memory back: a live study of a million ratings takes a fifth less.
with suppress(AttributeError, TypeError):  # another system, which has no such setting
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 8_000_000)

try:
    application = get_wsgi_application()
    if connection.vendor == "postgresql":
        for server in connections.all():
            server.ensure_connection()  # refuses a pooler
            server.close()
except ImproperlyConfigured as error:
    sys.exit(str(error))
except OperationalError:
    pass  # it may be away for a moment; until then requests are refused

if connection.vendor == "sqlite":
    # Commands are patient. Behind a request somebody waits, whose browser asks again.
    connection.settings_dict["OPTIONS"]["timeout"] = 5

# The objects of the program stay until it ends, so that collections need not go through them. A page of a large
# study makes many objects at once, and garbage collection took a twentieth of its time.
gc.collect()
gc.freeze()
gc.set_threshold(10_000, 20, 50)
