"""A server that stands in for a model that writes, and for one that judges, to try both out without any.

    python -m building.writing.stand_in --port 8801

It takes the source out of the prompts that ship here and answers with what the extractive baseline
makes of it; other prompts get what the stand-in for judges says. It is not a model.
"""

from __future__ import annotations

import re

from building.writing import extractive
from building.writing.products import Source
from building.writing.tasks import NO_QUESTIONS, TASKS
from judging import stand_in

_PART = r"^{0}:\n(.*)\n\nEnd of the {1}\."
# To the last of these ends, since a text may hold one too.
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
_WORDS = re.compile(r"about (\d+) words")
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
    """The reply to a prompt; log-probabilities beside a grade alone."""
    words = written(prompt)
    return stand_in.answer(prompt) if words is None else (words, None)


def written(prompt: str) -> str | None:
    """What the extractive baseline writes for one of our prompts; None for any other prompt."""
    document, passages, request = (
        pattern.search(prompt) for pattern in (_DOCUMENT, _PASSAGES, _REQUEST)
    )
    tags = _TAG.findall(prompt, document.end() if document else len(prompt))
    if not tags and "Write the report that is asked for" not in prompt:
        return None
    of_tag = _TASK_OF_TAG[tags[-1]] if tags else ""
    name = of_tag or ("report" if passages else "direct")
    # Numbers are read from what we say behind the texts.
    ends = [part.end() for part in (document, passages, request) if part]
    told = max(ends, default=0)
    n, length = _N.search(prompt, told), _WORDS.search(prompt, told)
    have = _HAVE.search(prompt, document.end()) if document else None
    source = Source(
        request=request[1] if request else "",
        document=document[1] if document else "",
        passages=tuple(_PASSAGE.findall(passages[1])) if passages else (),
        have=tuple(_QUESTION.findall(have[1])) if have and have[1] != NO_QUESTIONS else (),
        n=int(n[1] or n[2]) if n else 0,
        words=int(length[1]) if length else 0,
    )
    return extractive.write(name, TASKS[name].whole(source))


if __name__ == "__main__":
    stand_in.main(answer)
