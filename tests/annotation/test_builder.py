"""The builder: each step of a draft, the look over everything, the opening, and what stays."""

import json

import pytest
from django.core import serializers

from annotation import drafts
from annotation.models import (
    AttentionCheck,
    Campaign,
    CheckQuestion,
    Item,
    ItemQuestion,
    LogEntry,
    Participant,
    Rater,
    Rubric,
)
from tests.annotation.builder_material import (
    CHECK,
    CHECKS,
    GOLD,
    PARTS,
    QUESTION,
    STEPS,
    TERMS,
    TEXTS,
    WORDS,
    make_draft,
    make_labelled,
    rows,
    url,
)
from tests.threads import in_threads


@pytest.fixture
def harbour(db):
    return make_labelled()


@pytest.fixture
def admin(cast):
    return cast.client("admin")


@pytest.fixture
def draft(admin, harbour):
    return make_draft(admin, harbour)


def stored(campaign):
    """Everything that a campaign consists of, as it is in the database."""
    return serializers.serialize(
        "json",
        [
            Campaign.objects.get(pk=campaign.pk),
            *Item.objects.filter(campaign=campaign),
            *ItemQuestion.objects.filter(item__campaign=campaign),
            *CheckQuestion.objects.filter(campaign=campaign),
            *AttentionCheck.objects.filter(campaign=campaign),
            *Participant.objects.filter(campaign=campaign),
        ],
    )


def orla():
    return Rater.objects.get(name="orla")


def labels():
    return f"{orla().pk}:{Rubric.objects.get(slug='graded').pk}"


def read(client, campaign, step):
    response = client.get(url(campaign, step))
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("step", [*STEPS, "review"])
def test_each_step_shows_what_is_stored(admin, draft, step):
    page = read(admin, draft, step)
    assert draft.title in page
    assert 'aria-current="step"' in page


@pytest.mark.parametrize("step", STEPS)
def test_each_step_saves_and_goes_on_or_stays(admin, draft, step):
    assert admin.post(url(draft, step), STEPS[step]).url == url(draft, step)
    following = [*STEPS, "review"][list(STEPS).index(step) + 1]
    response = admin.post(url(draft, step), STEPS[step] | {"on": "1"})
    assert response.url == url(draft, following)


def test_texts_are_drawn_by_topic_and_counted(admin, draft):
    sent = TEXTS | {"title": "One topic", "topics": ["harbour-0"]}
    admin.post(url(draft, "texts"), sent)
    draft.refresh_from_db()
    assert draft.title == "One topic"
    assert {item.text.topic.name for item in draft.items.all()} == {"harbour-0"}
    page = read(admin, draft, "texts")
    assert "<strong>5</strong> texts with <strong>20</strong> questions in all" in page
    assert "1: no words here" in page
    assert "Question 1 of harbour-0?" in page


def test_reports_are_drawn_by_system(admin, draft):
    sent = TEXTS | {"kind": "report", "systems": ["annotated.bm25"]}
    admin.post(url(draft, "texts"), sent)
    assert {item.text.system for item in draft.items.all()} == {"annotated.bm25"}
    assert "annotated.bm25</th>" in read(admin, draft, "texts")


def test_a_sample_is_the_same_for_the_same_seed(admin, draft):
    def drawn(seed):
        sent = TEXTS | {"sample": 4, "questions": "some", "questions_per_item": 2, "seed": seed}
        admin.post(url(draft, "texts"), sent)
        return [
            (item.text_id, [one.question_id for one in item.asked.all()])
            for item in draft.items.all()
        ]

    first = drawn(5)
    assert len(first) == 4
    assert all(len(questions) == 2 for _, questions in first)
    assert drawn(6) != first
    assert drawn(5) == first
    draft.refresh_from_db()
    assert draft.selection["left_out"]["not in the random sample"] == 6


def test_one_answerable_and_one_not_by_labels(admin, draft):
    admin.post(url(draft, "texts"), TEXTS | {"questions": "pair", "labels": labels()})
    draft.refresh_from_db()
    assert draft.question_source == orla()
    assert draft.items.count() == 6  # not 0 and 1, which lack one; not the two without labels
    for item in draft.items.all():
        grades = [
            item.text.ratings.get(question=one.question, rater=orla()).grade
            for one in item.asked.all()
        ]
        assert sorted(grades) == [1, 4]
    page = read(admin, draft, "texts")
    assert "3: no answerable question by orla" in page
    assert "1: no unanswerable question by orla" in page
    assert "32 pairs of passages" in page


def test_gold_and_training_are_no_study_items(admin, draft):
    sent = {"gold_source": orla().pk, "n_training": 2, "n_gold": 3}
    admin.post(url(draft, "gold"), sent)
    by_purpose = {
        purpose: set(draft.items.filter(purpose=purpose).values_list("text", flat=True))
        for purpose in Item.Purpose.values
    }
    assert [len(of) for of in by_purpose.values()] == [5, 2, 3]
    assert len(set.union(*by_purpose.values())) == 10
    for item in draft.items.exclude(purpose="study"):
        assert all(one.expected is not None for one in item.asked.all())
    assert "5: taken for training and gold" in read(admin, draft, "texts")


def test_parts_say_what_they_come_to(admin, draft):
    admin.post(url(draft, "terms"), TERMS)
    admin.post(url(draft, "parts"), PARTS | {"max_parts": 1, "lease_hours": 24})
    page = read(admin, draft, "parts")
    assert "10 × 3 raters = 30" in page
    assert "8, of 4 texts or fewer" in page
    assert "8, each with 1 part at most" in page
    assert "240 minutes, 4.0 hours" in page
    assert "48.00 GBP; 12.00 GBP an hour" in page


def test_the_guideline_begins_as_the_rubrics_own(draft):
    assert draft.guideline == Rubric.objects.get(slug="graded").guideline


def test_words_are_shown_as_they_read_and_not_saved(admin, draft):
    before = stored(draft)
    sent = WORDS | {"guideline": "## Mine\n\n<script>x</script>", "look": "1"}
    response = admin.post(url(draft, "words"), sent)
    assert response.status_code == 200
    page = response.content.decode()
    assert "<h2>Mine</h2>" in page
    assert "<script>x" not in page
    fragment = admin.post(url(draft, "words"), sent, HTTP_HX_REQUEST="true").content.decode()
    assert "<h2>Mine</h2>" in fragment
    assert "<form" not in fragment
    assert stored(draft) == before
    admin.post(url(draft, "words"), WORDS)
    draft.refresh_from_db()
    assert (draft.consent, draft.consent_version) == ("You may stop.", "1")


def test_checks_are_added_changed_and_taken_out(admin, draft):
    admin.post(url(draft, "checks"), CHECKS)
    question = draft.check_questions.get()
    assert (question.options, question.correct) == (["yes", "no"], 1)
    assert draft.attention_checks.get().expected == 2
    second = QUESTION | {"purpose": "screening", "body": "Do you read English?", "correct": 1}
    sent = rows("questions", QUESTION | {"DELETE": "on"}, second, before=1)
    sent |= rows("attention", CHECK, {"body": "", "expected": ""}, before=1)
    admin.post(url(draft, "checks"), sent)
    assert draft.check_questions.get().body == "Do you read English?"
    assert draft.attention_checks.count() == 1


@pytest.mark.parametrize(
    ("rubric", "says"),
    [("graded", "please choose grade 2."), ("answerable", "please choose 0, not answerable.")],
)
def test_a_ready_made_check_asks_for_its_own_grade(admin, harbour, rubric, says):
    draft = make_draft(admin, harbour, rubric=rubric)
    sent = rows("questions") | rows("attention") | {"ready_made": "1"}
    admin.post(url(draft, "checks"), sent)
    check = draft.attention_checks.get()
    assert check.body == f"This question checks that you are reading: {says}"
    assert check.body.rstrip(".").count(str(check.expected)) == 1
    sent = rows("questions") | rows("attention", {"body": check.body, "expected": check.expected})
    admin.post(url(draft, "checks"), sent | {"ready_made": "1"})
    assert len(set(draft.attention_checks.values_list("expected", flat=True))) == 2


def test_terms_invite_accounts_and_take_them_out_again(cast, admin, draft):
    admin.post(url(draft, "terms"), TERMS | {"people": [cast.worker.pk, cast.other_worker.pk]})
    assert {stay.rater.user for stay in draft.participants.all()} == {
        cast.worker,
        cast.other_worker,
    }
    assert draft.title not in cast.client("worker").get("/work/").content.decode()
    admin.post(url(draft, "terms"), TERMS | {"people": [cast.worker.pk]})
    assert draft.participants.get().rater.user == cast.worker


BAD = [
    ("texts", {"kind": "poem"}, "Select a valid choice"),
    ("texts", {"kind": "reference"}, "No text was chosen"),
    ("texts", {"systems": ["nobody"]}, "Select a valid choice"),
    ("texts", {"topics": ["nothing"]}, "Select a valid choice"),
    ("texts", {"sample": "0"}, "greater than or equal to 1"),
    ("texts", {"sample": "many"}, "whole number"),
    ("texts", {"questions": "some"}, "Say how many"),
    ("texts", {"questions": "some", "questions_per_item": "0"}, "greater than or equal to 1"),
    ("texts", {"questions": "pair"}, "Choose whose labels"),
    ("texts", {"questions": "pair", "labels": "1:99"}, "Select a valid choice"),
    ("texts", {"questions": "none"}, "Select a valid choice"),
    ("texts", {"seed": "9999999999"}, "less than or equal to"),
    ("texts", {"title": ""}, "required"),
    ("parts", {"raters_per_item": "0"}, "greater than or equal to 1"),
    ("parts", {"raters_per_item": "99999"}, "less than or equal to"),
    ("parts", {"items_per_part": "-1"}, "greater than or equal to"),
    ("parts", {"items_per_part": "2", "attention_per_part": "3"}, "cannot ask 3"),
    ("gold", {"n_gold": "2"}, "need known labels"),
    ("gold", {"n_training": "-2"}, "greater than or equal to"),
    ("gold", {"gold_source": "999999"}, "Select a valid choice"),
    ("words", {"consent_version": ""}, "Name the version"),
    ("checks", rows("questions", QUESTION | {"options": "one"}), "two choices"),
    ("checks", rows("questions", QUESTION | {"options": "a\na"}), "the same"),
    ("checks", rows("questions", QUESTION | {"correct": "3"}), "There are 2 choices"),
    ("checks", rows("questions", QUESTION | {"body": ""}), "required"),
    ("checks", rows("attention", CHECK | {"expected": "9"}), "Select a valid choice"),
    ("checks", {"questions-TOTAL_FORMS": ""}, "missing or has been tampered"),
    ("terms", {"currency": "pounds"}, "at most 3"),
    ("terms", {"currency": "12£"}, "three letters"),
    ("terms", {"currency": ""}, "which currency"),
    ("terms", {"pay_per_part": "-1"}, "cannot be negative"),
    ("terms", {"opens_at": "2030-02-02T10:00", "closes_at": "2030-02-01T10:00"}, "before it opens"),
    ("terms", {"closes_at": "soon"}, "valid date"),
    ("terms", {"platform": "bazaar"}, "Select a valid choice"),
    ("terms", {"completion_url": "nowhere at all"}, "valid URL"),
    ("terms", {"people": ["999999"]}, "Select a valid choice"),
]


@pytest.mark.parametrize(("step", "change", "says"), BAD)
def test_bad_input_is_named_and_changes_nothing(admin, draft, step, change, says):
    before = stored(draft)
    response = admin.post(url(draft, step), STEPS[step] | change)
    assert response.status_code == 422
    assert says in response.content.decode()
    assert stored(draft) == before


def test_more_gold_than_labels_is_refused_with_both_numbers(admin, draft):
    before = stored(draft)
    sent = {"gold_source": orla().pk, "n_training": 1, "n_gold": 9}
    response = admin.post(url(draft, "gold"), sent)
    assert response.status_code == 422
    page = response.content.decode()
    assert "orla has rated 8 texts" in page
    assert "need 10" in page
    assert stored(draft) == before


def test_labels_of_another_kind_of_text_are_refused(admin, harbour):
    draft = make_draft(admin, harbour, rubric="answerable")
    sent = TEXTS | {"kind": "report", "questions": "pair", "labels": labels()}
    response = admin.post(url(draft, "texts"), sent)
    assert response.status_code == 422
    assert "has labelled no text of this kind" in response.content.decode()


def test_guests_of_other_studies_cannot_be_invited(cast, admin, draft):
    cast.worker.is_guest = True
    cast.worker.save()
    sent = TERMS | {"people": [cast.worker.pk]}
    assert admin.post(url(draft, "terms"), sent).status_code == 422


PROLIFIC = TERMS | {"platform": "prolific", "code_done": "C1"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"parts": PARTS | {"attention_per_part": 2}}, "and none is written"),
        ({"terms": TERMS | {"closes_at": "2020-01-01T10:00"}}, "is over already"),
        ({"terms": TERMS | {"platform": "prolific"}}, "needs a completion code"),
    ],
)
def test_what_is_missing_keeps_it_from_opening(admin, draft, changes, says):
    for step, sent in changes.items():
        admin.post(url(draft, step), sent)
    page = read(admin, draft, "review")
    assert says in page
    assert "disabled" in page
    response = admin.post(url(draft, "open"), follow=True)
    assert "It is not opened." in response.content.decode()
    draft.refresh_from_db()
    assert draft.is_draft


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "There is no consent text"),
        ({}, "Nobody is invited"),
        ({"checks": CHECKS}, "1 attention check is written, and none is asked"),
        ({"terms": PROLIFIC}, "needs two attention checks"),
        ({"terms": PROLIFIC}, "people who are paid need short ones"),
        ({"terms": PROLIFIC}, "never return to the others"),
        ({"terms": PROLIFIC, "checks": CHECKS}, "fail the comprehension check"),
        ({"terms": PROLIFIC | {"pay_per_part": ""}}, "no pay is stated"),
        ({"terms": TERMS | {"pay_per_part": "2.00"}}, "4.00 GBP an hour, less than 9"),
        ({"parts": PARTS | {"lease_hours": 30}, "terms": PROLIFIC}, "24 hours at most"),
    ],
)
def test_what_is_odd_is_said_and_can_be_opened(admin, draft, changes, says):
    for step, sent in changes.items():
        admin.post(url(draft, step), sent)
    assert says in read(admin, draft, "review")
    admin.post(url(draft, "open"))
    draft.refresh_from_db()
    assert draft.state == Campaign.State.OPEN


def test_opening_is_logged_and_its_people_see_it(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    response = admin.post(url(draft, "open"))
    assert response.url == draft.get_absolute_url()
    draft.refresh_from_db()
    assert draft.opened_at is not None
    entry = LogEntry.objects.get()
    assert (entry.action, entry.by) == ("opened", cast.admin)
    worker = cast.client("worker")
    assert draft.title in worker.get("/work/").content.decode()
    begun = worker.post(f"/work/in/{draft.slug}/begin/")
    assert worker.get(begun.url).status_code == 200
    assert (
        "It has been opened before." in admin.post(url(draft, "open"), follow=True).content.decode()
    )


@pytest.mark.parametrize("step", STEPS)
def test_nothing_changes_after_the_opening(cast, admin, harbour, step):
    draft = make_draft(admin, harbour, cast.worker)
    for name, sent in STEPS.items():
        admin.post(url(draft, name), sent)
    admin.post(url(draft, "open"))
    before = stored(draft)
    change = {"title": "Other", "raters_per_item": 9, "guideline": "x", "pay_per_part": "1"}
    for state in ("open", "paused", "closed"):
        Campaign.objects.update(state=state)
        for response in (
            admin.get(url(draft, step), follow=True),
            admin.post(url(draft, step), STEPS[step] | change, follow=True),
        ):
            assert response.redirect_chain == [(url(draft, "review"), 302)]
            assert "what raters were shown stays as it is" in response.content.decode()
    Campaign.objects.update(state="open")
    assert stored(draft) == before


@pytest.mark.parametrize("action", ["discard", "open"])
def test_an_open_campaign_is_not_opened_again_or_thrown_away(cast, admin, harbour, action):
    draft = make_draft(admin, harbour, cast.worker)
    admin.post(url(draft, "open"))
    before = stored(draft)
    admin.post(url(draft, action))
    assert stored(draft) == before


@pytest.mark.django_db(transaction=True)
def test_who_saves_while_another_opens_is_before_it_or_refused(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    clients = [cast.client("admin") for _ in range(12)]

    def act(at):
        if at % 6 == 5:
            return clients[at].post(url(draft, "open")).url
        return clients[at].post(url(draft, "texts"), TEXTS | {"sample": at % 6 + 1}).url

    went = in_threads(act, range(12))
    draft.refresh_from_db()
    assert draft.state == Campaign.State.OPEN
    assert LogEntry.objects.filter(action="opened").count() == 1
    assert draft.items.count() == draft.selection.get("sample", 10)
    assert set(went) <= {url(draft, "texts"), url(draft, "review"), draft.get_absolute_url()}


def test_the_frozen_state_is_readable(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    admin.post(url(draft, "checks"), CHECKS)
    admin.post(url(draft, "open"))
    page = read(cast.client("researcher"), draft, "review")
    for words in ("May you use what you know?", "Please choose grade 2.", "wil", "stays as it is"):
        assert words in page
    assert "Later changes" not in page  # for admins


def test_later_changes_are_few_and_logged(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    later = url(draft, "later")
    assert admin.get(later).url == url(draft, "terms")
    admin.post(url(draft, "open"))
    assert admin.get(later).status_code == 200
    sent = {
        "closes_at": "2099-05-01T12:00",
        "code_done": "NEW1",
        "title": "Sneaked in",
        "people": [cast.other_worker.pk],
    }
    assert admin.post(later, sent).url == url(draft, "review")
    draft.refresh_from_db()
    assert (draft.closes_at.year, draft.code_done, draft.title) == (2099, "NEW1", "Grading")
    assert draft.participants.count() == 2
    logged = {entry.action: entry.detail for entry in LogEntry.objects.all()}
    assert logged["changed terms"] == "closes_at, code_done"
    assert logged["invited"] == "1 account"
    bad = admin.post(later, sent | {"closes_at": "whenever", "people": []})
    assert bad.status_code == 422
    draft.refresh_from_db()
    assert draft.closes_at.year == 2099


def test_a_copy_has_settings_words_and_checks_but_not_people(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    for name, sent in STEPS.items():
        admin.post(url(draft, name), sent)
    admin.post(
        url(draft, "terms"),
        PROLIFIC | {"people": [cast.worker.pk], "closes_at": "2099-01-01T10:00"},
    )
    admin.post(url(draft, "open"))
    response = admin.post(f"/campaigns/{draft.slug}/copy/")
    made = Campaign.objects.latest("id")
    assert response.url == url(made, "texts")
    assert made.is_draft
    assert (made.title, made.slug) == ("Grading (copy)", "grading-copy")
    assert (made.raters_per_item, made.consent, made.platform) == (3, "You may stop.", "prolific")
    assert (made.code_done, made.closes_at, made.opened_at) == ("", None, None)
    assert made.salt != draft.salt
    assert made.check_questions.get().body == QUESTION["body"]
    assert made.attention_checks.get().body == CHECK["body"]
    assert not made.participants.exists()
    drawn = [
        [
            (item.text_id, item.purpose, [one.question_id for one in item.asked.all()])
            for item in one.items.all()
        ]
        for one in (draft, made)
    ]
    assert drawn[0] == drawn[1]


def test_a_copy_of_a_study_that_was_opened_at_once_knows_its_kind_of_text(cast, admin, campaign):
    admin.post(f"/campaigns/{campaign.slug}/copy/")
    made = Campaign.objects.latest("id")
    assert made.selection["kind"] == "report"
    assert made.items.count() == campaign.items.count()


def test_a_draft_can_be_thrown_away(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    assert admin.post(url(draft, "discard")).url == "/campaigns/"
    assert not Campaign.objects.exists()


ALL_STEPS = [*STEPS, "review", "later"]


@pytest.mark.parametrize(
    ("who", "reviews", "edits"),
    [("admin", 200, 200), ("researcher", 200, 403), ("worker", 403, 403), ("stranger", 302, 302)],
)
def test_who_may_look_and_who_may_edit(cast, admin, draft, who, reviews, edits):
    client = cast.client(who)
    before = stored(draft)
    assert client.get(url(draft, "review")).status_code == reviews
    for step, sent in STEPS.items():
        assert client.get(url(draft, step)).status_code == edits
        if who != "admin":
            assert client.post(url(draft, step), sent).status_code == edits
    if who != "admin":
        for action in ("open", "discard", "later"):
            assert client.post(url(draft, action)).status_code == edits
        assert client.post(f"/campaigns/{draft.slug}/copy/").status_code == edits
        assert stored(draft) == before
        assert Campaign.objects.count() == 1


def test_wrong_methods_and_missing_campaigns(admin, draft):
    for step in ALL_STEPS:
        assert admin.get(f"/campaigns/nowhere/edit/{step}/").status_code == 404
        assert admin.delete(url(draft, step)).status_code == 405
    assert admin.post(url(draft, "review")).status_code == 405
    for action in ("open", "discard"):
        assert admin.get(url(draft, action)).status_code == 405
        assert admin.post(f"/campaigns/nowhere/edit/{action}/").status_code == 404
    assert admin.get(f"/campaigns/{draft.slug}/copy/").status_code == 405
    assert admin.post("/campaigns/nowhere/copy/").status_code == 404
    assert admin.get(url(draft, "nonsense")).status_code == 404


def test_an_address_is_made_from_the_title_and_never_taken_twice(draft):
    assert draft.slug == "grading"
    assert drafts.free_slug("Grading") == "grading-2"
    assert drafts.free_slug("new") == "new-2"
    assert drafts.free_slug("…") == "campaign"


def test_a_draft_keeps_its_selection_as_it_was_chosen(admin, draft):
    admin.post(url(draft, "texts"), TEXTS | {"topics": ["harbour-1"], "sample": 2})
    draft.refresh_from_db()
    chosen = {key: of for key, of in draft.selection.items() if key != "left_out"}
    assert chosen == {"kind": "passage", "systems": [], "topics": ["harbour-1"], "sample": 2}
    assert json.dumps(draft.selection)
    admin.post(url(draft, "gold"), GOLD)
    draft.refresh_from_db()
    assert draft.selection["sample"] == 2
    assert draft.items.count() == 2
    assert WORDS["guideline"] != draft.guideline
