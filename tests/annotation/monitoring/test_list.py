"""/campaigns/: campaigns of all datasets, or of one, with the pages of that dataset."""

from annotation.models import Dataset, Membership, Project
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.responses import text_of_page


def test_list_of_a_dataset_has_its_campaigns_and_pages(cast, dataset):
    harbour = make_dataset("harbour")
    ours, theirs = (make_campaign(study, cast.worker) for study in (dataset, harbour))
    client = cast.client("researcher")
    page = client.get("/campaigns/?dataset=ferry").content.decode()
    assert ours.title in page
    assert theirs.title not in page
    assert 'class="rail"' in page
    assert '<a href="/campaigns/">Campaigns of all datasets</a>' in page
    unfiltered = client.get("/campaigns/").content.decode()
    assert ours.title in unfiltered
    assert theirs.title in unfiltered
    assert 'class="rail"' not in unfiltered


def test_new_campaign_of_a_dataset_is_offered_to_coordinators(cast, dataset):
    client = cast.client("researcher")
    new = 'href="/campaigns/new/?dataset=ferry"'
    assert new not in client.get("/campaigns/?dataset=ferry").content.decode()
    Membership.objects.filter(user=cast.researcher).update(role="coordinator")
    assert new in client.get("/campaigns/?dataset=ferry").content.decode()
    assert client.get("/campaigns/new/?dataset=ferry").status_code == 200


def test_list_of_a_dataset_without_campaigns_says_so(cast, dataset):
    page = text_of_page(cast.client("researcher").get("/campaigns/?dataset=ferry"))
    assert "There are no campaigns of this dataset yet." in page


def test_list_of_a_dataset_that_is_not_visible_is_not_found(cast, dataset):
    project = Project.objects.create(slug="other", title="Other")
    make_dataset("harbour")
    Dataset.objects.filter(slug="harbour").update(project=project)
    client = cast.client("researcher")
    for slug in ("harbour", "nowhere"):
        assert client.get(f"/campaigns/?dataset={slug}").status_code == 404
    assert cast.client("admin").get("/campaigns/?dataset=harbour").status_code == 200


def test_campaign_list_permissions(cast, dataset):
    for account, status in (("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(account).get("/campaigns/?dataset=ferry").status_code == status
    assert cast.client("admin").post("/campaigns/?dataset=ferry").status_code == 405
