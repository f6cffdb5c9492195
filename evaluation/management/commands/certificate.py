"""`manage.py certificate`: test whether a judge may stand in for people."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from annotation.decimals import printed
from annotation.management.base import SiteCommand
from annotation.models import Dataset
from evaluation.certificates.assessment import failed_parts
from evaluation.certificates.methods import decision, methods_sentences
from evaluation.certificates.tables import certificate_as_json
from evaluation.certificates.testing import LIMITS, judge_test
from evaluation.data.certificates import CertificateState, state_of
from evaluation.data.selection import one_of


class Command(SiteCommand):
    help = (
        "Test whether a judge may stand in for one of the people of a dataset (alternative annotator test, "
        "topics as clusters). The result is stored, passed or not."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument("--judge", required=True, help="the name of a model or baseline")
        parser.add_argument("--rubric", required=True, help="the slug of the rubric of the people")
        parser.add_argument(
            "--people", default="", help="names, separated by commas; default: all people"
        )
        parser.add_argument(
            "--eta", help="grade from which on a pair is answerable, where judge and people differ"
        )
        parser.add_argument(
            "--epsilon",
            help="how much worse the judge may be than a person: 0.2 experts, 0.15 trained people (the "
            "default), 0.1 crowdworkers",
        )
        parser.add_argument(
            "--agreement-margin", help="margin of equivalent agreement; default: 0.1"
        )
        parser.add_argument(
            "--bias-margin", help="margin of bias in grades; default: 5 %% of their range"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        test = judge_test(
            dataset,
            rubric=options["rubric"],
            judge=options["judge"],
            people=[options["people"]],
            eta=options["eta"],
            numbers={name: options[name] for name in LIMITS},
        )
        state = state_of(test.store(by=None))
        if options["json"]:
            content = certificate_as_json(state)
            self.stdout.write(json.dumps(content, indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_lines(state)))


def _lines(state: CertificateState) -> Iterator[str]:
    certificate = state.certificate
    assert certificate is not None
    result = certificate.result
    yield f"{str(state).capitalize()}: {decision(certificate)}"
    yield (
        f"winning rate {_number(result['winning_rate'])}, by pairs "
        f"{_number(result['winning_rate_by_pairs'])}; advantage {_number(result['advantage'])}; "
        f"{result['n_pairs']} pairs of {result['n_topics']} topics"
    )
    for person in result["people"]:
        if person["reason"]:
            yield f"  {person['name']}: not tested, {person['reason']}"
            continue
        verdict = "passes" if person["passes"] else "not shown"
        yield (
            f"  {person['name']}: {verdict}; difference {printed(person['difference'], 2, sign=True)} "
            f"[{printed(person['low'])}, {printed(person['high'])}], p by topic "
            f"{printed(person['p'], 3)}, by pair {printed(person['p_by_pairs'], 3)}"
        )
    if certificate.is_certified and (parts := failed_parts(result)):
        yield f"Not shown for: {', '.join(parts)}"
    if needed := result["needed"]:
        yield (
            "More labels will not help."
            if needed["n_pairs"] is None
            else f"Missing: {needed['n_topics']} topics, {needed['n_pairs']} pairs."
        )
    yield " ".join(methods_sentences(certificate))


def _number(value: float | None) -> str:
    return "undefined" if value is None else printed(value)
