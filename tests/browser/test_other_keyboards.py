"""Keys of Cyrillic and Greek keyboards on the pages of pairs.

They are known by their place. Those of the task page are in test_keyboard, of review in test_a_collection.
"""

import pytest
from playwright.sync_api import expect

from tests.browser.user_input import press_place

CYRILLIC = {"j": "о", "k": "л", "n": "т"}
GREEK = {"j": "ξ", "k": "κ", "n": "ν"}


def code_of(letter):
    return f"Key{letter.upper()}"


@pytest.mark.parametrize("keys", [CYRILLIC, GREEK], ids=["Cyrillic", "Greek"])
def test_pairs_go_on_by_the_places_of_keys(visit, keys):
    page = visit("rosa").open("/datasets/coast/disagreements/?kind=compared")
    page.locator(".cases a").first.click()
    page.wait_for_url("**/pairs/*/*/**")
    first = page.url
    # A Latin letter means itself: in Dvorak, h is where j is elsewhere.
    press_place(page, "h", "KeyJ")
    press_place(page, keys["j"], code_of("j"), ctrlKey=True)
    press_place(page, keys["n"], code_of("n"))
    expect(page.locator("#note")).to_be_focused()
    press_place(page, keys["j"], code_of("j"))  # of the note now
    assert page.url == first
    page.locator("#note").blur()
    press_place(page, keys["j"], code_of("j"))
    page.wait_for_url(lambda url: url != first)
    press_place(page, keys["k"], code_of("k"))
    page.wait_for_url(first)


def test_switched_off_keys_stay_off_on_other_keyboards(visit):
    page = visit("rosa").open("/datasets/coast/disagreements/?kind=compared")
    page.evaluate("localStorage.setItem('single-keys', 'off')")
    page.locator(".cases a").first.click()
    page.wait_for_url("**/pairs/*/*/**")
    press_place(page, CYRILLIC["n"], code_of("n"))
    page.evaluate("localStorage.removeItem('single-keys')")
    press_place(page, CYRILLIC["n"], code_of("n"))
    expect(page.locator("#note")).to_be_focused()
