"""Output of `manage.py agreement`."""

import json
from io import StringIO

from django.core.management import call_command


def output(*arguments: str) -> str:
    out = StringIO()
    call_command("agreement", *arguments, stdout=out)
    return out.getvalue()


def as_object(*arguments: str) -> dict:
    return json.loads(output(*arguments, "--json"))
