"""That each view of a page is looked at, though what another has said is not worked out again."""

import pytest

from tests.browser.looks import VIEWS, faults

PAGE = """<!doctype html><html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width">
<style>
  :root {{ color-scheme: light dark; --ink: #000; --ground: #fff; --faint: #777; }}
  @media (prefers-color-scheme: dark) {{ :root {{ --ink: #fff; --ground: #000; --faint: #888; }} }}
  html {{ color: var(--ink); background: var(--ground); }}
  .card {{ background: var(--ground); padding: 1rem; }}
  {style}
</style></head>
<body><main><h1>A page</h1><p>Some words.</p><div class="card"><p>Some words in a card.</p></div>
{body}</main></body></html>"""
ALL = [f"{width} {scheme}" for width, scheme in VIEWS]
CONTRAST = ALL[:4]  # what the narrowest window has, a phone has
BY_DAY, BY_NIGHT = CONTRAST[::2], CONTRAST[1::2]
FAINT = '<p class="late">Some words that are faint.</p>'
NIGHT = "@media (prefers-color-scheme: dark)"
PHONE = "@media (max-width: 500px)"


@pytest.fixture(scope="module")
def look_at(chromium):
    """look_at(style, body): the views with a fault, and what is at fault there."""
    context = chromium.new_context()
    page = context.new_page()

    def look(style: str, body: str) -> list[tuple[str, str]]:
        page.set_content(PAGE.format(style=style, body=body))
        return [tuple(fault.split(": ")[:2]) for fault in faults(page)]

    yield look
    context.close()


def test_a_page_without_a_fault_has_none(look_at):
    assert look_at("", "<p class='late'>Some words.</p>") == []


@pytest.mark.parametrize(
    ("style", "body", "views"),
    [
        (".late { color: #999; background: #fff }", FAINT, CONTRAST),
        (NIGHT + "{ .late { color: #444 } }", FAINT, BY_NIGHT),
        ("@media (prefers-color-scheme: light) { .late { color: #bbb } }", FAINT, BY_DAY),
        (PHONE + "{ .late { color: #777; background: #888 } }", FAINT, CONTRAST[2:]),
        (f"{PHONE} {{ {NIGHT} {{ .late {{ color: #444 }} }} }}", FAINT, CONTRAST[3:]),
        (
            "@media (min-width: 500px) { .late { color: #777; background: #888 } }",
            FAINT,
            CONTRAST[:2],
        ),
        # The same letters on the same ground, but smaller: those of a heading may be fainter.
        (
            ".late { color: var(--faint); font-size: 1rem }",
            f"<h2 class='late' style='font-size: 2rem'>Two</h2>{FAINT}",
            BY_DAY,
        ),
        # The same letters, where something else is around them, or fades all of it.
        ("div.late { background: #777 }", "<div class='late'>Some words.</div>", BY_NIGHT),
        ("div.late { opacity: .3 }", "<div class='late'><p>Some words.</p></div>", CONTRAST),
        # The same letters in the same card, which they have left for another colour.
        (
            ".late { position: relative } .late p { position: absolute; top: 5rem }"
            " .under { background: #666; height: 9rem }",
            "<div class='card late'><p>Some words.</p></div><div class='under'></div>",
            BY_DAY,
        ),
        (
            ".under { background: #666; height: 9rem } .late { margin-top: -5rem; position: relative }",
            "<div class='under'></div><p class='late'>Some words.</p>",
            BY_DAY,
        ),
        # What comes first is not to be read by anybody: that says nothing of what looks the same.
        (
            ".card p { color: #808080 } .not { position: absolute; clip-path: inset(50%) }",
            "<div class='card'><p class='not'>Some words.</p><p>Some words.</p></div>",
            BY_DAY,
        ),
        (
            ".first { position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0 0 0 0) }"
            " .first, .late { color: #777; background: #888 }",
            f"<p class='first'>Some words.</p>{FAINT}",
            CONTRAST,
        ),
        # One letter is no text to axe.
        (".late { color: #777; background: #888 }", f"<p class='late'>x</p>{FAINT}", CONTRAST),
        # An answer that is off may be faint, and what looks like it may not.
        (
            ".late { color: #777; background: #888; border: 0 }",
            "<button class='late' disabled>Some words</button><button class='late'>Some words</button>",
            CONTRAST,
        ),
        # A field has its letters in itself.
        (
            "input { color: #777; background: #888 }",
            "<input aria-label='Name' value='Some words'>",
            CONTRAST,
        ),
    ],
)
def test_contrast_is_found_where_it_is_too_little(look_at, style, body, views):
    assert look_at(style, body) == [(view, "color-contrast") for view in views]


def test_a_page_that_changes_is_looked_at_anew(chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.set_content(PAGE.format(style="", body=FAINT))
    assert faults(page) == []
    page.evaluate("document.querySelector('.late').style.color = '#808080'")
    assert [fault.split(": ")[0] for fault in faults(page)] == BY_DAY
    context.close()


def test_what_is_too_wide_or_wrong_at_one_width_is_found(look_at):
    small = "{ button { width: 9px; height: 9px; padding: 0; border: 0; font-size: 1px } }"
    both = "<button aria-label='One'></button><button aria-label='Two'></button>"
    assert look_at(
        "button { width: 2rem; height: 2rem } @media (max-width: 350px)" + small, both
    ) == [(ALL[4], "target-size")]
    assert look_at(PHONE + "{ h1 { display: none } }", "") == [
        (view, "page-has-heading-one") for view in (ALL[2], ALL[4])
    ]
    assert look_at(".late { width: 350px }", FAINT) == [(ALL[4], "the page is 358 wide")]
