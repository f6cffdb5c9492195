"""manage.py judge DATASET: the embedded lexical baseline fills the rating matrix."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Dataset, Text
from judging.fill import fill_lexical

KINDS = {"passages": "passage", "reports": "report", "reference": "reference"}


class Command(BaseCommand):
    help = "Grade the pairs that the lexical baseline lacks. It is a baseline, not a model."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--judge", default="lexical", choices=["lexical"])
        parser.add_argument("--texts", choices=KINDS, help="only these; all by default")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = Dataset.objects.filter(slug=options["dataset"]).first()
        if not dataset:
            known = ", ".join(Dataset.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no dataset {options['dataset']!r}; there are: {known}.")
        kinds = [KINDS[options["texts"]]] if options["texts"] else Text.Kind.values
        is_quiet = options["json"] or options["verbosity"] == 0
        filled = fill_lexical(
            dataset,
            kinds,
            progress=None if is_quiet else lambda topic: self.stderr.write(f"  {topic.name}"),
        )
        if options["json"]:
            self.stdout.write(json.dumps(filled.as_json()))
        elif options["verbosity"]:
            self.stdout.write(
                f"lexical (a baseline): {filled.graded} pairs graded, "
                f"{filled.there_before} were there before, {filled.ungradable} have a question "
                f"without content terms, {filled.without_words} a text without words"
            )
