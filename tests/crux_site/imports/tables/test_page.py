"""Import of tables in the browser: upload, columns, preview, import."""

import io
import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.formats.tables.guess import guess_mapping
from annotation.models import (
    Dataset,
    Project,
    ProjectEntry,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    Topic,
)
from crux_site.imports.table_views import TEMPLATE_FOLDER
from crux_site.imports.tables import stored_contents
from tests.crux_site.imports.tables.columns_page import (
    GRADES,
    columns_page,
    fields,
    post,
    table,
    upload,
)
from tests.toolbox.import_previews import import_previewed


def test_table_is_uploaded_mapped_previewed_and_imported(cast, staging):
    client = cast.client("admin")
    url = upload(client, table()).url
    assert url.endswith("/columns/")
    page = columns_page(client, url)
    assert "grades.csv" in page
    assert "The stream drives the wheel of the mill." in page
    form = fields(page)
    assert form["t0-c0-role"] == "topic.id"
    assert form["t0-c5-role"] == "grade"
    assert form["t0-c6-role"] == ""
    assert form["rubric-score-levels"] == "1-5"
    preview = client.post(
        url, form | {"rubric-score-levels": "0-5", "rubric-score-eta": "3", "action": "preview"}
    )
    content = client.get(preview.url).content.decode()
    assert "Preview of changes to mill" in content
    assert "Change the columns" in content
    assert not Dataset.objects.exists()
    import_previewed(client, preview.url)
    assert (Topic.objects.count(), Text.objects.count(), Rating.objects.count()) == (1, 2, 3)
    rubric = Rubric.objects.get(slug="score")
    assert (list(rubric.grades()), rubric.eta) == ([0, 1, 2, 3, 4, 5], 3)
    assert not list(staging.glob("*/files"))
    assert client.get(url).url == preview.url
    assert "is done" in client.get(preview.url).content.decode()
    entry = ProjectEntry.objects.get(action="imported")
    assert entry.rows["mapping"]["tables"][0]["columns"]["score"]["role"] == "grade"


def test_pasted_table_is_read(cast):
    client = cast.client("admin")
    url = upload(client, pasted=GRADES.decode().replace(",", "\t")).url
    page = columns_page(client, url)
    assert "pasted.tsv" in page
    import_previewed(client, post(client, url, page).url)
    assert Rating.objects.count() == 3


def test_pasted_cell_with_a_line_break_is_one_cell(cast):
    client = cast.client("admin")
    pasted = 'topic_id\trequest\r\nt1\t"What drives\r\nthe mill?"\r\n'
    url = upload(client, pasted=pasted).url
    import_previewed(client, post(client, url, columns_page(client, url)).url)
    assert Topic.objects.get().request == "What drives the mill?"


def test_pasted_table_and_file_are_read_together(cast):
    client = cast.client("admin")
    url = upload(
        client, table(b"topic_id,request\nt1,Why?\n", "a.csv"), pasted="qid\tquery\nt2\tHow?"
    )
    page = columns_page(client, url.url)
    assert "a.csv" in page
    assert "pasted.tsv" in page


def test_too_large_pasted_table_is_refused_with_the_reason(cast, staging):
    response = upload(cast.client("admin"), pasted="a,b\n" * 700_000)
    assert response.status_code == 413
    assert "Send it as a file instead" in response.content.decode()
    assert not list(staging.iterdir())


def test_too_many_files_are_refused_with_the_reason(cast, staging):
    response = upload(cast.client("admin"), *(table(name=f"{n}.csv") for n in range(201)))
    assert response.status_code == 413
    assert "Pack them as one .zip." in response.content.decode()


def test_neither_file_nor_pasted_table_is_refused(cast, staging):
    response = upload(cast.client("admin"))
    assert response.status_code == 422
    assert "Choose a file, or paste a table." in response.content.decode()
    assert not list(staging.iterdir())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("picture.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00", "picture.png"),
        ("empty.json", b"{}", "empty.json"),
        ("header.csv", b"question,answer\n", "has no row below a header"),
        ("old.xls", b"\xd0\xcf\x11\xe0", "save it as .xlsx or CSV"),
        ("broken.jsonl", b"{no json\n", "broken.jsonl"),
    ],
)
def test_file_that_is_no_table_is_refused_and_nothing_is_kept(
    cast, staging, name, content, message
):
    response = upload(cast.client("admin"), table(content, name))
    assert response.status_code == 422
    page = response.content.decode()
    assert message in page
    assert "Nothing was stored." in page
    assert not list(staging.iterdir())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t0-c0-role": "nonsense"}, "“qid”: there is no such role."),
        (
            {"t0-c6-role": "topic.id"},
            "“qid” is “topic: id” already. Choose another role for “flag”.",
        ),
        ({"t0-c6-role": "?"}, "Choose what “flag” is."),
        ({"t0-c4-role": ""}, "Write who gave the grades"),
        ({"t0-constant-rubric": ""}, "Choose the rubric of the grades"),
        ({"t0-c0-role": "", "t0-c1-role": ""}, "No column is a topic."),
        ({"t0-constant-text.kind": "poem"}, "Choose one of passage"),
        ({"rubric-score-custom": "many"}, "are no levels"),
        ({"rubric-score-eta": "9"}, "no grade of the scale"),
        ({f"t0-c{n}-role": "" for n in range(7)}, "No column is read."),
    ],
)
def test_wrong_choice_is_told_beside_its_field(cast, changes, message):
    client = cast.client("admin")
    url = upload(client, table()).url
    response = client.post(url, fields(columns_page(client, url)) | changes | {"action": "preview"})
    assert response.status_code == 422
    assert message in response.content.decode()
    assert client.get(url.replace("columns/", "")).url == url


def test_new_rubric_is_made_from_the_values_and_asked(cast):
    client = cast.client("admin")
    url = upload(client, table()).url
    form = fields(columns_page(client, url))
    preview = client.post(url, form | {"t0-constant-rubric": "graded"})
    assert "Preview of changes" in client.get(preview.url).content.decode()
    page = columns_page(client, url)
    assert "New rubrics" not in page
    response = client.post(url, fields(page) | {"t0-constant-rubric": "+"})
    assert response.url == url
    page = columns_page(client, url)
    assert fields(page)["rubric-score-levels"] == "1-5"
    assert '<option value="score" selected>score (new)</option>' in page


def test_words_get_numbers_and_an_order(cast):
    content = (
        b"question,passage,annotator,tone\n"
        b"What drives the mill?,The stream drives the wheel of it.,anna,warm\n"
        b"What drives the mill?,The miller sells flour on Saturdays.,anna,cold\n"
    )
    client = cast.client("admin")
    url = upload(client, table(content)).url
    form = fields(columns_page(client, url))
    form |= {"t0-c3-role": "grade", "t0-constant-rubric": "+", "t0-constant-rater.kind": ""}
    assert client.post(url, form).url == url
    form = fields(columns_page(client, url))
    assert form["rubric-tone-scale"] == "nominal"
    assert client.post(url, form | {"rubric-tone-word0": "x"}).status_code == 422
    choices = {"rubric-tone-word0": "0", "rubric-tone-word1": "2", "rubric-tone-scale": "ordinal"}
    import_previewed(client, client.post(url, form | choices | {"rubric-tone-eta": "2"}).url)
    rubric = Rubric.objects.get(slug="tone")
    assert (rubric.scale, rubric.eta, list(rubric.grades())) == ("ordinal", 2, [0, 2])


def test_mapping_is_downloaded_and_used_again(cast):
    client = cast.client("admin")
    url = upload(client, table()).url
    form = fields(columns_page(client, url)) | {"t0-c6-role": "comment", "action": "download"}
    target = client.post(url, form)
    assert target.url.endswith("/mapping.json")
    downloaded = client.get(target.url)
    assert downloaded["Content-Type"] == "application/json"
    assert downloaded["Content-Disposition"] == 'attachment; filename="mapping.json"'
    assert downloaded.json()["tables"][0]["columns"]["flag"] == "comment"
    second_url = upload(client, table()).url
    assert fields(columns_page(client, second_url))["t0-c6-role"] == ""
    used = client.post(second_url, {"action": "use", "mapping": io.BytesIO(downloaded.content)})
    assert used.url == second_url
    assert fields(columns_page(client, second_url))["t0-c6-role"] == "comment"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no json", "is broken JSON"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (b"[]", "mapping.json"),
        (b'{"tables": [{"columns": {"nowhere": "grade"}}]}', "has no column"),
        (b'{"tables": [{"columns": {"score": "grads"}}]}', "there is no role"),
        (b'{"tables": [{"file": "x.csv", "columns": {}}]}', "no file is called x.csv"),
    ],
)
def test_wrong_mapping_file_is_refused(cast, content, message):
    client = cast.client("admin")
    url = upload(client, table()).url
    mapping = SimpleUploadedFile("mapping.json", content)
    response = client.post(url, {"action": "use", "mapping": mapping})
    assert response.status_code == 422
    assert message in response.content.decode()
    assert fields(columns_page(client, url))["t0-c0-role"] == "topic.id"


def test_mapping_of_an_earlier_import_is_offered(cast):
    client = cast.client("admin")
    url = upload(client, table()).url
    form = fields(columns_page(client, url)) | {"t0-c6-role": "comment", "action": "preview"}
    import_previewed(client, client.post(url, form).url)
    entry = ProjectEntry.objects.get(action="imported")
    later = upload(client, table(GRADES.replace(b"ben,4", b"carl,3"), "june.csv")).url
    page = columns_page(client, later)
    assert f"Use the mapping of {entry.at:%Y-%m-%d}" in page
    assert client.post(later, {"earlier": entry.pk}).url == later
    page = columns_page(client, later)
    assert fields(page)["t0-c6-role"] == "comment"
    import_previewed(client, post(client, later, page).url)
    assert Rating.objects.filter(rater__name="carl").count() == 1
    assert client.post(later, {"earlier": entry.pk}).status_code == 302
    foreign = upload(client, table(b"a,b\nx,y\n", "other.csv")).url
    assert "Use the mapping of" not in columns_page(client, foreign)
    assert client.post(foreign, {"earlier": entry.pk}).status_code == 422


def test_recognised_tool_is_imported_by_its_preset(cast):
    content = (
        b'{"user_input": "What drives the mill?", "response": "The stream drives it.", '
        b'"retrieved_contexts": ["The stream is behind the mill."], "faithfulness": 0.5}\n'
    )
    client = cast.client("admin")
    url = upload(client, table(content, "bot.jsonl")).url
    assert "This looks like Ragas" in columns_page(client, url)
    assert client.post(url, {"preset": "nonsense"}).status_code == 422
    preview = client.post(url, {"preset": "ragas"})
    assert "Preview of changes to mill" in client.get(preview.url).content.decode()
    import_previewed(client, preview.url)
    assert Text.objects.get(kind="report").system == "bot"


def test_tool_files_without_a_table_are_imported_by_the_preset(cast):
    other_arrays = b'"other": [{"a": 1}], "third": [{"a": 1}]}'
    content = (
        b'{"results": {"results": [{"vars": {"question": "What drives the mill?"}, '
        b'"response": {"output": "The stream drives it."}, "success": true}]}, ' + other_arrays
    )
    client = cast.client("admin")
    url = upload(client, table(content, "results.json")).url
    page = columns_page(client, url)
    assert "Preview as promptfoo" in page
    assert "results.json has several arrays" in page
    assert client.post(url, {"preset": "promptfoo"}).url == url.replace("columns/", "")
    assert client.get(url.replace("columns/", "mapping.json")).json()["tables"] == []


def test_rubric_of_one_level_keeps_it(cast):
    mapping = {
        "tables": [
            {
                "columns": {
                    "question": "topic.request",
                    "passage": "text.body",
                    "score": "grade",
                    "annotator": "rater",
                },
                "constants": {"rubric": "only"},
            }
        ],
        "rubrics": {"only": {"levels": [5]}},
    }
    client = cast.client("admin")
    url = upload(client, table()).url
    file = SimpleUploadedFile("mapping.json", json.dumps(mapping).encode())
    assert client.post(url, {"action": "use", "mapping": file}).url == url
    page = columns_page(client, url)
    assert fields(page)["rubric-only-levels"] == "5"
    post(client, url, page)
    saved = client.get(url.replace("columns/", "mapping.json")).json()
    assert saved["rubrics"]["only"]["levels"] == [5]


def test_sheets_of_a_workbook_are_tables_of_their_own(cast):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Ratings"
    rows = [line.split(",") for line in GRADES.decode().splitlines()]
    for number, row in enumerate(rows):
        book.active.append([*row[:5], int(row[5]) if number else row[5]])
    notes = book.create_sheet("Read me")
    notes.append(["Author", "Year"])
    notes.append(["M. Okafor", 2026])
    buffer = io.BytesIO()
    book.save(buffer)
    client = cast.client("admin")
    url = upload(client, table(buffer.getvalue(), "grades.xlsx")).url
    page = columns_page(client, url)
    assert "grades.xlsx: Ratings" in page
    assert "grades.xlsx: Read me" in page
    form = fields(page) | {"action": "preview"}
    form.pop("t1-read")
    import_previewed(client, client.post(url, form).url)
    assert Rating.objects.count() == 3


def test_several_files_are_read_or_left_out(cast):
    topics = b"qid,question\nt1,What drives the mill?\n"
    client = cast.client("admin")
    url = upload(client, table(), table(topics, "topics.csv")).url
    form = fields(columns_page(client, url))
    assert form["t0-read"] == form["t1-read"] == "on"
    del form["t1-read"]
    preview = client.post(url, form | {"action": "preview"})
    assert "Preview of changes" in client.get(preview.url).content.decode()
    form = fields(columns_page(client, url))
    assert "t1-read" not in form
    assert "t1-c0-role" in form


def test_unknown_names_of_other_formats_lead_to_the_columns(cast):
    client = cast.client("admin")
    data = {"dataset": "mill", "title": "", "project": "main", "files": [table()]}
    preview = client.post("/import/", data)
    page = client.get(preview.url).content.decode()
    assert "no file that can be read" in page
    url = f"{preview.url}columns/"
    assert f'These files look like tables:\n          <a href="{url}">' in page
    import_previewed(client, post(client, url, columns_page(client, url)).url)
    assert Rating.objects.count() == 3


def test_refused_table_leads_back_to_its_columns(cast):
    client = cast.client("admin")
    url = upload(client, table(GRADES.replace(b"ben,4", b"ben,4.5"))).url
    page = columns_page(client, url)
    changes = {"t0-c5-role": "grade", "t0-constant-rubric": "graded", "action": "preview"}
    preview = client.post(url, fields(page) | changes)
    response = client.get(preview.url)
    assert response.status_code == 422
    assert f'href="{url}">Change the columns' in response.content.decode()
    assert not Dataset.objects.exists()


@pytest.mark.parametrize("name", sorted(path.name for path in TEMPLATE_FOLDER.iterdir()))
def test_template_is_downloaded_and_imported_as_it_is(cast, name):
    client = cast.client("admin")
    assert f'href="/import/templates/{name}"' in client.get("/import/").content.decode()
    response = client.get(f"/import/templates/{name}")
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    guess = guess_mapping([TEMPLATE_FOLDER / name], stored_contents(None).rubrics, {})
    assert guess.questions == []
    url = upload(client, table(response.content, name)).url
    preview = post(client, url, columns_page(client, url))
    assert "Preview of changes to mill" in client.get(preview.url).content.decode()
    import_previewed(client, preview.url)
    assert Text.objects.exists()
    assert Rating.objects.exists() is (name not in ("rag-log.csv", "tutorial-ragas.csv"))


def test_workbook_is_downloaded_and_imported_as_it_is(cast, tmp_path):
    client = cast.client("admin")
    assert 'href="/import/templates/study.xlsx"' in client.get("/import/").content.decode()
    response = client.get("/import/templates/study.xlsx")
    assert response["Content-Disposition"] == 'attachment; filename="study.xlsx"'
    path = tmp_path / "study.xlsx"
    path.write_bytes(response.content)
    guess = guess_mapping([path], stored_contents(None).rubrics, {})
    assert guess.questions == []
    url = upload(client, table(response.content, "study.xlsx")).url
    preview = post(client, url, columns_page(client, url))
    assert "Preview of changes to mill" in client.get(preview.url).content.decode()
    import_previewed(client, preview.url)
    assert (Topic.objects.count(), SubQuestion.objects.count()) == (2, 3)
    assert Text.objects.filter(kind="passage").count() == 3
    assert Text.objects.get(kind="report").system == "bot-1"
    assert Rating.objects.count() == 5


def test_only_owners_of_the_project_see_the_upload(cast):
    client = cast.client("admin")
    url = upload(client, table()).url
    mapping = url.replace("columns/", "mapping.json")
    for account, status in (("researcher", 404), ("worker", 403), ("stranger", 302)):
        visitor = cast.client(account)
        assert visitor.get(url).status_code == status
        assert visitor.post(url, {"action": "preview"}).status_code == status
        assert visitor.get(mapping).status_code == status
    for account, status in (("researcher", 403), ("worker", 403), ("stranger", 302)):
        assert upload(cast.client(account), table()).status_code == status
    missing = "/import/00000000-0000-4000-8000-000000000000/"
    assert client.get(f"{missing}columns/").status_code == 404
    assert client.get(f"{missing}mapping.json").status_code == 404


def test_owner_imports_into_own_project_alone(cast):
    project = Project.objects.create(slug="coast", title="Coast")
    project.memberships.create(user=cast.researcher, role="owner")
    client = cast.client("researcher")
    assert upload(client, table()).status_code == 422
    url = upload(client, table(), project="coast").url
    import_previewed(client, post(client, url, columns_page(client, url)).url)
    assert Dataset.objects.get().project == project


def test_wrong_methods_and_names_are_refused(cast):
    client = cast.client("admin")
    url = upload(client, table()).url
    assert client.get("/import/table/").url == "/import/"
    assert client.delete("/import/table/").status_code == 405
    assert client.delete(url).status_code == 405
    assert client.post(url.replace("columns/", "mapping.json")).status_code == 405
    assert client.post("/import/templates/long.csv").status_code == 405
    assert client.get("/import/templates/../urls.py").status_code == 404
    assert client.get("/import/templates/other.csv").status_code == 404
    assert json.loads(client.get(url.replace("columns/", "mapping.json")).content)["version"] == 1


def test_import_is_of_the_columns_that_were_previewed(cast):
    client = cast.client("admin")
    url = upload(client, table()).url
    form = fields(columns_page(client, url)) | {"action": "preview"}
    preview = client.post(url, form).url
    first_page = client.get(preview).content.decode()
    digest = re.search(r'name="digest" value="([^"]+)"', first_page)[1]
    client.post(url, form | {"t0-c6-role": "comment"})  # in another tab
    client.post(preview, {"digest": digest})
    assert not Dataset.objects.exists()
    page = client.get(preview).content.decode()
    assert "Nothing was imported: other columns were chosen" in page
    assert digest not in page
    client.post(preview)  # of a page that shows no preview
    assert not Dataset.objects.exists()
    import_previewed(client, preview)
    entry = ProjectEntry.objects.get(action="imported")
    assert entry.rows["mapping"]["tables"][0]["columns"]["flag"]["role"] == "comment"


def test_import_is_of_the_files_that_were_previewed(cast, staging):
    client = cast.client("admin")
    url = upload(client, table()).url
    preview = post(client, url, columns_page(client, url)).url
    page = client.get(preview).content.decode()
    digest = re.search(r'name="digest" value="([^"]+)"', page)[1]
    (file,) = staging.glob("*/files/grades.csv")
    file.write_bytes(GRADES.replace(b"ben,4", b"ben,5"))
    client.post(preview, {"digest": digest})
    assert not Dataset.objects.exists()
    import_previewed(client, preview)
    assert Rating.objects.get(rater__name="ben").grade == 5


def test_many_files_are_previewed(cast, staging):
    client = cast.client("admin")
    rows = "question,passage,grade\nWhy is that so {n}?,It is so for a reason.,1\n"
    files = [table(rows.format(n=n).encode(), f"person-{n}.csv") for n in range(40)]
    url = upload(client, *files).url
    assert post(client, url, columns_page(client, url)).status_code != 400


def test_table_with_hundreds_of_raters_is_previewed(cast, staging):
    client = cast.client("admin")
    names = [f"rater-{n}" for n in range(320)]
    lines = [["question", "passage", *names], ["Why?", "For a reason.", *("1" for _ in names)]]
    lines.append(["How?", "In that way.", *("0" for _ in names)])
    url = upload(client, table("\n".join(map(",".join, lines)).encode())).url
    preview = post(client, url, columns_page(client, url))
    import_previewed(client, preview.url)
    assert Rating.objects.count() == 640
