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
from annotation.participation import counting
from tests.conftest import keep_nothing
from tests.crux_site.datasets.moved import import_elsewhere, results
from tests.soak.acts import Act
from tests.soak.world import Grades, World, all_grades, span_rows

_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"|CSP-nonce="[^"]*"')
PAGES = (
    *("agreement/", "agreement.json", "pairs/?kind=differ", "matrix/", "matrix.csv"),
    *("retrieval/", "retrieval/scores.csv", "seen/", "by-type/", "mixed-model/", "", "exports/"),
    *("pairs.csv", "calibration/", "history/", "versions/", "contents/"),
)
EXPORTED = 0.1  # share of steps that export and import: each takes as long as some ten others


def check(world: World, before: Grades, acts: list[Act]) -> None:
    """All of them; `acts` are those that were acknowledged in the step."""
    no_grade_is_lost(world, before, acts)
    spans_are_their_quotes(world)
    positions_return_with_their_words(world, acts)
    typed_words_exist(world)
    versions_are_whole(world)
    ratings_follow_from_what_people_said(world)
    pages_are_those_of_cleared_caches(world)
    if world.rng.random() < EXPORTED:
        export_gives_the_same_results_elsewhere(world)


def no_grade_is_lost(world: World, before: Grades, acts: list[Act]) -> None:
    """A grade is a rating, superseded with a version, or of an answer or a decision, which stay for ever."""
    raters = set(Rater.objects.values_list("pk", flat=True))
    texts = set(world.dataset.texts.values_list("pk", flat=True))
    answers = Answer.objects.filter(assignment__item__campaign=world.campaign).values_list(
        "assignment__participant__rater", "assignment__item__text", "question", "grade"
    )
    said = {((rater, text, question), grade) for rater, text, question, grade in answers}
    world.campaign.refresh_from_db(fields=["adjudicator"])
    adjudicator = world.campaign.adjudicator_id
    decided = Decision.objects.filter(item__campaign=world.campaign)
    said |= {
        ((adjudicator, text, question), grade)
        for text, question, grade in decided.values_list("item__text", "question", "grade")
    }
    for pair, grade in before - all_grades(world.dataset):
        rater, _rubric, text, question = pair
        is_removed = rater not in raters or text not in texts
        if is_removed or ((rater, text, question), grade) in said:
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
        digest(each.body): each.body for each in Version.objects.filter(dataset=world.dataset)
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
    """A wording that a rating's spans have been in before has them where they were."""
    placed = any(act.name.startswith("place") for act in acts)
    for key, position in span_rows(world.dataset).items():
        known = world.positions.get(key)
        # Positions that answers give are made anew from the answer, wherever its words are by now.
        if known and known != position and not placed and known[0] is not None:
            raise AssertionError(f"the span {key} was at {known} and is at {position}")
        world.positions[key] = position


def typed_words_exist(world: World) -> None:
    there = set(world.dataset.texts.values_list("body", flat=True))
    there |= set(
        SubQuestion.objects.filter(topic__dataset=world.dataset).values_list("body", flat=True)
    )
    there |= set(Version.objects.filter(dataset=world.dataset).values_list("body", flat=True))
    given_up = "\n".join(
        ProjectEntry.objects.filter(action="restored words").values_list("detail", flat=True)
    )
    for body in world.typed:
        assert body in there or body in given_up, f"the words {body!r} exist nowhere"


def versions_are_whole(world: World) -> None:
    for text in world.dataset.texts.all():
        assert text.sha256 == (digest(text.body) if text.body is not None else "")
    numbers: dict[tuple[int | None, int | None], list[int]] = {}
    for version in Version.objects.filter(dataset=world.dataset).order_by("number"):
        numbers.setdefault((version.text_id, version.question_id), []).append(version.number)
    for of, found in numbers.items():
        assert found == list(range(1, len(found) + 1)), (of, found)


def ratings_follow_from_what_people_said(world: World) -> None:
    """To bring the ratings of a text in line with answers and decisions once more changes nothing."""
    texts = list(world.dataset.texts.with_body())
    text = world.rng.choice(texts)
    fields = ("rater", "rubric", "text", "question", "grade")
    with transaction.atomic():
        ratings = Rating.objects.filter(text=text)
        before = set(ratings.values_list(*fields))
        counting.level(Text.objects.get(pk=text.pk))
        decisions.level(Text.objects.get(pk=text.pk))
        after = set(ratings.values_list(*fields))
        transaction.set_rollback(True)
    assert before == after, ("stored only", before - after, "derived only", after - before)


def pages_are_those_of_cleared_caches(world: World) -> None:
    client = world.cast.client("researcher")
    for page in world.rng.sample(PAGES, 2):
        address = f"/datasets/small/{page}"
        kept = client.get(address)
        keep_nothing()
        anew = client.get(address)
        assert kept.status_code == anew.status_code, address
        if kept.status_code == 200:
            assert _content(kept) == _content(anew), address


def _content(response) -> str:
    if response.streaming:
        return b"".join(response.streaming_content).decode()
    return _TOKEN.sub("", response.content.decode())


def export_gives_the_same_results_elsewhere(world: World) -> None:
    """An export that an empty site imports has the same results; then the site is what it was."""
    client = world.cast.client("admin")
    keep_nothing()
    with transaction.atomic():
        before = results(client, world.dataset)
        moved = results(client, import_elsewhere(world.dataset, world.new_folder()))
        transaction.set_rollback(True)
    keep_nothing()
    for name, of_page in before.items():
        assert moved[name] == of_page, f"{name} differs after export and import"
