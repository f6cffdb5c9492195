"""What a model thinks before it replies, where it stands in the reply between tags."""

import re

# Qwen, DeepSeek and others; some chat templates send the opening tag, so that only the closing one comes.
_TAG = r"think|thinking|thought|reasoning"
_OPENING = re.compile(rf"\s*+<({_TAG})>", re.IGNORECASE)
_CLOSING = re.compile(rf"</(?:{_TAG})>", re.IGNORECASE)
_ANY = re.compile(rf"</?(?:{_TAG})>", re.IGNORECASE)


def thinking_apart(reply: str) -> tuple[str, str]:
    """(what the model thought, what it replied). The first is empty where it did not think aloud.

    Thinking is what stands before the first closing tag, whether an opening one came or not, and again
    where another opening tag follows at once. Thinking that never ends leaves no reply. A tag that
    stands elsewhere stays in the reply, which no parser then takes for a grade.
    """
    thoughts: list[str] = []
    rest = 0
    while True:
        opening = _OPENING.match(reply, rest)
        if opening is None and thoughts:
            break
        closing = _CLOSING.search(reply, opening.end() if opening else rest)
        if opening is None:
            first = _ANY.search(reply)
            if closing is None or first is None or first.start() < closing.start():
                break  # no thinking, or a tag that opens within words
        start = opening.end() if opening else rest
        thoughts.append(reply[start : closing.start() if closing else len(reply)].strip())
        rest = closing.end() if closing else len(reply)
    return "\n\n".join(thought for thought in thoughts if thought), reply[rest:]


def holds_a_tag(reply: str) -> bool:
    return _ANY.search(reply) is not None
