"""datasets/<slug>/add/<kind>/: owners add topics, sub-questions and texts by hand."""

import pytest

from annotation.models import (
    Dataset,
    Membership,
    Project,
    ProjectEntry,
    SubQuestion,
    Text,
    Topic,
    User,
)
from crux_site.additions import views
from crux_site.imports.importing import import_dataset
from evaluation.data.cache import data_version
from tests.toolbox.concurrent_clients import at_once
from tests.toolbox.factories import make_dataset
from tests.toolbox.import_study import write
from tests.toolbox.responses import text_of_page
from tests.toolbox.users import Cast, make_cast

TOPIC = "/datasets/ferry/add/topic/"
QUESTION = "/datasets/ferry/add/question/"
TEXT = "/datasets/ferry/add/text/"
BODY = "The mill stopped.\r\nThe stream was dry."


@pytest.fixture
def cast(db) -> Cast:
    cast = make_cast()
    make_dataset()
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    return cast


@pytest.fixture
def owner(cast):
    return cast.client("researcher")


def undo_last(client):
    entry = ProjectEntry.objects.filter(action="added").first()
    return client.post(f"/datasets/ferry/history/{entry.pk}/undo/", {"act": "remove"})


def rows():
    return [
        list(model.objects.order_by("pk").values_list()) for model in (Topic, SubQuestion, Text)
    ]


def test_topic_is_added_logged_and_undone(owner, cast):
    before, version = rows(), data_version(Dataset.objects.get())
    sent = {"topic": " Mill:  one", "request": "What drives\r\nthe  mill?"}
    response = owner.post(TOPIC, sent, follow=True)
    assert response.redirect_chain == [(f"{QUESTION}?topic=Mill--one", 302)]
    assert "Added: topic Mill--one." in text_of_page(response)
    topic = Topic.objects.last()
    assert (topic.name, topic.request, topic.position) == (
        "Mill--one",
        "What drives the mill?",
        1,
    )
    assert not topic.questions.exists()
    assert data_version(Dataset.objects.get()) != version
    entry = ProjectEntry.objects.get()
    assert (entry.action, entry.detail, entry.by) == ("added", "topic Mill--one", cast.researcher)
    assert "added: topic Mill--one" in text_of_page(owner.get("/datasets/ferry/history/"))
    page = text_of_page(owner.get(f"/datasets/ferry/history/{entry.pk}/undo/"))
    assert "Undo the addition" in page
    response = undo_last(owner)
    assert response.status_code == 302
    assert rows() == before
    assert ProjectEntry.objects.first().action == "undid the addition"


def test_sub_question_comes_after_the_others_and_is_undone(owner):
    before = rows()
    response = owner.post(QUESTION, {"topic": "ferry-1", "question": " Who  paid? "}, follow=True)
    page = text_of_page(response)
    assert "Added: sub-question of ferry-1." in page
    assert "Who paid?" in page
    question = SubQuestion.objects.last()
    assert (question.body, question.position, question.filtered_because) == ("Who paid?", 4, "")
    assert undo_last(owner).status_code == 302
    assert rows() == before


def test_earlier_sub_question_is_undone_after_the_later_one(owner):
    for question in ("Who paid?", "Who was paid?"):
        owner.post(QUESTION, {"topic": "ferry-1", "question": question})
    first = ProjectEntry.objects.last()
    response = owner.post(f"/datasets/ferry/history/{first.pk}/undo/", {"act": "remove"})
    assert "Topic ferry-1: 1 later sub-questions" in text_of_page(response)
    assert SubQuestion.objects.filter(body="Who paid?").exists()
    undo_last(owner)
    owner.post(f"/datasets/ferry/history/{first.pk}/undo/", {"act": "remove"})
    assert SubQuestion.objects.count() == 4


def test_topic_is_undone_after_its_sub_question(owner):
    owner.post(TOPIC, {"topic": "mill-1", "request": "What drives the mill?"})
    owner.post(QUESTION, {"topic": "mill-1", "question": "Which stream?"})
    topic = ProjectEntry.objects.last()
    response = owner.post(f"/datasets/ferry/history/{topic.pk}/undo/", {"act": "remove"})
    assert response.status_code == 422
    undo_last(owner)
    owner.post(f"/datasets/ferry/history/{topic.pk}/undo/", {"act": "remove"})
    assert list(Topic.objects.values_list("name", flat=True)) == ["ferry-1"]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({"kind": "passage", "topic": "ferry-1", "name": "p 1"}, ("passage", "", "ferry-1:p-1")),
        (
            {"kind": "passage", "topic": "ferry-1", "name": "ferry-1:p1"},
            ("passage", "", "ferry-1:p1"),
        ),
        ({"kind": "passage", "topic": "ferry-1"}, ("passage", "", "")),
        ({"kind": "passage", "name": "msmarco_1"}, ("passage", "", "msmarco_1")),
        ({"kind": "report", "topic": "ferry-1", "system": "GPT 4"}, ("report", "GPT-4", "ferry-1")),
        (
            {"kind": "report", "topic": "ferry-1", "system": "bm25", "name": "second"},
            ("report", "bm25", "second"),
        ),
    ],
)
def test_text_is_added_and_undone(owner, sent, stored):
    before = rows()
    response = owner.post(TEXT, sent | {"body": BODY})
    assert response.status_code == 302
    assert f"topic={sent.get('topic', '')}&kind={sent['kind']}" in response.url
    text = Text.objects.last()
    assert (text.kind, text.system) == stored[:2]
    if "name" in sent or sent["kind"] == "report":
        assert text.name == stored[2]
    else:
        assert text.name.startswith("ferry-1:p-")
    assert text.body == "The mill stopped.\nThe stream was dry."
    assert (text.topic.name if text.topic else "") == sent.get("topic", "")
    assert undo_last(owner).status_code == 302
    assert rows() == before


def test_passage_known_by_name_alone_gets_its_words(owner):
    owner.post(TEXT, {"kind": "passage", "name": "ferry-1:0#1", "body": "A crack."})
    assert Text.objects.get(name="ferry-1:0#1").body == "A crack."


@pytest.mark.parametrize(
    ("url", "sent", "message"),
    [
        (TOPIC, {"topic": "", "request": "Why?"}, "This field is required."),
        (TOPIC, {"topic": "mill-1", "request": " "}, "This field is required."),
        (TOPIC, {"topic": "a\x01b", "request": "Why?"}, "must have 1 to 250 characters"),
        (TOPIC, {"topic": "a" * 201, "request": "Why?"}, "at most 200 characters"),
        (TOPIC, {"topic": "a\x00", "request": "Why?"}, "Null characters are not allowed."),
        (
            TOPIC,
            {"topic": "ferry-1", "request": "Write about the ferry."},
            "The topic ferry-1 is there already.",
        ),
        (
            TOPIC,
            {"topic": "ferry-1", "request": "Write about the boat."},
            "topic ferry-1 is there already with the request",
        ),
        (QUESTION, {"topic": "ferry-2", "question": "Why?"}, "Select a valid choice."),
        (QUESTION, {"topic": "a\x00", "question": "Why?"}, "Null characters are not allowed."),
        (QUESTION, {"topic": "ferry-1", "question": "NA"}, "asks nothing"),
        (
            QUESTION,
            {"topic": "ferry-1", "question": "Was  anybody hurt?"},
            "question 2 of ferry-1 is this one already.",
        ),
        (TEXT, {"kind": "passage", "body": " \r\n"}, "Write or paste a text."),
        (TEXT, {"kind": "poem", "body": "Ode"}, "Select a valid choice."),
        (TEXT, {"kind": "report", "body": "Dry.", "system": "a"}, "Choose the topic"),
        (TEXT, {"kind": "report", "body": "Dry.", "topic": "ferry-1"}, "Write which system"),
        (
            TEXT,
            {"kind": "report", "body": "Dry.", "topic": "ferry-1", "system": "№"},
            "is no name of a system",
        ),
        (TEXT, {"kind": "passage", "body": "Dry.", "system": "a"}, "A passage has no system"),
        (
            TEXT,
            {"kind": "passage", "body": "Dry.", "name": "ferry-1:0#0"},
            "ferry-1:0#0 is in the dataset with other words",
        ),
    ],
)
def test_wrong_value_is_told_and_nothing_is_stored(owner, url, sent, message):
    before = rows()
    response = owner.post(url, sent)
    assert response.status_code == 422
    assert message in text_of_page(response)
    assert rows() == before
    assert not ProjectEntry.objects.exists()


def test_topic_is_compared_in_nfc(owner):
    owner.post(TOPIC, {"topic": "cafe\u0301", "request": "Why?"})
    response = owner.post(TOPIC, {"topic": "caf\u00e9", "request": "Why?"})
    assert "The topic café is there already." in text_of_page(response)


def test_missing_dataset_and_kind_are_not_found(owner, cast):
    for client in (owner, cast.client("admin")):
        assert client.get("/datasets/nowhere/add/topic/").status_code == 404
        assert client.get("/datasets/ferry/add/rubric/").status_code == 404


def test_other_methods_are_refused(owner):
    assert owner.put(TOPIC).status_code == 405
    assert owner.delete(TOPIC).status_code == 405


def test_dataset_of_another_project_is_not_found(owner):
    other_project = Project.objects.create(slug="other", title="Other")
    make_dataset("mill")
    Dataset.objects.filter(slug="mill").update(project=other_project)
    assert owner.get("/datasets/mill/add/topic/").status_code == 404
    sent = {"topic": "mill-2", "request": "Why?"}
    assert owner.post("/datasets/mill/add/topic/", sent).status_code == 404
    assert not Topic.objects.filter(name="mill-2").exists()


def test_topic_of_another_dataset_is_no_choice(owner):
    make_dataset("mill")
    response = owner.post(QUESTION, {"topic": "mill-1", "question": "Why?"})
    assert "Select a valid choice." in text_of_page(response)


@pytest.mark.parametrize(
    ("role", "status"), [("viewer", 403), ("researcher", 403), ("coordinator", 403)]
)
def test_only_owners_add(owner, cast, role, status):
    Membership.objects.filter(user=cast.researcher).update(role=role)
    sent = {"topic": "mill-1", "request": "Why?"}
    assert owner.get(TOPIC).status_code == status
    assert owner.post(TOPIC, sent).status_code == status
    assert "Add topic" not in text_of_page(owner.get("/datasets/ferry/"))
    assert Topic.objects.count() == 1


def test_workers_and_strangers_do_not_add(cast):
    sent = {"topic": "mill-1", "request": "Why?"}
    assert cast.client("worker").post(TOPIC, sent).status_code == 403
    assert cast.client("stranger").post(TOPIC, sent).status_code == 302
    assert Topic.objects.count() == 1


def test_forms_link_to_each_other(owner):
    page = owner.get(f"{QUESTION}?topic=ferry-1").content.decode()
    assert f'href="{TOPIC}"' in page
    assert f'href="{TEXT}?topic=ferry-1"' in page
    for title in ("Add topic", "Add sub-question", "Add text"):
        assert f">{title}</a>" in page


def test_pages_of_the_dataset_link_to_the_forms(owner):
    page = owner.get("/datasets/ferry/texts/").content.decode()
    assert f'href="{TOPIC}"' in page
    assert f'href="{QUESTION}?topic=ferry-1"' in page
    assert f'href="{TEXT}?topic=ferry-1"' in page


@pytest.mark.parametrize("query", ["?topic=nowhere", "?topic=ferry-1&kind=x&a=b"])
def test_any_query_gives_a_form(owner, query):
    for url in (TOPIC, QUESTION, TEXT):
        assert owner.get(f"{url}{query}").status_code == 200


@pytest.fixture
def clients(transactional_db):
    make_dataset()
    users = [User.objects.create_user(name, password="pass-word-1", role="admin") for name in "ab"]
    return [Cast(user, user, user, user).client("admin") for user in users]


def test_two_clients_add_the_same_topic_once(clients):
    sent = {"topic": "mill-1", "request": "What drives the mill?"}
    outcomes = at_once(
        *(lambda client=client: client.post(TOPIC, sent) for client in clients),
        after_reading=Dataset,
    )
    assert sorted(outcome.status for outcome in outcomes) == [302, 422]
    assert Topic.objects.filter(name="mill-1").count() == 1
    assert ProjectEntry.objects.count() == 1


def test_two_clients_add_sub_questions_at_once(clients):
    outcomes = at_once(
        *(
            lambda client=client, question=question: client.post(
                QUESTION, {"topic": "ferry-1", "question": question}
            )
            for client, question in zip(clients, ("Who paid?", "Who was paid?"), strict=True)
        ),
        after_reading=Dataset,
    )
    assert [outcome.status for outcome in outcomes] == [302, 302]
    positions = SubQuestion.objects.filter(position__gt=3).values_list("position", flat=True)
    assert sorted(positions) == [4, 5]


def test_deleted_dataset_is_not_created_again(owner, monkeypatch):
    def import_after_deletion(*args, **options):
        Dataset.objects.all().delete()
        return import_dataset(*args, **options)

    monkeypatch.setattr(views, "import_dataset", import_after_deletion)
    assert owner.post(TOPIC, {"topic": "mill-1", "request": "Why?"}).status_code == 404
    assert not Topic.objects.exists()


def test_earlier_files_can_be_imported_again_after_a_topic(cast, tmp_path):
    import_dataset(write(tmp_path), "small")
    client = cast.client("admin")
    client.post("/datasets/small/add/topic/", {"topic": "mill-1", "request": "Why?"})
    assert not import_dataset(tmp_path, "small").changed
