"""Readers of the matrix pages for tests."""

import csv
import io

LIST = "/datasets/ferry/matrix/"


def page(client, url: str, query: str = ""):
    response = client.get(f"{url}?{query}")
    assert response.status_code == 200
    return response.context["page"]


def rows(matrix, group: int = 0):
    return {row.name: row for row in matrix.groups[group].rows}


def titles(matrix) -> list[str]:
    return [group.title for group in matrix.groups]


def table(response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.content.decode())))
