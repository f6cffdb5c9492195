"""Separation of a model's reasoning between think tags from its reply."""

import re

# Qwen, DeepSeek and others; Seed-OSS; Magistral; gpt-oss, whose reply is a channel of its own. Some chat
# templates send the opening tag, so that only the closing one comes.
_NAMES = r"think|thinking|thought|reasoning|seed:think"
_OPENS = rf"<(?:{_NAMES})>|(?-i:\[THINK\])|<\|channel\|>analysis<\|message\|>"
_CLOSES = (
    rf"</(?:{_NAMES})>|(?-i:\[/THINK\])"
    r"|(?>(?:<\|end\|>)?)(?>(?:<\|start\|>assistant)?)<\|channel\|>final<\|message\|>"
)
_OPENING = re.compile(rf"\s*+(?:{_OPENS})", re.IGNORECASE)
_CLOSING = re.compile(_CLOSES, re.IGNORECASE)
_ANY = re.compile(rf"{_OPENS}|{_CLOSES}", re.IGNORECASE)


def split_reasoning(reply: str) -> tuple[str, str]:
    """Split a reply into (reasoning, reply).

    The first is empty where there is no reasoning. Thinking is what stands before the first closing
    tag, whether an opening one came or not, and again where another opening tag follows at once.
    Thinking that never ends leaves no reply. A tag that stands elsewhere stays in the reply, which no
    parser then takes for a grade.
    """
    parts: list[str] = []
    position = 0
    while True:
        opening = _OPENING.match(reply, position)
        if opening is None and parts:
            break
        closing = _CLOSING.search(reply, opening.end() if opening else position)
        if opening is None:
            first = _ANY.search(reply)
            if closing is None or first is None or first.start() < closing.start():
                break  # no thinking, or a tag that opens within words
        start = opening.end() if opening else position
        parts.append(reply[start : closing.start() if closing else len(reply)].strip())
        position = closing.end() if closing else len(reply)
    return "\n\n".join(part for part in parts if part), reply[position:]


def holds_a_tag(reply: str) -> bool:
    return _ANY.search(reply) is not None
