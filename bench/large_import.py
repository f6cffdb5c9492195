"""Benchmark of a large import against bare executemany, with its peak memory.

    python -m bench.large_import [PASSAGES] [--questions 10] [--form judgements|ratings|passages]

60,000 passages of some 100 words and, of each, 10 ratings by one judge: as judgements.jsonl, a line a passage,
or as ratings.jsonl, a line a rating. Both sides work in a process and a database of their own, with all its
constraints and indexes: SQLite, or a new database on the server that DATABASE_URL names. The bare side gets the
rows that ours had stored, in memory, and is timed from the first insert to the commit. With `passages` nothing
is rated: take it to see that memory does not grow with their number.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from bench.serving import new_sqlite

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "fixtures" / "demo" / "passages.jsonl"
PASSAGES, QUESTIONS, OF_A_TOPIC = 60_000, 10, 600
FORMS = ("judgements", "ratings", "passages")
MAX_RATIO = 3  # times the bare inserts
TABLES = ("annotation_text", "annotation_rating")


def write(folder: Path, n: int, questions: int, form: str) -> None:
    """Write a study as the authors' files: topics of 600 passages each."""
    topics = [f"t-{number}" for number in range(-(-n // OF_A_TOPIC))]
    question_texts = [f"What of the {number}th thing?" for number in range(questions)]
    _lines(folder / "topics.jsonl", ({"id": t, "request": f"Report on {t}."} for t in topics))
    _lines(
        folder / "subquestions.jsonl", ({"id": t, "subquestions": question_texts} for t in topics)
    )
    _lines(folder / "passages.jsonl", _passages(n))
    if form == "judgements":
        (folder / "judgements").mkdir()
        _lines(folder / "judgements" / "made.judgements.jsonl", _judgements(n, questions))
    elif form == "ratings":
        _lines(folder / "ratings.jsonl", _ratings(n, questions))


def _lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _names(n: int) -> Iterator[tuple[str, str]]:
    for number in range(n):
        topic, position = divmod(number, OF_A_TOPIC)
        yield f"t-{topic}", f"t-{topic}:{position // 4}#{position}"


def _passages(n: int) -> Iterator[dict[str, Any]]:
    rng = random.Random(7)
    texts = [json.loads(line)["contents"] for line in DEMO.open(encoding="utf-8")]
    sentences = [sentence for text in texts for sentence in text.split(". ")]
    for number, (_, name) in enumerate(_names(n)):
        yield {"id": name, "contents": f"{number}: {'. '.join(rng.choices(sentences, k=6))}."}


def _judgements(n: int, questions: int) -> Iterator[dict[str, Any]]:
    rng = random.Random(8)
    for topic, name in _names(n):
        yield {"example_id": topic, "pid": name, "rating": rng.choices(range(6), k=questions)}


def _ratings(n: int, questions: int) -> Iterator[dict[str, Any]]:
    rng = random.Random(8)
    rater = {"rater": "made", "kind": "model", "rubric": "graded"}
    for _, name in _names(n):
        for position, grade in enumerate(rng.choices(range(6), k=questions)):
            yield {**rater, "text": name, "question_index": position, "grade": grade}


def ours(folder: Path) -> dict[str, float]:
    from crux_site.imports.importing import import_dataset  # noqa: PLC0415 - after django.setup()

    started, clocks = peak(), _clocks()
    import_dataset(folder, "large")
    return {**_since(clocks), "started_mb": started, "peak_mb": peak()}


def bare(folder: Path) -> dict[str, float]:
    """Insert the rows of the other database by the driver, in one transaction."""
    from django.db import connection, transaction  # noqa: PLC0415 - after django.setup()

    rows = json.loads((folder / "rows.json").read_text())
    _copy_the_small_tables(rows["small"])
    placeholder = "?" if connection.vendor == "sqlite" else "%s"
    tables = [(t, rows[t]["columns"], [tuple(row) for row in rows[t]["rows"]]) for t in TABLES]
    del rows
    clocks = _clocks()
    with transaction.atomic():
        for table, columns, values in tables:
            placeholders = ", ".join([placeholder] * len(columns))
            sql = f"insert into {table} ({', '.join(columns)}) values ({placeholders})"  # noqa: S608
            connection.connection.cursor().executemany(sql, values)
    return _since(clocks)


_SMALL = (
    "annotation_project", "annotation_dataset", "annotation_topic", "annotation_subquestion",
    "annotation_rater",
)  # fmt: skip


def _copy_the_small_tables(small: dict[str, Any]) -> None:
    from django.db import connection  # noqa: PLC0415 - after django.setup()

    from annotation.models.standard import ensure_standard_rubrics  # noqa: PLC0415 - the same

    ensure_standard_rubrics()
    with connection.cursor() as cursor:
        for table in _SMALL:
            columns = small[table]["columns"]
            placeholders = ", ".join(["%s"] * len(columns))
            sql = f"insert into {table} ({', '.join(columns)}) values ({placeholders})"  # noqa: S608
            cursor.executemany(sql, small[table]["rows"])


def dump(folder: Path) -> dict[str, float]:
    """Dump the rows that our import stored, for the bare side."""
    from django.db import connection  # noqa: PLC0415 - after django.setup()

    tables: dict[str, Any] = {"small": {}}
    with connection.cursor() as cursor:
        for table in (*_SMALL, *TABLES):
            cursor.execute(f"select * from {table} order by id")  # noqa: S608
            rows = [list(row) for row in cursor.fetchall()]
            columns = [f'"{column.name}"' if hasattr(column, "name") else f'"{column[0]}"'
                       for column in cursor.description]  # fmt: skip
            (tables if table in TABLES else tables["small"])[table] = {
                "columns": columns,
                "rows": rows,
            }
    (folder / "rows.json").write_text(json.dumps(tables, default=str))
    return {table: len(tables[table]["rows"]) for table in TABLES}


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(clocks: tuple[float, float]) -> dict[str, float]:
    """Return elapsed wall-clock and CPU seconds since `clocks`.

    Beside other load only the CPU seconds are comparable.
    """
    end = _clocks()
    return {"seconds": end[0] - clocks[0], "cpu": end[1] - clocks[1]}


def peak() -> int:
    """Return the peak resident memory of this process in MB, from VmHWM of Linux."""
    match = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(match[1]) // 1024 if match else 0


SIDES = {"ours": ours, "dump": dump, "bare": bare}


def run_side(side: str, folder: Path, url: str) -> dict[str, float]:
    """Run one side in a separate process; return its figures."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "crux_site.settings",
        "DATABASE_URL": url,
        "VAR_DIR": str(folder),
    }
    command = [sys.executable, "-m", "bench.large_import", "--side", side, "--folder", str(folder)]
    process = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    figures: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return figures


def databases(folder: Path, names: list[str]) -> Iterator[list[str]]:
    """Yield the URLs of new databases, which are dropped afterwards."""
    server = os.environ.get("DATABASE_URL", "")
    if not server.startswith("postgres"):
        yield [new_sqlite(folder / f"{name}.sqlite3") for name in names]
        return
    import psycopg  # noqa: PLC0415 - for this server alone

    database_names = [f"large_import_{name}_{uuid.uuid4().hex[:8]}" for name in names]
    with psycopg.connect(server, autocommit=True) as connection:
        for name in database_names:
            connection.execute(f'create database "{name}"')
        try:
            yield [
                urlunsplit(urlsplit(server)._replace(path=f"/{name}")) for name in database_names
            ]
        finally:
            for name in database_names:
                connection.execute(f'drop database if exists "{name}" with (force)')


Figures = dict[str, float]


def measure(n: int, questions: int, form: str) -> tuple[Figures, Figures, Figures]:
    """Return the figures of the import, the rows it stored, and the figures of the bare side.

    Exits with a message if the bare side stored other numbers of rows.
    """
    with tempfile.TemporaryDirectory(prefix="crux-bench-") as name:
        folder = Path(name)
        study = folder / "study"
        study.mkdir()
        write(study, n, questions, form)
        for import_url, bare_url in databases(folder, ["ours", "bare"]):
            imported = run_side("ours", study, import_url)
            rows = run_side("dump", folder, import_url)
            plain = run_side("bare", folder, bare_url)
            bare_rows = run_side("dump", folder, bare_url)
    if rows != bare_rows:
        sys.exit(f"The import stored {rows}, the bare side {bare_rows}.")
    return imported, rows, plain


def compare(n: int, questions: int, form: str) -> None:
    imported, rows, plain = measure(n, questions, form)
    counted = (
        f"{rows['annotation_text']:,} passages, {rows['annotation_rating']:,} ratings ({form})"
    )
    print(
        f"{counted}, at most {imported['peak_mb']:.0f} MB ({imported['started_mb']:.0f} before it began):"
    )
    for name, side in (("import", imported), ("bare executemany", plain)):
        print(f"  {name:<16} {side['seconds']:>6.1f} s, {side['cpu']:.1f} of its own work")
    ratio = imported["seconds"] / plain["seconds"]
    print(f"  ratio {ratio:.2f}, of the work {imported['cpu'] / plain['cpu']:.2f}; at most {MAX_RATIO}:"
          f" {'yes' if ratio <= MAX_RATIO else 'NO'}")  # fmt: skip


def smoke() -> str:
    """Import 12 passages with 24 ratings on SQLite; see bench.smoke."""
    _, rows, _ = measure(12, 2, "ratings")
    if rows != {"annotation_text": 12, "annotation_rating": 24}:
        sys.exit(f"The import stored {rows}.")
    return "12 passages and 24 ratings imported, and by the bare side"


def side(name: str, folder: Path) -> None:
    import django  # noqa: PLC0415 - in the process of one side alone

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415 - after django.setup()

    call_command("migrate", verbosity=0)
    print(json.dumps(SIDES[name](folder)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passages", type=int, nargs="?", default=PASSAGES)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--form", choices=FORMS, default="judgements")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        side(options.side, options.folder)
    else:
        compare(options.passages, options.questions, options.form)


if __name__ == "__main__":
    main()
