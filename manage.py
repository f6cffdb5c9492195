#!/usr/bin/env python
"""Django's command line: `python manage.py help` lists what it can do."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError

# Packages that only some commands need, and the extra that brings each.
EXTRAS = {
    "crowdkit": "aggregation",
    "jieba": "zh",
    "matplotlib": "figures",
    "model2vec": "static",
    "peft": "finetune",
    "pyarrow": "cluster",
    "torch": "finetune",
    "transformers": "finetune",
}

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crux_site.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except ModuleNotFoundError as error:
        if (package := error.name or "") not in EXTRAS:
            raise
        sys.exit(f"This command needs {package}, an extra: make env EXTRAS={EXTRAS[package]}")
    except OperationalError as error:  # away, locked, full or not migrated: a trace says no more
        sys.exit(f"The database cannot be used: {' '.join(str(error).split())}")
