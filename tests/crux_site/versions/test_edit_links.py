"""Links to edit words from the pages that show them, and back; the preview of an edit."""

from urllib.parse import quote

import pytest
from django.test import Client

from annotation.models import Dataset, digest
from judging.engine.foreground import fill_lexical
from tests.crux_site.projects.shared import share
from tests.crux_site.versions.text_edits import make_world
from tests.toolbox.factories import REPORT, make_campaign
from tests.toolbox.responses import markup


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def cast(_world, db):
    return _world


@pytest.fixture
def owner(cast):
    return cast.client("researcher")


@pytest.fixture
def report(cast):
    return Dataset.objects.get().texts.filter(kind="report").first()


def words_url(entity, kind, previous_url=""):
    url = f"/datasets/ferry/text-history/{kind}/{entity.pk}/"
    return f"{url}?back={quote(previous_url, safe='')}" if previous_url else url


def pages(cast, report):
    """Return the URLs of pages that show words, with what each can edit."""
    campaign = make_campaign(report.dataset, cast.worker)
    run = fill_lexical(report.dataset)
    item = campaign.items.first()
    question = item.asked.first().question
    passage = report.dataset.texts.filter(kind="passage").exclude(body=None).first()
    topic = question.topic
    return [
        (f"/datasets/ferry/pairs/{report.pk}/{question.pk}/", report, question),
        (f"/datasets/ferry/matrix/{topic.pk}/", None, question),
        (f"/campaigns/{campaign.slug}/quality/items/{item.pk}/", item.text, question),
        (f"/campaigns/{campaign.slug}/adjudication/{item.pk}/{question.pk}/", item.text, question),
        (f"/replies/{run.judge.rater_id}/{passage.pk}/{question.pk}/", passage, question),
        (f"/datasets/ferry/building/reports/{report.pk}/", report, None),
        ("/search/?q=coupling&in=texts", report, None),
    ]


def test_pages_that_show_words_link_to_their_edit_and_back(cast, owner, report):
    for address, text, question in pages(cast, report):
        response = owner.get(address)
        assert response.status_code == 200, address
        page = markup(response)
        for kind, entity in (("text", text), ("question", question)):
            if entity:
                link = words_url(entity, kind, address)
                assert f'href="{link}"' in page, (address, link)
                assert f'<a href="{address}">Back' in markup(owner.get(link)).replace("&amp;", "&")


def test_visitors_of_a_shared_link_see_no_links_to_edits(owner, report):
    address = f"/datasets/ferry/matrix/{report.topic_id}/"
    assert "/text-history/" in markup(owner.get(address))
    url = share(owner, address, with_words="on")
    visitor = Client()
    page = markup(visitor.get(url, follow=True))
    assert "Sub-questions" in page
    assert "/text-history/" not in page


def test_edit_keeps_the_link_back(owner, report):
    previous_url = "/search/?q=coupling"
    data = {"body": f"{REPORT} More.", "counts": "yes", "why": "", "seen": digest(report.body)}
    url = words_url(report, "text", previous_url)
    response = owner.post(url, data | {"change": ""})
    assert response.status_code == 302
    assert f'<a href="{previous_url}">Back to the previous page</a>' in markup(
        owner.get(response.url)
    )


@pytest.mark.parametrize(
    "previous_url",
    ["https://example.org/", "//example.org/", "javascript:alert(1)", "search/", "/\\e.org"],
)
def test_link_back_leads_to_this_site_only(owner, report, previous_url):
    assert "Back to the previous page" not in markup(
        owner.get(words_url(report, "text", previous_url))
    )


def test_preview_shows_the_difference_and_stores_nothing(owner, report):
    body = report.body.replace("coupling", "cable <b>")
    data = {"body": body, "counts": "yes", "why": "", "seen": digest(report.body), "look": ""}
    page = markup(owner.post(words_url(report, "text"), data))
    assert "<del>coupling </del><ins>cable &lt;b&gt; </ins>" in page
    report.refresh_from_db()
    assert report.body == REPORT
