"""Texts of our own that replies in these tests are about."""

DOCUMENT = (
    "The ferry Aurora lost its steering gear in March, off the island of Tern. Two hundred and twelve "
    "passengers were taken off by three fishing boats. The captain, Ida Vold, stayed on board with nine "
    "of her crew. A tug from the harbour of Sand reached the ferry after four hours. Nobody was hurt, "
    "though an engineer was treated for the cold.\n\n"
    "The inspectors found water in the hydraulic oil. They had asked for new seals two years before. The "
    "company said that the seals had been ordered and never came. In June the ministry took the licence "
    "away from the company. Its three other ferries are run by the county until the summer of next year."
)


def sample_text(n: int, start: int = 0) -> str:
    """So many different words in sentences of ten that all differ."""
    sentences = [
        " ".join(f"w{number}" for number in range(first, min(first + 10, start + n))) + "."
        for first in range(start, start + n, 10)
    ]
    return " ".join(sentences)
