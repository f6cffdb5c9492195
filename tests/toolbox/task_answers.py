"""Answers as the page of an item sends them."""

import json
from uuid import uuid4

from tests.toolbox.factories import REPORT

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}


def question(assignment, position=0):
    return assignment.item.asked.get(position=position).question


def answer(client, assignment, *, position=0, grade="1", quotes=(), key=None, spans=None, **extra):
    if spans is None:
        spans = [
            {"start": REPORT.index(q), "end": REPORT.index(q) + len(q), "quote": q} for q in quotes
        ]
    data = {"key": key or uuid4(), "grade": grade, "spans": json.dumps(spans)}
    url = f"/work/{assignment.pk}/answers/{question(assignment, position).pk}/"
    return client.post(url, data, **extra)


def send(client, url, grade, *, key=None, base="", **more):
    """Send an answer without spans as the page's script does."""
    data = {"key": key or uuid4(), "grade": grade, "spans": "[]", "base": base} | more
    return client.post(url, data, **BY_SCRIPT)
