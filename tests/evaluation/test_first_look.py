"""First look at a large study: the frame first, then the numbers by a second request."""

import pytest
from django.core.cache import caches
from lxml import html

from evaluation import first_look
from tests.toolbox.responses import markup

pytestmark = pytest.mark.any_database


@pytest.fixture
def rosa(cast, study, monkeypatch):
    monkeypatch.setattr(first_look, "LARGE", 0)
    monkeypatch.setattr(first_look, "QUICK", 1000)  # also on a busy machine
    caches["durations"].clear()
    return cast.client("researcher")


def asks(response) -> list[str]:
    return html.fromstring(markup(response)).xpath("//*[@hx-get]/@hx-get")


@pytest.mark.parametrize("page", ["agreement/", "systems/", "matrix/", "paper/", "mixed-model/"])
def test_frame_comes_first_and_asks_for_the_numbers(rosa, page):
    url = f"/datasets/ferry/{page}?eta=4"
    response = rosa.get(url)
    assert response.status_code == 200
    (url_of_numbers,) = asks(response)
    assert url_of_numbers == url
    document = html.fromstring(markup(response))
    assert not document.xpath("//main//td | //main//dd")
    assert document.get_element_by_id("dataset-pages") is not None
    assert document.xpath('//details[@class="filter"]/summary')
    whole = rosa.get(url_of_numbers, headers={"HX-Request": "true"})
    assert whole.status_code == 200
    assert not asks(whole)
    assert html.fromstring(markup(whole)).xpath("//main//td | //main//dd")
    # It was quick, so the next look has everything.
    assert not asks(rosa.get(url))


def test_without_scripts_a_link_has_the_numbers(rosa):
    document = html.fromstring(markup(rosa.get("/datasets/ferry/agreement/?judge=judge")))
    (link,) = document.xpath("//noscript//a/@href")
    assert not asks(rosa.get(link))


def test_slow_page_sends_its_frame_again(rosa, monkeypatch):
    url = "/datasets/ferry/agreement/"
    rosa.get(url, headers={"HX-Request": "true"})
    monkeypatch.setattr(first_look, "QUICK", 0)
    assert asks(rosa.get(url)) == [url]


def test_files_and_pages_of_things_have_no_frame(rosa, study):
    assert rosa.get("/datasets/ferry/agreement/pairs.csv")["Content-Type"].startswith("text/csv")
    assert rosa.get("/datasets/ferry/agreement.json").json()
    assert not asks(rosa.get(f"/datasets/ferry/matrix/{study.oracle.topic.pk}/"))


def test_small_study_is_sent_whole(cast, study):
    assert not asks(cast.client("researcher").get("/datasets/ferry/agreement/"))


def test_wrong_choice_is_refused_at_once(rosa):
    assert rosa.get("/datasets/ferry/agreement/?judge=nobody").status_code == 400
