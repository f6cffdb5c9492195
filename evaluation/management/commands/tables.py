"""`manage.py tables DATASET --out DIR`: the tables and figures of the CRUX paper as files."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Dataset
from evaluation.data.selection import SelectionError, one_of
from evaluation.paper.bundle import POSSIBLE, write_all
from evaluation.paper.reported import ReportedError
from evaluation.scoring.options import Options, choose
from evaluation.scoring.tokens import tokenizer

CHOICES = ("judge", "eta", "cutoff", "ideal", "rules")


class Command(BaseCommand):
    help = (
        "Write Tables 1, 2 and 3 and Figures 4 and 5 of the CRUX paper for a dataset, as CSV, "
        "LaTeX, SVG and PNG, with a file that says where they come from."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", nargs="?", help="the dataset's slug; --reported needs none")
        parser.add_argument("--out", required=True, metavar="DIR", help="made if it is not there")
        parser.add_argument(
            "--judge",
            help="whose grades: a rater's name, majority (of the people), or people:JUDGE; "
            "default: the judge that the pages take, and the output says why",
        )
        parser.add_argument(
            "--eta", help="grade at or above which a pair counts as answerable; default: 3"
        )
        parser.add_argument(
            "--cutoff",
            help="passages of a run that count in Table 1 and Figure 5: oracle (as many as Z* has, "
            "the default under the rules of the paper), size (all, the default under those of the "
            "authors), or a number",
        )
        parser.add_argument(
            "--ideal",
            help="what alpha-nDCG divides by: standard (ndeval, the default) or paper_eq4",
        )
        parser.add_argument(
            "--rules", help="paper (the default), or authors: as their code for the paper counts"
        )
        parser.add_argument(
            "--tokenizer", default="words", help="words, or a JSON file of the package tokenizers"
        )
        parser.add_argument(
            "--intervals", action="store_true", help="print half-widths of intervals in LaTeX too"
        )
        parser.add_argument(
            "--reported",
            metavar="FILE",
            help="a CSV of results as a paper reports them: its Table 1 is written as well",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        reported = Path(options["reported"]) if options["reported"] else None
        if not options["dataset"] and not reported:
            raise CommandError("Name a dataset, or a file of results with --reported, or both.")
        out = Path(options["out"])
        try:
            dataset, chosen = _chosen(options)
            there = {name for name in POSSIBLE if (out / name).exists()}
            written = write_all(
                dataset, chosen, out, intervals=options["intervals"], reported=reported
            )
        except (SelectionError, ReportedError, OSError) as error:
            raise CommandError(str(error)) from error
        if chosen and chosen.source.why:
            self.stdout.write(chosen.source.why)
        for one in written:
            said = f"not made, because {one.reason}" if one.reason else one.sha256[:12]
            self.stdout.write(f"{one.name:26} {said}")
        for name in sorted(there - {one.name for one in written}):
            self.stdout.write(f"{name:26} not made this time; an earlier one is still there")


def _chosen(options: dict[str, Any]) -> tuple[Dataset | None, Options | None]:
    if not options["dataset"]:
        return None, None
    slugs = Dataset.objects.values_list("slug", flat=True)
    dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
    words = {word: options[word] for word in CHOICES}
    return dataset, choose(dataset, tokenizer=tokenizer(options["tokenizer"]), **words)
