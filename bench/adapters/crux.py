"""Adapter of this site for the kit that measures annotation servers.

variant = <sqlite|pg>-granian. A task is a passage with one question under the graded rubric, assigned to all
32 workers; a submit is the answer to that question as the page's script sends it, with a span if the grade
wants one.
"""

import json
import os
import re
import shutil
import subprocess
import uuid
from pathlib import Path

from common import WORK, Adapter, Fail, client, need  # the kit's

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = ROOT / ".venv" / "bin"
PASSWORD = "pass-word-1"  # noqa: S105 - as in bench.material
PG_PORT, PG_BIN = 18155, "/usr/lib/postgresql/15/bin"  # the kit's private cluster, by its pg.sh
BY_SCRIPT = {"X-Requested-With": "fetch"}
STORED = (
    "select r.name, t.name, a.grade from annotation_answer a"
    " join annotation_assignment s on s.id = a.assignment_id"
    " join annotation_participant p on p.id = s.participant_id"
    " join annotation_rater r on r.id = p.rater_id"
    " join annotation_item i on i.id = s.item_id"
    " join annotation_text t on t.id = i.text_id"
    " where i.campaign_id = (select max(id) from annotation_campaign) order by a.id"
)


class Crux(Adapter):
    name, port = "crux", 18106
    ready_path = "/login/"
    venv = str(ROOT / ".venv")
    readme_commands = "make demo"

    def __init__(self, variant):
        super().__init__(variant)
        self.dir = str(Path(WORK).resolve() / f"crux-{variant}")
        self.database = variant.split("-")[0]
        self.assignments = {}
        self.passages = []

    def env(self):
        url = f"sqlite:///{self.dir}/crux.sqlite3"
        if self.database == "pg":
            url = f"postgres://bench:bench@127.0.0.1:{PG_PORT}/crux"
        return {
            "VAR_DIR": self.dir,
            "DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "crux_site.settings",
            "PYTHONPATH": str(ROOT),
        }

    def reset(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(self.dir)
        if self.database == "pg":
            cluster = ["-h", "127.0.0.1", "-p", str(PG_PORT), "-U", "bench", "crux"]
            env = os.environ | {"PGPASSWORD": "bench"}
            subprocess.run([f"{PG_BIN}/dropdb", "--if-exists", *cluster], env=env, check=True)
            subprocess.run([f"{PG_BIN}/createdb", *cluster], env=env, check=True)

    def init_commands(self):
        manage = [str(BIN / "python"), "manage.py"]
        return [
            ([*manage, "migrate", "-v0"], self.env(), str(ROOT)),
            ([*manage, "collectstatic", "--noinput", "-v0"], self.env(), str(ROOT)),
        ]

    def commands(self):
        granian = [str(BIN / "granian"), "--interface", "wsgi", "--host", self.host]
        granian += ["--port", str(self.port), "--workers", "2", "--blocking-threads", "8"]
        return [([*granian, "crux_site.wsgi:application"], self.env(), str(ROOT))]

    def python(self, code):
        return subprocess.run(
            [str(BIN / "python"), "-c", f"import django; django.setup()\n{code}"],
            env=os.environ | self.env(),
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    async def setup(self):
        self.python(f"from bench.material import make_people; make_people({self.n_users})")

    async def import_tasks(self, tasks):
        sent, output = Path(self.dir, "tasks.json"), Path(self.dir, "assignments.json")
        sent.write_text(json.dumps(tasks))
        self.python(
            "from pathlib import Path; from bench.material import import_pairs\n"
            f"import_pairs(Path({str(sent)!r}), Path({str(output)!r}))"
        )
        self.assignments = json.loads(output.read_text())
        self.passages = [task["passage"] for task in tasks]
        return len(self.assignments["worker0"])

    async def login(self, i):
        return {"c": await self._enter(f"worker{i}"), "i": i, "newest": {}}

    async def _enter(self, name):
        visitor = client(self.base, headers=BY_SCRIPT)
        page = need(await visitor.get("/login/"))
        [token] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[:1]
        form = {"username": name, "password": PASSWORD, "csrfmiddlewaretoken": token}
        answer = need(await visitor.post("/login/", data=form))
        if answer.url.path.startswith("/login/"):
            raise Fail("login refused")
        # The page's script sends the cookie's token along.
        visitor.headers["X-CSRFToken"] = visitor.cookies["csrftoken"]
        return visitor

    def assignment_of(self, session, task):
        return self.assignments[f"worker{session['i']}"][task]

    async def load(self, session, task):
        assignment, _ = self.assignment_of(session, task)
        need(await session["c"].get(f"/work/{assignment}/"))

    async def submit(self, session, task, value):
        assignment, question = self.assignment_of(session, task)
        key = uuid.uuid4().hex
        passage = self.passages[task]
        start = passage.index(" ", 7 * value) + 1
        end = passage.index(" ", start + 20)
        span = {"start": start, "end": end, "quote": passage[start:end]}
        form = {
            "key": key,
            "base": session["newest"].get(task, ""),
            "grade": value,
            "spans": json.dumps([span] if value else []),
            "active_ms": 1500,
        }
        # Only a 204 acknowledges: a logged-out user is redirected to a page that answers 200.
        need(
            await session["c"].post(f"/work/{assignment}/answers/{question}/", data=form),
            (204,),
        )
        session["newest"][task] = key

    async def export(self, session):
        visitor = await self._enter("rosa")
        page = need(await visitor.get("/"))
        newest = max(int(number) for number in re.findall(r"/datasets/pairs-(\d+)/", page.text))
        file = need(
            await visitor.get(f"/datasets/pairs-{newest}/exports/ratings.jsonl", timeout=300)
        )
        await visitor.aclose()
        return file.content, file.text.count("\n")

    def stored(self):
        rows = self.python(
            "from django.db import connection\n"
            "with connection.cursor() as cursor:\n"
            f"    cursor.execute({STORED!r})\n"
            "    for row in cursor: print(*row)"
        )
        ratings = [line.split() for line in rows.splitlines()]
        return [
            (int(worker.removeprefix("worker")), int(text.removeprefix("passage-")), int(grade))
            for worker, text, grade in ratings
        ]


def make(variant):
    return Crux("sqlite-granian" if variant == "default" else variant)
