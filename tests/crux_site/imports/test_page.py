"""Import in the browser: upload, look, do it."""

import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Dataset, Rating, Text, Topic
from crux_site.imports import uploads
from evaluation.models import RankedText
from tests.toolbox.import_previews import import_previewed

DEMO = Path(__file__).resolve().parents[3] / "fixtures" / "demo"


@pytest.fixture(autouse=True)
def staging(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "STAGING", tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """In this process, and waited for; test_import_process.py has the real one."""
    monkeypatch.setattr(uploads.Upload, "start", uploads.Upload.read)


def archive(change=None) -> SimpleUploadedFile:
    """The demo's folder as a .zip, with the content of some files changed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for path in sorted(DEMO.rglob("*")):
            if path.is_file():
                name = f"demo/{path.relative_to(DEMO).as_posix()}"
                file.writestr(name, (change or {}).get(path.name, path.read_bytes()))
    return SimpleUploadedFile("demo.zip", buffer.getvalue())


def upload(client, *files, **data):
    return client.post(
        "/import/",
        {"dataset": "coast", "title": "Coast", "project": "main", "files": files, **data},
    )


def test_preview_changes_nothing_and_the_import_does_it_all(cast, staging):
    client = cast.client("admin")
    preview = upload(client, archive())
    page = client.get(preview.url).content.decode()
    assert "Preview of changes to coast" in page
    assert "So far nothing is stored." in page
    assert not Dataset.objects.exists()
    assert import_previewed(client, preview.url).url == preview.url
    assert (Topic.objects.count(), Dataset.objects.get().title) == (4, "Coast")
    done = client.get(preview.url).content.decode()
    assert "The import into coast is done" in done
    assert 'href="/datasets/coast/"' in done
    assert not list(staging.glob("*/files"))  # the upload is not kept
    import_previewed(client, preview.url)
    assert Dataset.objects.count() == 1
    second_upload = upload(client, archive())
    assert "No changes to coast" in client.get(second_upload.url).content.decode()


def test_broken_file_is_named_with_line_and_field(cast):
    client = cast.client("admin")
    bad = {"topics.jsonl": b'{"id": "coast-1", "request": "x"}\n{"id": 7}\n'}
    preview = upload(client, archive(bad))
    for response in (client.get(preview.url), client.post(preview.url, follow=True)):
        assert response.status_code == 422
        page = response.content.decode()
        assert "Import refused" in page
        assert "topics.jsonl" in page
        assert '<td class="number">2</td>' in page
    assert not Dataset.objects.exists()


def test_looking_at_a_page_begins_nothing(cast, staging, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(uploads, "STAGING", staging)
    form = {"dataset": "coast", "title": "", "with_history": False, "files": [archive()]}
    staged = uploads.stage(form | {"project": "main", "by": cast.admin.pk})
    client, url = cast.client("admin"), f"/import/{staged.token}/"
    assert "Import interrupted" in client.get(url).content.decode()
    assert not staged.result
    staged.read()
    for _ in range(2):
        assert "Preview of changes to coast" in client.get(url).content.decode()
    assert not Dataset.objects.exists()


def test_single_files_go_by_their_names(cast):
    client = cast.client("admin")
    files = [
        SimpleUploadedFile(name, (DEMO / name).read_bytes())
        for name in ("topics.jsonl", "passages.jsonl")
    ]
    import_previewed(client, upload(client, *files).url)
    assert Text.objects.filter(kind="passage").count() == 29
    assert not Rating.objects.exists()


@pytest.mark.parametrize(
    ("data", "files", "message"),
    [
        ({"dataset": "no slug"}, [archive()], "valid"),
        ({}, [], "required"),
        ({}, [SimpleUploadedFile("a.zip", b"no archive")], "cannot be read"),
    ],
)
def test_bad_upload_is_refused(cast, staging, data, files, message):
    response = upload(cast.client("admin"), *files, **data)
    assert response.status_code == 422
    assert message in response.content.decode()
    assert not list(staging.iterdir())


def test_unknown_names_are_told(cast):
    client = cast.client("admin")
    preview = upload(client, SimpleUploadedFile("poems.txt", b"x"))
    page = client.get(preview.url)
    assert page.status_code == 422
    assert "known by their names" in page.content.decode()


def test_files_of_any_name_are_known_by_their_lines(cast):
    topics = SimpleUploadedFile("my-study.jsonl", b'{"id": "t-1", "request": "What of it?"}\n')
    questions = SimpleUploadedFile("a b.json", b'{"id": "t-1", "subquestions": ["Who?"]}\n')
    client = cast.client("admin")
    preview = upload(client, topics, questions)
    assert client.get(preview.url).status_code == 200
    import_previewed(client, preview.url)
    assert Topic.objects.get().questions.count() == 1


def test_ambiguous_file_is_asked_about(cast):
    passages = SimpleUploadedFile("my.jsonl", b'{"id": "d1", "contents": "It grinds."}\n')
    client = cast.client("admin")
    page = client.get(upload(client, passages).url)
    assert page.status_code == 422
    assert "passages*.jsonl, documents*.jsonl or references.jsonl" in page.content.decode()


def test_names_that_lead_out_of_the_folder_stay_inside(cast, staging):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("../../escaped.jsonl", b"{}")
        file.writestr("topics.jsonl", (DEMO / "topics.jsonl").read_bytes())
    upload(cast.client("admin"), SimpleUploadedFile("evil.zip", buffer.getvalue()))
    assert not (staging.parent / "escaped.jsonl").exists()


def test_uploads_that_nobody_wanted_are_forgotten_after_a_day(cast, staging):
    client = cast.client("admin")
    old = upload(client, archive()).url
    (folder,) = staging.iterdir()
    os.utime(folder, (0, 0))
    upload(client, archive())
    assert client.get(old).status_code == 404
    assert len(list(staging.iterdir())) == 1


def test_only_admins_import(cast):
    for account, status in (("researcher", 403), ("worker", 403), ("stranger", 302)):
        client = cast.client(account)
        assert client.get("/import/").status_code == status
        assert upload(client, archive()).status_code == status
    assert not Dataset.objects.exists()
    missing = "/import/00000000-0000-4000-8000-000000000000/"
    assert cast.client("admin").get(missing).status_code == 404
    assert cast.client("admin").delete("/import/").status_code == 405


def test_format_is_chosen_in_form(cast):
    client = cast.client("admin")
    files = {
        "corpus.jsonl": b'{"_id": "d1", "title": "The mill", "text": "It grinds."}\n',
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq1\td1\t1\n",
        "queries.jsonl": b'{"_id": "q1", "text": "Does it grind?"}\n',
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    packed = SimpleUploadedFile("other.zip", buffer.getvalue())
    preview = upload(client, packed, format="beir")
    assert "qrels/test.tsv" in client.get(preview.url).content.decode()
    import_previewed(client, preview.url)
    assert Text.objects.get().body == "The mill\nIt grinds."
    assert Rating.objects.count() == 1


def test_unknown_format_is_refused(cast, staging):
    response = upload(cast.client("admin"), archive(), format="csv")
    assert response.status_code == 422
    assert not list(staging.iterdir())


@pytest.mark.parametrize(("order", "first"), [("", "a"), ("score", "a"), ("lines", "b")])
def test_order_of_an_unsorted_run_can_be_chosen(cast, order, first):
    client = cast.client("admin")
    topics = SimpleUploadedFile("topics.jsonl", b'{"id": "t1", "request": "Why?"}\n')
    run = SimpleUploadedFile("r.run", b"t1 Q0 b 2 1 r\nt1 Q0 a 1 2 r\n")
    preview = upload(client, topics, run, run_order=order)
    assert (
        "topics of runs whose lines are not in the order of their scores"
        in client.get(preview.url).content.decode()
    )
    import_previewed(client, preview.url)
    assert RankedText.objects.get(rank=1).text.name == first


def test_order_that_there_is_not_is_refused(cast):
    response = upload(cast.client("admin"), archive(), run_order="rank")
    assert response.status_code == 422
    assert "rank is not one of the available choices" in response.content.decode()


def test_answers_left_out_of_a_tool_are_listed_and_downloaded(cast):
    """Before and after the import; other users cannot see them; other endings give 404."""
    client = cast.client("admin")
    import_previewed(client, upload(client, archive()).url)
    text = Text.objects.filter(kind="passage", topic__isnull=False).first()
    pair = {"pair": f"{text.topic.name}/0/passage//{text.name}"}
    result = {"type": "choices", "from_name": "graded", "value": {"choices": ["4"]}}
    tasks = [
        {
            "id": n,
            "data": data,
            "annotations": [{"id": n * 10, "completed_by": by, "result": [result]}],
        }
        for n, (data, by) in enumerate([(pair, 3), (pair, None), ({}, 4)], start=1)
    ]
    export = SimpleUploadedFile("export.json", json.dumps(tasks).encode())
    preview = upload(client, export, format="label-studio", repeated="newest")
    for _ in range(2):
        page = client.get(preview.url).content.decode()
        assert "Rows left out" in page
        assert "annotations of no account: no row" in page
        answers = client.get(f"{preview.url}left-out.json").json()
        assert [(answer["task"], answer["annotation"]) for answer in answers] == [
            ("2", "20"),
            ("3", "30"),
        ]
        table = client.get(f"{preview.url}left-out.csv")
        assert table["Content-Disposition"] == 'attachment; filename="coast-left-out.csv"'
        assert (
            table.content.decode().splitlines()[0]
            == "file,line,item,kind,task,annotation,person,field,reason"
        )
        import_previewed(client, preview.url)
    assert client.get(f"{preview.url}left-out.xml").status_code == 404
    assert client.post(f"{preview.url}left-out.csv").status_code == 405
    assert cast.client("researcher").get(f"{preview.url}left-out.csv").status_code == 404
    assert cast.client("stranger").get(f"{preview.url}left-out.csv").status_code == 302
    missing = "/import/00000000-0000-4000-8000-000000000000/left-out.csv"
    assert client.get(missing).status_code == 404


def test_unknown_treatment_of_two_answers_is_refused(cast):
    response = upload(cast.client("admin"), archive(), repeated="oldest")
    assert response.status_code == 422
