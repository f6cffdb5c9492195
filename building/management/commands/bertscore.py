"""`manage.py bertscore DATASET --model NAME --layer N`: how well reports match their references."""

from argparse import ArgumentParser
from importlib import import_module
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Dataset
from building.engine.similarity import measure_of, measure_reports
from building.tuning.refusals import TuningRefused
from evaluation.data.selection import SelectionError, one_of

AT_ONCE = 64  # reports after which values are stored


class Command(BaseCommand):
    help = (
        "BERTScore (F1, without idf and rescaling) of reports and the references of their topics, by an "
        "encoder in this process; it needs the extra finetune. Values are kept and shown on the grid; "
        "again, it adds what is new."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument("--model", required=True, help="a folder, or a name of Hugging Face's")
        parser.add_argument(
            "--layer",
            type=int,
            required=True,
            help="whose vectors are compared: the authors take 8 of bert-base-chinese, 17 of roberta-large",
        )
        parser.add_argument("--system", nargs="+", default=[], help="whose reports; all")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            slugs = Dataset.objects.values_list("slug", flat=True)
            dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
            # Loaded here, so that all else of the site does without torch.
            matching = import_module("building.tuning.bertscore").Matching(
                options["model"], options["layer"]
            )
            n = n_cut = 0
            for stored, cut in measure_reports(dataset, matching, options["system"], AT_ONCE):
                n, n_cut = n + stored, n_cut + cut
        except (SelectionError, TuningRefused) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{measure_of(matching)}: {n:,} values. {n_cut:,} texts were cut.")
