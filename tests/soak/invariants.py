"""What must hold after every step of the random test: each check raises an AssertionError."""

from __future__ import annotations

import re

from django.db import transaction

from annotation.adjudication import decisions
from annotation.models import (
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
from tests.soak.acts import Act
from tests.soak.world import Grades, World, all_grades, span_rows

_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"|CSP-nonce="[^"]*"')
PAGES = (
    *("agreement/", "agreement.json", "pairs/?kind=differ", "matrix/", "matrix.csv"),
    *("retrieval/", "retrieval/scores.csv", "seen/", "by-type/", "mixed-model/", "", "exports/"),
    *("pairs.csv", "calibration/", "history/", "versions/", "contents/"),
)


def check(world: World, before: Grades, acts: list[Act]) -> None:
    """All of them; `acts` are those that were acknowledged in the step."""
    no_grade_is_lost(world, before, acts)
    spans_are_their_quotes(world)
    positions_return_with_their_words(world, acts)
    typed_words_exist(world)
    versions_are_whole(world)
    ratings_follow_from_what_people_said(world)
    pages_are_those_of_cleared_caches(world)


def no_grade_is_lost(world: World, before: Grades, acts: list[Act]) -> None:
    after = all_grades(world.dataset)
    raters = set(Rater.objects.values_list("pk", flat=True))
    texts = set(world.dataset.texts.values_list("pk", flat=True))
    excluded = set(
        world.campaign.participants.exclude(set_aside_at=None).values_list("rater", flat=True)
    )
    people = {
        Rater.objects.get(user=user).pk for user in (world.cast.worker, world.cast.other_worker)
    }
    adjudicators = set(
        Rater.objects.filter(name__endswith="adjudicated").values_list("pk", flat=True)
    )
    for pair, grade in before - after:
        if pair[0] not in raters or pair[2] not in texts or pair[0] in excluded:
            continue
        if any(act.may_lose(pair) for act in acts):
            continue
        # A superseded grade of somebody who has said something else since gives way to that.
        if pair[0] in people | adjudicators and _is_said_otherwise(world, pair, grade):
            continue
        raise AssertionError(f"the grade {grade} of {pair} is gone")


def _is_said_otherwise(world: World, pair: tuple[int, int, int, int], grade: int) -> bool:
    rater, _rubric, text, question = pair
    said = (
        world.campaign.items.filter(text=text)
        .values_list(
            "assignments__answers__grade", "assignments__answers__pk", "assignments__answers__late"
        )
        .filter(assignments__participant__rater=rater, assignments__answers__question=question)
    )
    newest = max(((pk, value) for value, pk, late in said if not late), default=None)
    if newest is None:
        decided = world.campaign.items.get(text=text).decisions.filter(question=question)
        last = decided.order_by("pk").last()
        return last is not None and last.grade != grade
    return newest[1] != grade


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
    assert before == after, before ^ after


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
