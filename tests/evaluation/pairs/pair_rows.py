"""Rows of the list of pairs."""


def listed_pairs(response) -> list[tuple[str, int]]:
    """The rows as (system, number of the question)."""
    return [
        (row.text.system.removeprefix("annotated."), row.number)
        for row, _ in response.context["rows"]
    ]
