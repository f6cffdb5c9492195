"""A person is renamed while a judge is tested: the certificate never keeps the old name."""

import pytest

from annotation.models import Rater
from evaluation.certificates.testing import JudgeTest
from evaluation.data.certificates import state_of
from evaluation.models import Certificate
from tests.toolbox.certificate_study import make_certificate_study
from tests.toolbox.concurrent_clients import at_once
from tests.toolbox.responses import text_of_page

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def study():
    return make_certificate_study()


def rename_ann(client):
    url = "/datasets/bay/contents/rater/?name=ann"
    return client.post(url, {"act": "rename", "new": "annette"})


def test_person_renamed_during_a_test_refuses_it(cast, study, monkeypatch):
    admin, rosa = cast.client("admin"), cast.client("researcher")
    as_json = JudgeTest.as_json

    def rename_meanwhile(self):
        assert at_once(lambda: rename_ann(admin))[0].status == 302
        return as_json(self)

    monkeypatch.setattr(JudgeTest, "as_json", rename_meanwhile)
    page = text_of_page(rosa.post(study.url("near"), follow=True))
    assert "A person was renamed or removed during the test. Repeat it." in page
    assert not Certificate.objects.exists()


def test_test_and_rename_at_once_agree_on_the_name(cast, study):
    admin, rosa = cast.client("admin"), cast.client("researcher")
    tested, renamed = at_once(
        lambda: rosa.post(study.url("near")), lambda: rename_ann(admin), after_reading=Rater
    )
    assert (tested.status, renamed.status) == (302, 302)
    assert Rater.objects.filter(name="annette").exists()
    for certificate in Certificate.objects.all():
        assert "annette" in certificate.parameters["people"]
        assert str(state_of(certificate)) == "holds"
