"""The steps of a draft: what each one saves, and what is drawn for it."""

import pytest

from annotation.models import Campaign, Item, Rating, Rubric
from annotation.participation.workload import gold_plan
from tests.toolbox.campaign_builder import (
    CHECK,
    CHECKS,
    GOLD,
    PARTS,
    QUESTION,
    STEPS,
    TERMS,
    TEXTS,
    WORDING,
    labels,
    make_draft,
    orla,
    read,
    remarks,
    rows,
    stored,
    url,
)
from tests.toolbox.responses import markup


@pytest.mark.parametrize("step", [*STEPS, "review"])
def test_step_shows_stored_values(admin, draft, step):
    page = read(admin, draft, step)
    assert draft.title in page
    assert ('aria-current="step"' in page) == (step != "review")


def test_review_shows_the_guideline_as_raters_see_it(admin, draft):
    Campaign.objects.filter(pk=draft.pk).update(guideline="Salt & tide:\n\n> as it was said")
    page = read(admin, draft, "review")
    assert "Salt &amp; tide" in page
    assert "<blockquote>" in page


@pytest.mark.parametrize("step", STEPS)
def test_step_saves_and_goes_on_or_stays(admin, draft, step):
    assert admin.post(url(draft, step), STEPS[step]).url == url(draft, step)
    following = [*STEPS, "review"][list(STEPS).index(step) + 1]
    response = admin.post(url(draft, step), STEPS[step] | {"on": "1"})
    assert response.url == url(draft, following)
    to_review = admin.post(url(draft, step), STEPS[step] | {"review": "1"})
    assert to_review.url == url(draft, "review")


def test_texts_are_drawn_by_topic_and_counted(admin, draft):
    sent = TEXTS | {"title": "One topic", "topics": ["harbour-0"]}
    admin.post(url(draft, "texts"), sent)
    draft.refresh_from_db()
    assert draft.title == "One topic"
    assert {item.text.topic.name for item in draft.items.all()} == {"harbour-0"}
    page = read(admin, draft, "texts")
    assert "<strong>5</strong> texts with <strong>20</strong> questions" in page
    assert "1: text not in the dataset" in page
    assert "Question 1 of harbour-0?" in page


def test_reports_are_drawn_by_system(admin, draft):
    sent = TEXTS | {"kind": "report", "systems": ["annotated.bm25"]}
    admin.post(url(draft, "texts"), sent)
    assert {item.text.system for item in draft.items.all()} == {"annotated.bm25"}
    assert "annotated.bm25</th>" in read(admin, draft, "texts")


def test_sample_is_the_same_for_the_same_seed(admin, draft):
    def sampled_items(seed):
        sent = TEXTS | {"sample": 4, "questions": "some", "questions_per_item": 2, "seed": seed}
        admin.post(url(draft, "texts"), sent)
        return [
            (item.text_id, [item_question.question_id for item_question in item.asked.all()])
            for item in draft.items.all()
        ]

    first = sampled_items(5)
    assert len(first) == 4
    assert all(len(questions) == 2 for _, questions in first)
    assert sampled_items(6) != first
    assert sampled_items(5) == first
    draft.refresh_from_db()
    assert draft.selection["left_out"]["not in the random sample"] == 6


def test_pair_of_questions_is_one_answerable_and_one_not(admin, draft):
    admin.post(url(draft, "texts"), TEXTS | {"questions": "pair", "labels": labels()})
    draft.refresh_from_db()
    assert draft.question_source == orla()
    assert draft.items.count() == 6  # not 0 and 1, which lack one; not the two without labels
    for item in draft.items.all():
        grades = [
            item.text.ratings.get(question=item_question.question, rater=orla()).grade
            for item_question in item.asked.all()
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
        assert all(item_question.expected is not None for item_question in item.asked.all())
    assert "5: used for training and gold" in read(admin, draft, "texts")


ONE_LABEL, MIXED = [1] * 8, [4, 1] * 4


@pytest.mark.parametrize(
    ("n_labels", "gold", "facts", "remark"),
    [
        # 7 texts of the study in parts of 4 are 2 parts. One gold in each, with one label.
        (ONE_LABEL, {"n_gold": 3}, (2, 2, 1, 2, 2), "can flag nobody: in 2 parts a person meets 2"),
        # All three: 2 + 1.
        (ONE_LABEL, {"n_gold": 3, "gold_per_person": 3}, (3, 2, 2, 3, 3), "with 3 labelled"),
        # 5 texts left are 2 parts; five labels are enough.
        (ONE_LABEL, {"n_gold": 5, "gold_per_person": 5}, (5, 2, 3, 5, 5), ""),
        ([4] * 8, {"n_gold": 3}, (2, 2, 1, 8, 8), ""),
        # All 8 are gold, half of them with one label: two are 1 + 1 at least, 4 + 4 at most.
        (MIXED, {"n_gold": 8}, (1, 1, 1, 1, 4), "can flag nobody"),
        (MIXED, {"n_gold": 8, "gold_per_person": 2}, (2, 1, 2, 2, 8), "not everybody: in 1 part"),
    ],
)
def test_gold_step_remarks_on_too_few_labelled_questions(
    admin, draft, n_labels, gold, facts, remark
):
    rated = Rating.objects.filter(rater=orla()).order_by("text_id", "question__position")
    for text, n in zip(sorted(set(rated.values_list("text", flat=True))), n_labels, strict=False):
        kept_ids = rated.filter(text=text).values_list("pk", flat=True)[:n]
        rated.filter(text=text).exclude(pk__in=list(kept_ids)).delete()
    admin.post(url(draft, "parts"), PARTS)
    assert (
        admin.post(url(draft, "gold"), GOLD | {"gold_source": orla().pk} | gold).status_code == 302
    )
    draft.refresh_from_db()
    plan = gold_plan(draft)
    assert (plan.texts, plan.parts, plan.in_first, plan.min_labelled, plan.most) == facts
    gold_remarks = [
        listed_remark for listed_remark in remarks(admin, draft) if "Hidden gold" in listed_remark
    ]
    assert remark in " ".join(gold_remarks)
    assert bool(gold_remarks) == bool(remark)
    page = read(admin, draft, "gold")
    assert f"gets {plan.texts} gold text" in page
    assert "A flag on the page Quality needs 5 gold answers." in page
    per_person = gold.get("gold_per_person")
    review = (
        f"{per_person} gold texts for each person" if per_person else "one gold text in each part"
    )
    assert review in read(admin, draft, "review")


def test_parts_say_what_they_come_to(admin, draft):
    admin.post(url(draft, "terms"), TERMS)
    admin.post(url(draft, "parts"), PARTS | {"max_parts": 1, "lease_hours": 24})
    page = read(admin, draft, "parts")
    assert "10 × 3 raters = 30" in page
    assert "8, of 4 texts or fewer" in page
    assert "8, each with 1 part at most" in page
    assert "240 minutes, 4.0 hours" in page
    assert "48.00 GBP; 12.00 GBP an hour" in page


def test_guideline_begins_as_the_rubrics_own(draft):
    assert draft.guideline == Rubric.objects.get(slug="graded").guideline


def test_guideline_preview_is_rendered_and_not_saved(admin, draft):
    before = stored(draft)
    sent = WORDING | {"guideline": "## Mine\n\n<script>x</script>", "look": "1"}
    response = admin.post(url(draft, "guideline"), sent)
    assert response.status_code == 200
    page = response.content.decode()
    assert "<h2>Mine</h2>" in page
    assert "<script>x" not in page
    fragment = admin.post(url(draft, "guideline"), sent, HTTP_HX_REQUEST="true").content.decode()
    assert "<h2>Mine</h2>" in fragment
    assert "<form" not in fragment
    assert stored(draft) == before
    admin.post(url(draft, "guideline"), WORDING)
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
    ("rubric", "message"),
    [("graded", "please choose grade 2."), ("answerable", "please choose 0, not answerable.")],
)
def test_ready_made_check_asks_for_its_own_grade(admin, harbour, rubric, message):
    draft = make_draft(admin, harbour, rubric=rubric)
    sent = rows("questions") | rows("attention") | {"ready_made": "1"}
    admin.post(url(draft, "checks"), sent)
    check = draft.attention_checks.get()
    assert check.body == f"This question checks that you are reading: {message}"
    assert check.body.rstrip(".").count(str(check.expected)) == 1
    sent = rows("questions") | rows("attention", {"body": check.body, "expected": check.expected})
    admin.post(url(draft, "checks"), sent | {"ready_made": "1"})
    assert len(set(draft.attention_checks.values_list("expected", flat=True))) == 2


def test_terms_invite_accounts_and_take_them_out_again(cast, admin, draft):
    admin.post(url(draft, "terms"), TERMS | {"people": [cast.worker.pk, cast.other_worker.pk]})
    assert {participant.rater.user for participant in draft.participants.all()} == {
        cast.worker,
        cast.other_worker,
    }
    assert draft.title not in cast.client("worker").get("/work/").content.decode()
    admin.post(url(draft, "terms"), TERMS | {"people": [cast.worker.pk]})
    assert draft.participants.get().rater.user == cast.worker


CODES = ["code_done", "code_screened_out", "code_failed_check"]
OF_PLATFORM = ["platform_fee", *CODES, "completion_url"]


@pytest.mark.parametrize(
    ("platform", "expected_fields"),
    [
        ("", []),
        ("prolific", ["platform_fee", *CODES]),
        ("sona", OF_PLATFORM),
        ("mturk", OF_PLATFORM),
    ],
)
def test_fields_of_other_platforms_stay_hidden(admin, draft, platform, expected_fields):
    """Also before it is saved, with a script and without; what has a value is always shown."""
    before = stored(draft)
    sent = TERMS | {"platform": platform, "look": "1"}
    by_script = admin.post(url(draft, "terms"), sent, HTTP_HX_REQUEST="true")
    reply = admin.post(url(draft, "terms"), sent)
    assert "<form" not in by_script.content.decode()
    for response in (by_script, reply):
        assert response.status_code == 200
        for name in OF_PLATFORM:
            assert (f'name="{name}"' in response.content.decode()) == (name in expected_fields), (
                name
            )
    assert stored(draft) == before
    Campaign.objects.update(platform=platform, code_failed_check="" if platform else "LEFT")
    page = read(admin, draft, "terms")
    displayed_fields = [name for name in OF_PLATFORM if f'name="{name}"' in page]
    assert displayed_fields == (expected_fields or ["code_failed_check"])
    if not platform:
        admin.post(url(draft, "terms"), TERMS | {"code_failed_check": ""})
        assert 'name="code_failed_check"' not in read(admin, draft, "terms")


@pytest.mark.parametrize("script", [True, False])
def test_cost_follows_what_is_typed_and_nothing_is_saved(admin, draft, script):
    admin.post(url(draft, "parts"), PARTS)
    admin.post(url(draft, "terms"), TERMS)
    before = stored(draft)
    extra = {"HTTP_HX_REQUEST": "true"} if script else {}

    def preview(step, sent):
        page = admin.post(url(draft, step), sent | {"look": "1"}, **extra)
        assert page.status_code == 200
        return markup(page)

    page = preview("terms", TERMS | {"pay_per_part": "3", "currency": "eur"})
    assert "24.00 EUR; 6.00 EUR an hour" in page
    assert "48.00 GBP" in preview("terms", TERMS | {"pay_per_part": "-3"})  # as it was
    paid = TERMS | {"platform": "prolific", "platform_fee": "33.33", "workers_a_day": 4}
    page = preview("terms", paid | {"drop_out_percent": 20})
    assert "8 parts × 2.00: 33.33% of the pay of a part" in page
    assert "64.00 GBP" in page
    assert "8 parts ÷ 80% that finish one, rounded up" in page
    assert "10 arrivals ÷ 4 workers a day, rounded up" in page
    page = preview("terms", paid | {"drop_out_percent": 150, "platform_fee": "900"})  # as they were
    assert "undefined, because no share of arrivals that finish no part is stated" in page
    assert "48.00 GBP" in page
    page = preview(
        "parts", PARTS | {"raters_per_item": 2, "items_per_part": 5, "skips_per_part": 3}
    )
    assert "10 × 2 raters = 20" in page
    assert "4, of 5 texts or fewer, 3 of which may be skipped" in page
    assert "24.00 GBP" in page
    assert "10 × 3 raters = 30" in preview("parts", PARTS | {"raters_per_item": ""})
    assert stored(draft) == before


def test_repeats_are_saved_and_refused_at_the_opening_if_texts_are_too_few(admin, draft):
    sent = PARTS | {"raters_per_item": 2, "repeat_percent": 50, "repeat_after": 2}
    admin.post(url(draft, "parts"), sent)
    draft.refresh_from_db()
    assert (draft.repeat_percent, draft.repeat_after) == (50, 2)
    page = read(admin, draft, "review")
    assert "50% of a part, after at least 2 other texts" in page
    assert "2 texts of a part graded twice by the same person" in page
    admin.post(url(draft, "texts"), TEXTS | {"sample": 2})
    steps = admin.get(url(draft, "review")).context["steps"]
    [missing] = [remark for step in steps for remark in step.missing]
    assert missing.startswith("A part of 2 texts cannot repeat 1 of them after 2 other texts each")
    admin.post(url(draft, "parts"), PARTS)
    draft.refresh_from_db()
    assert (draft.repeat_percent, draft.repeat_after) == (None, None)


def test_feedback_is_off_until_it_is_chosen(admin, draft):
    assert "<dt>Feedback on decisions</dt><dd>never</dd>" in read(admin, draft, "review")
    page = read(admin, draft, "terms")
    assert "After each part, it costs independence" in page
    admin.post(url(draft, "terms"), TERMS | {"feedback": "part"})
    draft.refresh_from_db()
    assert draft.feedback == "part"
    assert "<dt>Feedback on decisions</dt><dd>after each part</dd>" in read(admin, draft, "review")


def test_old_address_of_the_guideline_leads_to_it(cast, draft):
    response = cast.client("admin").get(url(draft, "words"))
    assert (response.status_code, response.url) == (308, url(draft, "guideline"))
