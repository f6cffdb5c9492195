"""Tables of a certificate as files, and the certificate as JSON."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from evaluation.certificates.methods import decision, methods_sentences
from evaluation.certificates.testing import has_seen_results
from evaluation.data.certificates import CertificateState
from evaluation.models import Certificate
from evaluation.result_tables import ResultTable, Row, Statistic
from evaluation.stats.estimate import Estimate

PERSON = (
    *("name", "n_pairs", "n_topics", "judge_wins", "person_wins", "difference", "low", "high"),
    *("p", "p_by_pairs", "passes", "reason"),
)
SLICE = ("kind", "name", "n_pairs", "n_topics", "winning_rate", "passes", "reason")


def certificate_as_json(state: CertificateState) -> dict[str, Any]:
    """Return a certificate with its state, for files, the API and the command."""
    certificate = state.certificate
    assert certificate is not None
    return {
        "dataset": certificate.dataset.slug,
        "rubric": certificate.rubric.slug,
        "judge": certificate.judge.name,
        "fingerprint": certificate.fingerprint,
        "state": state.kind,
        "void_because": state.reason,
        "n_grades_added_since": state.n_added,
        "decision": decision(certificate),
        "tested": timezone.localtime(certificate.created).isoformat(timespec="seconds"),
        "parameters": certificate.parameters,
        "parameters_chosen_after_a_result": has_seen_results(certificate),
        "data_sha256": certificate.data_hash,
        "rubric_sha256": certificate.rubric_hash,
        "result": certificate.result,
        "methods": " ".join(methods_sentences(certificate)),
    }


def people_table(certificate: Certificate) -> ResultTable:
    rows = [[row[name] for name in PERSON] for row in certificate.result["people"]]
    return ResultTable(("person", *PERSON[1:]), rows)


def slices_table(certificate: Certificate) -> ResultTable:
    rows = [[row[name] for name in SLICE] for row in certificate.result["slices"]]
    return ResultTable(("kind", "slice", *SLICE[2:]), rows)


def bias_table(certificate: Certificate) -> ResultTable:
    bias = certificate.result["bias"]
    rows: list[Row] = [["all", Estimate(**bias["estimate"]), None]]
    rows += [
        [row["name"], Estimate(**row["estimate"]), row["is_within"]] for row in bias["systems"]
    ]
    return ResultTable(("system", Statistic("judge_minus_people"), "within_margin"), rows)


TABLES = {"people": people_table, "slices": slices_table, "bias": bias_table}
