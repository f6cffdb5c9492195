"""Random changes of the bytes of a file."""

import random

PIECES = (
    *(
        b'"',
        b"'",
        b",",
        b";",
        b"\t",
        b"\n",
        b"\r",
        b"\x00",
        b"\xff",
        b"{",
        b"}",
        b"[",
        b"]",
        b"NaN",
    ),
    *(b"\xf0\x9f\x8c\x8a", b"1e999", b"=1+1", b"-", b"9" * 400, b"\xef\xbb\xbf", b"topic", b"\\u"),
    *(b"\xed\xa0\x80", b"85 %", b"2026-03-02", b"null", b"true", b" ", b"[[[[[[", b'""'),
)


def mutated(data: bytes, random_: random.Random) -> bytes:
    """Return the data after one to four random changes of bytes."""
    for _ in range(random_.randint(1, 4)):
        at = random_.randrange(len(data) + 1)
        match random_.randrange(4):
            case 0:
                data = data[:at] + random_.choice(PIECES) + data[at:]
            case 1:
                data = data[:at] + data[at + random_.randint(1, 20) :]
            case 2:
                start = random_.randrange(len(data) + 1)
                data = data[:at] + data[start : start + random_.randint(1, 60)] + data[at:]
            case _:
                data = data[:at] + bytes([random_.randrange(256)]) + data[at + 1 :]
    return data
