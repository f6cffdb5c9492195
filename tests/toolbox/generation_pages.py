"""Addresses of the pages, and writings with something to decide."""

from annotation.models import Dataset
from building.engine.choosing import baseline_of
from building.engine.fill import fill
from building.models import Product, Writing
from tests.toolbox.generation_runs import add_run, make_collection, started

ROOT = "/datasets/built/building/"
SCRIPT = "<script>alert(1)</script>"
HOSTILE_TEXT = f"{SCRIPT} & 'so' \"on\""


def a_writing(task: str = "questions", dataset: Dataset | None = None, **spec) -> Writing:
    """A finished one of the baseline, by default of two topics with ten questions each."""
    dataset = dataset or make_collection(request="What happened?" if task == "report" else "")
    if task == "report":
        add_run(dataset)
        spec.setdefault("run", "bm25")
    run = started(baseline_of(task), dataset, spec=spec)
    fill(run)
    return run


def first_of(run: Writing) -> Product:
    return Product.objects.filter(draft__order__run=run).order_by("draft__order", "position")[0]


def of(run: Writing, path: str = "") -> str:
    return f"/datasets/{run.dataset.slug}/building/writings/{run.pk}/{path}"


def check_access(cast, address: str, *, researcher: int) -> None:
    """Assert each role's status for a page of the dataset `ferry`, and 405 and 404."""
    statuses = {"admin": 200, "researcher": researcher, "worker": 403, "stranger": 302}
    for user, status in statuses.items():
        assert cast.client(user).get(address).status_code == status
    assert cast.client("admin").put(address).status_code == 405
    elsewhere = address.replace("ferry", "nowhere")
    assert cast.client("admin").get(elsewhere).status_code == 404
