"""Live search, and a retrieval run from its form and its row to its page."""

from playwright.sync_api import expect

from tests.browser.page_audit import axe_problems, faults


def test_ranking_follows_the_typed_query(visit, site):
    page = visit("rosa").open("/datasets/coast/search/")
    page.get_by_label("Words").press_sequentially("storms", delay=10)
    rows = page.get_by_role("region", name="Passages found").locator("tbody tr")
    expect(rows.first).to_contain_text("storm")
    page.wait_for_url("**/search/?q=storms")
    page.get_by_label("Words").fill("qqqq")
    expect(page.locator("#found")).to_contain_text("No passage contains one of these words")
    assert axe_problems(page) == []


def test_searching_without_scripts(visit):
    page = visit("rosa", java_script_enabled=False).open("/datasets/coast/search/")
    page.get_by_label("Words").fill("storms")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("region", name="Passages found")).to_contain_text("storm")


# As a person cannot, but a tool that fills forms can.
FILL_AT_ONCE = """({name, value}) => new MutationObserver((_, observer) => {
  const field = document.getElementsByName(name)[0]
  if (!field) return
  observer.disconnect()
  field.value = value
  field.dispatchEvent(new Event('change', {bubbles: true}))
}).observe(document.body, {childList: true, subtree: true})"""


def test_run_is_made_from_fields_and_from_a_line(visit, site):
    visitor = visit("ada")
    page = visitor.open("/datasets/coast/texts/")
    page.get_by_role("link", name="New retrieval run").click()
    assert faults(page) == []
    page.get_by_label("Name").fill("ours")
    page.get_by_label("Recipe").fill("bm25 % x")
    page.get_by_role("button", name="Create run").click()
    expect(page.locator("#id_recipe_error")).to_contain_text("Character 8 of the recipe: expected")
    assert axe_problems(page) == []
    page.get_by_label("Recipe").fill("bm25 % 10")
    page.get_by_role("button", name="Estimate").click()
    line, second = page.get_by_label("Recipe"), page.get_by_role("group", name="Joined with")
    second.get_by_label("Step").select_option("bm25")
    expect(line).to_have_value("fuse(bm25 % 10, bm25)")
    second.get_by_label("k1").fill("2")
    second.get_by_label("Texts kept").fill("10")
    page.get_by_role("group", name="Joined how").get_by_label("Texts kept").fill("5")
    further = page.get_by_role("group", name="Then, step 1")
    page.evaluate(FILL_AT_ONCE, {"name": "then1-xquad-lambda", "value": "7"})
    further.get_by_label("Step").select_option("xquad")
    expect(page.locator("#needs")).to_contain_text("lambda is a number from 0 to 1, not “7”")
    assert faults(page) == []
    further.get_by_label("Step").select_option("")
    expect(line).to_have_value("fuse(bm25 % 10, bm25(k1=2) % 10) % 5")
    page.get_by_role("button", name="Create run").click()
    page.wait_for_url("**/building/runs/ours/")
    expect(page.locator(".notices")).to_contain_text("The run ours is created.")
    assert faults(page) == []
    visitor.errors[:] = [error for error in visitor.errors if "422" not in error]
    page.get_by_role("link", name="Scores").click()
    expect(page.get_by_text("Created on this site:")).to_be_visible()
    page.goto(f"{site.url}/datasets/coast/building/new-run/")
    page.get_by_label("Name").fill("other")
    page.get_by_label("Recipe").fill("bm25(b=0) % 7")
    page.get_by_role("button", name="Create run").click()
    page.get_by_role("link", name="Compare rankings").click()
    page.get_by_label("Second").select_option("ours")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**/side-by-side/?a=other&b=ours&topic=*")
    expect(page.get_by_text("among the first 10 of both")).to_be_visible()
    assert faults(page) == []
