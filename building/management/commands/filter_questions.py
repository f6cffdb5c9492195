"""`manage.py filter_questions DATASET --judge SLUG | --keep CONDITIONS`."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from building.engine.critiques import EXAMPLE, MISSING, PairFilter, filter_out, pair_filter
from building.engine.filtering import Filter, apply, filter_of
from evaluation.data.selection import one_of
from evaluation.scoring.options import DEFAULT_ETA


class Command(SiteCommand):
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
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        if options["keep"] is not None:
            self._keep(dataset, options)
            return
        if not options["judge"]:
            raise CommandError("Say whose grades count, by --judge; or what is kept, by --keep.")
        proposal = filter_of(dataset, options["judge"], options["eta"])
        if options["apply"]:
            n = apply(dataset, proposal)
        self.stdout.write(_as_json(proposal, n) if options["json"] else _as_text(proposal, n))

    def _keep(self, dataset: Dataset, options: dict[str, Any]) -> None:
        proposal = pair_filter(dataset, options["keep"], options["missing"])
        n = filter_out(dataset, proposal) if options["apply"] else None
        output = _pairs_as_json(proposal, n) if options["json"] else _pairs_as_text(proposal, n)
        self.stdout.write(output)


def _pairs_as_json(proposal: PairFilter, left_out: int | None) -> str:
    payload = {
        "conditions": [
            f"{condition.title} by {condition.rater}" for condition in proposal.conditions
        ],
        "missing": proposal.missing,
        "lacking": proposal.n_lacking,
        "proposed": len(proposal.going),
        "left_out": left_out,
        "questions": [
            {
                "topic": pair.topic,
                "question": pair.question,
                "grades": dict(
                    zip(
                        (condition.title for condition in proposal.conditions),
                        pair.grades,
                        strict=True,
                    )
                ),
                "because": pair.because or None,
            }
            for pair in proposal.pairs
        ],
    }
    return json.dumps(payload, indent=2, ensure_ascii=False)


def _pairs_as_text(proposal: PairFilter, left_out: int | None) -> str:
    lines = [f"{pair.topic}: {pair.question} ({pair.because})" for pair in proposal.going]
    lines.append(
        f"Questions proposed: {len(proposal.going):,} of {len(proposal.pairs):,}. Without a grade: "
        f"{proposal.n_lacking:,}, which {proposal.missing}."
    )
    lines.append("--apply leaves them out." if left_out is None else f"Left out: {left_out:,}.")
    return "\n".join(lines)


def _as_json(proposal: Filter, left_out: int | None) -> str:
    """Format the proposal as JSON; `left_out` is null unless --apply was given."""
    payload = {
        "judge": proposal.judge,
        "eta": proposal.eta,
        "unrated": proposal.n_unrated,
        "proposed": proposal.n_proposed,
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
            for topic in proposal.topics
        ],
    }
    return json.dumps(payload, indent=2, ensure_ascii=False)


def _as_text(proposal: Filter, left_out: int | None) -> str:
    lines = [
        f"{topic.topic}: {question.body} (best grade: {question.best})"
        for topic in proposal.topics
        for question in topic.proposed
    ]
    if left_out is not None:
        lines.append(f"Questions filtered: {left_out:,}.")
        return "\n".join(lines)
    lines.append(f"Questions proposed: {proposal.n_proposed:,}. --apply leaves them out.")
    if proposal.n_unrated:
        lines.append(
            f"No grade of {proposal.judge} for {n_of(proposal.n_unrated, 'pair', ',')} of a passage and a "
            "question: nothing is proposed for these topics, and nothing is left out before all are graded."
        )
    return "\n".join(lines)
