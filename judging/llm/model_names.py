"""Comparison of the model that a reply names with the requested model."""

from __future__ import annotations

import re
from functools import lru_cache

from judging.llm.sampling import RequestedModel

# 2024-08-06, 20250929; 08-2024 as Cohere writes it.
_LONG_DATE = r"20[0-9]{2}-?[01][0-9]-?[0-3][0-9]|(?:0[1-9]|1[0-2])-20[0-9]{2}"
# 0613 and 05-20 are a month and a day at OpenAI and Google, 2411 a year and a month at Mistral.
_SHORT_DATE = r"(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12][0-9]|3[01])|2[0-9](?:0[1-9]|1[0-2])"
_DATED = re.compile(rf"-({_LONG_DATE}|{_SHORT_DATE})")
_DATE_IN_REVISION = re.compile(rf"-({_LONG_DATE})|-({_SHORT_DATE})\Z")
_NUMBERED = re.compile(r"-[0-9]{3}")  # gemini-1.5-pro-002, to which -latest may resolve
_LATEST = "-latest"
_SIZE = re.compile(r"[0-9.]+[bm](?:$|[-_])")  # a tag that says which model, such as llama3:70b


def is_model_of(spec: RequestedModel, reply_name: str) -> bool:
    """Return whether a reply with this model name is of the judge or writer `spec`.

    Where `spec.reply_model` says how replies name it, that name alone counts, else its model's name or its
    revision.
    """
    if spec.reply_model:
        return names_model(spec.reply_model, reply_name)
    return names_model(spec.model, reply_name, spec.revision)


@lru_cache(maxsize=1_024)
def names_model(model: str, reply_name: str, revision: str = "") -> bool:
    """Return whether `reply_name`, in a reply, stands for the model `model` of a revision.

    A name may be written in other case, go without its owner ("Qwen3-8B"), without or with a tag after a
    colon ("x:free", "llama3:latest"), and with the date of its version, unless the revision has another
    date. "-latest" may be resolved to a version of the same name.
    """
    # Vertex AI has an @ before the version where others have a hyphen.
    model, reply_name, revision = (
        name.casefold().replace("@", "-") for name in (model, reply_name, revision)
    )
    if reply_name in (model, revision):
        return True
    (model, tag), (reply_name, own_tag) = _parted(model), _parted(reply_name)
    if own_tag and own_tag != tag and (tag or _SIZE.match(own_tag)):
        return False
    if model.endswith(f"/{reply_name}") or reply_name.endswith(f"/{model}"):
        return True
    if ("/" in model) != ("/" in reply_name):
        model, reply_name = model.rpartition("/")[2], reply_name.rpartition("/")[2]
    if model == reply_name:
        return True
    is_latest = model.endswith(_LATEST)
    model = model.removesuffix(_LATEST)
    if not reply_name.startswith(model):
        return False
    version = reply_name[len(model) :]
    if is_latest and (not version or _NUMBERED.fullmatch(version)):
        return True
    dated = _DATED.fullmatch(version)
    return dated is not None and _fits(dated[1], revision)


def _parted(name: str) -> tuple[str, str]:
    """Split a name into base and tag.

    An address with a port is no name of a model.
    """
    base, _, tag = name.partition(":")
    return base, tag


def _fits(date: str, revision: str) -> bool:
    """Return True if a version has the date of a revision, or the revision has no date."""
    match = _DATE_IN_REVISION.search(f"-{revision}")
    if match is None:
        return True
    digits, revision_digits = (text.replace("-", "") for text in (date, match[1] or match[2]))
    return digits in revision_digits or revision_digits in digits
