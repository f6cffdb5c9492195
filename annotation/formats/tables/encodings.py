"""Encoding of a text file: by its byte order mark, UTF-8, Windows-1252, or asked for."""

from __future__ import annotations

import codecs
import re
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from annotation.formats.content import opened
from annotation.formats.tables.cells import SettingNeededError, TableError

WINDOWS = "cp1252"
NAMES = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    WINDOWS: "Windows-1252 (Western Europe)",
    "iso-8859-15": "ISO 8859-15 (Western Europe)",
    "mac_roman": "Mac Roman (Western Europe)",
    "cp1250": "Windows-1250 (Central Europe)",
    "iso8859-2": "ISO 8859-2 (Central Europe)",
    "gb18030": "GB 18030 and GBK (Chinese)",
    "cp950": "Big5 (Chinese)",
    "cp932": "Shift JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "cp949": "EUC-KR (Korean)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp874": "Windows-874 (Thai)",
}
"""Encodings that a person can choose, with their names."""

_CHINESE = "CJK FULLWIDTH"
_SCRIPTS = {
    WINDOWS: "LATIN",
    "gb18030": _CHINESE,
    "cp950": _CHINESE,
    "cp932": f"{_CHINESE} HIRAGANA KATAKANA KATAKANA-HIRAGANA",
    "euc_jp": f"{_CHINESE} HIRAGANA KATAKANA KATAKANA-HIRAGANA",
    "cp949": f"{_CHINESE} HANGUL",
    "cp1251": "CYRILLIC",
    "koi8_r": "CYRILLIC",
    "cp1253": "GREEK",
    "cp1255": "HEBREW",
    "cp1256": "ARABIC",
    "cp874": "THAI",
    "cp1250": "LATIN",
    "iso8859-2": "LATIN",
    "mac_roman": "LATIN",
}
"""Scripts of encodings that are offered with a sample, by the first words of Unicode's names."""

_TYPOGRAPHIC = "\xa0«»·–—‘’‚“”„…№°€"
MAX_RUNS = 20_000  # runs of bytes beyond ASCII that are looked at
SAMPLE = 12  # characters of a text in a message
_BLOCK = 2**20
_FIRST_SIGN = 9  # the tab: text has no byte below it
_MAX_START = 2**12  # bytes in which zeros are counted; an even number
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_CHOOSE = "choose the encoding (in a mapping: `encoding`)"
_HIGH = re.compile(rb"[\x80-\xff]+")
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
# Typographic signs of Windows-1252: no evidence, as Western text has several side by side.
_SIGNS = re.compile(
    rb"[\x80\x82\x84\x85\x88\x8b\x91-\x99\x9b\xa0\xa1\xa7\xa9-\xab\xae\xb0\xb4\xb7\xba\xbb\xbf]"
)
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # that Windows-1252 lacks
_LONG_RUN = 4  # bytes: Western words have fewer letters with accents side by side
_MIN_FOREIGN = 10  # letters in different long runs: special letters of one language are fewer
_MIN_SHARE = 0.25  # of the letters beyond ASCII that are in long runs: Western text has less
_UTF8_SHARE = 0.75  # of bytes that are UTF-8, above which other bytes are errors
_MIN_UTF8 = 3  # characters


@dataclass
class _Evidence:
    """Bytes beyond ASCII of a file that is no UTF-8, and its long runs of letters."""

    n: int = 0
    n_utf8: int = 0
    n_utf8_bytes: int = 0
    n_letters: int = 0
    n_foreign: int = 0
    n_runs: int = 0
    has_undefined: bool = False
    foreign_runs: set[bytes] = field(default_factory=set)
    line: int = 0
    """The first line with a foreign run, or the first with a byte that Windows-1252 lacks."""
    text: bytes = b""

    def add(self, number: int, line: bytes) -> None:
        """Count the bytes of a line. Raises TableError for a binary file."""
        if b"\0" in line:
            raise TableError("holds NUL characters: it is no text file", f":{number}")
        runs = _HIGH.findall(line)
        characters = _UTF8.findall(line) if runs else []
        self.n_runs += len(runs)
        self.n += sum(map(len, runs))
        self.n_utf8 += len(characters)
        self.n_utf8_bytes += sum(map(len, characters))
        foreign = [run for run in runs if _is_foreign(run)]
        self.n_letters += sum(map(_n_letters, runs))
        self.n_foreign += sum(map(_n_letters, foreign))
        self.foreign_runs.update(foreign)
        has_undefined = bool(_UNDEFINED.search(line))
        if (foreign and not self.line) or (has_undefined and not self.has_undefined):
            self.line, self.text = number, line
        self.has_undefined |= has_undefined

    @property
    def is_broken_utf8(self) -> bool:
        return self.n_utf8 >= _MIN_UTF8 and self.n_utf8_bytes >= _UTF8_SHARE * self.n

    @property
    def is_foreign(self) -> bool:
        n_different = sum(map(_n_letters, self.foreign_runs))
        return n_different >= _MIN_FOREIGN and self.n_foreign >= _MIN_SHARE * self.n_letters


def detected_encoding(path: Path) -> str:
    """Return the encoding: by a byte order mark, UTF-8 if all bytes fit, or Windows-1252.

    Raises SettingNeededError for a file that is no Windows-1252, or looks like another script.
    """
    try:
        with opened(path) as file:
            start = file.read(_MAX_START)
        if start.startswith(_UTF32):
            raise TableError("is UTF-32, which is not read: save it as UTF-8")
        for mark, name in _BOMS:
            if start.startswith(mark):
                return name
        if name := _utf16_of(start):
            return name
        if not (line := _first_line_without_utf8(path)):
            return "utf-8"
        evidence = _Evidence()
        for number, text in _lines(path):
            evidence.add(number, text)
            if evidence.n_runs >= MAX_RUNS:
                break
    except (EOFError, zlib.error) as error:
        raise TableError(f"cannot be read: {error}") from error
    if evidence.is_broken_utf8:
        message = f"has a byte that is not UTF-8: fix it, or {_CHOOSE}"
        raise SettingNeededError(message, "encoding", (), f":{line}")
    if evidence.has_undefined or evidence.is_foreign:
        samples = _samples(evidence.text)
        encodings = (
            "is neither UTF-8 nor Windows-1252"
            if evidence.has_undefined
            else "is not UTF-8, and may not be Windows-1252"
        )
        message = f"{encodings}: {_CHOOSE}, or save it as “CSV UTF-8”"
        if samples:
            message += f". The line has, in {samples}"
        raise SettingNeededError(message, "encoding", (), f":{evidence.line}")
    return WINDOWS


def _utf16_of(start: bytes) -> str:
    """Return the UTF-16 of a text without a byte order mark, by the zeros of ASCII; else ""."""
    even, odd = start[::2], start[1::2]
    for name, zeros, low_bytes in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if 2 * zeros.count(0) > len(zeros) and min(low_bytes, default=0) >= _FIRST_SIGN:
            return name
    return ""


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file, or parts of long ones, with their numbers."""
    number = 1
    with opened(path) as file:
        while line := file.readline(_BLOCK):
            yield number, line
            number += line.endswith(b"\n")


def _first_line_without_utf8(path: Path) -> int:
    """Return the number of the first line with a byte that is not UTF-8; 0 for none."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    number = 1
    with opened(path) as file:
        while block := file.read(_BLOCK):
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                return number + error.object.count(b"\n", 0, error.start)
            number += block.count(b"\n")
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return number
    return 0


def _n_letters(run: bytes) -> int:
    return len(_SIGNS.sub(b"", run))


def _is_foreign(run: bytes) -> bool:
    """Return whether a run is longer than Western words have; typographic signs do not count."""
    return len(run) >= _LONG_RUN and _n_letters(run) > 1 and len({*run}) > 1


def _samples(line: bytes) -> str:
    """Return the first words of a line in Windows-1252, and in encodings that fit it."""
    samples: dict[str, str] = {}
    for encoding, scripts in _SCRIPTS.items():
        try:
            text = line.decode(encoding)
        except UnicodeError:
            continue
        scripts_of_line = {_script(sign) for sign in text if not sign.isascii()}
        if encoding != WINDOWS and not scripts_of_line - {""} <= {*scripts.split()}:
            continue
        first = next((n for n, sign in enumerate(text) if not sign.isascii()), 0)
        sample = " ".join(text[first : first + SAMPLE].split())
        samples.setdefault(sample, NAMES[encoding])
    return "; in ".join(f"{name}: {sample}" for sample, name in samples.items())


def _script(sign: str) -> str:
    """Return the script of a sign, by the first word of its name; "" for typographic signs."""
    if sign in _TYPOGRAPHIC or 0x3000 <= ord(sign) <= 0x303F:
        return ""
    return unicodedata.name(sign, "?").partition(" ")[0]
