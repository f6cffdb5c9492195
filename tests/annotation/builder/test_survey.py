"""Survey step of a draft: rows, their order, the switch for names, the preview."""

from annotation.models import SurveyAnswer
from annotation.row_versions import VERSION
from tests.annotation.study_material import text_of_page
from tests.toolbox.campaign_builder import AGE, HARD, SURVEY, read, rows, url

LANGUAGES = {"kind": "multiple", "body": "Which languages?", "options": "German\nWelsh"}
UNCLEAR = {"kind": "text", "body": "What was unclear?", "options": "left over", "points": 3}


def questions(draft, page: str) -> list[str]:
    return list(draft.survey_questions.filter(page=page).values_list("body", flat=True))


def test_questions_are_added_moved_and_deleted(admin, draft):
    admin.post(url(draft, "survey"), rows("before", AGE, LANGUAGES) | rows("after", HARD))
    assert questions(draft, "before") == [AGE["body"], LANGUAGES["body"]]
    moved = rows("before", AGE | {"ORDER": 2}, LANGUAGES | {"ORDER": 1}, UNCLEAR, before=2)
    admin.post(url(draft, "survey"), moved | rows("after", HARD | {"DELETE": "on"}, before=1))
    assert questions(draft, "before") == [LANGUAGES["body"], AGE["body"], UNCLEAR["body"]]
    assert questions(draft, "after") == []
    text = draft.survey_questions.get(kind="text")
    assert (text.options, text.points) == ([], None)
    page = read(admin, draft, "survey")
    assert "What was unclear?" in page
    assert "What was unclear?" in read(admin, draft, "review")


def test_demographic_question_is_kept_apart_from_names_unless_switched(admin, draft):
    sent = rows(
        "before",
        AGE,
        AGE | {"is_separate": "no"},
        LANGUAGES,
        LANGUAGES | {"is_separate": "yes"},
    )
    admin.post(url(draft, "survey"), sent | rows("after"))
    switches = draft.survey_questions.values_list("is_separate", flat=True)
    assert list(switches) == [True, False, False, True]


def test_survey_that_somebody_else_saved_meanwhile_is_displayed_beside_it(admin, draft):
    opened = admin.get(url(draft, "survey")).context["form"].version
    admin.post(url(draft, "survey"), SURVEY)
    sent = rows("before", LANGUAGES) | rows("after", HARD) | {VERSION: opened}
    refused = admin.post(url(draft, "survey"), sent)
    assert refused.status_code == 409
    text = text_of_page(refused)
    assert "How old are you? one choice" in text
    assert "Which languages? several choices" in text
    assert questions(draft, "before") == [AGE["body"]]
    admin.post(url(draft, "survey"), sent | {VERSION: refused.context["form"].version})
    assert questions(draft, "before") == [LANGUAGES["body"]]


def test_refused_survey_still_notices_what_somebody_else_saved(admin, draft):
    opened = admin.get(url(draft, "survey")).context["form"].version
    admin.post(url(draft, "survey"), SURVEY)
    without_labels = rows("before", LANGUAGES) | rows("after", HARD | {"options": ""})
    refused = admin.post(url(draft, "survey"), without_labels | {VERSION: opened})
    assert refused.status_code == 422
    version = refused.context["form"].version
    sent = rows("before", LANGUAGES) | rows("after", HARD) | {VERSION: version}
    assert admin.post(url(draft, "survey"), sent).status_code == 409
    assert questions(draft, "before") == [AGE["body"]]


def test_preview_has_both_pages_and_stores_nothing(cast, admin, draft):
    admin.post(url(draft, "survey"), SURVEY)
    home = f"/campaigns/{draft.slug}/preview/"
    client = cast.client("researcher")
    page = client.get(f"{home}survey/before/")
    assert "How old are you?" in text_of_page(page)
    assert "Survey after" in page.content.decode()  # the bar of the preview
    assert client.post(f"{home}survey/before/", {}).status_code == 422
    first, second = draft.survey_questions.all()
    sent = client.post(f"{home}survey/before/", {f"question-{first.pk}": "1"})
    assert sent.url == home
    assert "5: very hard" in text_of_page(client.get(f"{home}survey/after/"))
    assert client.post(f"{home}survey/after/", {f"question-{second.pk}": "5"}).url == home
    assert not SurveyAnswer.objects.exists()
    assert client.get(f"{home}survey/during/").status_code == 404
    assert client.put(f"{home}survey/before/").status_code == 405
    assert cast.client("worker").get(f"{home}survey/before/").status_code == 403
