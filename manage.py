#!/usr/bin/env python
"""Django's command line: `python manage.py help` lists what it can do."""

import os
import sys
from pathlib import Path

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


def main(arguments: list[str]) -> None:
    """Run a command: `arguments` are the program's name, the command and its options.

    Errors that a person can mend end the program with their text.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crux_site.settings")
    try:
        execute_from_command_line(arguments)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except ModuleNotFoundError as error:
        if (package := error.name or "") not in EXTRAS:
            raise
        sys.exit(f"This command needs {package}, an extra: {_installation(EXTRAS[package])}")
    except OperationalError as error:  # away, locked, full or not migrated: a trace says no more
        sys.exit(f"The database cannot be used: {' '.join(str(error).split())}")


def _installation(extra: str) -> str:
    if Path(__file__).with_name("Makefile").exists():
        return f"make env EXTRAS={extra}"
    return f"install crux-workbench[{extra}]"


if __name__ == "__main__":
    main(sys.argv)
