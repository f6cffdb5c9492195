"""Parse settings from environment variables; errors name the variable."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import secrets
import zoneinfo
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

SQLITE, POSTGRESQL = "django.db.backends.sqlite3", "django.db.backends.postgresql"


def parse_pairs(variable: str) -> dict[str, str]:
    """Parse NAME=VALUE NAME=VALUE into a dict."""
    entries = os.environ.get(variable, "").split()
    if wrong := [entry for entry in entries if not entry.partition("=")[2]]:
        raise ImproperlyConfigured(f"{variable}: {wrong[0]!r} is not NAME=VALUE.")
    if wrong := [entry for entry in entries if re.search(r"[,;](?:[\w-]+=|\Z)", entry)]:
        raise ImproperlyConfigured(f"{variable}: separate entries by blanks alone: {wrong[0]!r}.")
    return dict(entry.split("=", 1) for entry in entries)


def whole_number(variable: str, usual: int) -> int:
    """Parse a number of 1 or more."""
    value = os.environ.get(variable, "").strip() or str(usual)
    if not (value.isascii() and value.isdecimal() and int(value) > 0):
        raise ImproperlyConfigured(f"{variable}: {value!r} is no number of 1 or more.")
    return int(value)


def json_object(variable: str) -> dict[str, Any]:
    try:
        value = json.loads(os.environ.get(variable, "") or "{}")
    except ValueError as error:
        raise ImproperlyConfigured(f"{variable} is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ImproperlyConfigured(f"{variable} is JSON, but no object: it begins with {{.")
    return value


def switch(variable: str) -> bool:
    """Parse 1 or 0; refuse anything else.

    `HTTPS=true` that is taken for "no" would send cookies in the clear.
    """
    value = os.environ.get(variable, "").strip() or "0"
    if value not in ("0", "1"):
        raise ImproperlyConfigured(f"{variable}: {value!r} is neither 1 nor 0.")
    return value == "1"


def hosts(variable: str, usual: str) -> list[str]:
    """Parse names separated by commas, as they are in a request: no https://, no path."""
    value = os.environ.get(variable, "").strip() or usual
    names = [name.strip() for name in value.split(",") if name.strip()]
    if wrong := [name for name in names if "/" in name or " " in name]:
        raise ImproperlyConfigured(
            f"{variable}: {wrong[0]!r} is no host name. Names are separated by commas, like crux.example.org."
        )
    return names


def time_zone(variable: str) -> str:
    value = os.environ.get(variable, "").strip() or "UTC"
    try:
        zoneinfo.ZoneInfo(value)
    except (LookupError, OSError, ValueError):  # no such zone, a folder, no name at all
        raise ImproperlyConfigured(
            f"{variable}: {value!r} is no time zone, like Europe/Berlin."
        ) from None
    return value


def database(variable: str, usual: Path, *, is_pooled: bool = False) -> dict[str, Any]:
    """Parse a database URL; errors do not quote it, as it holds a password.

    A pooler does not pass options of the connection on: with `is_pooled` they are refused.
    """
    example = "It is like postgres://user:password@host/name or sqlite:////srv/crux/crux.sqlite3."
    url = os.environ.get(variable, "").strip() or f"sqlite:///{usual}"
    try:
        config: Any = dj_database_url.parse(url, conn_max_age=600, conn_health_checks=True)
    except ValueError as error:
        reason = "begins with no scheme that is known"
        if not isinstance(error, dj_database_url.UnknownSchemeError):
            reason = (
                "is no address; signs like @, / and # in a password are written as %40, %2F and %23"
            )
        raise ImproperlyConfigured(f"{variable} {reason}. {example}") from None
    if config["ENGINE"] not in (SQLITE, POSTGRESQL):
        raise ImproperlyConfigured(f"{variable} names neither SQLite nor PostgreSQL. {example}")
    if not config["NAME"]:
        raise ImproperlyConfigured(f"{variable} names no database. {example}")
    if is_pooled and "options" in config.get("OPTIONS", {}):
        raise ImproperlyConfigured(
            f"{variable} has options, and with DATABASE_POOLED=1 they would be lost. Give them to the role "
            "instead, like ALTER ROLE crux SET lock_timeout = '5s'."
        )
    return config


def complete_postgresql(config: dict[str, Any], *, lock_timeout: str, is_pooled: bool) -> None:
    """Add the site's options of PostgreSQL to a parsed database URL, which keeps its own.

    Nobody waits for ever: for a server that does not answer, or for a row that another holds.
    """
    config["ENGINE"] = "crux_site.postgresql"
    options = config.setdefault("OPTIONS", {})
    options.setdefault("connect_timeout", 5)
    if is_pooled:
        # Nothing outlasts a transaction: see crux_site.postgresql, which limits waits for locks, too.
        options["prepare_threshold"] = None
        config["DISABLE_SERVER_SIDE_CURSORS"] = True
    else:
        # For annotation.prepared alone; Django's own cursors prepare nothing.
        options.setdefault("prepare_threshold", 0)
        # An address with options of its own (...?options=-c%20lock_timeout=5s) keeps those.
        options.setdefault("options", f"-c lock_timeout={lock_timeout}")


def replica(variable: str, primary: dict[str, Any], *, is_pooled: bool) -> dict[str, Any] | None:
    """Parse the URL of a read replica; None where there is none."""
    if not os.environ.get(variable, "").strip():
        return None
    config = database(variable, Path(), is_pooled=is_pooled)
    if any("sqlite" in engine for engine in (config["ENGINE"], primary["ENGINE"])):
        raise ImproperlyConfigured(
            f"{variable}: only PostgreSQL has replicas. It and DATABASE_URL must both name PostgreSQL."
        )
    return config | {"TEST": {"MIRROR": "default"}}


def private_folder(variable: str, usual: Path) -> Path:
    """Create a folder that nobody else on the machine may read, or return the existing one."""
    path = Path(os.environ.get(variable, "") or usual)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{variable}: the folder {path} cannot be made: {error.strerror}."
        ) from None
    return path


def secret_key(variable: str, path: Path) -> str:
    """Read the key of this installation from the environment, or from a file created once."""
    if key := os.environ.get(variable, "").strip():
        return key
    try:
        if not path.exists():
            _make_key(path, secrets.token_urlsafe(50))
        key = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it holds other signs than ASCII"
        raise ImproperlyConfigured(
            f"{variable} is not given, and {path} cannot be read: {reason}."
        ) from None
    if not key:
        raise ImproperlyConfigured(
            f"{variable} is not given, and {path} is empty: put the key from your backup back. "
            "Without one, delete the file: everybody logs in again then, and invitation links are made again."
        )
    return key


def fernet_keys(variable: str, path: Path) -> list[str]:
    """Read Fernet keys, newest first, from the environment, or from a file created once.

    The first encrypts, each decrypts: https://cryptography.io/en/latest/fernet/
    """
    source = variable
    text = os.environ.get(variable, "")
    if not text.strip():
        source = str(path)
        try:
            if not path.exists():
                _make_key(path, base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())
            text = path.read_text(encoding="ascii")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not ASCII"
            raise ImproperlyConfigured(
                f"{variable} is not given, and {path} cannot be read: {reason}."
            ) from None
    keys = text.replace(",", " ").split()
    if not keys or not all(map(_is_fernet_key, keys)):
        raise ImproperlyConfigured(
            f"{source} holds no Fernet keys: 32 bytes in URL-safe base64 each, separated by white space. Put "
            "the file of your backup back: without it, the keys of model servers must be entered again."
        )
    return keys


def _is_fernet_key(key: str) -> bool:
    try:
        return len(base64.urlsafe_b64decode(key)) == 32
    except ValueError:
        return False


def readable_file(variable: str) -> str:
    """Return the path of an existing file; "" if the variable is not set."""
    value = os.environ.get(variable, "").strip()
    if value and not Path(value).is_file():
        raise ImproperlyConfigured(f"{variable}: there is no file {value}.")
    return value


def _make_key(path: Path, key: str) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(key)
    # A link is made whole or not at all: processes that start together share the first key.
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
