"""Layout stability: messages move neither text during a drag nor answers under a finger."""

import pytest

from tests.browser.user_input import ends_of, grade, save_status, settled, until

TOPS = (
    "['#text', '.question-pane']"
    ".map(part => document.querySelector(part).getBoundingClientRect().top)"
)
QUOTE = "had reported standing water beside the embankment in May"


def test_drag_marks_its_words_whatever_is_told_meanwhile(worker, site):
    (item, _) = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    underway = []
    worker.context.route(
        "**/answers/**", lambda route: route.abort() if underway else underway.append(route)
    )
    with page.expect_request("**/answers/**"):
        grade(page, 1, 1)
    from_x, from_y, to_x, to_y = ends_of(page, QUOTE)
    page.mouse.move(from_x, from_y)
    page.mouse.down()
    underway[0].abort()
    save_status(page).to_contain_text("1 waiting. The server cannot be reached")
    other_page = worker.open(f"/work/{item}/")
    other_page.locator(
        "#elsewhere"
    ).wait_for()  # it has heard from the first, which has heard of it
    assert page.locator("#elsewhere").is_hidden()  # and does not say so yet
    page.mouse.move(to_x, to_y, steps=8)
    page.mouse.up()
    page.locator("#elsewhere").wait_for()
    until(page, "getSelection().isCollapsed")
    assert page.locator("#q-1 .spans q").all_text_contents() == [QUOTE]
    worker.context.unroute("**/answers/**")
    settled(page)
    worker.errors.clear()  # answers that did not get through


@pytest.mark.parametrize(
    ("width", "height"), [(1280, 800), (1024, 700), (820, 1000), (390, 844), (320, 640)]
)
def test_outage_moves_nothing(new_worker, site, width, height):
    worker = new_worker(width=width, height=height)
    (item,) = site.assignments(worker.name, "t2")
    page = worker.open(f"/work/{item}/")
    grade(page, 1, 0)
    settled(page)
    page.route("**/answers/**", lambda route: route.abort())
    before = page.evaluate(TOPS)
    grade(page, 2, 0)  # the last: a narrow page does not go on
    save_status(page).to_contain_text("1 waiting. The server cannot be reached")
    assert page.evaluate(TOPS) == before
    page.unroute("**/answers/**")
    settled(page)
    assert page.evaluate(TOPS) == before
    worker.errors.clear()  # as above
