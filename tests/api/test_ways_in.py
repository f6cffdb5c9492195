"""Authentication of the API by token and session, rate limits, and its page."""

import pytest
from django.conf import settings as site
from django.test import Client
from rest_framework.test import APIClient

from annotation.api.access import AccountThrottle, AnonymousThrottle
from annotation.models import User

URL = "/api/v1/datasets/"
DOCS = "/api/v1/docs/try/"


def test_request_without_token_is_unauthorised(client):
    answer = client.get(URL)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Token"
    assert answer.json() == {
        "detail": "Authentication credentials were not provided. "
        "Send the header “Authorization: Token KEY”; your account page creates keys.",
        "errors": [],
    }


@pytest.mark.parametrize(
    "header", ["Token nonsense", "Token", "Token a b", "Token \xff", "Token \x00"]
)
def test_invalid_token_is_refused(db, header):
    answer = APIClient(HTTP_AUTHORIZATION=header).get(URL)
    assert answer.status_code == 401


def test_token_of_a_disabled_account_is_refused(api, cast):
    client = api("researcher")
    assert client.get(URL).status_code == 200
    cast.researcher.role = "worker"
    cast.researcher.save()  # which ends the tokens of the account
    assert client.get(URL).status_code == 401
    cast.researcher.role = "researcher"
    cast.researcher.save()
    assert client.get(URL).status_code == 401
    client = api("researcher")
    User.objects.filter(pk=cast.researcher.pk).update(role="worker")  # past the signal
    assert client.get(URL).status_code == 403
    User.objects.filter(pk=cast.researcher.pk).update(is_active=False)
    assert client.get(URL).status_code == 401


def test_browser_session_is_accepted(cast):
    assert cast.client("researcher").get(URL).status_code == 200
    assert (
        cast.client("worker").get(URL).json()["detail"] == "The API is for researchers and admins."
    )


def test_session_post_needs_csrf_token(cast, dataset):
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.admin)
    url = "/api/v1/datasets/ferry/ratings/"
    refused = client.post(url, "{}", content_type="application/json")
    assert (refused.status_code, refused.json()["detail"][:4]) == (403, "CSRF")
    client.get("/account/")
    token = client.cookies["csrftoken"].value
    accepted = client.post(
        url, "{}", content_type="application/json", headers={"X-CSRFToken": token}
    )
    assert accepted.status_code == 400


def test_pages_of_the_api_are_for_researchers(cast):
    for role, status in (("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(role).get(DOCS).status_code == status
    assert cast.client("admin").post(DOCS).status_code == 405


def test_page_of_the_api_keeps_the_policy(cast):
    answer = cast.client("researcher").get(DOCS)
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert "style=" not in answer.content.decode()


def test_address_of_the_docs_leads_to_the_page_that_shows_the_description(cast):
    client = cast.client("researcher")
    assert client.get("/api/v1/docs/").url == DOCS
    page = client.get(DOCS).content.decode()
    assert 'data-schema="/api/v1/schema/"' in page
    assert 'href="/api/v1/schema/"' in page  # without scripts the file is what there is to read


@pytest.fixture
def few(monkeypatch):
    """Limit everybody to three requests a minute, at a constant time."""
    for throttle in (AccountThrottle, AnonymousThrottle):
        monkeypatch.setattr(throttle, "rate", "3/min", raising=False)
        monkeypatch.setattr(throttle, "timer", lambda self: 1000.0)


def test_requests_of_an_account_are_rate_limited(api, few):
    client = api("researcher")
    assert [client.get(URL).status_code for _ in range(4)] == [200, 200, 200, 429]
    answer = client.get(URL)
    assert answer["Retry-After"] == "60"
    assert answer.json()["detail"] == "Request was throttled. Expected available in 60 seconds."
    assert api("admin").get(URL).status_code == 200


def test_anonymous_requests_are_rate_limited_by_address(api, few):
    stranger, guess = api("stranger"), APIClient(HTTP_AUTHORIZATION="Token guess")
    responses = [
        stranger.get(URL),
        guess.get(URL),
        stranger.get(URL),
        guess.get(URL),
        stranger.get(URL),
    ]
    assert [answer.status_code for answer in responses] == [401, 401, 401, 429, 429]
    # Without a proxy in front nobody comes from elsewhere by saying so.
    spoofed = stranger.get(URL, headers={"X-Forwarded-For": "10.0.0.9"})
    assert spoofed.status_code == 429
    assert api("researcher").get(URL).status_code == 200


def test_rate_limit_cache_is_separate():
    assert site.CACHES["api"]["LOCATION"] != site.CACHES["default"].get("LOCATION", "")
    assert AccountThrottle.cache is AnonymousThrottle.cache


def test_addresses_below_api_answer_with_json(cast):
    for role in ("stranger", "worker", "admin"):
        for url in ("/api/", "/api/v2/datasets/", "/api/v1/datasets/a/b/c/"):
            answer = cast.client(role).get(url)
            assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
