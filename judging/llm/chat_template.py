"""Hash of a chat template: the token ids of fixed conversations."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

# Changing a word of these changes the hash of every chat template.
_USER = {"role": "user", "content": "Does the text answer the question? Reply with a grade."}
_SYSTEM = {"role": "system", "content": "You grade texts."}
PLAIN = [_USER]
CONVERSATIONS = (PLAIN, [_SYSTEM, _USER])


def template_hash(tokens: Sequence[Sequence[int] | None]) -> str:
    """Return SHA-256, in hex, over the token ids of CONVERSATIONS.

    It is empty if the token ids of the first are unknown. Some templates have no place for a system
    message (None), and that is a property of theirs too.
    """
    return hashlib.sha256(json.dumps(tokens).encode()).hexdigest() if tokens[0] else ""
