"""Agreement pages in Chromium: from a number to the sentence behind it."""

from tests.browser.page_audit import axe_problems
from tests.browser.user_input import until

PAIR = "**/pairs/*/*/**"
# What the page holds of a sentence: its place in the text, and every rater's spans.
FACTS = """() => {
  const body = document.getElementById("text");
  const sentence = document.activeElement;
  const before = new Range();
  before.setStart(body, 0);
  before.setEnd(sentence.firstChild, 0);
  const start = [...before.toString()].length;
  return {
    start, end: start + [...sentence.textContent].length, words: sentence.textContent,
    spans: JSON.parse(document.getElementById("spans").textContent),
  };
}"""


def test_sentence_behind_a_disagreement_is_three_clicks_away(visit):
    page = visit("rosa").open("/datasets/coast/agreement/")
    page.locator(".tile a.figure").first.click()  # 1: Fleiss kappa, the grades that differ
    page.locator(".cases a").first.click()  # 2: the strongest disagreement
    page.wait_for_url(PAIR)  # with all its words
    answered = page.locator(".grades li:not(.judge) b").all_text_contents()
    row = page.locator(".divided li").first
    raters = row.locator(".quiet").inner_text()
    row.locator("a").click()  # 3: the sentence
    until(page, "document.activeElement.classList.contains('sentence')")
    facts = page.evaluate(FACTS)
    assert facts["words"].startswith(row.locator("a").inner_text().removesuffix(" …"))
    marked = {
        span["rater"]
        for span in facts["spans"]
        if span["start"] < facts["end"] and facts["start"] < span["end"]
    }
    assert marked
    assert set(answered) - marked
    # The page names who did and who did not.
    by, not_by = raters.split("; not ")
    assert all(f"{letter} " in by for letter in marked)
    assert all(f"{letter} " in not_by for letter in set(answered) - marked)
    assert page.evaluate("document.querySelector('.sentence:target') === document.activeElement")
    # Its address alone leads there again.
    second_page = page.context.new_page()
    second_page.goto(page.url)
    assert second_page.evaluate(FACTS) == facts


def test_list_goes_on_by_keyboard(visit):
    page = visit("rosa").open("/datasets/coast/disagreements/?kind=compared")
    page.locator(".cases a").first.click()
    page.wait_for_url(PAIR)  # with its scripts
    first = page.url
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url != first)
    assert "2 of" in page.locator(".case header").inner_text()
    page.keyboard.press("k")
    page.wait_for_url(first)
    assert page.locator("a[rel=prev]").count() == 0


def test_link_to_a_pair_is_copied(visit):
    visitor = visit("rosa", permissions=["clipboard-read", "clipboard-write"])
    page = visitor.open("/datasets/coast/disagreements/?kind=differ")
    page.locator(".cases a").first.click()
    page.wait_for_url(PAIR)  # with its scripts
    page.locator("[data-copy-link]").click()
    page.get_by_text("Link copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_column_of_the_sweep_opens_the_page_at_its_eta(visit):
    visitor = visit("rosa")
    page = visitor.open("/datasets/coast/agreement/?rubric=graded")
    page.locator("#judge nav a").nth(1).click()  # the judge against one rater
    page.wait_for_url("**truth=**")
    assert axe_problems(page) == []
    page.locator(".panels svg[aria-label^='Answerable'] a").nth(4).click()
    page.wait_for_url("**eta=5**")
    assert "truth=" in page.url
    assert page.locator("#judge nav [aria-current]").last.inner_text() == "5"


def test_filters_of_the_list_are_in_the_address(visit):
    page = visit("rosa").open("/datasets/coast/disagreements/")
    page.locator(".filter > summary").click()
    page.get_by_label("Words of the sub-question").fill("how many")
    page.locator("select[name=kind]").select_option("answerable")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**words=how+many**")
    assert "kind=answerable" in page.url
    questions = page.locator(".cases .what").all_text_contents()
    assert questions
    assert all("how many" in question.lower() for question in questions)
    assert axe_problems(page) == []
