"""Invariants of the random test: each check raises an AssertionError."""

from __future__ import annotations

import re

from django.db import transaction

from annotation.adjudication import decisions
from annotation.models import (
    Answer,
    Decision,
    NuggetSpan,
    ProjectEntry,
    Rater,
    Rating,
    SubQuestion,
    Text,
    Version,
)
from annotation.models.corpus import digest
from annotation.participation import rating_sync
from tests.soak.acts import Act
from tests.soak.world import Grades, World, all_grades, span_rows
from tests.toolbox.caches import clear_caches
from tests.toolbox.reimport import import_elsewhere, results

_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"|CSP-nonce="[^"]*"')
PAGES = (
    *("agreement/", "agreement.json", "disagreements/?kind=differ", "matrix/", "matrix.csv"),
    *(
        "systems/",
        "systems/scores.csv",
        "evidence-recall/",
        "question-types/",
        "mixed-model/",
        "",
        "exports/",
    ),
    *("pairs.csv", "calibration/", "history/", "text-history/", "contents/"),
)
EXPORTED = 0.1  # share of steps that export and import: each takes as long as some ten others


def check(world: World, before: Grades, acts: list[Act]) -> None:
    """Run all checks; `acts` are those that were acknowledged in the step."""
    no_grade_is_lost(world, before, acts)
    spans_are_their_quotes(world)
    positions_return_with_their_words(world, acts)
    typed_words_exist(world)
    versions_are_whole(world)
    ratings_match_answers(world)
    cached_pages_match_fresh_ones(world)
    if world.rng.random() < EXPORTED:
        export_gives_the_same_results_elsewhere(world)


def no_grade_is_lost(world: World, before: Grades, acts: list[Act]) -> None:
    """Check that grades before the step still exist, unless an act may remove them.

    A grade is a rating, superseded with a version, or of an answer or a decision, which are never deleted.
    """
    raters = set(Rater.objects.values_list("pk", flat=True))
    texts = set(world.dataset.texts.values_list("pk", flat=True))
    answers = Answer.objects.filter(assignment__item__campaign=world.campaign).values_list(
        "assignment__participant__rater", "assignment__item__text", "question", "grade"
    )
    recorded = {((rater, text, question), grade) for rater, text, question, grade in answers}
    world.campaign.refresh_from_db(fields=["adjudicator"])
    adjudicator = world.campaign.adjudicator_id
    decided = Decision.objects.filter(item__campaign=world.campaign)
    recorded |= {
        ((adjudicator, text, question), grade)
        for text, question, grade in decided.values_list("item__text", "question", "grade")
    }
    for pair, grade in before - all_grades(world.dataset):
        rater, _rubric, text, question = pair
        is_removed = rater not in raters or text not in texts
        if is_removed or ((rater, text, question), grade) in recorded:
            continue
        assert any(act.may_lose(pair) for act in acts), f"the grade {grade} of {pair} is gone"


def spans_are_their_quotes(world: World) -> None:
    spans = NuggetSpan.objects.filter(rating__text__dataset=world.dataset)
    for span in spans.select_related("rating__text"):
        body = span.rating.text.body or ""
        if span.start is None:
            assert span.source_quote, f"span {span.pk} has neither a position nor words"
        else:
            assert body[span.start : span.end] == span.quote, f"span {span.pk} marks other words"
    wordings = {
        digest(body or "")
        for body in [
            *world.dataset.texts.values_list("body", flat=True),
            *Version.objects.filter(dataset=world.dataset).values_list("body", flat=True),
        ]
    }
    bodies = {digest(text.body or ""): text.body or "" for text in world.dataset.texts.all()}
    bodies |= {
        digest(entry.body): entry.body for entry in Version.objects.filter(dataset=world.dataset)
    }
    for version in Version.objects.filter(dataset=world.dataset):
        for row in version.set_aside:
            if row["text_sha256"] not in wordings:
                continue  # of a wording that was given up; its position is found by hash or quote
            body = bodies[row["text_sha256"]]
            for span in row["spans"]:
                if span["start"] is not None:
                    assert body[span["start"] : span["end"]] == span["quote"], row


def positions_return_with_their_words(world: World, acts: list[Act]) -> None:
    """Check that a restored text has its spans at their former positions."""
    placed = any(act.name.startswith("place") for act in acts)
    for key, position in span_rows(world.dataset).items():
        previous = world.positions.get(key)
        # Positions of answers are recomputed from the answer, wherever its quote is in the current text.
        if previous and previous != position and not placed and previous[0] is not None:
            raise AssertionError(f"the span {key} was at {previous} and is at {position}")
        world.positions[key] = position


def typed_words_exist(world: World) -> None:
    bodies = set(world.dataset.texts.values_list("body", flat=True))
    bodies |= set(
        SubQuestion.objects.filter(topic__dataset=world.dataset).values_list("body", flat=True)
    )
    bodies |= set(Version.objects.filter(dataset=world.dataset).values_list("body", flat=True))
    given_up = "\n".join(
        ProjectEntry.objects.filter(action="restored words").values_list("detail", flat=True)
    )
    for body in world.typed:
        assert body in bodies or body in given_up, f"the words {body!r} exist nowhere"


def versions_are_whole(world: World) -> None:
    for text in world.dataset.texts.all():
        assert text.sha256 == (digest(text.body) if text.body is not None else "")
    numbers: dict[tuple[int | None, int | None], list[int]] = {}
    for version in Version.objects.filter(dataset=world.dataset).order_by("number"):
        numbers.setdefault((version.text_id, version.question_id), []).append(version.number)
    for owner, series in numbers.items():
        assert series == list(range(1, len(series) + 1)), (owner, series)


def ratings_match_answers(world: World) -> None:
    """Check that recomputing the ratings of a text from answers changes nothing."""
    texts = list(world.dataset.texts.with_body())
    text = world.rng.choice(texts)
    fields = ("rater", "rubric", "text", "question", "grade")
    with transaction.atomic():
        ratings = Rating.objects.filter(text=text)
        stored = set(ratings.values_list(*fields))
        rating_sync.recompute_ratings(Text.objects.get(pk=text.pk))
        decisions.recompute_decision_ratings(Text.objects.get(pk=text.pk))
        derived = set(ratings.values_list(*fields))
        transaction.set_rollback(True)
    assert stored == derived, ("stored only", stored - derived, "derived only", derived - stored)


def cached_pages_match_fresh_ones(world: World) -> None:
    client = world.cast.client("researcher")
    for page in world.rng.sample(PAGES, 2):
        address = f"/datasets/small/{page}"
        cached = client.get(address)
        clear_caches()
        fresh = client.get(address)
        assert cached.status_code == fresh.status_code, address
        if cached.status_code == 200:
            assert _content(cached) == _content(fresh), address


def _content(response) -> str:
    if response.streaming:
        return b"".join(response.streaming_content).decode()
    return _TOKEN.sub("", response.content.decode())


def export_gives_the_same_results_elsewhere(world: World) -> None:
    """Check that an export gives the same results after import into an empty site.

    The import is rolled back.
    """
    client = world.cast.client("admin")
    clear_caches()
    with transaction.atomic():
        before = results(client, world.dataset)
        moved = results(client, import_elsewhere(world.dataset, world.new_folder()))
        transaction.set_rollback(True)
    clear_caches()
    for name, of_page in before.items():
        assert moved[name] == of_page, f"{name} differs after export and import"
