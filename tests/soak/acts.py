"""Random acts of two clients, for the soak test.

Planned with the generator of the world, each run in a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any
from uuid import uuid4

from django.test import Client

from annotation.adjudication import decisions
from annotation.formats.summary import DatasetImportError
from annotation.models import (
    Assignment,
    Item,
    NuggetSpan,
    ProjectEntry,
    Rater,
    SubQuestion,
    Text,
    Version,
)
from annotation.models.corpus import digest
from annotation.monitoring import actions
from annotation.monitoring.actions import ParticipationError
from annotation.task import saving
from annotation.text.spans import Span
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from tests.soak.world import SLUG, Pair, World
from tests.toolbox.import_study import PASSAGES, t1, t2, write

REFUSED = (
    DatasetImportError,
    ParticipationError,
    saving.AnswerError,
    decisions.AdjudicationError,
    decisions.AdjudicationConflictError,
)


@dataclass
class Act:
    """Random act.

    `run` returns if it was acknowledged; `may_lose` selects the grades that it may remove.
    """

    name: str
    run: Callable[[], bool]
    may_lose: Callable[[Pair], bool] = lambda _pair: False
    typed: str = ""  # a wording that is saved if it is acknowledged
    details: dict[str, Any] = field(default_factory=dict)


def plan(world: World) -> Act | None:
    """Draw the next act of a client; None if it is not possible now."""
    return world.rng.choice(ACTS)(world)


def _client(world: World) -> Client:
    return world.cast.client(world.rng.choice(["researcher", "admin"]))


def _post(client: Client, address: str, data: dict[str, Any]) -> bool:
    """Post a form and return whether it was accepted; a server error fails the test."""
    response = client.post(address, data)
    assert response.status_code in (302, 404, 409, 422), (address, response.status_code)
    return response.status_code == 302


def _pick_entity(world: World) -> tuple[str, Text | SubQuestion] | None:
    rng = world.rng
    if rng.random() < 0.3:
        questions = SubQuestion.objects.filter(topic__dataset=world.dataset).exclude(body="")
        return ("question", rng.choice(list(questions))) if questions else None
    texts = list(world.dataset.texts.with_body())
    return ("text", rng.choice(texts)) if texts else None


def _address(kind: str, entity: Text | SubQuestion) -> str:
    return f"/datasets/{SLUG}/text-history/{kind}/{entity.pk}/"


def _edit_body(rng: Random, body: str) -> str:
    tokens = body.split(" ")
    index = rng.randrange(len(tokens))
    match rng.randrange(4):
        case 0:
            tokens.insert(index, rng.choice(["Corrected.", "then", "🚢", "who"]))
        case 1:
            tokens[index] = rng.choice(["Nobody", "coupling", "cracked"])
        case 2 if len(tokens) > 3:
            del tokens[index : index + 3]
        case _:
            tokens = [*tokens[index:], *tokens[:index]]
    return " ".join(tokens).strip() or "Something."


def edit(world: World) -> Act | None:
    picked = _pick_entity(world)
    if picked is None:
        return None
    kind, entity = picked
    earlier = list(entity.versions.values_list("body", flat=True))
    reverted = earlier and world.rng.random() < 0.4
    body = world.rng.choice(earlier) if reverted else _edit_body(world.rng, entity.body or "")
    data = {"body": body, "counts": world.rng.choice(["yes", "no"]), "why": "", "change": ""}
    data["seen"] = digest(entity.body or "")
    send = partial(_post, _client(world), _address(kind, entity), data)
    return Act(f"edit {kind} {entity.pk}", send, typed=body)


def choose(world: World) -> Act | None:
    versions = list(Version.objects.filter(dataset=world.dataset))
    if not versions:
        return None
    entity = world.rng.choice(versions).entity
    kind = "text" if isinstance(entity, Text) else "question"
    data = {"counts": world.rng.choice(["yes", "no"]), "version": entity.versions.count()}
    data["seen"] = digest(entity.body or "")
    send = partial(_post, _client(world), f"{_address(kind, entity)}choose/", data)
    return Act(f"choose {data['counts']} for {kind} {entity.pk}", send)


def restore(world: World) -> Act | None:
    versions = list(Version.objects.filter(dataset=world.dataset))
    if not versions:
        return None
    version = world.rng.choice(versions)
    data = {"seen": digest(version.entity.body or "")}
    send = partial(_post, _client(world), version.get_absolute_url(), data)
    return Act(f"restore {version}", send)


def place_span(world: World) -> Act | None:
    unplaced = list(
        NuggetSpan.objects.filter(rating__text__dataset=world.dataset, start=None).select_related(
            "rating__text"
        )
    )
    if not unplaced:
        return None
    span = world.rng.choice(unplaced)
    token = world.rng.choice((span.rating.text.body or "x").split())
    address = f"/datasets/{SLUG}/text-history/spans/{span.pk}/place/"
    send = partial(_post, _client(world), address, {"words": token})
    return Act(f"place span {span.pk}", send)


def import_grades(world: World) -> Act:
    """Import grades of a new rater, and of an existing one.

    Sometimes with an edited text of a passage.
    """
    folder, rng = world.new_folder(), world.rng
    name = f"r{world.n_files}"
    passage = rng.choice([passage_id for passage_id in PASSAGES if passage_id.startswith("t-1")])
    grades = [rng.randrange(6) for _ in range(3)]
    files: dict[str, Any] = {
        f"annotations/{name}.qlabels.jsonl": [t1("oracle", "t-1", [1, 0, -2], {0: "coupling"})],
        f"annotations/{name}.qrels.jsonl": [t2("t-1", passage, grades, {0: "the"})],
    }
    choice = "refuse"
    if rng.random() < 0.3:
        choice = rng.choice(["count", "set-aside"])
        body = _edit_body(rng, PASSAGES[passage])
        files["passages.jsonl"] = [{"id": passage, "contents": body}]
    write(folder, files)

    def run() -> bool:
        import_dataset(folder, SLUG, new_words=choice)
        entry = ProjectEntry.objects.filter(dataset=world.dataset, action="imported").first()
        return entry is not None

    return Act(f"import {name}, {choice}", run, details={"rater": name})


def undo(world: World) -> Act | None:
    entries = world.dataset.log.exclude(rows={}).filter(undone_by=None, pk__in=world.imported)
    if not entries:
        return None
    entry = world.rng.choice(list(entries))
    brought = world.imported[entry.pk]
    keys = set(Rater.objects.filter(dataset=world.dataset, name__in=brought).values_list("pk"))
    send = partial(_post, _client(world), f"/datasets/{SLUG}/history/{entry.pk}/undo/", {})
    return Act(f"undo {brought}", send, may_lose=lambda pair: (pair[0],) in keys)


def replace(world: World) -> Act | None:
    """Replace the file of a rater, under the same name."""
    names = [name for names in world.imported.values() for name in names]
    raters = list(Rater.objects.filter(dataset=world.dataset, name__in=names))
    if not raters:
        return None
    rater, folder = world.rng.choice(raters), world.new_folder()
    grades = t1("oracle", "t-1", [0, 1, -2], {1: "Nobody"})
    write(folder, {f"annotations/{rater.name}.qlabels.jsonl": [grades]})

    def run() -> bool:
        import_dataset(folder, SLUG, replaces=f"rater:{rater.name}")
        return True

    return Act(f"replace {rater}", run, may_lose=lambda pair: pair[0] == rater.pk)


def rename(world: World) -> Act | None:
    systems = sorted(
        set(world.dataset.texts.filter(kind="report").values_list("system", flat=True))
    )
    free = [system for system in systems if system.startswith("sys") or system == "bm25"]
    if not free:
        return None
    old, new = world.rng.choice(free), f"sys{world.rng.randrange(1000)}"
    address = f"/datasets/{SLUG}/contents/system/?name={old}"
    send = partial(_post, _client(world), address, {"act": "rename", "new": new})
    return Act(f"rename {old} to {new}", send)


def rate(world: World) -> Act | None:
    assignments = list(
        Assignment.objects.filter(item__campaign=world.campaign).select_related(
            "item__text", "participant__campaign__rubric", "participant__rater"
        )
    )
    assignment = world.rng.choice(assignments)
    item_question = world.rng.choice(list(assignment.item.asked.select_related("question")))
    grade = world.rng.choice([0, 1, None])
    body = assignment.item.as_shown().body or ""
    spans = [Span(0, 3, body[:3])] if grade else []

    def run() -> bool:
        saving.save_answer(
            assignment, item_question.question, key=uuid4(), grade=grade, spans=spans
        )
        return True

    return Act(
        f"rate text {assignment.item.text_id}, question {item_question.question_id}: {grade}", run
    )


def exclude(world: World) -> Act:
    participant = world.person(world.rng.choice(["worker", "other_worker"]))
    act = actions.include_work if participant.set_aside_at else actions.exclude_work

    def run() -> bool:
        act(participant, world.cast.admin)
        return True

    return Act(f"{act.__name__} {participant}", run)


def adjudicate(world: World) -> Act:
    item = world.rng.choice(list(Item.objects.filter(campaign=world.campaign)))
    item_question = world.rng.choice(list(item.asked.select_related("question")))
    newest = item.decisions.filter(question=item_question.question).order_by("pk").last()
    grade = world.rng.choice([0, 1, None])
    body = item.as_shown().body or ""
    spans = [Span(0, 3, body[:3])] if grade else []

    def run() -> bool:
        decisions.decide(
            item,
            item_question.question,
            key=uuid4(),
            grade=grade,
            spans=spans,
            note="",
            by=world.cast.admin,
            base=newest.key if newest else None,
        )
        return True

    return Act(f"decide {item.text_id}, {item_question.question_id}: {grade}", run)


def set_state(world: World) -> Act:
    state = world.rng.choice(["open", "closed", "closed"])

    def run() -> bool:
        actions.set_state(world.campaign, state, world.cast.admin)
        return True

    return Act(f"campaign {state}", run)


def export(world: World) -> Act:
    folder = world.new_folder()

    def run() -> bool:
        export_folder(world.dataset, folder)
        return True

    return Act("export", run)


ACTS: tuple[Callable[[World], Act | None], ...] = (
    *(
        edit,
        edit,
        edit,
        choose,
        choose,
        restore,
        place_span,
        place_span,
        import_grades,
        undo,
        replace,
        rename,
    ),
    *(rate, exclude, adjudicate, set_state, export),
)
