"""Links for invited people, and the address for a platform."""

import pytest
from django.test import Client

from annotation.models import Campaign
from tests.annotation.monitoring.acting_material import HOME, logged, post
from tests.toolbox.prolific_study import make_study


@pytest.fixture
def study(db) -> Campaign:
    return make_study(texts=6)


def test_links_are_made_for_names_or_for_a_number(cast, study):
    page = post(cast, "invitations/", names="Maria\n\n Jo \nMaria").content.decode()
    assert page.count("/invited/") == 2
    assert "Jo" in page
    post(cast, "invitations/", number="3")
    assert study.participants.filter(source="link").count() == 5
    page = post(cast, "invitations/", names="Maria\nJo").content.decode()
    assert "0 links created. Jo, Maria already have links, which do not change" in page
    assert study.participants.filter(source="link").count() == 5
    assert [entry[:2] for entry in logged()] == [
        ("made links", "2 links"),
        ("made links", "3 links"),
    ]


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({}, "either names or a number"),
        ({"names": "Jo", "number": "2"}, "either names or a number"),
        ({"number": "0"}, "greater than or equal to 1"),
        ({"number": "501"}, "less than or equal to 500"),
        ({"number": "many"}, "whole number"),
        ({"names": "x" * 201}, "longer than 200"),
        ({"names": "\n".join(map(str, range(501)))}, "501"),
    ],
)
def test_bad_wish_for_links_makes_none(cast, study, sent, message):
    response = cast.client("admin").post(f"{HOME}invitations/", sent)
    assert response.status_code == 422
    assert message in response.content.decode()
    assert not study.participants.exists()
    assert logged() == []


def test_link_lets_its_person_in(cast, study):
    post(cast, "invitations/", names="Jo")
    page = cast.client("admin").get(f"{HOME}invitations/").content.decode()
    link = page.split("testserver")[-1].split("<")[0]
    assert link.startswith("/invited/")
    assert Client().get(link, follow=True).status_code == 200


def test_address_for_a_platform_has_its_placeholders(cast, study):
    page = cast.client("admin").get(f"{HOME}invitations/").content.decode()
    query = "PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;STUDY_ID={{%STUDY_ID%}}"
    assert f"http://testserver/start/crowd/?{query}" in page
    Campaign.objects.update(platform="connect")
    page = cast.client("admin").get(f"{HOME}invitations/").content.decode()
    assert "http://testserver/start/crowd/<" in page
    Campaign.objects.update(platform="")
    assert "/start/" not in cast.client("admin").get(f"{HOME}invitations/").content.decode()
