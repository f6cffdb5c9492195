"""Version of the program, and the hash of its translations, for provenance of exports."""

import hashlib
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.utils.translation import to_locale

_PROJECT = Path(__file__).parent.parent / "pyproject.toml"


@cache
def program_versions(language: str) -> dict[str, Any]:
    """Return the versions of the program and of Django, and a translation catalogue's SHA-256.

    These fix the program's messages in a language. The catalogue is that of the compiled
    translation (.mo); without one the messages are in the source, and the hash is None.
    """
    name = f"{to_locale(language)}/LC_MESSAGES/django.mo"
    catalogue = Path(settings.LOCALE_PATHS[0]) / name
    return {
        "version": tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]["version"],
        "django": django.get_version(),
        "catalogue": f"locale/{name}" if catalogue.exists() else "",
        "catalogue_sha256": (
            hashlib.sha256(catalogue.read_bytes()).hexdigest() if catalogue.exists() else None
        ),
    }
