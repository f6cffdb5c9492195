"""Study builder in the browser: all steps, the preview as a worker, and opening."""

import re

from playwright.sync_api import expect

from tests.browser.page_audit import axe_problems, faults
from tests.browser.user_input import until

STEPS = ["texts", "parts", "gold", "guideline", "checks", "survey", "terms", "review"]
NEXT = "button[name=on]"


def go_on(page):
    """Save the step, and wait for the next one."""
    before = page.url
    page.locator(NEXT).click()
    page.wait_for_url(lambda url: url != before)


def open_it(page):
    """Open the campaign from its review."""
    page.get_by_role("button", name="Open campaign").click()


def new_draft(page, site, title, rubric="T2, grades 0 to 5", kind="passage", dataset="coast"):
    """Create a draft by the form for a new campaign; return its slug."""
    page.goto(f"{site.url}/campaigns/new/?dataset={dataset}")
    page.get_by_role("radio", name="Colleagues").check()
    page.get_by_text("Title and address").click()
    page.get_by_label("Title").fill(title)
    page.get_by_role("combobox", name="Rubric").select_option(label=rubric)
    page.get_by_role("combobox", name="Texts").select_option(kind)
    page.get_by_role("button", name="Next").click()
    page.wait_for_url("**/edit/review/")
    page.get_by_text("Change these settings").click()
    page.locator(".fold").get_by_role("link", name="Texts", exact=True).click()
    page.wait_for_url("**/edit/texts/")
    return re.search(r"/campaigns/([-\w]+)/edit/texts/", page.url)[1]


def fill_in(page):
    """Fill in all steps, each saved by the button that leads to the next."""
    page.get_by_label("Number of texts").fill("6")
    page.get_by_label("some of them, drawn at random").check()
    page.get_by_label("Number of questions").fill("2")
    page.get_by_role("button", name="Draw and stay").click()
    expect(page.get_by_text("texts with", exact=False).first).to_contain_text("6 texts with 12")
    go_on(page)
    page.get_by_label("Raters for each text").fill("3")
    page.get_by_label("Texts in a part").fill("3")
    page.get_by_label("Hours to finish a part").fill("24")
    page.get_by_label("Attention checks in a part").fill("1")
    go_on(page)
    go_on(page)  # no gold
    page.locator("#id_consent").fill("You may stop **at any time**.")
    expect(page.locator("#look strong").last).to_have_text("at any time")  # shown while it is typed
    page.get_by_label("Version of the consent").fill("1")
    go_on(page)
    expect(page.locator(".remarks")).to_contain_text("but there are none")
    page.get_by_role("button", name="Save, and add a standard check").click()
    expect(page.get_by_text("please choose grade 2.")).to_have_count(1)
    row = page.get_by_role("group", name="A new question")
    row.get_by_label("Question").fill("May you use what you know?")
    row.get_by_label("Choices").fill("yes\nno")
    row.get_by_label("Number of the right choice").fill("2")
    go_on(page)
    row = page.get_by_role("group", name="A new question after the work")
    row.get_by_label("Question").fill("How hard was the work?")
    row.get_by_label("Choices").fill("easy\nhard")
    go_on(page)
    page.get_by_label("Pay for a part").fill("6")
    page.get_by_label("Minutes for a part").fill("30")
    expect(page.locator("#work")).to_contain_text("12.00 GBP an hour")  # follows what is typed
    page.get_by_label("Source of participants").select_option("prolific")
    expect(page.get_by_label("Completion code: part done")).to_be_visible()
    page.get_by_label("Source of participants").select_option("")
    expect(page.get_by_label("Completion code: part done")).to_have_count(0)
    page.get_by_role("checkbox", name="worker21").check()
    go_on(page)


def test_study_is_built_previewed_and_opened(visit, site):
    visitor = visit("ada")
    page = visitor.open("/campaigns/")
    slug = new_draft(page, site, "Harbour crowd")
    fill_in(page)
    expect(page.locator("#step-title")).to_have_text("Review and open")
    expect(page.locator(".summary")).to_contain_text("12.00 GBP an hour")

    page.get_by_role("link", name="Preview", exact=True).click()
    bar = page.get_by_role("navigation", name="Preview")
    expect(bar).to_contain_text("nothing is saved")
    bar.get_by_role("link", name="Consent").click()
    page.get_by_role("button", name="I agree").click()
    page.get_by_label("no", exact=True).check()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/preview/$"))
    page.get_by_role("button", name="Start").click()
    _answer_preview(page)
    expect(page).to_have_url(f"{site.url}/campaigns/{slug}/preview/")
    until(page, "Object.keys(localStorage).every((key) => !key.includes('outbox'))")
    assert site.rows(
        "select count(*) from annotation_answer a"
        " join annotation_assignment s on s.id = a.assignment_id"
        " join annotation_item i on i.id = s.item_id"
        " join annotation_campaign c on c.id = i.campaign_id where c.slug = ?",
        slug,
    ) == [(0,)]

    page.get_by_role("link", name="Back to the campaign").click()
    open_it(page)
    expect(page.locator(".notices")).to_contain_text("is open")
    assert site.rows("select state from annotation_campaign where slug = ?", slug) == [("open",)]
    page.goto(f"{site.url}/campaigns/{slug}/edit/texts/")
    expect(page.locator(".notices")).to_contain_text("cannot change")

    worker = visit("worker21")
    dashboard = worker.open("/work/")
    expect(dashboard.get_by_role("link", name="Harbour crowd")).to_be_visible()


def _answer_preview(page):
    """Answer the questions of three texts of the preview, one after the other."""
    for number in (1, 2, 3):
        expect(page.locator(".task-bar")).to_contain_text(f"Passage {number} of 3")
        page.wait_for_load_state()
        questions = page.locator(".question")
        for index in range(questions.count()):
            card = questions.nth(index)
            card.locator("legend").click()
            card.locator("input[value='0']").check()
            expect(page.locator("#saved")).to_have_text("Preview: nothing is saved")
        before = page.url
        page.locator("#submit button").click()
        page.wait_for_url(lambda url, before=before: url.partition("#")[0] != before)
    page.wait_for_url(re.compile(r"/preview/$"))


def test_study_is_built_without_scripts(visit, site):
    visitor = visit("ada", java_script_enabled=False)
    page = visitor.open("/campaigns/")
    new_draft(page, site, "Without scripts", "T1, answerable or not", "report")
    go_on(page)
    go_on(page)
    go_on(page)
    page.get_by_label("Guideline").fill("## Short")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#look h2").first).to_have_text("Short")
    go_on(page)
    row = page.get_by_role("group", name="A new check")
    row.get_by_label("Question").fill("Please choose 1.")
    row.get_by_label("Requested grade").select_option("1")
    page.get_by_role("button", name="Save, and add another").click()
    page.get_by_role("group", name="Check 1").get_by_label("Delete this row").check()
    go_on(page)
    go_on(page)
    expect(page.get_by_label("Completion code: part done")).to_have_count(0)
    page.get_by_label("Source of participants").select_option("sona")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_label("Completion address")).to_be_visible()
    page.get_by_label("Source of participants").select_option("")
    go_on(page)
    open_it(page)
    expect(page.locator(".notices")).to_contain_text("is open")


def test_steps_are_accessible(visit, site):
    visitor = visit("ada", width=390, height=844)
    page = visitor.open("/campaigns/")
    slug = new_draft(page, site, "Axe")
    fill_in(page)
    paths = [f"/campaigns/{slug}/edit/{step}/" for step in STEPS]
    previews = ["", "consent/", "check/comprehension/", "items/0/"]
    for path in [*paths, *(f"/campaigns/{slug}/preview/{last}" for last in previews)]:
        page.goto(site.url + path)
        assert faults(page) == [], path
    page.goto(site.url + paths[0])
    page.get_by_label("Number of questions").fill("0")
    page.locator("form[method=post] [name=questions_per_item]").evaluate(
        "field => field.form.noValidate = true"
    )
    page.locator(NEXT).click()
    expect(page.locator("[aria-invalid]")).to_have_count(1)
    assert axe_problems(page) == []
    visitor.errors[:] = [error for error in visitor.errors if "422" not in error]
    page.goto(site.url + paths[-1])
    open_it(page)
    expect(page.locator(".notices")).to_contain_text("is open")
    for step in ("review", "later"):
        page.goto(f"{site.url}/campaigns/{slug}/edit/{step}/")
        assert faults(page) == [], step


def test_second_of_two_who_edit_a_draft_compares_and_decides(visit, site):
    first = visit("ada").open("/campaigns/")
    slug = new_draft(first, site, "Two at once")
    visitor = visit("ada")
    second = visitor.open(f"/campaigns/{slug}/edit/guideline/")
    first.goto(f"{site.url}/campaigns/{slug}/edit/guideline/")
    first.locator("#id_guideline").fill("Look for facts.\n\nThen read it again.")
    first.get_by_role("button", name="Save and stay").click()
    expect(first.locator(".notices")).to_contain_text("saved")

    second.locator("#id_guideline").fill("Look for words.")
    second.get_by_role("button", name="Save and stay").click()
    table = second.get_by_role("region", name="Changed since you opened it")
    expect(table).to_contain_text("Then read it again.")
    expect(table).to_contain_text("Look for words.")
    expect(second.locator("#id_guideline")).to_have_value("Look for words.")
    assert faults(second) == []
    second.get_by_role("button", name="Save and stay").click()
    expect(second.locator(".notices")).to_contain_text("saved")
    stored = site.rows("select guideline from annotation_campaign where slug = ?", slug)
    assert stored == [("Look for words.",)]
    visitor.errors[:] = [error for error in visitor.errors if "409" not in error]


def test_equal_texts_are_handed_out_once_or_each(visit, site):
    """The choice is displayed where the draw has equal texts, by mouse and without scripts."""
    page = visit("ada").open("/campaigns/")
    slug = new_draft(page, site, "Equal texts", dataset="copies")
    once = page.get_by_label("assign one and copy its grades to the others")
    separately = page.get_by_label("assign each")
    expect(once).to_be_checked()
    sample = page.get_by_role("region", name="Sample")
    expect(sample).to_contain_text("2 texts with 4 questions, seed")
    expect(sample).to_contain_text(
        "2 further texts equal one of these texts, and get its grades, marked as copied."
    )
    assert faults(page) == []
    separately.check()
    page.get_by_role("button", name="Draw and stay").click()
    expect(sample).to_contain_text("4 texts with 8 questions, seed")
    expect(sample).not_to_contain_text("further texts")
    expect(separately).to_be_checked()
    page.goto(f"{site.url}/campaigns/{slug}/edit/review/")
    expect(page.locator(".remarks")).to_contain_text("each of them is assigned")
    page = visit("ada", java_script_enabled=False).open(f"/campaigns/{slug}/edit/texts/")
    page.get_by_label("assign one and copy its grades to the others").check()
    page.get_by_role("button", name="Draw and stay").click()
    page.goto(f"{site.url}/campaigns/{slug}/edit/review/")
    expect(page.locator(".remarks")).to_contain_text("its grades are copied")
    query = "select copies_equal_texts from annotation_campaign where slug = ?"
    assert site.rows(query, slug) == [(1,)]


def test_form_without_equal_texts_offers_no_choice(visit, site):
    page = visit("ada").open("/campaigns/")
    new_draft(page, site, "No equal texts")
    expect(page.get_by_label("assign each")).to_have_count(0)
