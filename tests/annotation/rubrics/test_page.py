"""/rubrics/ and /rubrics/<slug>/"""

from annotation.models import Rubric, User


def test_admin_edits_a_guideline_and_researchers_read_it(cast, db):
    url = "/rubrics/answerable/"
    response = cast.client("admin").post(url, {"guideline": "## Mine\n\n<script>x</script>"})
    assert response.status_code == 302
    page = cast.client("researcher").get(url).content.decode()
    assert "<h2>Mine</h2>" in page
    assert "<script>x" not in page
    assert cast.client("researcher").post(url, {"guideline": "no"}).status_code == 403
    assert cast.client("admin").post(url, {"guideline": ""}).status_code == 200
    assert Rubric.objects.get(slug="answerable").guideline.startswith("## Mine")


def test_rubrics_are_not_for_workers_guests_and_strangers(cast, client):
    client.force_login(User.objects.create_user("guest", role="worker", is_guest=True))
    for url in ("/rubrics/", "/rubrics/answerable/", "/rubrics/nowhere/"):
        assert client.get(url).status_code == 403, url
        assert cast.client("worker").get(url).status_code == 403, url
        assert cast.client("worker").post(url).status_code in (403, 405), url
        assert "/login/" in cast.client("stranger").get(url).url


def test_wrong_methods_and_missing_ids(cast, db):
    client = cast.client("admin")
    assert client.get("/rubrics/").status_code == 200
    assert client.post("/rubrics/").status_code == 405
    assert client.get("/rubrics/nowhere/").status_code == 404
