"""Mock model server for writers and judges, to try both without a model.

    python -m building.writing.mock_model --port 8801

It takes the source out of the prompts that ship here and answers with what the extractive baseline
makes of it; other prompts get what the stand-in for judges says. It is not a model.
"""

from __future__ import annotations

import re

from building.writing import extractive
from building.writing.outputs import Source
from building.writing.tasks import NO_QUESTIONS, TASKS
from judging import mock_model

_PART = r"^{0}:\n(.*)\n\nEnd of the {1}\."
# Greedy up to the last end marker, since a text may contain one too.
_DOCUMENT, _REQUEST, _PASSAGES, _HAVE = (
    re.compile(_PART.format(title, end), re.MULTILINE | re.DOTALL)
    for title, end in (
        ("(?:Document|Passage)", "(?:document|passage)"),
        ("Request", "request"),
        ("Passages", "passages"),
        ("(?:Questions|Nuggets) that are there already", "(?:questions|nuggets)"),
    )
)
_PASSAGE = re.compile(r"(?:\A|\n\n)\[(\d+)\] (.*)")
_QUESTION = re.compile(r"^\d+\. (.*)", re.MULTILINE)
_N = re.compile(r"at most (\d+)\.|Write (\d+) new (?:questions|nuggets)")
_LENGTH = re.compile(r"about (\d+) words")
_TASK_OF_TAG = {
    "p": "passages",
    "r": "request",
    "q": "questions",
    "n": "nuggets",
    "a": "pairs",
    "c": "statements",
}
_TAG = re.compile(r"between the tags <([prqnac])> and </\1>")


def answer(prompt: str) -> tuple[str, list[float] | None]:
    """Return the reply to a prompt; log-probabilities beside a grade only."""
    reply = written(prompt)
    return mock_model.answer(prompt) if reply is None else (reply, None)


def written(prompt: str) -> str | None:
    """Return the extractive baseline's reply to one of our prompts; None for others."""
    document, passages, request = (
        pattern.search(prompt) for pattern in (_DOCUMENT, _PASSAGES, _REQUEST)
    )
    tags = _TAG.findall(prompt, document.end() if document else len(prompt))
    if not tags and "Write the report that is asked for" not in prompt:
        return None
    of_tag = _TASK_OF_TAG[tags[-1]] if tags else ""
    name = of_tag or ("report" if passages else "direct")
    # Numbers are read from our instructions after the texts.
    ends = [part.end() for part in (document, passages, request) if part]
    instructions = max(ends, default=0)
    n, length = _N.search(prompt, instructions), _LENGTH.search(prompt, instructions)
    have = _HAVE.search(prompt, document.end()) if document else None
    source = Source(
        request=request[1] if request else "",
        document=document[1] if document else "",
        passages=tuple(_PASSAGE.findall(passages[1])) if passages else (),
        existing=tuple(_QUESTION.findall(have[1])) if have and have[1] != NO_QUESTIONS else (),
        n=int(n[1] or n[2]) if n else 0,
        words=int(length[1]) if length else 0,
    )
    return extractive.write(name, TASKS[name].whole(source))


if __name__ == "__main__":
    mock_model.main(answer)
