"""`manage.py tables DATASET --out DIR`: the tables and figures of the CRUX paper as files."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import ReadOnlyCommand
from annotation.models import Dataset
from evaluation.data.selection import one_of
from evaluation.replications.crux_paper.bundle import earlier_files, write_all
from evaluation.replications.crux_paper.system_choice import chosen_systems, system_names
from evaluation.scoring.options import Options, ScoringQuery, add_options
from evaluation.scoring.tokens import tokenizer


class Command(ReadOnlyCommand):
    help = (
        "Write Tables 1, 2 and 3 and Figures 4 and 5 of the CRUX paper for a dataset, as CSV, "
        "LaTeX, SVG, PNG and PDF; tables of agreement, judges and tests; a methods section with its "
        "bibliography; and a file that says where they come from. The cut-off is that of "
        "Tables 1 and 2 and Figure 5; Table 3 has its own."
    )
    expected_errors = (OSError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", nargs="?", help="the dataset's slug; --reported needs none")
        parser.add_argument("--out", required=True, metavar="DIR", help="made if it is not there")
        add_options(parser)
        parser.add_argument(
            "--tokenizer", default="words", help="words, or a JSON file of the package tokenizers"
        )
        parser.add_argument(
            "--intervals", action="store_true", help="print half-widths of intervals in LaTeX too"
        )
        parser.add_argument(
            "--systems",
            default="",
            metavar="A,B",
            help="the systems that they are made of, by name (a run's, and that of reports); default: all",
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
        dataset, chosen = _chosen(options)
        systems = chosen_systems(system_names(dataset), options["systems"]) if dataset else ()
        existing = earlier_files(out)
        written = write_all(
            dataset,
            chosen,
            out,
            intervals=options["intervals"],
            reported=reported,
            systems=systems,
        )
        if chosen and chosen.source.why:
            self.stdout.write(chosen.source.why)
        for file in written:
            outcome = f"not made, because {file.reason}" if file.reason else file.sha256[:12]
            self.stdout.write(f"{file.name:26} {outcome}")
        for name in sorted(existing - {file.name for file in written}):
            self.stdout.write(f"{name:26} not made this time; an earlier one is still there")


def _chosen(options: dict[str, Any]) -> tuple[Dataset | None, Options | None]:
    if not options["dataset"]:
        return None, None
    slugs = Dataset.objects.values_list("slug", flat=True)
    dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
    return dataset, replace(
        ScoringQuery(dataset, options).options, tokenizer=tokenizer(options["tokenizer"])
    )
