"""Full-text index of texts, sub-questions and nugget spans, kept by the database.

The database updates it at each insert, change and deletion, so that no
way of writing rows can pass it by: SQLite has FTS5 tables and triggers, PostgreSQL a GIN index. Both take
letters and digits for words, in any case, and all other signs for separators; neither knows a
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
# Indexed tables, each with the SQL expression for the text of a row.
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
    """Consecutive words of a query: whole words, or the last one as a prefix."""

    words: tuple[str, ...]
    is_whole: bool

    @property
    def is_unspaced(self) -> bool:
        """Return whether the term is of a script without spaces, which needs a substring search."""
        return any(map(_UNSPACED.search, self.words))

    @property
    def pattern(self) -> str:
        """Regular expression for the term's matches in a text, to highlight them."""
        pattern = r"[\W_]*".join(map(re.escape, self.words))
        if self.is_unspaced:
            return pattern
        return rf"(?<![^\W_]){pattern}" + (r"(?![^\W_])" if self.is_whole else "")


@dataclass(frozen=True)
class SearchQuery:
    """Parsed search query: a conjunction of terms."""

    terms: tuple[Term, ...]

    def __bool__(self) -> bool:
        return bool(self.terms)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Regular expression for any term; the longest of two that begin at the same sign."""
        patterns = sorted((term.pattern for term in self.terms), key=len, reverse=True)
        return re.compile("|".join(patterns), re.IGNORECASE)


def parse_query(query: str) -> SearchQuery:
    """Parse a query: quoted phrases are whole words, all other words are prefixes.

    No other sign has a meaning. A line without a letter or digit has no terms.
    """
    terms = []
    for index, part in enumerate(_QUOTES.split(query)):
        is_phrase = index % 2 == 1
        pieces = [part] if is_phrase else part.split()
        terms += [
            Term(tokens, is_whole=is_phrase) for piece in pieces if (tokens := _tokens(piece))
        ]
    return SearchQuery(tuple(dict.fromkeys(terms)))


def _tokens(piece: str) -> tuple[str, ...]:
    """Tokenize into runs of letters and digits, with the marks upon them."""
    signs = (sign if unicodedata.category(sign)[0] in "LMN" else " " for sign in piece)
    return tuple(token for token in "".join(signs).split() if any(map(str.isalnum, token)))


Condition = tuple[str, str]  # SQL with one place for a value, and the value


@dataclass(frozen=True)
class Backend:
    """Statements and conditions of the full-text index in one kind of database."""

    make: Callable[[str, str], list[str]]
    """Statements that create the index of a table, over the text of its rows."""
    drop: Callable[[str], list[str]]
    restore: Callable[[str, str], list[str]]
    """Statements that create the triggers of a table again, which a migration has dropped."""
    holds: Callable[[str, str, Sequence[Term]], list[Condition]]
    """Conditions for the rows of a table that contain all terms."""
    contains: str
    """SQL function for the position of a substring; 0: not found."""


def matching_keys(table: str, search: SearchQuery) -> RawSQL:
    """Return a subquery of the keys of a table's rows that contain all terms, for `pk__in`.

    Without terms that is an error.
    """
    backend, body = _BACKENDS[connection.vendor], _TABLES[table]
    indexed = [term for term in search.terms if not term.is_unspaced]
    conditions = backend.holds(table, body, indexed) if indexed else []
    for term in search.terms:
        if term.is_unspaced:
            conditions += [(f"{backend.contains}({body}, %s) > 0", token) for token in term.words]
    true = " AND ".join(condition for condition, _ in conditions)
    sql = f"SELECT id FROM {table} WHERE {true}"  # noqa: S608 - ours; words are values
    return RawSQL(sql, [value for _, value in conditions])  # noqa: S611


def make(schema_editor: Any) -> None:
    """Create the index over the present rows. For a migration.

    SQLite drops the triggers of a table that a migration alters: such a migration ends with
    `restore_triggers`.
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


def restore_triggers(schema_editor: Any) -> None:
    """Create the triggers again that SQLite dropped with an altered table."""
    backend = _BACKENDS[schema_editor.connection.vendor]
    for table, body in _TABLES.items():
        for statement in backend.restore(table, body):
            schema_editor.execute(statement, params=None)


# -- SQLite


def _create_fts5(table: str, body: str) -> list[str]:
    """Return the statements that create a contentless FTS5 table and its triggers.

    It stores no words, only their positions, by the keys of their rows.
    """
    index, body_of_row = f"{table}_words", _indexed_words(body, table)
    return [
        f"CREATE VIRTUAL TABLE {index} USING fts5(words, content='', tokenize='unicode61 remove_diacritics 0')",
        f"INSERT INTO {index} (rowid, words) SELECT id, {body_of_row} FROM {table}",  # noqa: S608
        *_create_triggers(table, body),
    ]


def _indexed_words(body: str, row: str) -> str:
    expression = re.sub(r"\b(body|quote|source_quote)\b", rf"{row}.\1", body)
    return f"substr(coalesce({expression}, ''), 1, {INDEXED})"


def _create_triggers(table: str, body: str) -> list[str]:
    """Return the statements that create triggers of an FTS5 table.

    An entry has to be deleted with the values that it was inserted with.
    """
    index, columns = f"{table}_words", _COLUMNS.get(table, body)
    new, old = _indexed_words(body, "new"), _indexed_words(body, "old")
    adds = f"INSERT INTO {index} (rowid, words) VALUES (new.id, {new});"  # noqa: S608
    takes = f"INSERT INTO {index} ({index}, rowid, words) VALUES ('delete', old.id, {old});"  # noqa: S608
    return [
        f"CREATE TRIGGER {index}_added AFTER INSERT ON {table} BEGIN {adds} END",
        f"CREATE TRIGGER {index}_taken AFTER DELETE ON {table} BEGIN {takes} END",
        f"CREATE TRIGGER {index}_changed AFTER UPDATE OF {columns} ON {table} BEGIN {takes} {adds} END",
    ]


def _drop_triggers(table: str) -> list[str]:
    triggers = [f"{table}_words_{event}" for event in ("added", "taken", "changed")]
    return [f"DROP TRIGGER IF EXISTS {name}" for name in triggers]


def _drop_fts5(table: str) -> list[str]:
    return [*_drop_triggers(table), f"DROP TABLE IF EXISTS {table}_words"]


def _restore_fts5(table: str, body: str) -> list[str]:
    return [*_drop_triggers(table), *_create_triggers(table, body)]


def _fts5_conditions(table: str, body: str, terms: Sequence[Term]) -> list[Condition]:
    """Quote each term as a phrase, so that none is read as an operator."""
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


def _create_gin(table: str, body: str) -> list[str]:
    return [_VECTOR, f"CREATE INDEX {table}_words ON {table} USING gin (annotation_words({body}))"]


def _drop_gin(table: str) -> list[str]:
    """Drop the index, and with the last one the function, which cannot be dropped sooner."""
    last = [*_TABLES][-1]
    function = ["DROP FUNCTION IF EXISTS annotation_words(text)"] if table == last else []
    return [f"DROP INDEX IF EXISTS {table}_words", *function]


def _gin_conditions(table: str, body: str, terms: Sequence[Term]) -> list[Condition]:
    """Put each word in apostrophes, so that none is read as an operator: no word holds one.

    The index does not know where words are, and to compute the vectors again to see takes a second for
    thousands of texts. A regular expression finds in a tenth of it whether words are consecutive.
    """
    tsquery = " & ".join(
        " & ".join(f"'{token}'" for token in term.words) + ("" if term.is_whole else ":*")
        for term in terms
    )
    phrase_patterns = [
        rf"(^|[^[:alnum:]]){'[^[:alnum:]]+'.join(term.words)}"
        + ("($|[^[:alnum:]])" if term.is_whole else "")
        for term in terms
        if len(term.words) > 1
    ]
    return [
        (f"annotation_words({body}) @@ to_tsquery('pg_catalog.simple', %s)", tsquery),
        *((f"{body} ~* %s", pattern) for pattern in phrase_patterns),
    ]


_BACKENDS = {
    "sqlite": Backend(
        make=_create_fts5,
        drop=_drop_fts5,
        restore=_restore_fts5,
        holds=_fts5_conditions,
        contains="instr",
    ),
    "postgresql": Backend(
        make=_create_gin,
        drop=_drop_gin,
        restore=lambda table, body: [],
        holds=_gin_conditions,
        contains="strpos",
    ),
}
