"""Imports while people work: waiting for locks, and the subprocess of the page."""

import io
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from annotation.models import Answer, Campaign, Dataset, Rater
from crux_site.imports import uploads
from crux_site.imports.importing import import_dataset
from tests.toolbox import clock
from tests.toolbox.factories import make_campaign
from tests.toolbox.import_previews import import_previewed
from tests.toolbox.task_answers import answer
from tests.toolbox.threads import in_threads

DEMO = Path(__file__).resolve().parents[3] / "fixtures" / "demo"
IS_SQLITE = connection.vendor == "sqlite"


@pytest.fixture
def at_the_test_database(monkeypatch, tmp_path):
    """Processes that a test starts have its database, and put uploads below its folder."""
    config = connection.settings_dict
    server = f"{config['USER']}:{config['PASSWORD']}@{config['HOST']}:{config['PORT']}"
    url = f"sqlite:///{config['NAME']}" if IS_SQLITE else f"postgres://{server}/{config['NAME']}"
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.setenv("VAR_DIR", str(tmp_path))
    monkeypatch.setattr(uploads, "STAGING", tmp_path / "imports")


@pytest.fixture
def impatient(monkeypatch):
    if IS_SQLITE:
        connection.close()
        monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 1)
    yield
    connection.close()


def during(dataset, act, *, dry_run):
    """Return the result of `act` in another thread while an import is half done."""
    returned = []

    def once(file, lines):
        if file == "passages.jsonl" and not returned:
            returned.extend(in_threads(lambda _: act(), [None], threads=1))

    import_dataset(DEMO, dataset.slug, dry_run=dry_run, progress=once)
    return returned[0]


def arrive(client, dataset, assignment):
    """Somebody saves an answer, and somebody new becomes a rater of this dataset."""
    if not IS_SQLITE:  # who waits for the import would wait for ever: it waits for them
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '5s'")
    saved = answer(client, assignment, grade="0", HTTP_X_REQUESTED_WITH="fetch")
    if saved.status_code == 204:
        Rater.objects.create(dataset=dataset, name="newcomer", kind=Rater.Kind.HUMAN)
    return saved.status_code


@pytest.fixture
def campaign(cast, dataset) -> Campaign:
    """Seen by other connections too."""
    return make_campaign(dataset, cast.worker, cast.other_worker)


@pytest.mark.timing
@pytest.mark.parametrize("dry_run", [True, False])
def test_people_save_while_an_import_is_looked_at_or_runs(
    transactional_db, cast, dataset, assignment, impatient, dry_run
):
    client = cast.client("worker")
    client.raise_request_exception = False
    status = during(dataset, lambda: arrive(client, dataset, assignment), dry_run=dry_run)
    # SQLite has one writer. What is refused is sent again.
    assert status == (503 if IS_SQLITE and not dry_run else 204)
    assert dataset.topics.filter(name="coast-1").exists() is not dry_run
    if status == 503:
        assert arrive(client, dataset, assignment) == 204
    assert Answer.objects.count() == 1


def test_look_sees_what_is_there_and_leaves_it(transactional_db, dataset):
    first = import_dataset(DEMO, "coast")
    repeated = import_dataset(DEMO, "coast", dry_run=True)
    assert not repeated.changed
    assert repeated.totals == first.totals
    new_dataset = import_dataset(DEMO, "other", dry_run=True)
    assert new_dataset.created == first.created
    assert list(Dataset.objects.values_list("slug", flat=True)) == ["coast", dataset.slug]


def wait_for(url):
    token = url.strip("/").rpartition("/")[2]
    upload = uploads.upload_of(token)
    clock.wait_for(lambda: not upload.is_at_work)


@pytest.mark.timing
def test_page_starts_a_process_and_says_how_far_it_is(transactional_db, cast, at_the_test_database):
    client = cast.client("admin")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in DEMO.rglob("*.jsonl"):
            archive.writestr(path.relative_to(DEMO).as_posix(), path.read_bytes())
    files = [SimpleUploadedFile("demo.zip", buffer.getvalue())]
    url = client.post("/import/", {"dataset": "coast", "project": "main", "files": files}).url
    page = client.get(url).content.decode()
    assert "Reading the upload" in page
    assert f'hx-get="{url}"' in page
    part = client.get(url, HTTP_HX_REQUEST="true").content.decode()
    assert part.startswith("<section")
    client.post(url)  # nobody imports what was not looked at
    wait_for(url)
    assert client.get(url, HTTP_HX_REQUEST="true")["HX-Refresh"] == "true"
    assert "Preview of changes to coast" in client.get(url).content.decode()
    assert not Dataset.objects.exists()
    import_previewed(client, url)
    assert "Importing into coast" in client.get(url).content.decode()
    client.post(url)  # a second click
    wait_for(url)
    assert "The import into coast is done" in client.get(url).content.decode()
    assert Dataset.objects.get().topics.count() == 4
