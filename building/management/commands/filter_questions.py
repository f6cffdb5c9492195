"""`manage.py filter_questions DATASET --judge SLUG | --keep CONDITIONS`: questions to be left out."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Dataset
from building.engine.critiques import EXAMPLE, MISSING, PairFilter, leave_out, pair_filter
from building.engine.filtering import Filter, FilterRefused, apply, filter_of
from evaluation.data.selection import SelectionError, one_of
from evaluation.scoring.options import DEFAULT_ETA


class Command(BaseCommand):
    help = (
        "Propose the sub-questions on which no passage of their topic has a grade of eta from a judge, or "
        "leave them out with --apply. Those that people have graded stay. With --keep those whose grades do "
        "not hold, such as critiques."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument("--judge", help="whose grades say what is answered")
        parser.add_argument(
            "--keep",
            metavar="CONDITIONS",
            help=f"in place of a judge: keep questions whose grades hold, such as “{EXAMPLE}”",
        )
        parser.add_argument(
            "--missing",
            choices=MISSING,
            default=MISSING[0],
            help="with --keep: whether questions that lack such a grade stay (the default) or go",
        )
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
            if options["keep"] is not None:
                self._keep(dataset, options)
                return
            if not options["judge"]:
                raise CommandError(
                    "Say whose grades count, by --judge; or what is kept, by --keep."
                )
            found = filter_of(dataset, options["judge"], options["eta"])
            if options["apply"]:
                n = apply(dataset, found)
        except (SelectionError, FilterRefused) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(_as_json(found, n) if options["json"] else _in_words(found, n))

    def _keep(self, dataset: Dataset, options: dict[str, Any]) -> None:
        found = pair_filter(dataset, options["keep"], options["missing"])
        n = leave_out(dataset, found) if options["apply"] else None
        told = _pairs_as_json(found, n) if options["json"] else _pairs_in_words(found, n)
        self.stdout.write(told)


def _pairs_as_json(found: PairFilter, left_out: int | None) -> str:
    told = {
        "conditions": [f"{each.title} by {each.rater}" for each in found.conditions],
        "missing": found.missing,
        "lacking": found.n_lacking,
        "proposed": len(found.going),
        "left_out": left_out,
        "questions": [
            {
                "topic": pair.topic,
                "question": pair.question,
                "grades": dict(
                    zip((each.title for each in found.conditions), pair.grades, strict=True)
                ),
                "because": pair.because or None,
            }
            for pair in found.pairs
        ],
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def _pairs_in_words(found: PairFilter, left_out: int | None) -> str:
    told = [f"{pair.topic}: {pair.question} ({pair.because})" for pair in found.going]
    told.append(
        f"Questions proposed: {len(found.going):,} of {len(found.pairs):,}. Without a grade: "
        f"{found.n_lacking:,}, which {found.missing}."
    )
    told.append("--apply leaves them out." if left_out is None else f"Left out: {left_out:,}.")
    return "\n".join(told)


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
