"""campaigns/<slug>/adjudication/<item>/<question>/: what an expert decides."""

from uuid import uuid4

import pytest

from annotation.adjudication.decisions import (
    AdjudicationConflictError,
    AdjudicationError,
    adjudicator_of,
    decide,
)
from annotation.models import Answer, Campaign, Decision, NuggetSpan, Rater, Rating, User
from annotation.text.spans import Span
from tests.toolbox.adjudication_study import (
    LIST,
    decision,
    make_differing,
    pair,
    span_position,
    url,
)
from tests.toolbox.answers import label
from tests.toolbox.factories import REPORT, make_campaign, make_dataset
from tests.toolbox.responses import markup
from tests.toolbox.threads import in_threads


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def differing(cast, campaign):
    return make_differing(cast, campaign)


def test_raters_are_letters_until_names_are_asked_for(rosa, differing):
    page = rosa.get(url(differing)).content.decode()
    assert "wil" not in page
    assert "Rater A marked this line" in page or "Rater B marked this line" in page
    page_with_names = rosa.get(url(differing, query="?names=on")).content.decode()
    assert "wil" in page_with_names
    assert "uma" in page_with_names


def test_letters_are_steady_in_an_item(rosa, differing):
    orders = [
        [voice.name for voice in rosa.get(url(differing, number=number)).context["voices"]]
        for number in (1, 2, 3)
    ]
    assert orders[0] == orders[1] == orders[2]


def test_decision_is_a_rating_of_the_adjudicator(cast, rosa, differing):
    answers = list(Answer.objects.values())
    ratings = list(Rating.objects.order_by("pk").values())
    response = rosa.post(url(differing), decision(differing))
    assert response.status_code == 302
    stored = Decision.objects.get()
    assert (stored.grade, stored.by, stored.note) == (
        1,
        cast.researcher,
        "the first sentence says so",
    )
    differing.refresh_from_db()
    adjudicator = differing.adjudicator
    assert (adjudicator.name, adjudicator.kind) == ("ferry-answerable-adjudicated", "human")
    rating = Rating.objects.get(rater=adjudicator)
    item, question = pair(differing)
    assert (rating.text, rating.question, rating.grade) == (item.text, question, 1)
    assert [span.quote for span in rating.spans.all()] == ["was hurt"]
    assert list(Answer.objects.values()) == answers
    assert list(Rating.objects.exclude(rater=adjudicator).order_by("pk").values()) == ratings
    agreement = rosa.get("/datasets/ferry/agreement/").content.decode()
    assert "ferry-answerable-adjudicated" in agreement


def test_spans_ticked_and_copied_are_counted_once(rosa, differing):
    sent = decision(
        differing,
        keep=[span_position("was hurt"), span_position("112 people")],
        quotes="was hurt\nlost  steering",
    )
    rosa.post(url(differing), sent)
    quotes = [span["quote"] for span in Decision.objects.get().spans]
    assert quotes == ["lost steering", "112 people", "was hurt"]


def test_later_decision_replaces_the_rating_and_keeps_the_earlier(rosa, differing):
    rosa.post(url(differing), decision(differing))
    first = Decision.objects.get()
    page = markup(rosa.get(url(differing)))
    assert f'value="{span_position("was hurt")}" checked' in page
    assert "Earlier decisions" in page
    rosa.post(url(differing), decision(differing, grade="0", keep=[], base=first.key))
    assert [decided.grade for decided in Decision.objects.order_by("pk")] == [1, 0]
    assert Rating.objects.get(rater__name__endswith="adjudicated").grade == 0
    assert not NuggetSpan.objects.filter(rating__rater__name__endswith="adjudicated").exists()


def test_decision_is_withdrawn_and_the_pair_is_open_again(cast, rosa, differing):
    rosa.post(url(differing), decision(differing))
    first = Decision.objects.get()
    sent = {"withdraw": "1", "key": uuid4(), "base": first.key, "note": "I had misread it"}
    for _ in range(2):  # sent twice, it is one
        assert rosa.post(url(differing), sent).status_code == 302
    assert [decided.grade for decided in Decision.objects.order_by("pk")] == [1, None]
    assert not Rating.objects.filter(rater__name__endswith="adjudicated").exists()
    listed = rosa.get(LIST).context["differences"]
    assert [row.decided for row in listed] == [None, None]
    page = rosa.get(url(differing))
    assert (page.context["chosen"], page.context["note"]) == ({""}, "")
    assert "withdrawn by rosa" in markup(page)
    assert "Withdraw decision" not in page.content.decode()
    second = decision(differing, grade="0", keep=[], base=sent["key"])
    assert rosa.post(url(differing), second).status_code == 302
    assert Rating.objects.get(rater__name__endswith="adjudicated").grade == 0


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"key": "no-key"}, 422, "UUID"),
        ({"note": "x" * 2001}, 422, "2000"),
        ({"base": ""}, 409, "rosa has decided this question in the meantime"),
    ],
)
def test_withdrawal_that_does_not_fit_changes_nothing(
    cast, rosa, differing, change, status, message
):
    rosa.post(url(differing), decision(differing))
    fields = {"key": uuid4(), "base": Decision.objects.get().key, "note": "I had misread it"}
    sent = {"withdraw": "1"} | fields | change
    response = cast.client("admin").post(url(differing), sent)
    assert response.status_code == status
    assert message in response.content.decode()
    assert f">{sent['note']}</textarea>" in markup(response)
    assert Decision.objects.count() == 1
    assert Rating.objects.get(rater__name__endswith="adjudicated").grade == 1


def test_withdrawal_without_a_decision_is_refused(cast, rosa, differing):
    sent = {"withdraw": "1", "key": uuid4(), "base": ""}
    refused = rosa.post(url(differing), sent)
    assert refused.status_code == 422
    assert "has no decision to withdraw" in refused.content.decode()
    rosa.post(url(differing), decision(differing))
    rosa.post(url(differing), sent | {"base": Decision.objects.get().key})
    newest = Decision.objects.last()
    second_reply = rosa.post(url(differing), sent | {"key": uuid4(), "base": newest.key})
    assert second_reply.status_code == 422
    unaware = cast.client("admin").post(url(differing), decision(differing))
    assert "rosa has withdrawn this question in the meantime" in unaware.content.decode()
    assert Decision.objects.count() == 2


def test_same_key_is_the_same_decision(cast, rosa, differing):
    sent = decision(differing)
    for _ in range(3):
        assert rosa.post(url(differing), sent).status_code == 302
    assert Decision.objects.count() == 1
    refused = rosa.post(url(differing), sent | {"grade": "0", "keep": []})
    assert refused.status_code == 422
    assert "already sent with a different content" in refused.content.decode()
    elsewhere = rosa.post(url(differing, number=1), sent)
    assert elsewhere.status_code == 422
    assert cast.client("admin").post(url(differing), sent).status_code == 422
    assert Decision.objects.get().grade == 1


def test_early_decision_sent_again_after_a_later_one_changes_nothing(rosa, differing):
    first = decision(differing)
    rosa.post(url(differing), first)
    rosa.post(url(differing), decision(differing, grade="0", keep=[], base=first["key"]))
    assert rosa.post(url(differing), first).status_code == 302
    assert Decision.objects.count() == 2
    assert Rating.objects.get(rater__name__endswith="adjudicated").grade == 0


def test_second_decision_without_knowing_the_first_is_refused(cast, rosa, differing):
    rosa.post(url(differing), decision(differing))
    response = cast.client("admin").post(url(differing), decision(differing, grade="0", keep=[]))
    assert response.status_code == 409
    page = response.content.decode()
    assert "rosa has decided this question in the meantime" in page
    assert f'name="base" value="{Decision.objects.get().key}"' in page
    assert Decision.objects.count() == 1


BAD = [
    ({"grade": ""}, "Choose a grade"),
    ({"grade": "7"}, "one of 0, 1, not 7"),
    ({"grade": "many"}, "whole number"),
    ({"key": "no-key"}, "UUID"),
    ({"keep": []}, "needs evidence"),
    ({"grade": "0"}, "needs no marked words"),
    ({"keep": ["1:9999"]}, "beyond the text"),
    ({"keep": ["x"]}, "not a place in the text"),
    ({"keep": ["²:³"]}, "not a place in the text"),
    ({"quotes": "words that are not there"}, "are not in it"),
    ({"text_sha256": "other"}, "The text has changed"),
    ({"text_sha256": None}, "required"),
    ({"note": "x" * 2001}, "2000"),
    ({"base": "x"}, "UUID"),
]


def test_invalid_decision_is_refused_with_a_message(rosa, differing, subtests):
    for change, message in BAD:
        with subtests.test(change=change):
            response = rosa.post(url(differing), decision(differing, **change))
            assert response.status_code == 422
            assert message in response.content.decode()
            assert not Decision.objects.exists()
            assert not Rater.objects.filter(name__endswith="adjudicated").exists()


def test_refused_form_keeps_its_values(rosa, differing):
    sent = decision(
        differing, quotes="not there", note="a note", keep=[span_position("112 people")]
    )
    page = markup(rosa.post(url(differing), sent))
    assert f'value="{span_position("112 people")}" checked' in page
    assert "a note" in page
    assert "not there" in page


def test_refused_form_still_notices_the_decision_of_another(cast, rosa, differing):
    cast.client("admin").post(url(differing), decision(differing))
    refused = rosa.post(url(differing), decision(differing, quotes="not there"))
    assert refused.status_code == 422
    resent = decision(differing, grade="0", keep=[], base=refused.context["base"])
    assert rosa.post(url(differing), resent).status_code == 409
    assert Decision.objects.count() == 1


def test_after_a_decision_comes_the_next_that_is_open(rosa, differing):
    response = rosa.post(url(differing, query="?names=on"), decision(differing))
    assert response.url == url(differing, number=1, query="?names=on")
    sent = decision(differing, keep=[span_position("lost steering")])
    assert rosa.post(url(differing, number=1), sent).url == LIST


def test_previous_and_next_keep_the_filter(rosa, differing):
    page = rosa.get(url(differing)).context
    assert (page["place"], page["of"], page["previous"]) == (1, 2, None)
    item, question = pair(differing, number=1)
    assert page["next"] == (item.pk, question.pk)
    filtered_page = rosa.get(url(differing, query="?kind=label"))
    assert (filtered_page.context["of"], filtered_page.context["next"]) == (1, None)
    assert rosa.get(url(differing, "bm25", 2)).context["place"] is None


def test_pilot_keeps_decisions_and_projects_none(cast, rosa, dataset):
    campaign = make_campaign(dataset, cast.worker, cast.other_worker, is_pilot=True)
    label(campaign, cast.worker, "oracle", 2, 1, "was hurt")
    label(campaign, cast.other_worker, "oracle", 2, 0)
    assert "This is a pilot" in rosa.get(url(campaign)).content.decode()
    rosa.post(url(campaign), decision(campaign))
    assert Decision.objects.count() == 1
    assert not Rating.objects.exists()
    campaign.refresh_from_db()
    assert campaign.adjudicator is None


def test_adjudicators_name_may_be_taken(campaign):
    Rater.objects.create(name="ferry-answerable-adjudicated", kind="human")
    assert adjudicator_of(campaign).name == "ferry-answerable-adjudicated-2"
    stale = Campaign.objects.get(pk=campaign.pk)
    assert adjudicator_of(stale) == campaign.adjudicator


@pytest.mark.parametrize(
    ("role", "status"), [("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)]
)
def test_adjudication_permissions_by_role(cast, differing, role, status):
    client = cast.client(role)
    assert client.get(LIST).status_code == status
    assert client.get(url(differing)).status_code == status
    sent = client.post(url(differing), decision(differing))
    assert sent.status_code == (302 if status == 200 else status)
    assert Decision.objects.exists() is (status == 200)


def test_wrong_methods_and_what_is_not_there(rosa, differing):
    item, question = pair(differing)
    assert rosa.post(LIST).status_code == 405
    assert rosa.put(url(differing)).status_code == 405
    assert rosa.get("/campaigns/nowhere/adjudication/").status_code == 404
    other_campaign = make_campaign(make_dataset("train"), User.objects.get(username="uma"))
    foreign, unasked = pair(other_campaign)
    for path in (
        f"{LIST}0/{question.pk}/",
        f"{LIST}{item.pk}/0/",
        f"{LIST}{item.pk}/{unasked.pk}/",
        f"{LIST}{foreign.pk}/{unasked.pk}/",
        f"/campaigns/{other_campaign.slug}/adjudication/{item.pk}/{question.pk}/",
    ):
        assert rosa.get(path).status_code == 404, path
        assert rosa.post(path, decision(differing)).status_code == 404, path
    assert not Decision.objects.exists()


def test_page_works_without_scripts(rosa, differing):
    page = rosa.get(url(differing)).content.decode()
    assert "<mark data-mark=" in page
    assert 'name="quotes"' in page
    assert "style=" not in page


@pytest.mark.django_db(transaction=True)
def test_concurrent_first_decisions_create_one_rater_and_one_decision_per_key(cast, dataset):
    campaign = make_differing(cast, make_campaign(dataset, cast.worker, cast.other_worker))
    campaign_pk, by = campaign.pk, cast.researcher
    start = REPORT.index("was hurt")
    keys = [uuid4() for _ in range(4)]

    def decide_once(number):
        campaign = Campaign.objects.select_related("rubric").get(pk=campaign_pk)
        item, question = pair(campaign, "oracle" if number % 2 else "bm25", number % 3 + 1)
        item.campaign = campaign
        span = Span(start, start + 8, "was hurt")
        sent = {"key": keys[number % 4], "grade": 1, "spans": [span], "note": "", "by": by}
        try:
            return decide(item, question, base=None, **sent).pk
        except (AdjudicationError, AdjudicationConflictError):
            return None

    decisions = in_threads(decide_once, range(24))
    assert Decision.objects.count() == len(set(decisions) - {None})
    assert Decision.objects.filter(key__in=keys).count() == 4
    assert Rater.objects.filter(name__contains="adjudicated").count() == 1
    for rating in Rating.objects.filter(rater__name__contains="adjudicated"):
        assert [span.quote for span in rating.spans.all()] == ["was hurt"]


def take(rosa, campaign, grade, **change):
    """Press the button that takes the answer of the rater who gave this grade."""
    page = rosa.get(url(campaign)).context
    [voice] = [voice for voice in page["voices"] if voice.grade == grade]
    sent = decision(campaign, take=voice.key, grade=None, keep=None, **change)
    return rosa.post(url(campaign), sent, follow=True), voice


@pytest.mark.parametrize(("grade", "quotes"), [(1, ["was hurt"]), (0, [])])
def test_raters_answer_is_taken_in_one_click(rosa, differing, grade, quotes):
    response, voice = take(rosa, differing, grade, note="as said")
    assert f"Decided: {grade}, as {voice.letter} answered." in response.content.decode()
    decision = Decision.objects.get()
    assert (decision.grade, [span["quote"] for span in decision.spans], decision.note) == (
        grade,
        quotes,
        "as said",
    )
    rating = Rating.objects.get(rater__name__endswith="adjudicated")
    assert (rating.grade, [span.quote for span in rating.spans.all()]) == (grade, quotes)
    assert response.redirect_chain[0][0] == url(differing, number=1)


def test_taken_answer_replaces_ticked_and_copied_spans(rosa, differing):
    page = rosa.get(url(differing)).context
    [voice] = [voice for voice in page["voices"] if voice.grade == 1]
    sent = decision(
        differing, take=voice.key, grade="0", keep=[span_position("112 people")], quotes="not"
    )
    assert rosa.post(url(differing), sent).status_code == 302
    assert [span["quote"] for span in Decision.objects.get().spans] == ["was hurt"]


def test_answer_that_changed_since_is_not_taken(cast, rosa, differing):
    page = rosa.get(url(differing)).context
    [voice] = [voice for voice in page["voices"] if voice.grade == 1]
    label(differing, cast.worker, "oracle", 2, 1, "steering")
    for key in (voice.key, str(uuid4()), "x"):
        refused = rosa.post(url(differing), decision(differing, take=key))
        assert refused.status_code == 409
        assert "has changed the answer since you opened the page" in refused.content.decode()
        assert refused.context["note"] == "the first sentence says so"
        assert refused.context["chosen"] == {"1"}
        assert f'value="{span_position("was hurt")}" checked' in markup(refused)
    assert not Decision.objects.exists()


def test_refused_take_still_notices_the_decision_of_another(cast, rosa, differing):
    cast.client("admin").post(url(differing), decision(differing))
    refused = rosa.post(url(differing), decision(differing, take="x"))
    assert (refused.status_code, refused.context["base"]) == (409, "")
    resent = decision(differing, grade="0", keep=[], base=refused.context["base"])
    assert rosa.post(url(differing), resent).status_code == 409
    assert Decision.objects.count() == 1


def test_only_a_whole_answer_can_be_taken(cast, rosa, differing):
    label(differing, cast.worker, "oracle", 2, 1)  # without words
    label(differing, cast.other_worker, "oracle", 2, None)
    page = rosa.get(url(differing))
    assert [voice.key for voice in page.context["voices"]] == ["", ""]
    assert 'name="take"' not in page.content.decode()


def test_0_is_taken_without_the_words_that_were_marked_for_it(cast, rosa, differing):
    label(differing, cast.other_worker, "oracle", 2, 0, "112 people")
    take(rosa, differing, 0)
    assert (Decision.objects.get().grade, Decision.objects.get().spans) == (0, [])


def test_taking_twice_is_one_decision_and_knows_of_others(cast, rosa, differing):
    page = rosa.get(url(differing)).context
    [voice] = [voice for voice in page["voices"] if voice.grade == 1]
    sent = decision(differing, take=voice.key)
    assert [rosa.post(url(differing), sent).status_code for _ in range(2)] == [302, 302]
    assert Decision.objects.count() == 1
    late = cast.client("admin").post(url(differing), decision(differing, take=voice.key))
    assert late.status_code == 409
    assert "rosa has decided this question in the meantime" in late.content.decode()
