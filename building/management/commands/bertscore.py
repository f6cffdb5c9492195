"""`manage.py bertscore DATASET --model NAME --layer N`: BERTScore of reports."""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from building.engine.similarity import measure_of, measure_reports
from evaluation.data.selection import one_of

AT_ONCE = 64  # reports after which values are stored


class Command(SiteCommand):
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
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        # Loaded here, so that all else of the site does without torch.
        from building.tuning.bertscore import Matching  # noqa: PLC0415

        matching = Matching(options["model"], options["layer"])
        n = n_cut = 0
        for stored, cut in measure_reports(dataset, matching, options["system"], AT_ONCE):
            n, n_cut = n + stored, n_cut + cut
        self.stdout.write(f"{measure_of(matching)}: {n_of(n, 'value', ',')}. Texts cut: {n_cut:,}.")
