"""The index of words: which texts, sub-questions and nugget spans hold some words, as the database knows it.

It is the database's own, kept by what the database does at each insert, change and deletion, so that no
way of writing rows can pass it by: SQLite has FTS5 tables and triggers, PostgreSQL a GIN index. Both take
letters and digits for words, in any case, and everything else for what is between them; neither knows a
language. Of a longer text the first 100,000 signs are indexed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models.expressions import RawSQL

INDEXED = (
    100_000  # signs; a vector of PostgreSQL has a limit, and what passes it would fail an import
)
# What is looked through, by its table: the words of a row in SQL.
_TABLES = {
    "annotation_text": "body",
    "annotation_subquestion": "body",
    "annotation_nuggetspan": "CASE quote WHEN '' THEN source_quote ELSE quote END",
}
_COLUMNS = {"annotation_nuggetspan": "quote, source_quote"}
_QUOTES = re.compile('["“”„«»]')
# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True)
class Term:
    """Words that stand beside each other; whole ones, or the last is the beginning of one."""

    words: tuple[str, ...]
    is_whole: bool

    @property
    def is_unspaced(self) -> bool:
        """Whether an index of words does not know it: it is looked for sign by sign."""
        return any(map(_UNSPACED.search, self.words))

    @property
    def pattern(self) -> str:
        """A regular expression for its places in a text, to be drawn."""
        words = r"[\W_]*".join(map(re.escape, self.words))
        if self.is_unspaced:
            return words
        return rf"(?<![^\W_]){words}" + (r"(?![^\W_])" if self.is_whole else "")


@dataclass(frozen=True)
class Words:
    """What is looked for: all of the terms."""

    terms: tuple[Term, ...]

    def __bool__(self) -> bool:
        return bool(self.terms)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The places of any term; the longest of two that begin at one."""
        patterns = sorted((term.pattern for term in self.terms), key=len, reverse=True)
        return re.compile("|".join(patterns), re.IGNORECASE)


def words_of(query: str) -> Words:
    """The terms of any line: a phrase of whole words in quotation marks; every other word, as a beginning.

    No other sign has a meaning. A line without a letter or digit has no terms.
    """
    terms = []
    for place, part in enumerate(_QUOTES.split(query)):
        is_phrase = place % 2 == 1
        pieces = [part] if is_phrase else part.split()
        terms += [Term(words, is_whole=is_phrase) for piece in pieces if (words := _words(piece))]
    return Words(tuple(dict.fromkeys(terms)))


def _words(piece: str) -> tuple[str, ...]:
    """The runs of letters and digits, with the marks upon them."""
    signs = (sign if unicodedata.category(sign)[0] in "LMN" else " " for sign in piece)
    return tuple(word for word in "".join(signs).split() if any(map(str.isalnum, word)))


Condition = tuple[str, str]  # SQL with one place for a value, and the value


@dataclass(frozen=True)
class Backend:
    """How one kind of database keeps the index, and what it is asked."""

    make: Callable[[str, str], list[str]]
    """The statements that make the index of a table, of the words of its rows."""
    drop: Callable[[str], list[str]]
    holds: Callable[[str, str, Sequence[Term]], list[Condition]]
    """What is true of the rows of a table that hold all terms."""
    contains: str
    """The function of SQL that tells at which sign of some words others begin; 0: nowhere."""


def matching(table: str, words: Words) -> RawSQL:
    """The keys of the rows of a table that hold all terms, for `pk__in`. Without terms that is an error."""
    backend, body = _BACKENDS[connection.vendor], _TABLES[table]
    indexed = [term for term in words.terms if not term.is_unspaced]
    conditions = backend.holds(table, body, indexed) if indexed else []
    for term in words.terms:
        if term.is_unspaced:
            conditions += [(f"{backend.contains}({body}, %s) > 0", word) for word in term.words]
    true = " AND ".join(condition for condition, _ in conditions)
    sql = f"SELECT id FROM {table} WHERE {true}"  # noqa: S608 - ours; words are values
    return RawSQL(sql, [value for _, value in conditions])  # noqa: S611


def make(schema_editor: Any) -> None:
    """Make the index, with what is there. For a migration.

    SQLite drops the triggers of a table that a migration alters: that one then has to drop the index and
    make it again.
    """
    backend = _BACKENDS[schema_editor.connection.vendor]
    for table, body in _TABLES.items():
        for statement in backend.make(table, body):
            schema_editor.execute(statement, params=None)


def drop(schema_editor: Any) -> None:
    backend = _BACKENDS[schema_editor.connection.vendor]
    for table in _TABLES:
        for statement in backend.drop(table):
            schema_editor.execute(statement, params=None)


# -- SQLite


def _fts5(table: str, body: str) -> list[str]:
    """A table that keeps no words, only where they are, by the keys of their rows.

    What is taken out of it has to be told as it was put in.
    """
    words, columns = f"{table}_words", _COLUMNS.get(table, body)

    def of(row: str) -> str:
        expression = re.sub(r"\b(body|quote|source_quote)\b", rf"{row}.\1", body)
        return f"substr(coalesce({expression}, ''), 1, {INDEXED})"

    adds = f"INSERT INTO {words} (rowid, words) VALUES (new.id, {of('new')});"  # noqa: S608
    takes = f"INSERT INTO {words} ({words}, rowid, words) VALUES ('delete', old.id, {of('old')});"  # noqa: S608
    return [
        f"CREATE VIRTUAL TABLE {words} USING fts5(words, content='', tokenize='unicode61 remove_diacritics 0')",
        f"INSERT INTO {words} (rowid, words) SELECT id, {of(table)} FROM {table}",  # noqa: S608
        f"CREATE TRIGGER {words}_added AFTER INSERT ON {table} BEGIN {adds} END",
        f"CREATE TRIGGER {words}_taken AFTER DELETE ON {table} BEGIN {takes} END",
        f"CREATE TRIGGER {words}_changed AFTER UPDATE OF {columns} ON {table} BEGIN {takes} {adds} END",
    ]


def _drop_fts5(table: str) -> list[str]:
    triggers = [f"{table}_words_{what}" for what in ("added", "taken", "changed")]
    return [
        *(f"DROP TRIGGER IF EXISTS {name}" for name in triggers),
        f"DROP TABLE IF EXISTS {table}_words",
    ]


def _fts5_holds(table: str, body: str, terms: Sequence[Term]) -> list[Condition]:
    """Each term as a phrase in quotation marks, which no operator is."""
    match = " AND ".join(
        f'"{" ".join(term.words)}"' + ("" if term.is_whole else " *") for term in terms
    )
    return [(f"id IN (SELECT rowid FROM {table}_words WHERE {table}_words MATCH %s)", match)]  # noqa: S608


# -- PostgreSQL

# In punctuation of ASCII the parser would see addresses, signs of numbers and tags; other is between words.
_VECTOR = f"""
CREATE OR REPLACE FUNCTION annotation_words(words text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT to_tsvector('pg_catalog.simple',
  regexp_replace(left(words, {INDEXED}), '[!-/:-@[-`{{-~]+', ' ', 'g'))
$$
"""


def _gin(table: str, body: str) -> list[str]:
    return [_VECTOR, f"CREATE INDEX {table}_words ON {table} USING gin (annotation_words({body}))"]


def _drop_gin(table: str) -> list[str]:
    """The function goes with the last index; to drop it sooner is refused."""
    last = [*_TABLES][-1]
    function = ["DROP FUNCTION IF EXISTS annotation_words(text)"] if table == last else []
    return [f"DROP INDEX IF EXISTS {table}_words", *function]


def _gin_holds(table: str, body: str, terms: Sequence[Term]) -> list[Condition]:
    """Each word in apostrophes, which no operator is: no word holds one.

    The index does not know where words are, and to make the vectors anew to see takes a second for
    thousands of texts: whether words are beside each other a regular expression says, in a tenth of it.
    """
    words = " & ".join(
        " & ".join(f"'{word}'" for word in term.words) + ("" if term.is_whole else ":*")
        for term in terms
    )
    beside = [
        rf"(^|[^[:alnum:]]){'[^[:alnum:]]+'.join(term.words)}"
        + ("($|[^[:alnum:]])" if term.is_whole else "")
        for term in terms
        if len(term.words) > 1
    ]
    return [
        (f"annotation_words({body}) @@ to_tsquery('pg_catalog.simple', %s)", words),
        *((f"{body} ~* %s", pattern) for pattern in beside),
    ]


_BACKENDS = {
    "sqlite": Backend(
        make=_fts5,
        drop=_drop_fts5,
        holds=_fts5_holds,
        contains="instr",
    ),
    "postgresql": Backend(
        make=_gin,
        drop=_drop_gin,
        holds=_gin_holds,
        contains="strpos",
    ),
}
