"""A large import beside a bare executemany of the same rows, and the memory that it takes.

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

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "fixtures" / "demo" / "passages.jsonl"
PASSAGES, QUESTIONS, OF_A_TOPIC = 60_000, 10, 600
FORMS = ("judgements", "ratings", "passages")
AT_MOST = 3  # times the bare inserts
TABLES = ("annotation_text", "annotation_rating")


def write(folder: Path, n: int, questions: int, form: str) -> None:
    """A study in the authors' files: topics of 600 passages each."""
    topics = [f"t-{number}" for number in range(-(-n // OF_A_TOPIC))]
    asked = [f"What of the {number}th thing?" for number in range(questions)]
    _lines(folder / "topics.jsonl", ({"id": t, "request": f"Report on {t}."} for t in topics))
    _lines(folder / "subquestions.jsonl", ({"id": t, "subquestions": asked} for t in topics))
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
        topic, place = divmod(number, OF_A_TOPIC)
        yield f"t-{topic}", f"t-{topic}:{place // 4}#{place}"


def _passages(n: int) -> Iterator[dict[str, Any]]:
    drawn = random.Random(7)
    texts = [json.loads(line)["contents"] for line in DEMO.open(encoding="utf-8")]
    sentences = [sentence for text in texts for sentence in text.split(". ")]
    for number, (_, name) in enumerate(_names(n)):
        yield {"id": name, "contents": f"{number}: {'. '.join(drawn.choices(sentences, k=6))}."}


def _judgements(n: int, questions: int) -> Iterator[dict[str, Any]]:
    drawn = random.Random(8)
    for topic, name in _names(n):
        yield {"example_id": topic, "pid": name, "rating": drawn.choices(range(6), k=questions)}


def _ratings(n: int, questions: int) -> Iterator[dict[str, Any]]:
    drawn = random.Random(8)
    whose = {"rater": "made", "kind": "model", "rubric": "graded"}
    for _, name in _names(n):
        for place, grade in enumerate(drawn.choices(range(6), k=questions)):
            yield {**whose, "text": name, "question_index": place, "grade": grade}


def ours(folder: Path) -> dict[str, float]:
    from crux_site.imports.importing import import_dataset  # noqa: PLC0415 - after django.setup()

    started, clocks = peak(), _clocks()
    import_dataset(folder, "large")
    return {**_since(clocks), "started_mb": started, "peak_mb": peak()}


def bare(folder: Path) -> dict[str, float]:
    """The rows of the other database, inserted by the driver itself in one transaction."""
    from django.db import connection, transaction  # noqa: PLC0415 - after django.setup()

    rows = json.loads((folder / "rows.json").read_text())
    _copy_the_small_tables(rows["small"])
    place = "?" if connection.vendor == "sqlite" else "%s"
    tables = [(t, rows[t]["columns"], [tuple(row) for row in rows[t]["rows"]]) for t in TABLES]
    del rows
    clocks = _clocks()
    with transaction.atomic():
        for table, columns, values in tables:
            sql = f"insert into {table} ({', '.join(columns)}) values ({', '.join([place] * len(columns))})"  # noqa: S608
            connection.connection.cursor().executemany(sql, values)
    return _since(clocks)


_SMALL = (
    "annotation_dataset", "annotation_topic", "annotation_subquestion", "annotation_rater",
)  # fmt: skip


def _copy_the_small_tables(small: dict[str, Any]) -> None:
    from django.db import connection  # noqa: PLC0415 - after django.setup()

    from annotation.models.standard import ensure_standard_rubrics  # noqa: PLC0415 - the same

    ensure_standard_rubrics()
    with connection.cursor() as cursor:
        for table in _SMALL:
            columns = small[table]["columns"]
            places = ", ".join(["%s"] * len(columns))
            sql = f"insert into {table} ({', '.join(columns)}) values ({places})"  # noqa: S608
            cursor.executemany(sql, small[table]["rows"])


def dump(folder: Path) -> dict[str, float]:
    """What ours has stored, for the bare side."""
    from django.db import connection  # noqa: PLC0415 - after django.setup()

    told: dict[str, Any] = {"small": {}}
    with connection.cursor() as cursor:
        for table in (*_SMALL, *TABLES):
            cursor.execute(f"select * from {table} order by id")  # noqa: S608
            rows = [list(row) for row in cursor.fetchall()]
            columns = [f'"{column.name}"' if hasattr(column, "name") else f'"{column[0]}"'
                       for column in cursor.description]  # fmt: skip
            (told if table in TABLES else told["small"])[table] = {"columns": columns, "rows": rows}
    (folder / "rows.json").write_text(json.dumps(told, default=str))
    return {table: len(told[table]["rows"]) for table in TABLES}


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(clocks: tuple[float, float]) -> dict[str, float]:
    """Seconds on the wall, and of this process's own work: beside others the first means little."""
    now = _clocks()
    return {"seconds": now[0] - clocks[0], "cpu": now[1] - clocks[1]}


def peak() -> int:
    """The largest resident memory of this process so far, in MB, as Linux tells it."""
    told = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(told[1]) // 1024 if told else 0


SIDES = {"ours": ours, "dump": dump, "bare": bare}


def apart(side: str, folder: Path, url: str) -> dict[str, float]:
    """One side in a process of its own."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "crux_site.settings",
        "DATABASE_URL": url,
        "VAR_DIR": str(folder),
    }
    command = [sys.executable, "-m", "bench.large_import", "--side", side, "--folder", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def databases(folder: Path, names: list[str]) -> Iterator[list[str]]:
    """Addresses of new databases, which are gone afterwards."""
    server = os.environ.get("DATABASE_URL", "")
    if not server.startswith("postgres"):
        yield [f"sqlite:///{folder / name}.sqlite3" for name in names]
        return
    import psycopg  # noqa: PLC0415 - for this server alone

    named = [f"large_import_{name}_{uuid.uuid4().hex[:8]}" for name in names]
    with psycopg.connect(server, autocommit=True) as connection:
        for name in named:
            connection.execute(f'create database "{name}"')
        try:
            yield [urlunsplit(urlsplit(server)._replace(path=f"/{name}")) for name in named]
        finally:
            for name in named:
                connection.execute(f'drop database if exists "{name}" with (force)')


def compare(n: int, questions: int, form: str) -> None:
    with tempfile.TemporaryDirectory(prefix="crux-bench-") as name:
        folder = Path(name)
        study = folder / "study"
        study.mkdir()
        write(study, n, questions, form)
        for here, other in databases(folder, ["ours", "bare"]):
            own = apart("ours", study, here)
            rows = apart("dump", folder, here)
            plain = apart("bare", folder, other)
    counted = (
        f"{rows['annotation_text']:,} passages, {rows['annotation_rating']:,} ratings ({form})"
    )
    print(f"{counted}, at most {own['peak_mb']:.0f} MB ({own['started_mb']:.0f} before it began):")
    for name, side in (("import", own), ("bare executemany", plain)):
        print(f"  {name:<16} {side['seconds']:>6.1f} s, {side['cpu']:.1f} of its own work")
    ratio = own["seconds"] / plain["seconds"]
    print(f"  ratio {ratio:.2f}, of the work {own['cpu'] / plain['cpu']:.2f}; at most {AT_MOST}:"
          f" {'yes' if ratio <= AT_MOST else 'NO'}")  # fmt: skip


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
