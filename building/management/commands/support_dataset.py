"""`manage.py support_dataset DATASET --system S --into SLUG`: cited pairs to grade."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from annotation.decimals import decimals
from annotation.management.base import SiteCommand
from annotation.models import Dataset
from building.engine.cited_pairs import make_support
from building.engine.support import Grader, SystemSupport, grader_called, graders_of, system_support
from evaluation.data.selection import one_of


class Command(SiteCommand):
    help = (
        "Take the citations of systems into a dataset of their own, a topic for each statement, where "
        "people and judges grade them under citation-support. Again, it adds what is new. With --rater: "
        "the scores."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the slug of the one that has the reports")
        parser.add_argument("--system", nargs="+", required=True, help="whose reports")
        parser.add_argument("--into", required=True, metavar="SLUG", help="made if it is new")
        parser.add_argument("--title", default="", help="of a new dataset")
        parser.add_argument(
            "--rater",
            metavar="NAME",
            help="citation precision and recall by the grades of this one",
        )
        parser.add_argument("--json", action="store_true", help="one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        systems = list(dict.fromkeys(options["system"]))
        summary = make_support(dataset, systems, options["into"], options["title"])
        grader = _grader(options["into"], options["rater"]) if options["rater"] else None
        scores = {system: system_support(dataset, system, grader) for system in systems if grader}
        if options["json"]:
            payload = summary.as_json() | {
                "scores": {s: _as_json(scored) for s, scored in scores.items()}
            }
            self.stdout.write(json.dumps(payload, ensure_ascii=False))
            return
        self.stdout.write(summary.in_words())
        for system, scored in scores.items():
            self.stdout.write(f"{system}, by {scored.grader.rater.title}:")
            for name, mean in scored.means.items():
                value = mean.reason if mean.value is None else decimals(mean.value, 4)
                self.stdout.write(f"  {name}: {value} (n {mean.n}, missing {mean.missing})")


def _grader(slug: str, rater: str) -> Grader:
    graders = graders_of([Dataset.objects.get(slug=slug)])
    return grader_called(graders, f"{slug}:{rater}")


def _as_json(scored: SystemSupport) -> dict[str, Any]:
    return {
        "rater": scored.grader.rater.name,
        "mean": {name: asdict(mean) for name, mean in scored.means.items()},
        "reports": {
            report.report.name: {
                **asdict(report.support),
                "statements": report.n_statements,
                "without_citation": report.n_without,
                "citations": report.n_citations,
                "wrong": report.n_wrong,
                "unrated": report.n_unrated,
                "changed": report.n_changed,
            }
            for report in scored.reports
        },
    }
