"""import/new-dataset/: owners create an empty dataset, and add to it by hand."""

import pytest

from annotation.models import Dataset, Membership, Project, ProjectEntry, User
from tests.toolbox.concurrent_clients import at_once
from tests.toolbox.responses import text_of_page
from tests.toolbox.users import Cast

URL = "/import/new-dataset/"
SENT = {"project": "main", "title": "The mill", "dataset": "mill"}


def test_owner_creates_an_empty_dataset(cast):
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    client = cast.client("researcher")
    assert "Create an empty dataset" in text_of_page(client.get(URL))
    response = client.post(URL, SENT)
    assert response.url == "/datasets/mill/add/topic/"
    dataset = Dataset.objects.get()
    assert (dataset.slug, dataset.title, dataset.project.slug) == ("mill", "The mill", "main")
    entry = ProjectEntry.objects.get()
    assert (entry.action, entry.detail, entry.dataset, entry.by, entry.rows) == (
        "created the dataset",
        "The mill",
        dataset,
        cast.researcher,
        {},
    )
    page = client.get("/datasets/mill/texts/").content.decode()
    assert 'href="/datasets/mill/add/topic/"' in page
    assert 'href="/import/?project=main&amp;dataset=mill"' in page
    assert 'value="mill"' in client.get("/import/?project=main&dataset=mill").content.decode()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": ""}, "This field is required."),
        ({"dataset": "two words"}, "Enter a valid"),
        ({"dataset": "taken"}, "This name is taken: choose another."),
        ({"project": "nowhere"}, "Select a valid choice."),
        ({"project": "other"}, "Select a valid choice."),
    ],
)
def test_wrong_value_is_told_and_nothing_is_created(cast, changes, message):
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    other_project = Project.objects.create(slug="other", title="Other")
    Dataset.objects.create(slug="taken", title="Taken", project=other_project)
    response = cast.client("researcher").post(URL, SENT | changes)
    assert response.status_code == 422
    assert message in text_of_page(response)
    assert Dataset.objects.count() == 1


def test_only_owners_create_datasets(cast):
    for name, status in (("researcher", 403), ("worker", 403), ("stranger", 302)):
        assert cast.client(name).get(URL).status_code == status
        assert cast.client(name).post(URL, SENT).status_code == status
    assert not Dataset.objects.exists()
    assert cast.client("admin").put(URL).status_code == 405


def test_two_clients_create_one_dataset_of_a_name(transactional_db):
    users = [User.objects.create_user(name, password="pass-word-1", role="admin") for name in "ab"]
    clients = [Cast(user, user, user, user).client("admin") for user in users]
    clients[0].get(URL)  # makes the main project
    outcomes = at_once(
        *(lambda client=client: client.post(URL, SENT) for client in clients),
        after_reading=Dataset,
    )
    assert sorted(outcome.status for outcome in outcomes) == [302, 422]
    assert Dataset.objects.count() == ProjectEntry.objects.count() == 1
