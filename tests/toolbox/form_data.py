"""Form data as a browser sends it."""

FormPairs = list[tuple[str, str]]


def as_query(sent: FormPairs) -> dict[str, list[str]]:
    query: dict[str, list[str]] = {}
    for name, value in sent:
        query.setdefault(name, []).append(value)
    return query
