"""From what a model said about a pair, once or in several samples, to a reply."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judging.grading.pairs import Pair, Reply, storable
from judging.grading.parse import PARSERS, Parsed, parse
from judging.grading.probabilities import Labels, TokenLogprobs, at_grade
from judging.grading.spec import Spec


@dataclass(frozen=True, slots=True)
class Said:
    """One reply of a model as the server told it: its words, its thoughts, and why it ended there."""

    words: str
    reasoning: str = ""
    finish_reason: str | None = None
    refusal: str | None = None


def reply_of(
    spec: Spec,
    pair: Pair,
    digest: str,
    said: Sequence[Said],
    logprobs: TokenLogprobs | None,
    tokens: tuple[int, int],
) -> Reply:
    """What was said of a pair, as a reply.

    The probabilities are those at the token of the grade, from `logprobs` of the only sample; of several
    samples they are the shares of their grades instead. There are none without a grade, of replies about
    several questions, and where they are not the distribution of the grade. `tokens` are those read and
    written for this pair.
    """
    read = [_parsed(spec, pair, each) for each in said]
    parsed, labels = read[0], None
    if len(read) > 1:
        parsed, labels = of_samples(read, spec.grades)
    elif parsed.grade is not None and logprobs and not PARSERS[spec.parser].of_several:
        labels = at_grade(
            logprobs, said[0].words, parsed.place, parsed.grade, spec.grades, spec.label_ids
        )
    if labels and (parsed.grade is None or not labels.is_of(parsed.grade, spec.grades)):
        labels = None
    return Reply(
        pair=pair,
        state=parsed.state,
        grade=parsed.grade,
        failure=parsed.failure,
        raw=_joined([each.words or each.refusal or "" for each in said]),
        prompt_hash=digest,
        probabilities=labels.probabilities if labels else None,
        expected_grade=labels.expected_grade if labels else None,
        label_mass=labels.label_mass if labels else None,
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
        evidence=parsed.evidence,
        reasoning=_joined([each.reasoning for each in said]),
    )


def of_samples(samples: Sequence[Parsed], grades: Sequence[int]) -> tuple[Parsed, Labels]:
    """The grade of several samples, and the share of each grade among all of them as its probability.

    It is the grade that came most often, of equals the one nearest to the mean, and of those the lowest.
    Samples without a grade have a share in none; without any grade the first says why.
    """
    said = [parsed.grade for parsed in samples if parsed.grade is not None]
    counts = Counter(said)
    mean = sum(said) / len(said) if said else None
    labels = Labels(
        probabilities=tuple(counts[grade] / len(samples) for grade in sorted(grades)),
        expected_grade=mean,
        label_mass=len(said) / len(samples),
    )
    if mean is None:
        return samples[0], labels
    chosen = min(counts, key=lambda grade: (-counts[grade], abs(grade - mean), grade))
    return next(parsed for parsed in samples if parsed.grade == chosen), labels


def with_tokens(reply: Reply, more: tuple[int, int]) -> Reply:
    """A reply that took more than its own tokens."""
    return replace(
        reply,
        prompt_tokens=reply.prompt_tokens + more[0],
        completion_tokens=reply.completion_tokens + more[1],
    )


def _parsed(spec: Spec, pair: Pair, said: Said) -> Parsed:
    return parse(
        spec.parser,
        said.words,
        spec.grades,
        finish_reason=said.finish_reason,
        max_tokens=spec.sampling.max_tokens,
        words=spec.words,
        refusal=said.refusal,
        number=pair.number,
        n=max(1, len(pair.questions)),
    )


def _joined(samples: Sequence[str]) -> str:
    if len(samples) == 1 or not any(samples):
        return storable(samples[0])
    numbered = (f"[{number} of {len(samples)}]\n{words}" for number, words in enumerate(samples, 1))
    return storable("\n\n".join(numbered))
