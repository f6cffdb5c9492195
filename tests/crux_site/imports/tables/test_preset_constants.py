"""Constants of presets on the columns page: topic, system, rater, rubric, metrics."""

import html

import pytest

from annotation.models import Rating, Text, Topic
from tests.crux_site.imports.tables.columns_page import columns_page, table, upload
from tests.toolbox.import_previews import import_previewed

RAGAS = (
    b'{"user_input": "What drives the mill?", "response": "The stream drives it.", '
    b'"retrieved_contexts": ["The stream is behind the mill."], "faithfulness": 0.5}\n'
)
FORM = b"Timestamp,How clear is it? [Ida built it.],How clear is it? [In May.]\n2026/05/01,4,2\n"
DOCCANO = b'{"id": 1, "text": "Ida built it.", "label": ["good"], "Comments": []}\n'


def test_system_of_a_log_is_a_field(cast):
    client = cast.client("admin")
    url = upload(client, table(RAGAS, "bot.jsonl")).url
    assert 'name="constant-system"' in columns_page(client, url)
    preview = client.post(url, {"preset": "ragas", "constant-system": " bot-1 "}).url
    assert 'id="constant-system"\n      value="bot-1"' in columns_page(client, url)
    import_previewed(client, preview)
    assert Text.objects.get(kind="report").system == "bot-1"


def test_topic_and_rubric_of_a_form_are_fields(cast):
    client = cast.client("admin")
    url = upload(client, table(FORM, "form.csv")).url
    refused = client.post(url, {"preset": "google-forms"})
    assert refused.status_code == 422
    assert "Write the question that all texts are about" in refused.content.decode()
    values = {"topic.request": "Who built it?", "rubric": "clear", "levels": "1-5"}
    data = {f"constant-{role}": value for role, value in values.items()}
    import_previewed(client, client.post(url, {"preset": "google-forms"} | data).url)
    assert Topic.objects.get().request == "Who built it?"
    assert sorted(Rating.objects.values_list("rubric__slug", "grade")) == [
        ("clear", 2),
        ("clear", 4),
    ]


def test_preset_field_decides_about_duplicate_grades(cast):
    task = (
        '{{"text": "Ida.", "label": "OK", "answer": "{}", "_session_id": "kim", "_task_hash": 1}}\n'
    )
    tasks = (task.format("accept") + task.format("reject")).encode()
    client = cast.client("admin")
    url = upload(client, table(tasks, "db.jsonl")).url
    assert "the last one counts" in columns_page(client, url)
    data = {"constant-topic.request": "Who built it?", "constant-duplicates": "last"}
    import_previewed(client, client.post(url, {"preset": "prodigy"} | data).url)
    assert Rating.objects.get().grade == 0


@pytest.mark.parametrize(
    ("name", "content", "preset", "changes", "message"),
    [
        ("bot.jsonl", RAGAS, "ragas", {"rater.kind": "cat"}, "Choose one of human, model"),
        ("form.csv", FORM, "google-forms", {"levels": "1-5"}, "Name the rubric"),
        ("form.csv", FORM, "google-forms", {"rubric": "r", "levels": "x"}, "'x' are no levels"),
        ("anna.jsonl", DOCCANO, "doccano", {"topic.id": " "}, "or the id of a topic"),
    ],
)
def test_wrong_constant_is_told_beside_its_field(cast, name, content, preset, changes, message):
    client = cast.client("admin")
    url = upload(client, table(content, name)).url
    data = {f"constant-{role}": value for role, value in changes.items()}
    response = client.post(url, {"preset": preset} | data)
    assert response.status_code == 422
    page = html.unescape(response.content.decode())
    assert message in page
    assert 'aria-invalid="true"' in page
    assert client.get(url.replace("columns/", "")).url == url
