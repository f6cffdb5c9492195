"""Encryption of server keys at rest: Fernet, with the keys of JUDGE_SECRET_KEYS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from judging.llm.errors import BackendError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


def encrypt(secret: str) -> str:
    """Return the secret as a Fernet token in ASCII; "" for no secret."""
    return _fernet().encrypt(secret.encode()).decode("ascii") if secret else ""


def decrypt(token: str) -> str:
    """Return the secret of a token; "" for none.

    Raises BackendError where no key of this machine fits.
    """
    if not token:
        return ""
    from cryptography.fernet import InvalidToken  # noqa: PLC0415

    try:
        return _fernet().decrypt(token.encode("ascii")).decode()
    except (InvalidToken, ValueError):
        raise BackendError(
            "The key of this server cannot be decrypted here: this machine has other JUDGE_SECRET_KEYS than "
            "the one where the key was entered. Enter the key again, or set the same keys on all machines."
        ) from None


def rotate(token: str) -> str:
    """Encrypt a token's secret again, under the newest key.

    Raises BackendError as `decrypt` does.
    """
    return encrypt(decrypt(token))


def _fernet() -> MultiFernet:
    # Imported here: most commands encrypt nothing, and this takes 30 ms.
    from cryptography.fernet import Fernet, MultiFernet  # noqa: PLC0415

    return MultiFernet([Fernet(key) for key in settings.JUDGE_SECRET_KEYS])
