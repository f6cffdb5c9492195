"""A site on SQLite, the real server behind a proxy that counts, and all rows of a table as they are."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.vllm.proxy import CountingProxy
from tests.vllm.site import manage
from tests.writer.server import LlamaServer

Row = dict[str, Any]


@dataclass
class Site:
    """`env` is that of its processes; their log lies in `folder`."""

    env: dict[str, str]
    server: LlamaServer
    proxy: CountingProxy
    folder: Path

    def manage(self, *words: str) -> str:
        return manage(self.env, *words)

    def table(self, name: str, **where: object) -> list[Row]:
        """The rows in which all of `where` is so, in the order of their keys."""
        path = self.env["DATABASE_URL"].removeprefix("sqlite:///")
        with closing(sqlite3.connect(path)) as connection:
            connection.row_factory = sqlite3.Row
            found = connection.execute(f"select * from {name} order by id").fetchall()  # noqa: S608
        rows = [dict(row) for row in found]
        return [row for row in rows if all(row[key] == value for key, value in where.items())]

    def newest_writing(self) -> int:
        """0 where there is none."""
        return max((row["id"] for row in self.table("building_writing")), default=0)

    def orders(self, run: int) -> list[Row]:
        return self.table("building_order", run_id=run)

    def drafts(self, run: int) -> list[Row]:
        keys = {order["id"] for order in self.orders(run)}
        return [draft for draft in self.table("building_draft") if draft["order_id"] in keys]

    def products(self, run: int) -> list[Row]:
        """With the row of their order, as `order`."""
        orders = {order["id"]: order for order in self.orders(run)}
        of_draft = {draft["id"]: orders[draft["order_id"]] for draft in self.drafts(run)}
        found = [row for row in self.table("building_product") if row["draft_id"] in of_draft]
        return [{**row, "order": of_draft[row["draft_id"]]} for row in found]

    def in_collection(self) -> tuple[int, ...]:
        """How many texts, questions and citations."""
        tables = ("annotation_text", "annotation_subquestion", "annotation_citation")
        return tuple(len(self.table(name)) for name in tables)
