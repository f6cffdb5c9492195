"""Reconciliation of the crowd's reports with the database, without the server."""

import json
import uuid
from collections import Counter, defaultdict

ANSWERS = """
select a.key, a.assignment_id, a.question_id, a.grade, a.spans, p.external_id
from annotation_answer a
join annotation_assignment s on s.id = a.assignment_id
join annotation_participant p on p.id = s.participant_id
order by a.id
"""
LENT = """
select s.id, s.item_id, i.text_id, t.system, s.state, s.slot, p.rater_id, p.external_id
from annotation_assignment s
join annotation_item i on i.id = s.item_id
join annotation_text t on t.id = i.text_id
join annotation_participant p on p.id = s.participant_id
"""
PEOPLE = "select external_id from annotation_participant"
RATINGS = "select id, rater_id, text_id, question_id, grade from annotation_rating"
SPANS = """
select rating_id, "start", "end", quote from annotation_nuggetspan order by rating_id, position
"""


def reconcile(rows, workers: list[dict], raters_per_item: int) -> tuple[dict, dict]:
    """Return totals, and violations that must be zero, each by name.

    rows: a function from SQL to rows. workers: the output of bench.crowd for each of them.
    """
    sent = {
        uuid.UUID(answer["key"]): answer | {"worker": worker["name"]}
        for worker in workers
        for answer in worker["answers"]
    }
    stored = [(uuid.UUID(str(key)), *fields) for key, *fields in rows(ANSWERS)]
    lent = rows(LENT)
    times = Counter(key for key, *_ in stored)
    totals = {
        "workers": len(workers),
        "parts": sum(worker["parts"] for worker in workers),
        "items submitted": sum(len(worker["submitted"]) for worker in workers),
        "answers sent": len(sent),
        "answers acknowledged": sum(answer["acknowledged"] for answer in sent.values()),
        "answers stored": len(stored),
        "sent again after a failure": sum(sum(worker["failures"].values()) for worker in workers),
        "most raters of an item": max(_holders(lent).values(), default=0),
        "largest difference between systems": max(_spread(lent).values(), default=0),
    }
    violations = {
        "lost": sum(answer["acknowledged"] and not times[key] for key, answer in sent.items()),
        "stored more than once": sum(number > 1 for number in times.values()),
        "never sent": sum(key not in sent for key in times),
        "not as sent": sum(_differs(sent[key], fields) for key, *fields in stored if key in sent),
        "newest is not the last one said": _out_of_order(workers, stored),
        "rating is not the newest answer": _rating_mismatches(rows, stored, lent),
        "items held by too many": sum(n > raters_per_item for n in _holders(lent).values()),
        "items answered by too many": _answered_by_too_many(stored, lent, raters_per_item),
        "items handed twice to a worker": _handed_twice(lent)
        + sum(len(set(worker["items"])) < len(worker["items"]) for worker in workers),
        "submitted and not so stored": _not_handed_in(workers, lent),
        "people who are not one participant": _not_one_each(rows, workers),
        "workers who were stopped": sum(bool(worker["stopped"]) for worker in workers),
    }
    if not any(worker["ran_out"] for worker in workers):
        violations["workers with systems out of balance"] = sum(
            n > 1 for n in _spread(lent).values()
        )
    return totals, violations


def _spans(value) -> list:
    return json.loads(value) if isinstance(value, str) else value


def _differs(sent: dict, stored: list) -> bool:
    assignment, question, grade, spans, worker = stored
    return (assignment, question, grade, _spans(spans), worker) != (
        sent["assignment"],
        sent["question"],
        sent["grade"],
        sent["spans"],
        sent["worker"],
    )


def _newest(stored) -> dict:
    """Return the newest answer by assignment and question."""
    return {
        (assignment, question): (key, grade, _spans(spans))
        for key, assignment, question, grade, spans, _ in stored
    }


def _out_of_order(workers, stored) -> int:
    """Count questions whose stored newest answer precedes a later acknowledged one."""
    newest = _newest(stored)
    last, order = {}, {}
    for worker in workers:
        for position, answer in enumerate(worker["answers"]):
            order[uuid.UUID(answer["key"])] = position
            if answer["acknowledged"]:
                last[answer["assignment"], answer["question"]] = position
    return sum(
        pair not in newest or order.get(newest[pair][0], -1) < position
        for pair, position in last.items()
    )


def _rating_mismatches(rows, stored, lent) -> int:
    """Count pairs whose rating or spans differ from the newest answer, or are missing."""
    text, rater = {}, {}
    for assignment, _, text_pk, _, _, _, rater_pk, _ in lent:
        text[assignment], rater[assignment] = text_pk, rater_pk
    expected = {
        (rater[assignment], text[assignment], question): (
            grade,
            [(span["start"], span["end"], span["quote"]) for span in spans],
        )
        for (assignment, question), (_, grade, spans) in _newest(stored).items()
        if grade is not None
    }
    spans = defaultdict(list)
    for rating, *span in rows(SPANS):
        spans[rating].append(tuple(span))
    ratings = {
        (rater_pk, text_pk, question): (grade, spans[pk])
        for pk, rater_pk, text_pk, question, grade in rows(RATINGS)
    }
    return sum(expected.get(pair) != ratings.get(pair) for pair in expected | ratings)


def _holders(lent) -> Counter:
    """Count the occupied slots of each item."""
    return Counter(row[1] for row in lent if row[5] is not None)


def _answered_by_too_many(stored, lent, limit: int) -> int:
    item = {row[0]: row[1] for row in lent}
    raters = defaultdict(set)
    for _, assignment, *_, person in stored:
        raters[item[assignment]].add(person)
    return sum(len(people) > limit for people in raters.values())


def _handed_twice(lent) -> int:
    return sum(number > 1 for number in Counter((row[7], row[1]) for row in lent).values())


def _spread(lent) -> dict[str, int]:
    """Return by worker the difference between most and fewest items of a system."""
    systems = sorted({row[3] for row in lent})
    had = defaultdict(Counter)
    for row in lent:
        had[row[7]][row[3]] += 1
    return {
        person: max(mine[system] for system in systems) - min(mine[system] for system in systems)
        for person, mine in had.items()
    }


def _not_handed_in(workers, lent) -> int:
    state = {row[0]: row[4] for row in lent}
    return sum(state[pk] != "submitted" for worker in workers for pk in worker["submitted"])


def _not_one_each(rows, workers) -> int:
    participants = Counter(name for (name,) in rows(PEOPLE))
    names = {worker["name"] for worker in workers}
    return sum(participants[name] != 1 for name in names | set(participants))
