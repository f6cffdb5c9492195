"""Sentences of a certificate: its decision, and the text for a methods section."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.decimals import printed
from annotation.plurals import n_of
from evaluation.certificates.assessment import UNANSWERED, failed_parts
from evaluation.certificates.testing import has_seen_results
from evaluation.models import Certificate

SOURCE = "(Calderon et al., 2025)"


def decision(certificate: Certificate) -> str:
    """Return the decision of a certificate in one sentence."""
    verb = "may" if certificate.is_certified else "was not shown to be able to"
    return (
        f"{certificate.judge.name} {verb} stand in for a person on {certificate.dataset.title} under the "
        f"rubric {certificate.rubric.title}."
    )


def methods_sentences(certificate: Certificate) -> Iterator[str]:
    """Yield sentences on a test for a methods section, in plain text."""
    result, parameters = certificate.result, certificate.parameters
    outcome = "passed" if certificate.is_certified else "did not pass"
    when = "chosen after an earlier result" if has_seen_results(certificate) else "set in advance"
    n_people = len(parameters["people"])
    pairs = n_of(result["n_pairs"], "pair", ",")
    yield (
        f"We compared {certificate.judge.name} with {n_people} people under the rubric "
        f"“{certificate.rubric.title}”. On {pairs} from {n_of(result['n_topics'], 'topic')} that at least "
        f"two of them graded, it {outcome} the alternative annotator test {SOURCE} with "
        f"ε = {parameters['epsilon']:g}, {when}: winning rate {_number(result['winning_rate'])}, advantage "
        f"{_number(result['advantage'])}, one-sided t tests with topics as clusters, Benjamini–Yekutieli "
        "at q = 0.05."
    )
    number = _tests_before(certificate) + 1
    if number > 1:
        yield f"It was test {number} of this judge on these data."
    total = result["n_pairs"] + result["n_without_judge"]
    if result["n_without_judge"]:
        share = result["n_without_judge"] / total
        among = ", so the result is of the pairs that it could answer" if share > UNANSWERED else ""
        yield f"The judge gave no grade for {share:.1%} of these pairs{among}."
    if certificate.is_certified and (parts := failed_parts(result)):
        yield f"It was not shown for: {', '.join(parts)}."
    yield f"The SHA-256 hash of the grades begins with {certificate.data_hash[:12]}."


def _tests_before(certificate: Certificate) -> int:
    return Certificate.objects.filter(
        dataset=certificate.dataset_id,
        judge=certificate.judge_id,
        rubric=certificate.rubric_id,
        pk__lt=certificate.pk,
    ).count()


def _number(value: float | None) -> str:
    return "undefined" if value is None else printed(value)
