"""How many of something, in words."""


def n_of(n: int, thing: str) -> str:
    """ "1 report" or "2 reports": of things that end in an s where they are several."""
    return f"{n} {thing}{'' if n == 1 else 's'}"
