"""Conversion of a model's completions about a pair, one or several, to a reply."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from judging.grading.pairs import Pair, Reply
from judging.grading.parse import PARSERS, Parsed, parse
from judging.grading.probabilities import Labels, at_grade
from judging.grading.spec import Spec
from judging.llm.completion import Completion, TokenLogprobs, storable


def reply_of(
    spec: Spec,
    pair: Pair,
    digest: str,
    completions: Sequence[Completion],
    logprobs: TokenLogprobs | None,
    tokens: tuple[int, int],
) -> Reply:
    """Return the reply about a pair, from the completions of the model.

    The probabilities are those at the token of the grade, from `logprobs` of the only sample; of several
    samples they are the shares of their grades instead. There are none without a grade, of replies about
    several questions, and where they are not the distribution of the grade. `tokens` are those read and
    written for this pair.
    """
    read = [_parsed(spec, pair, completion) for completion in completions]
    parsed, labels = read[0], None
    if len(read) > 1:
        parsed, labels = aggregate_samples(read, spec.grades)
    elif parsed.grade is not None and logprobs and not PARSERS[spec.parser].reads_several:
        labels = at_grade(
            logprobs, completions[0].text, parsed.place, parsed.grade, spec.grades, spec.label_ids
        )
    if labels and (parsed.grade is None or not labels.is_of(parsed.grade, spec.grades)):
        labels = None
    return Reply(
        pair=pair,
        state=parsed.state,
        grade=parsed.grade,
        failure=parsed.failure,
        raw=_joined([completion.text or completion.refusal or "" for completion in completions]),
        prompt_hash=digest,
        probabilities=labels.probabilities if labels else None,
        expected_grade=labels.expected_grade if labels else None,
        label_mass=labels.label_mass if labels else None,
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
        evidence=parsed.evidence,
        reasoning=_joined([completion.reasoning for completion in completions]),
    )


def aggregate_samples(samples: Sequence[Parsed], grades: Sequence[int]) -> tuple[Parsed, Labels]:
    """Aggregate samples: the most frequent grade, and shares of grades as probabilities.

    Of equally frequent grades it is the one nearest to the mean, and of those the lowest. Samples
    without a grade have a share in none; without any grade the first says why.
    """
    graded = [parsed.grade for parsed in samples if parsed.grade is not None]
    counts = Counter(graded)
    mean = sum(graded) / len(graded) if graded else None
    labels = Labels(
        probabilities=tuple(counts[grade] / len(samples) for grade in sorted(grades)),
        expected_grade=mean,
        label_mass=len(graded) / len(samples),
    )
    if mean is None:
        return samples[0], labels
    chosen = min(counts, key=lambda grade: (-counts[grade], abs(grade - mean), grade))
    return next(parsed for parsed in samples if parsed.grade == chosen), labels


def with_tokens(reply: Reply, more: tuple[int, int]) -> Reply:
    """Return a reply with more tokens added to its own."""
    return replace(
        reply,
        prompt_tokens=reply.prompt_tokens + more[0],
        completion_tokens=reply.completion_tokens + more[1],
    )


def _parsed(spec: Spec, pair: Pair, completion: Completion) -> Parsed:
    return parse(
        spec.parser,
        completion.text,
        spec.grades,
        finish_reason=completion.finish_reason,
        max_tokens=spec.sampling.max_tokens,
        words=spec.words,
        refusal=completion.refusal,
        number=pair.number,
        n=max(1, len(pair.questions)),
    )


def _joined(samples: Sequence[str]) -> str:
    if len(samples) == 1 or not any(samples):
        return storable(samples[0])
    numbered = (
        f"[{number} of {len(samples)}]\n{sample}" for number, sample in enumerate(samples, 1)
    )
    return storable("\n\n".join(numbered))
