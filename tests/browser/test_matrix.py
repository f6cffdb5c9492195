"""Rating matrix: readable at all widths, by keyboard alone, and without scripts."""

import pytest

from tests.browser.page_audit import faults

LIST = "/datasets/coast/matrix/"


@pytest.fixture
def topic(site):
    """Return the matrix of the first topic of the demo study, with one of its runs."""
    [(pk,)] = site.rows(
        "select t.id from annotation_topic t join annotation_dataset d on d.id = t.dataset_id"
        " where d.slug = 'coast' order by t.position limit 1"
    )
    return f"{LIST}{pk}/?run=first_stage.bm25"


def test_pages_are_accessible(visit, site, topic):
    page = visit("rosa").open(LIST)
    people = f"{topic}&source=people:lexical&all=1"
    for path in (LIST, topic, people, "/datasets/browser/matrix/"):
        page.goto(site.url + path)
        assert faults(page) == [], path


def test_arrow_keys_move_between_cells_and_announce_the_pair(visit, topic):
    page = visit("rosa").open(topic)
    assert page.locator('#matrix td > a[tabindex="0"]').count() == 1
    page.locator('#matrix td > a[tabindex="0"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    focused = page.locator("#matrix a:focus")
    assert "question 2: " in focused.get_attribute("aria-label")
    question = page.locator("#question-2 .asked").inner_text()
    assert page.locator("#pair .asked").inner_text() == f"2. {question}"
    second = page.locator("#matrix tbody tr[data-text] .title").nth(1).inner_text()
    assert page.locator("#pair .said").inner_text().startswith(f"{second}: grade ")
    for _ in range(30):
        page.keyboard.press("ArrowLeft")
    assert "question 1: " in page.locator("#matrix a:focus").get_attribute("aria-label")
    page.keyboard.press("Enter")
    page.wait_for_url("**/pairs/**")


def test_pointer_shows_the_pair_too(visit, topic):
    page = visit("rosa").open(topic)
    page.locator("#matrix tbody td > a").nth(3).hover()
    question = page.locator("#question-4 .asked").inner_text()
    assert page.locator("#pair .asked").inner_text() == f"4. {question}"


def test_names_and_numbers_stay_in_sight_on_a_phone(visit, topic):
    page = visit("rosa", width=390, height=500).open(f"{topic}&all=1")
    scroller = page.locator(".matrix-scroller")
    scroller.evaluate("element => element.scrollTo(200, 150)")
    assert scroller.evaluate("element => element.scrollLeft") > 100
    box = scroller.bounding_box()
    head = page.locator("#matrix thead th").nth(5).bounding_box()
    name = page.locator("#matrix tbody tr[data-text] th").last.bounding_box()
    assert head["y"] == pytest.approx(box["y"], abs=2)
    assert name["x"] == pytest.approx(box["x"], abs=2)


def test_matrix_without_scripts_links_to_pairs(visit, topic):
    page = visit("rosa", java_script_enabled=False).open(topic)
    assert not page.locator("#pair").is_visible()
    assert page.locator("#question-1 .asked").is_visible()
    page.locator("#matrix tbody td > a").first.click()
    page.wait_for_url("**/pairs/**")
