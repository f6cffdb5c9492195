"""/rubrics/ and /rubrics/<slug>/"""

from annotation.models import Rubric


def test_an_admin_edits_a_guideline_and_others_read_it(cast, db):
    url = "/rubrics/answerable/"
    response = cast.client("admin").post(url, {"guideline": "## Mine\n\n<script>x</script>"})
    assert response.status_code == 302
    page = cast.client("worker").get(url).content.decode()
    assert "<h2>Mine</h2>" in page
    assert "<script>x" not in page
    assert cast.client("worker").post(url, {"guideline": "no"}).status_code == 403
    assert cast.client("admin").post(url, {"guideline": ""}).status_code == 200
    assert Rubric.objects.get(slug="answerable").guideline.startswith("## Mine")


def test_wrong_methods_and_missing_ids(cast, db):
    client = cast.client("admin")
    assert client.get("/rubrics/").status_code == 200
    assert client.post("/rubrics/").status_code == 405
    assert client.get("/rubrics/nowhere/").status_code == 404
