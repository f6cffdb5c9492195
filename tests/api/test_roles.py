"""Role table of docs/api.md, tested for every endpoint of the schema."""

import re

import pytest
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator

from evaluation.certificates.testing import judge_test
from evaluation.models import RetrievalRun
from judging.engine import runs
from judging.engine.judges import baseline_of
from judging.engine.selection import Selection
from tests.toolbox.certificate_study import make_certificate_study

pytestmark = pytest.mark.any_database

ROLES = ("stranger", "worker", "researcher", "admin")
ROW = re.compile(r"\| `(GET|POST|PUT|PATCH|DELETE) (/api/\S+)` \|[^|]+\|" + r" (\w+) \|" * 4)
UNDESCRIBED = {("GET", "/api/v1/schema/")}


def table():
    """Return the table: (method, address) -> expected outcome for each role."""
    lines = (settings.BASE_DIR / "docs" / "api.md").read_text(encoding="utf-8").splitlines()
    rows = [match.groups() for line in lines if (match := ROW.match(line))]
    return {(method, address): dict(zip(ROLES, may, strict=True)) for method, address, *may in rows}


def test_role_table_matches_the_endpoints():
    schema = SchemaGenerator().get_schema(request=None, public=True)
    described = {
        (method.upper(), address) for address, item in schema["paths"].items() for method in item
    }
    assert table().keys() == described | UNDESCRIBED


@pytest.fixture
def names(dataset, ratings):
    """Return the URL parameters, with a row for each."""
    RetrievalRun.objects.create(dataset=dataset, name="one")
    judge, _ = baseline_of(dataset)
    run = runs.start(judge, dataset, Selection())
    return {
        "dataset": "ferry",
        "texts": dataset.texts.first().pk,
        "judge-runs": run.pk,
        "run": "one",
        "slug": "graded",
        "fingerprint": judge.fingerprint,
        "rubric": "graded",
        "judge": "near",
    }


def url_of(address, names):
    if "{judge}" in address:
        study = make_certificate_study()
        judge_test(study.dataset, rubric="graded", judge="near").store(by=None)
        names = names | {"dataset": study.dataset.slug}
    kind = "texts" if "/texts/" in address else "judge-runs"
    return address.format(**names, id=names[kind])


@pytest.mark.parametrize(("method", "address"), table(), ids=" ".join)
def test_roles_have_the_access_of_the_table(api, names, method, address):
    url = url_of(address, names)
    for role, may in table()[method, address].items():
        answer = api(role).generic(method, url, "", content_type="application/json")
        assert answer["Content-Type"].split(";")[0] in (
            "application/json",
            "application/vnd.oai.openapi+json",
            "application/vnd.apache.parquet",
        )
        if may == "yes":
            # What is sent here is nothing, which a POST may refuse, but for its form and not its sender.
            assert answer.status_code in (200, 400, 409), role
        else:
            assert answer.status_code == int(may), role
            assert answer.json()["detail"]


@pytest.mark.parametrize(("method", "address"), table(), ids=" ".join)
def test_other_methods_are_refused(api, names, method, address):
    url = url_of(address, names)
    allowed = {verb for verb, endpoint in table() if endpoint == address} | {"HEAD"}
    for refused_method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - allowed:
        answer = api("admin").generic(refused_method, url)
        assert answer.status_code == 405
        assert answer.json()["detail"] == f'Method "{refused_method}" not allowed.'
