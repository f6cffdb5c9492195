"""Import of tables over the API: the rights, answers and errors of an import."""

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from annotation.models import (
    ApiToken,
    Dataset,
    Membership,
    Project,
    ProjectEntry,
    Rating,
    Text,
    Topic,
    User,
)
from crux_site.api import tables
from crux_site.imports.tables import import_tables
from tests.toolbox.concurrent_clients import at_once
from tests.toolbox.factories import make_dataset

URL = "/api/v1/datasets/ferry/tables/"
GRADES = (
    "qid,question,doc_id,passage,annotator,score\n"
    "t1,What drives the mill?,d1,The stream drives the wheel.,anna,5\n"
    "t1,What drives the mill?,d2,The miller sells flour.,anna,2\n"
)
MAPPING = {
    "tables": [
        {
            "columns": {
                "qid": "topic.id",
                "question": "topic.request",
                "doc_id": "text.id",
                "passage": "text.body",
                "annotator": "rater",
                "score": "grade",
            },
            "constants": {"rubric": "graded"},
        }
    ]
}


def table(content=GRADES, name="grades.csv"):
    return SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)


def send(client, *files, **fields):
    return client.post(URL, {"files": [*files], **fields}, format="multipart")


@pytest.fixture
def owner(api, cast, dataset):
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    return api("researcher")


def test_owner_imports_by_a_mapping_and_can_undo_it(owner, cast):
    before = list(Text.objects.values())
    answer = send(owner, table(), mapping=json.dumps(MAPPING))
    assert answer.status_code == 200
    body = answer.json()
    assert (body["dataset"], body["changed"], body["dry_run"]) == ("ferry", True, False)
    assert body["created"]["ratings"] == 2
    assert Rating.objects.count() == 2
    entry = ProjectEntry.objects.get()
    assert (entry.action, entry.by) == ("imported", cast.researcher)
    assert entry.rows["mapping"]["tables"][0]["columns"]["score"]["role"] == "grade"
    repeated = send(owner, table(), mapping=json.dumps(MAPPING)).json()
    assert (repeated["changed"], repeated["created"]) == (False, {})
    client = cast.client("researcher")
    client.post(f"/datasets/ferry/history/{entry.pk}/undo/", {"act": "remove"})
    assert list(Text.objects.values()) == before


def test_answer_is_that_of_the_command(owner, dataset, tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text(GRADES)
    mapping = tables.read_mapping(json.dumps(MAPPING))
    expected = import_tables([path], "ferry", mapping=mapping, dry_run=True).as_dict()
    answer = send(owner, table(), mapping=json.dumps(MAPPING), dry_run="true").json()
    assert answer | {"seconds": 0} == expected | {"seconds": 0}
    assert not Rating.objects.exists()
    assert not ProjectEntry.objects.exists()


def test_columns_are_guessed_without_a_mapping(owner):
    content = "topic_id,request\nmill-1,What drives the mill?\n"
    assert send(owner, table(content)).json()["created"]["topics"] == 1


def test_open_questions_of_a_guess_are_errors(owner):
    answer = send(owner, table())
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == ["mapping"] * 2
    assert "What is the scale?" in answer.json()["detail"]
    assert not Topic.objects.filter(name="t1").exists()


def test_constants_answer_for_a_preset(owner):
    row = {"user_input": "What drives it?", "response": "The stream.", "retrieved_contexts": []}
    content = json.dumps(row) + "\n"
    answer = send(owner, table(content, "r.jsonl"), preset="ragas", constants='{"system": "bot"}')
    assert answer.status_code == 200, answer.json()
    assert Text.objects.get(system="bot").body == "The stream."


def test_archive_is_unpacked(owner):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("grades.csv", GRADES)
    answer = send(owner, table(buffer.getvalue(), "all.zip"), mapping=json.dumps(MAPPING))
    assert answer.json()["created"]["ratings"] == 2


@pytest.mark.parametrize(
    ("files", "fields", "status", "field", "message"),
    [
        ([], {}, 400, "files", "required"),
        ([table()], {"maping": "{}"}, 400, "maping", "There is no field of this name."),
        ([table()], {"preset": "excel"}, 400, "preset", "not a valid choice"),
        ([table()], {"dry_run": "perhaps"}, 400, "dry_run", "Must be a valid boolean"),
        ([table()], {"mapping": table("{}", "m.json")}, 400, "mapping", "mapping=<mapping.json"),
        ([table()], {"mapping": "{"}, 422, "mapping", "is broken JSON"),
        ([table()], {"mapping": "[" * 100_000}, 422, "mapping", "is broken JSON"),
        ([table()], {"mapping": '{"tables": []}'}, 422, "mapping", "tables"),
        (
            [table()],
            {"mapping": json.dumps(MAPPING), "preset": "ragas"},
            422,
            "preset",
            "send one of them",
        ),
        ([table()], {"constants": "[1]"}, 422, "constants", "must be a JSON object"),
        ([table()], {"constants": '{"a": 1}'}, 422, "constants", "must be a JSON object"),
        ([table()], {"constants": "{"}, 422, "constants", "is broken JSON"),
        ([table(b"", "empty.csv")], {}, 422, "", "empty.csv"),
        ([table(b"PK\x03\x04", "a.zip")], {}, 422, "files", "a.zip"),
        ([table(), table()], {}, 422, "files", "grades.csv"),
        ([table(b"\x89PNG\r\n\x1a\n\x00\x00", "a.png")], {}, 422, "", "a.png"),
        (
            [table(GRADES.replace(",5\n", ",7\n"))],
            {"mapping": json.dumps(MAPPING)},
            422,
            "score (grade)",
            "grades.csv:2: ",
        ),
    ],
)
def test_wrong_request_is_refused_and_nothing_stored(owner, files, fields, status, field, message):
    for file in files:
        file.seek(0)
    answer = send(owner, *files, **fields)
    assert answer.status_code == status, answer.json()
    error = answer.json()["errors"][0]
    assert error["field"].startswith(field)
    assert message in error["message"]
    assert not Topic.objects.filter(name="t1").exists()
    assert not ProjectEntry.objects.exists()


def test_too_large_files_are_refused(owner, monkeypatch):
    monkeypatch.setattr(tables, "MAX_MEGABYTES", 0)
    answer = send(owner, table())
    assert (answer.status_code, answer.json()["errors"]) == (413, [])
    assert "import them in the browser" in answer.json()["detail"]


def test_too_many_files_are_refused(owner):
    files = [table("a,b\n1,2\n", f"{number}.csv") for number in range(tables.MAX_FILES + 1)]
    answer = send(owner, *files)
    assert (answer.status_code, answer.json()["detail"]) == (400, "has too many fields or files")


def test_json_is_no_form(owner):
    answer = owner.post(URL, {"mapping": {}}, format="json")
    assert answer.status_code == 415


@pytest.mark.parametrize("role", ["viewer", "researcher", "coordinator"])
def test_other_members_are_refused(api, cast, dataset, role):
    Membership.objects.filter(user=cast.researcher).update(role=role)
    answer = send(api("researcher"), table(), mapping=json.dumps(MAPPING))
    assert answer.status_code == 403
    assert answer.json()["detail"] == "Only owners of the project may import into its datasets."
    assert not Rating.objects.exists()


def test_dataset_of_another_project_is_not_found(owner, dataset):
    other_project = Project.objects.create(slug="other", title="Other")
    Dataset.objects.update(project=other_project)
    answer = send(owner, table(), mapping=json.dumps(MAPPING))
    assert answer.status_code == 404
    assert not Rating.objects.exists()


def test_admin_imports_and_missing_dataset_is_not_found(api, dataset):
    admin = api("admin")
    assert send(admin, table(), mapping=json.dumps(MAPPING)).status_code == 200
    missing = admin.post("/api/v1/datasets/nowhere/tables/", {"files": [table()]})
    assert missing.status_code == 404
    assert not Dataset.objects.filter(slug="nowhere").exists()


def test_two_clients_import_the_same_topics_once(transactional_db):
    make_dataset()
    user = User.objects.create_user("ada", password="pass-word-1", role="admin")
    key = ApiToken.objects.make(user, "two programs")

    def post():
        client = APIClient(HTTP_AUTHORIZATION=f"Token {key}")
        return send(client, table(), mapping=json.dumps(MAPPING))

    outcomes = at_once(post, post, after_reading=Project)
    assert [outcome.status for outcome in outcomes] == [200, 200]
    assert sorted(outcome.value.json()["changed"] for outcome in outcomes) == [False, True]
    assert Topic.objects.filter(name="t1").count() == 1
    assert ProjectEntry.objects.count() == 1
