"""`manage.py filter_questions DATASET --judge SLUG [--eta 3]`: sub-questions that no passage answers."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Dataset
from building.engine.filtering import Filter, FilterRefused, apply, filter_of
from evaluation.data.selection import SelectionError, one_of
from evaluation.scoring.options import DEFAULT_ETA


class Command(BaseCommand):
    help = (
        "Propose the sub-questions on which no passage of their topic has a grade of eta from a judge, or "
        "leave them out with --apply. Those that people have graded stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument("--judge", required=True, help="whose grades say what is answered")
        parser.add_argument(
            "--eta",
            default=str(DEFAULT_ETA),
            help=f"the grade from which a passage answers; default: {DEFAULT_ETA}",
        )
        parser.add_argument(
            "--apply",
            action="store_true",
            help="leave them out; refused while a passage of a topic lacks a grade",
        )
        parser.add_argument("--json", action="store_true", help="print all questions as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        n = None
        try:
            slugs = Dataset.objects.values_list("slug", flat=True)
            dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
            found = filter_of(dataset, options["judge"], options["eta"])
            if options["apply"]:
                n = apply(dataset, found)
        except (SelectionError, FilterRefused) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(_as_json(found, n) if options["json"] else _in_words(found, n))


def _as_json(found: Filter, left_out: int | None) -> str:
    """`left_out` is how many were left out now, null where that was not asked for."""
    told = {
        "judge": found.judge,
        "eta": found.eta,
        "unrated": found.n_unrated,
        "proposed": found.n_proposed,
        "left_out": left_out,
        "topics": [
            {
                "topic": topic.topic,
                "passages": topic.n_passages,
                "unrated": topic.n_unrated,
                "questions": [
                    {
                        "question": question.body,
                        "best": question.best,
                        "answering": question.n_answering,
                        "graded_by_people": question.by_people,
                        "proposed": question in topic.proposed,
                    }
                    for question in topic.questions
                ],
            }
            for topic in found.topics
        ],
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def _in_words(found: Filter, left_out: int | None) -> str:
    told = [
        f"{topic.topic}: {question.body} (best grade: {question.best})"
        for topic in found.topics
        for question in topic.proposed
    ]
    if left_out is not None:
        told.append(f"Questions left out: {left_out:,}.")
        return "\n".join(told)
    told.append(f"Questions proposed: {found.n_proposed:,}. --apply leaves them out.")
    if found.n_unrated:
        told.append(
            f"{found.n_unrated:,} pairs of a passage and a question have no grade of {found.judge}: nothing is "
            "proposed for their topics, and until they have one nothing is left out."
        )
    return "\n".join(told)
