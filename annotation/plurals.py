"""Plural forms of counted nouns."""


def n_of(n: int, noun: str) -> str:
    """Return "1 report" or "2 reports", for nouns whose plural is formed with an s."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
