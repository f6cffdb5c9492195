"""Plural forms of counted nouns."""


def n_of(n: int, noun: str, spec: str = "") -> str:
    """Return "1 report" or "2 reports", for nouns whose plural is formed with an s.

    `spec` formats the number: "," gives "2,000 reports".
    """
    return f"{n:{spec}} {noun}{'' if n == 1 else 's'}"
