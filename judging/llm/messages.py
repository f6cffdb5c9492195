"""Chat messages, and the hash that identifies them."""

from __future__ import annotations

import hashlib
import json

Message = dict[str, str]


def prompt_hash(messages: list[Message]) -> str:
    """Return 16 hex digits of SHA-256 over the canonical JSON of the messages."""
    # Escaped to ASCII, so that half a surrogate pair in a text has a hash too.
    canonical = json.dumps(messages, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:16]
