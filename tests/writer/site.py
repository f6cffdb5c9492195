"""A site on SQLite, a counting proxy before the real server, and raw table rows."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.toolbox.counting_proxy import CountingProxy
from tests.toolbox.empty_site import manage
from tests.writer.server import LlamaServer

Row = dict[str, Any]


@dataclass
class Site:
    """`env` is that of its processes; their log lies in `folder`."""

    env: dict[str, str]
    server: LlamaServer
    proxy: CountingProxy
    folder: Path

    def manage(self, *arguments: str) -> str:
        return manage(self.env, *arguments)

    def table(self, name: str, **conditions: object) -> list[Row]:
        """Return the rows that match all `conditions`, in key order."""
        path = self.env["DATABASE_URL"].removeprefix("sqlite:///")
        with closing(sqlite3.connect(path)) as connection:
            connection.row_factory = sqlite3.Row
            records = connection.execute(f"select * from {name} order by id").fetchall()  # noqa: S608
        rows = [dict(row) for row in records]
        return [row for row in rows if all(row[key] == value for key, value in conditions.items())]

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
        products = [row for row in self.table("building_product") if row["draft_id"] in of_draft]
        return [{**row, "order": of_draft[row["draft_id"]]} for row in products]

    def in_collection(self) -> tuple[int, ...]:
        """Count texts, questions and citations."""
        tables = ("annotation_text", "annotation_subquestion", "annotation_citation")
        return tuple(len(self.table(name)) for name in tables)
