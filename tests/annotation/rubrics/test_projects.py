"""Rubrics of projects: who sees, creates, edits and uses them."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import (
    ApiToken,
    Campaign,
    Membership,
    Project,
    ProjectEntry,
    Rating,
    Rubric,
    User,
)
from annotation.models.projects import main_project
from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import markup
from tests.toolbox.rubric_form import rubric_form_data

URL = "/rubrics/tone/"


def client_of(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


@pytest.fixture
def people(cast, db):
    """Return the cast, with owners of two projects: olga of main, oleg of another one."""
    other_project = Project.objects.create(slug="other", title="Another group")
    for name, project, role in (
        ("olga", main_project(), "owner"),
        ("vera", main_project(), "viewer"),
        ("oleg", other_project.pk, "owner"),
    ):
        user = User.objects.create_user(name, role="researcher")
        Membership.objects.create(project_id=project, user=user, role=role)
    return cast


@pytest.fixture
def tone(people):
    """Return a rubric that olga has created in the main project."""
    response = client_of("olga").post("/rubrics/new/", rubric_form_data(project="main"))
    assert response.status_code == 302, markup(response)
    return Rubric.objects.get(slug="tone")


def test_owner_creates_a_rubric_in_the_own_project(tone):
    assert tone.project.slug == "main"
    entry = ProjectEntry.objects.get()
    assert (entry.project.slug, entry.action, entry.detail) == ("main", "created a rubric", "tone")
    page = markup(client_of("olga").get(URL))
    assert "Rubric of the project Studies of this site" in page
    assert "Edit rubric" in page


@pytest.mark.parametrize(
    ("name", "project", "status"),
    [
        ("olga", "other", 422),
        ("olga", "", 422),
        ("olga", "nowhere", 422),
        ("rosa", "main", 403),
        ("wil", "main", 403),
        ("ada", "", 302),
        ("ada", "other", 302),
    ],
)
def test_project_of_a_new_rubric_is_one_of_the_creator(people, name, project, status):
    response = client_of(name).post("/rubrics/new/", rubric_form_data(project=project))
    assert response.status_code == status
    assert Rubric.objects.filter(slug="tone").exists() == (status == 302)
    if status == 302:
        assert getattr(Rubric.objects.get(slug="tone").project, "slug", "") == project


def test_form_offers_projects_of_the_owner_and_the_site_to_admins(people):
    page = markup(client_of("olga").get("/rubrics/new/"))
    assert 'value="main"' in page
    assert 'value="other"' not in page
    assert "the whole site" not in page
    assert "the whole site" in markup(client_of("ada").get("/rubrics/new/?project=other"))
    more = rubric_form_data(project="main", more="1", title="Half")
    assert '<option value="main" selected>' in markup(client_of("olga").post("/rubrics/new/", more))


def test_rubric_is_visible_to_members_only(tone):
    for name, status in (("olga", 200), ("rosa", 200), ("vera", 200), ("ada", 200), ("oleg", 404)):
        client = client_of(name)
        assert client.get(URL).status_code == status, name
        assert ("/rubrics/tone/" in markup(client.get("/rubrics/"))) == (status == 200), name
    oleg = client_of("oleg")
    for address in (f"{URL}edit/", "/rubrics/new/?from=tone", "/judges/new/?rubric=tone"):
        assert oleg.get(address).status_code == 404, address
    for address in (URL, f"{URL}edit/", f"{URL}retire/"):
        assert oleg.post(address, rubric_form_data(title="X")).status_code == 404, address
    tone.refresh_from_db()
    assert (tone.title, tone.is_retired) == ("Tone", False)


@pytest.mark.parametrize("name", ["rosa", "vera"])
def test_members_who_do_not_own_the_project_read_only(tone, name):
    client = client_of(name)
    assert "Edit the guideline" not in markup(client.get(URL))
    for address in (URL, f"{URL}edit/", f"{URL}retire/", f"{URL}publish/"):
        response = client.post(address, rubric_form_data(guideline="X"))
        assert response.status_code == 403, address
    assert client.get(f"{URL}edit/").status_code == 403
    assert Rubric.objects.get(slug="tone").guideline != "X"


def test_owner_edits_and_retires_and_cannot_change_rubrics_of_the_site(tone):
    olga = client_of("olga")
    assert olga.post(f"{URL}edit/", rubric_form_data(title="The tone")).status_code == 302
    edited = Rubric.objects.get(slug="tone")
    assert (edited.title, edited.project.slug) == ("The tone", "main")
    assert olga.post(URL, {"guideline": "## New"}).status_code == 302
    assert olga.post(f"{URL}retire/").status_code == 302
    assert Rubric.objects.get(slug="tone").is_retired
    assert olga.post(f"{URL}retire/", {"restore": "1"}).status_code == 302
    actions = list(ProjectEntry.objects.values_list("action", flat=True))
    assert actions == [
        "restored a rubric",
        "retired a rubric",
        "edited a guideline",
        "edited a rubric",
        "created a rubric",
    ]
    refused = olga.post("/rubrics/graded/", {"guideline": "mine"})
    assert refused.status_code == 403
    assert "Only admins can change the rubric" in markup(refused)


def test_admin_shares_a_rubric_with_the_site(tone):
    assert client_of("olga").post(f"{URL}publish/").status_code == 403
    ada = client_of("ada")
    assert ada.get(f"{URL}publish/").status_code == 405
    assert ada.post("/rubrics/nowhere/publish/").status_code == 404
    assert "Open to every researcher" in markup(ada.get(URL))
    assert ada.post(f"{URL}publish/").status_code == 302
    assert Rubric.objects.get(slug="tone").project is None
    assert client_of("oleg").get(URL).status_code == 200
    assert client_of("olga").post(URL, {"guideline": "mine"}).status_code == 403


def test_campaigns_of_a_project_offer_its_rubrics_and_those_of_the_site(tone):
    make_dataset()
    quarry = make_dataset("quarry")
    quarry.project = Project.objects.get(slug="other")
    quarry.save()
    option = f'<option value="{tone.pk}"'
    assert option in markup(client_of("olga").get("/campaigns/new/?dataset=ferry"))
    assert option not in markup(client_of("oleg").get("/campaigns/new/?dataset=quarry"))
    assert option not in markup(client_of("ada").get("/campaigns/new/?dataset=quarry"))


def test_rubric_of_a_campaign_stays_visible_where_its_dataset_moves(tone):
    ferry = make_dataset()
    Campaign.objects.create(dataset=ferry, rubric=tone, slug="c", title="C")
    ferry.project = Project.objects.get(slug="other")
    ferry.save()
    oleg = client_of("oleg")
    assert oleg.get(URL).status_code == 200
    assert oleg.post(URL, {"guideline": "mine"}).status_code == 403


def test_built_in_rubric_is_added_by_an_owner(people):
    assert client_of("olga").post("/rubrics/add/", {"slug": "cites"}).status_code == 302
    assert Rubric.objects.get(slug="cites").project is None
    assert client_of("rosa").post("/rubrics/add/", {"slug": "importance"}).status_code == 403


def rubric_files(folder, label="Warm"):
    folder.mkdir()
    levels = [{"grade": grade, "label": text} for grade, text in ((1, label), (0, "Dry"))]
    (folder / "rubrics.jsonl").write_text(
        f'{{"slug": "mood", "title": "Mood", "guideline": "Listen.", "levels": {levels}}}\n'.replace(
            "'", '"'
        )
    )
    return folder


def test_imported_rubric_belongs_to_the_project_until_another_one_imports_it(people, tmp_path):
    files = rubric_files(tmp_path / "a")
    import_dataset(files, "first", project=Project.objects.get(slug="main"))
    mood = Rubric.objects.get(slug="mood")
    assert mood.project.slug == "main"
    other_project = Project.objects.get(slug="other")
    with pytest.raises(DatasetImportError, match="has other levels"):
        import_dataset(rubric_files(tmp_path / "b", "Hot"), "second", project=other_project)
    import_dataset(files, "second", project=other_project, dry_run=True)
    mood.refresh_from_db()
    assert mood.project.slug == "main"
    import_dataset(files, "second", project=other_project)
    mood.refresh_from_db()
    assert mood.project is None


def api_of(name: str) -> APIClient:
    user = User.objects.get(username=name)
    key = ApiToken.objects.make(user, f"notebook {user.api_tokens.count()}")
    return APIClient(HTTP_AUTHORIZATION=f"Token {key}")


BODY = {
    "slug": "mood",
    "title": "Mood",
    "guideline": "Listen.",
    "levels": [{"grade": 1, "label": "Warm"}, {"grade": 0, "label": "Dry"}],
}


@pytest.mark.parametrize(
    ("name", "project", "status", "message"),
    [
        ("olga", "main", 201, ""),
        ("ada", None, 201, ""),
        ("olga", "other", 422, "you own no project called other"),
        ("olga", None, 422, "is missing: only admins make it for the site"),
        ("rosa", "main", 403, "Only owners of a project and admins may do this."),
    ],
)
def test_api_creates_a_rubric_in_a_project(people, name, project, status, message):
    body = BODY | ({"project": project} if project else {})
    response = api_of(name).post("/api/v1/rubrics/", body, format="json")
    assert response.status_code == status
    assert message in response.content.decode()
    if status == 201:
        assert response.json()["project"] == project


def test_api_lists_and_changes_rubrics_of_the_own_projects(tone):
    path = "/api/v1/rubrics/tone/"
    for name, is_visible in (("rosa", True), ("oleg", False)):
        api = api_of(name)
        slugs = {row["slug"] for row in api.get("/api/v1/rubrics/").json()["results"]}
        assert ("tone" in slugs) == is_visible
        assert api.get(path).status_code == (200 if is_visible else 404)
    olga = api_of("olga")
    version = olga.get(path).json()["version"]
    change = {"guideline": "## New", "is_retired": True, "version": version}
    for name, status in (("oleg", 404), ("rosa", 403)):
        assert api_of(name).post(path, change, format="json").status_code == status
    assert olga.post(path, change, format="json").status_code == 200
    assert Rubric.objects.get(slug="tone").is_retired


def test_api_refuses_grades_under_a_rubric_of_another_project(tone):
    ferry = make_dataset()
    text, topic = ferry.texts.first(), ferry.topics.get()
    name = {"kind": text.kind, "system": text.system, "name": text.name}
    question = {"topic": topic.name, "position": 0}
    rating = {"text": name, "question": question, "grade": 1}
    body = {"rater": "somebody", "rubric": "tone", "ratings": [rating]}
    ferry.project = Project.objects.get(slug="other")
    ferry.save()
    response = api_of("ada").post("/api/v1/datasets/ferry/ratings/", body, format="json")
    assert response.status_code == 422
    assert "there is no rubric called tone" in response.content.decode()
    assert not Rating.objects.filter(rubric=tone).exists()


def test_editor_of_a_rubric_that_was_replaced_meanwhile_stays_its_editor(people):
    """An edit replaces the row: who has opened it before is told of the edit, not refused."""
    project = Project.objects.get(pk=main_project())
    opened = Rubric.objects.create(slug="tone", title="Tone", project=project)
    Rubric.objects.filter(slug="tone").delete()
    Rubric.objects.create(slug="tone", title="Tone", project=project)
    users = {name: User.objects.get(username=name) for name in ("ada", "olga", "vera", "oleg")}
    assert {name: opened.is_editable_by(user) for name, user in users.items()} == {
        "ada": True,
        "olga": True,
        "vera": False,
        "oleg": False,
    }
