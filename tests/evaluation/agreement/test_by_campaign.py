"""agreement/?campaign=: the ratings of one study alone, of its raters on what it asked."""

import json
import re
from collections import defaultdict

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Campaign
from annotation.participation import assigning
from evaluation.agreement.report import agreement_report
from evaluation.data.selection import SelectionError, select
from tests.toolbox.answers import item_of, label_item
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.responses import markup

URL = "/datasets/ferry/agreement/"


@pytest.fixture
def studies(cast, dataset):
    """Two studies of the same reports with wil in both; the second has two of three questions."""
    first = make_campaign(dataset, cast.worker, cast.other_worker)
    Campaign.objects.update(slug="first")
    second = make_campaign(dataset, cast.worker, cast.researcher)
    Campaign.objects.exclude(pk=first.pk).update(slug="second", title="The second")
    second.refresh_from_db()
    for item in second.items.all():
        item.asked.filter(position=2).delete()
    for system, wil, uma in (("oracle", (1, 0, 1), (1, 0, 0)), ("bm25", (0, 0, 0), (0, 1, 0))):
        label_item(first, cast.worker, system, *wil)
        label_item(first, cast.other_worker, system, *uma)
        label_item(second, cast.worker, system, *wil[:2])  # what wil says again, unchanged
        label_item(second, cast.researcher, system, *wil[:2])
    return first, second


def test_only_its_raters_and_what_it_asked_are_compared(cast, studies, dataset):
    everything = agreement_report(select(dataset))
    assert (everything.n_items, len(everything.selection.raters)) == (6, 3)
    first = agreement_report(select(dataset, campaign="first"))
    assert [rater.name for rater in first.selection.raters] == ["uma", "wil"]
    # Of 6 pairs 4 agree; one says yes in 2 of 6 as the other does: expected (1/3)^2 + (2/3)^2 = 5/9.
    assert (first.n_items, first.n_missing, first.all.percent.value) == (6, 0, 4 / 6)
    assert first.all.kappa.value == pytest.approx((4 / 6 - 5 / 9) / (1 - 5 / 9))
    second = agreement_report(select(dataset, campaign="second"))
    assert [rater.name for rater in second.selection.raters] == ["rosa", "wil"]
    assert (second.n_items, second.all.percent.value) == (4, 1)


def test_page_keeps_the_campaign_in_its_links_and_files(cast, studies):
    rosa = cast.client("researcher")
    page = rosa.get(URL + "?campaign=second")
    assert "The second</a> only" in page.content.decode()
    assert "campaign=second" in page.context["selection"].query()
    report = json.loads(rosa.get("/datasets/ferry/agreement.json?campaign=second").content)
    assert (report["campaign"], report["n_items"]) == ("second", 4)
    pairs = rosa.get("/datasets/ferry/disagreements/?campaign=second")
    assert pairs.context["listed"].matrix.n_items == 4
    overview = rosa.get("/campaigns/second/").content.decode()
    assert f'href="{URL}?campaign=second"' in overview


def shown_form(page) -> dict[str, list[str]]:
    """The fields of the chooser as a browser sends them back."""
    form = re.search(r'<form class="row choose".*?</form>', markup(page), re.DOTALL)[0]
    fields = defaultdict(list)
    for tag in re.findall(r"<input[^>]*>", form):
        if "checkbox" not in tag or " checked" in tag:
            name, value = (re.search(f'{key}="([^"]*)"', tag)[1] for key in ("name", "value"))
            fields[name].append(value)
    for name, options in re.findall(r'<select name="(\w+)">(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option (?:value="([^"]*)" )?selected>([^<]*)', options)
        first = re.search(r'<option (?:value="([^"]*)" ?)?>([^<]*)', options)
        value, label = (chosen or first).groups()
        fields[name] = [label.strip() if value is None else value]
    return fields


def test_form_leads_from_one_campaign_to_another_and_back(cast, studies):
    rosa = cast.client("researcher")

    def raters(page):
        assert page.status_code == 200
        return [rater.name for rater in page.context["selection"].raters]

    page = rosa.get(URL)
    assert raters(page) == ["rosa", "uma", "wil"]
    for campaign, names in (("first", ["uma", "wil"]), ("second", ["rosa", "wil"]), ("", None)):
        page = rosa.get(URL, shown_form(page) | {"campaign": campaign})
        assert raters(page) == (names or ["rosa", "uma", "wil"])
    page = rosa.get(URL, shown_form(page) | {"campaign": "second"})
    page = rosa.get(URL, shown_form(page) | {"raters": ["wil"]})
    assert raters(page) == ["wil"]
    page = rosa.get(URL, shown_form(page) | {"rubric": "graded"})
    assert (raters(page), page.context["selection"].campaign) == ([], None)


def test_rater_without_answers_in_a_campaign_is_not_in_it(cast, studies, dataset):
    _, second = studies
    assigning.invite(second, cast.other_worker.rater)
    report = agreement_report(select(dataset, campaign="second"))
    assert [rater.name for rater in report.selection.everyone] == ["rosa", "wil"]


def test_campaign_brings_its_rubric_along(cast, dataset):
    study = make_campaign(dataset, cast.worker, rubric="graded", kind="passage")
    assert select(dataset, campaign=study.slug).rubric.slug == "graded"
    with pytest.raises(SelectionError, match="no campaign under answerable called “ferry-graded”"):
        select(dataset, rubric="answerable", campaign=study.slug)


@pytest.mark.parametrize("changes", [{"state": "draft"}, {"is_pilot": True}, {"slug": "elsewhere"}])
def test_draft_pilot_and_foreign_campaigns_are_not_choices(cast, dataset, changes):
    make_campaign(dataset if "slug" not in changes else make_dataset("canal"), cast.worker)
    Campaign.objects.update(**changes)
    slug = Campaign.objects.get().slug
    page = cast.client("researcher").get(f"{URL}?campaign={slug}")
    assert page.status_code == 400
    assert f"There is no campaign “{slug}”. There are none." in page.content.decode()


def test_adjudicator_of_another_study_is_excluded(cast, studies, dataset):
    first, _ = studies
    item = item_of(first, "oracle")
    question = item.asked.first().question
    sent = {"key": "6f1d2c3b-4a59-4877-9695-041300000001", "grade": "0"}
    sent |= {"text_sha256": item.text.sha256, "keep": []}
    url = f"/campaigns/first/adjudication/{item.pk}/{question.pk}/"
    assert cast.client("researcher").post(url, sent).status_code == 302
    names = [column.name for column in select(dataset, campaign="first").everyone]
    assert "first-adjudicated" in names
    assert "first-adjudicated" not in [
        column.name for column in select(dataset, campaign="second").everyone
    ]


def test_command_takes_a_campaign(studies, capsys):
    call_command("agreement", "ferry", "--campaign", "second")
    out = capsys.readouterr().out
    assert out.startswith("ferry, answerable, campaign second: rosa, wil\n4 items of 1 topic")
    with pytest.raises(
        CommandError, match=r"There is no campaign “third”\. There are: second, first"
    ):
        call_command("agreement", "ferry", "--campaign", "third")
