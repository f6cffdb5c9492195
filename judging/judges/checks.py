"""Cross-field validation of a judge: valid fields that do not fit together."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from annotation.models import Rubric
from annotation.plurals import n_of
from judging.engine.judges import levels_of
from judging.grading.parse import LABEL_PARSERS, PARSERS, labels_of
from judging.grading.prompt import DEFAULT_PLACEHOLDERS, check_template, placeholders
from judging.models import Judge

Problem = tuple[str, str]  # the field, and what is wrong with it


def required_placeholders(rubric: Rubric | None) -> Collection[str]:
    """Return the placeholders that a prompt has to show under a rubric."""
    return rubric.shows if rubric else DEFAULT_PLACEHOLDERS


def problems_of(cleaned: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield problems between fields that are valid by themselves.

    Invalid fields are missing.
    """
    if cleaned.get("prompt"):
        system, prompt = cleaned.get("system", ""), cleaned["prompt"]
        for problem in check_template(system, prompt, required_placeholders(cleaned.get("rubric"))):
            yield "prompt", problem
        if cleaned.get("parser"):
            yield from _of_parser(cleaned, placeholders(system, prompt))
    if cleaned.get("rubric"):
        yield from _of_rubric(cleaned, cleaned["rubric"])
    yield from _of_samples(cleaned)
    if cleaned.get("extra", {}).get("stream"):
        yield "extra", "Streamed replies are not supported: remove stream."
    if cleaned.get("reply_model") and cleaned.get("backend") == Judge.Backend.VLLM:
        yield (
            "reply_model",
            "Leave this empty for a model in process: its replies have no model name.",
        )
    limit = cleaned.get("extra", {}).get("max_completion_tokens")
    if limit is not None and limit != cleaned.get("max_tokens"):
        yield "extra", "max_completion_tokens differs from the maximum number of tokens above."


def _of_parser(cleaned: Mapping[str, Any], placeholders_used: Collection[str]) -> Iterator[Problem]:
    parser = cleaned["parser"]
    if PARSERS[parser].reads_several and "questions" not in placeholders_used:
        yield (
            "parser",
            "This parser reads replies about all {questions} of a text, but the prompt asks about "
            "one question.",
        )
    if "questions" in placeholders_used and not PARSERS[parser].reads_several:
        names = ", ".join(
            name
            for name, rules in PARSERS.items()
            if rules.reads_several and not rules.superseded_by
        )
        yield (
            "parser",
            f"The prompt asks about all {{questions}} at once. Choose one of these parsers: {names}.",
        )
    if "questions" in placeholders_used and cleaned.get("logprobs"):
        yield "logprobs", "In a reply to all {questions}, the first token is not a grade."
    if "questions" in placeholders_used and cleaned.get("max_tokens") == 1:
        yield "max_tokens", "A reply to all {questions} is longer than one token."
    if parser == "evidence-1" and "text" not in placeholders_used:
        yield (
            "parser",
            "This parser needs quotations from the text, but the prompt does not contain the text.",
        )


def _of_rubric(cleaned: Mapping[str, Any], rubric: Rubric) -> Iterator[Problem]:
    if rubric.is_multi_label:
        yield "rubric", "A judge gives one grade to each pair, and this rubric is multi-label."
    levels = [(int(grade), str(label)) for grade, label in levels_of(rubric)]
    if cleaned.get("parser") in LABEL_PARSERS and not labels_of(levels):
        yield "parser", f"No level of {rubric} is a single word."
    ids = cleaned.get("label_ids")
    if ids and len(ids) != len(levels):
        yield (
            "label_ids",
            f"{rubric} has {n_of(len(levels), 'grade')}, and you entered {n_of(len(ids), 'id')}.",
        )


def _of_samples(cleaned: Mapping[str, Any]) -> Iterator[Problem]:
    extra = cleaned.get("extra", {})
    if "n" in extra:
        yield "extra", "Enter the number of samples, n, in its own field."
    if cleaned.get("samples", 1) == 1:
        return
    if cleaned.get("logprobs"):
        yield "logprobs", "With several samples, the shares of the grades are the probabilities."
    if extra.get("temperature", cleaned.get("temperature")) == 0:
        yield (
            "samples",
            "At temperature 0 all samples are equal, and many servers refuse the request.",
        )
