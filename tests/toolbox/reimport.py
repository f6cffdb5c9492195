"""Material for tests that move data to another site: a site's work and its results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotation.adjudication.decisions import adjudicator_of
from annotation.models import Campaign, Dataset, NuggetSpan, Rater, Rating, Rubric, Text
from annotation.models.standard import DEFAULT_RUBRICS
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from crux_site.removal import Removal, rows_of
from judging.models import Judge
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.judging_runs import a_judge

RESULTS = (
    "agreement_json",
    "by_type_json",
    "mixed_model_json",
    "rel_recall_json",
    "pairs_csv",
    "matrices_table",
)


def rate(rater: Rater, text: Text, *grades: int, rubric: str = "answerable") -> list[Rating]:
    """Ratings of a text for the questions of its topic, in their order."""
    assert text.topic
    return [
        Rating.objects.create(
            rater=rater,
            rubric=Rubric.objects.get(slug=rubric),
            text=text,
            question=question,
            grade=grade,
        )
        for question, grade in zip(text.topic.questions.all(), grades, strict=False)
    ]


def mark(rating: Rating, *quotes: str) -> None:
    """Spans of a rating, on the first place of each quote."""
    body = rating.text.body or ""
    for position, quote in enumerate(quotes):
        start = body.index(quote)
        NuggetSpan.objects.create(
            rating=rating, position=position, start=start, end=start + len(quote), quote=quote
        )


def adjudicate(campaign: Campaign, text: Text, *grades: int) -> Rater:
    """Decisions of an expert about a text, as ratings of the campaign's adjudicator."""
    adjudicator = adjudicator_of(campaign)
    rate(adjudicator, text, *grades, rubric=campaign.rubric.slug)
    return adjudicator


def judge_grades(name: str, text: Text, *grades: int, **fields: Any) -> Judge:
    """A judge, and its grades of a text, each with a span of the text's first word."""
    judge = a_judge(name, **fields)
    for rating in rate(judge.rater, text, *grades, rubric="graded"):
        end = (text.body or "").index(" ")
        NuggetSpan.objects.create(
            rating=rating, position=0, start=0, end=end, quote=(text.body or "")[:end]
        )
    return judge


def make_worked(slug: str = "ferry") -> Dataset:
    """Three people, an adjudicator and two judges have rated two reports and a passage."""
    dataset = make_dataset(slug)
    oracle, bm25 = dataset.texts.filter(kind="report").order_by("-system")
    grades = {
        "ann": ((1, 1, 0), (1, 0, 0)),
        "ben": ((1, 0, 0), (0, 1, 1)),
        "cay": ((0, 1, 0), (1,)),
    }
    for name, (of_oracle, of_bm25) in grades.items():
        rater = Rater.objects.create(dataset=dataset, name=name, kind="human")
        rate(rater, oracle, *of_oracle)
        rate(rater, bm25, *of_bm25)
    adjudicate(make_campaign(dataset), oracle, 1, 1, 1)
    passage = dataset.texts.get(name=f"{slug}-1:0#0")
    # The later one in the alphabet was the first to grade, and so is the judge by default.
    for name in ("zeal", "amber"):
        judge_grades(name, passage, 4, 2, 0, model=name)
    return dataset


def results(client: Client, dataset: Dataset) -> dict[str, Any]:
    """Results pages as files, by name: JSON, CSV lines, or the status if there is no result."""
    content: dict[str, Any] = {}
    for name in RESULTS:
        answer = client.get(reverse(name, args=[dataset.slug]))
        if answer.status_code != 200:
            content[name] = answer.status_code
        elif name.endswith("json"):
            content[name] = _without_keys(answer.json())
        else:
            text = re.sub(r"http://\S+", "", answer.getvalue().decode())
            content[name] = sorted(text.splitlines())  # ties are in the order of keys
    return content


def _without_keys(value: Any) -> Any:
    """JSON without addresses, which hold row keys; floats to 12 digits: sums differ in order."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {
            name: _without_keys(part)
            for name, part in value.items()
            if name != "url" and not (name == "text" and isinstance(part, int))
        }
    return [_without_keys(part) for part in value] if isinstance(value, list) else value


def import_elsewhere(dataset: Dataset, folder: Path) -> Dataset:
    """Export a dataset and import it into an empty database."""
    slug, title = dataset.slug, dataset.title
    export_folder(dataset, folder)
    empty_site()
    import_dataset(folder, slug, title=title)
    return Dataset.objects.get(slug=slug)


def empty_site() -> None:
    """Delete all data; accounts and the standard rubrics stay."""
    with transaction.atomic():
        for dataset in Dataset.objects.all():
            Removal(rows_of(dataset)).delete()
            dataset.delete()
        Judge.objects.all().delete()
        Rater.objects.all().delete()
        Rubric.objects.exclude(slug__in=[standard.slug for standard in DEFAULT_RUBRICS]).delete()
