"""Reconciliation of the benchmarks: it must detect each kind of fault."""

import uuid
from copy import deepcopy

import pytest

from bench import reconciliation

KEYS = [uuid.UUID(int=number) for number in range(1, 4)]
SPAN = {"start": 0, "end": 5, "quote": "ferry"}


class World:
    """Two workers with an item each; the first has answered twice.

    Assignments 11 and 12, question 7.
    """

    def __init__(self):
        self.answers = [
            [KEYS[0].hex, 11, 7, 3, "[]", "ann"],
            [KEYS[1].hex, 11, 7, 5, [SPAN], "ann"],
            [KEYS[2].hex, 12, 7, 0, "[]", "bob"],
        ]
        self.lent = [
            [11, 21, 31, "alder", "submitted", 0, 41, "ann"],
            [12, 22, 32, "alder", "open", 0, 42, "bob"],
        ]
        self.ratings = [[51, 41, 31, 7, 5], [52, 42, 32, 7, 0]]
        self.spans = [[51, 0, 5, "ferry"]]
        self.people = [["ann"], ["bob"]]
        self.workers = [
            self.worker("ann", [11], [11], [self.answer(*row) for row in self.answers[:2]]),
            self.worker("bob", [12], [], [self.answer(*self.answers[2])]),
        ]

    @staticmethod
    def answer(key, assignment, question, grade, spans, _worker):
        return {
            "key": key,
            "assignment": assignment,
            "question": question,
            "grade": grade,
            "spans": [] if spans == "[]" else deepcopy(spans),
            "acknowledged": True,
        }

    @staticmethod
    def worker(name, items, submitted, answers):
        return {
            "name": name,
            "items": items,
            "submitted": submitted,
            "answers": answers,
            "parts": 0,
            "failures": {},
            "ran_out": False,
            "stopped": "",
        }

    def violations(self):
        tables = {
            reconciliation.ANSWERS: self.answers,
            reconciliation.LENT: self.lent,
            reconciliation.RATINGS: self.ratings,
            reconciliation.SPANS: self.spans,
            reconciliation.PEOPLE: self.people,
        }
        faults = reconciliation.reconcile(lambda sql: deepcopy(tables[sql]), self.workers, 1)[1]
        return {name for name, number in faults.items() if number}


def test_world_in_order_has_no_fault():
    assert World().violations() == set()


def test_unacknowledged_answer_may_be_missing():
    world = World()
    world.workers[1]["answers"][0]["acknowledged"] = False
    world.answers.pop()
    world.ratings.pop()
    assert world.violations() == set()


def lose(world):
    world.answers.pop(0)


def lose_the_newest(world):
    world.answers.pop(1)
    world.ratings[0][4] = 3
    world.spans.clear()


def store_twice(world):
    world.answers.insert(1, world.answers[0])


def store_what_nobody_said(world):
    world.answers.insert(0, [uuid.uuid4().hex, 12, 7, 4, "[]", "bob"])


def store_another_grade(world):
    world.answers[0][3] = 2


def store_other_spans(world):
    world.answers[0][4] = [SPAN]


def store_for_somebody_else(world):
    world.answers[0][5] = "bob"


def swap_the_order(world):
    world.answers[0], world.answers[1] = world.answers[1], world.answers[0]
    world.ratings[0][4] = 3
    world.spans.clear()


def keep_an_old_rating(world):
    world.ratings[0][4] = 3


def keep_an_old_span(world):
    world.spans.append([52, 0, 5, "ferry"])


def lose_a_rating(world):
    world.ratings.pop()


def invent_a_rating(world):
    world.ratings.append([53, 41, 32, 7, 1])


def lend_to_too_many(world):
    world.lent.append([13, 21, 31, "alder", "open", 1, 42, "bob"])


def lend_twice(world):
    world.lent.append([13, 21, 31, "alder", "open", None, 41, "ann"])


def forget_a_handing_in(world):
    world.lent[0][4] = "open"


def make_a_second_stay(world):
    world.people.append(["ann"])


def lend_one_system_alone(world):
    world.lent += [[13, 23, 33, "alder", "open", 0, 41, "ann"]]
    world.lent += [[14, 24, 34, "birch", "open", 0, 42, "bob"]]


def stop_a_worker(world):
    world.workers[0]["stopped"] = "RuntimeError"


@pytest.mark.parametrize(
    ("spoil", "noticed"),
    [
        (lose, {"lost"}),
        (lose_the_newest, {"lost", "newest is not the last one said"}),
        (store_twice, {"stored more than once"}),
        (store_what_nobody_said, {"never sent"}),
        (store_another_grade, {"not as sent"}),
        (store_other_spans, {"not as sent"}),
        (store_for_somebody_else, {"not as sent", "items answered by too many"}),
        (swap_the_order, {"newest is not the last one said"}),
        (keep_an_old_rating, {"rating is not the newest answer"}),
        (keep_an_old_span, {"rating is not the newest answer"}),
        (lose_a_rating, {"rating is not the newest answer"}),
        (invent_a_rating, {"rating is not the newest answer"}),
        (lend_to_too_many, {"items held by too many"}),
        (lend_twice, {"items handed twice to a worker"}),
        (forget_a_handing_in, {"submitted and not so stored"}),
        (make_a_second_stay, {"people who are not one participant"}),
        (lend_one_system_alone, {"workers with systems out of balance"}),
        (stop_a_worker, {"workers who were stopped"}),
    ],
)
def test_fault_is_noticed(spoil, noticed):
    world = World()
    spoil(world)
    assert noticed <= world.violations()
