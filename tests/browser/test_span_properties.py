"""Property tests of spans: any text and selection, sent, stored and drawn after a reload.

Each example has an item of its own, whose text is put into the served site's database before the
page is opened. Positions in the page are UTF-16 units, in the database code points.
"""

import hashlib
import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.browser.user_input import settled, until
from tests.toolbox.text_strategies import NASTY, any_words

ITEMS = 60  # one for each example, and some to spare
EXAMPLES = 20

SEED = f"""
from annotation.builder.drafts import open_campaign
from annotation.models import Campaign, Dataset, Rubric, SubQuestion, Text, Topic, User
from annotation.participation.assigning import rater_of
from tests.toolbox.browser_texts import PASSWORD

reader = User.objects.create_user("reader", password=PASSWORD, role="worker")
dataset = Dataset.objects.create(slug="any-text", title="Any text")
topic = Topic.objects.create(dataset=dataset, name="any", request="Write anything.", position=0)
SubQuestion.objects.create(topic=topic, position=0, body="What does it say?")
texts = [
    Text.objects.create(
        dataset=dataset, topic=topic, kind="report", system="any", name=f"any-{{number}}", body="x"
    )
    for number in range({ITEMS})
]
campaign = Campaign(
    dataset=dataset, rubric=Rubric.objects.get(slug="answerable"), slug="any", title="Any text"
)
open_campaign(campaign, texts, [rater_of(reader)])
"""

# Selects from one place of the text to another, counted in UTF-16 units, as a mouse does: forwards
# or backwards, at the end of one text node or at the beginning of the next. Then the button goes up.
_SELECT = """([from, to, backwards, early]) => {
  const body = document.getElementById('text');
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const nodes = []; let passed = 0;
  while (walker.nextNode()) { nodes.push([walker.currentNode, passed]); passed += walker.currentNode.length; }
  const place = (offset) => {
    const fits = ([node, begin]) => begin <= offset && offset <= begin + node.length;
    const [node, begin] = early ? nodes.find(fits) : nodes.findLast(fits);
    return [node, offset - begin];
  };
  const ends = [place(from), place(to)];
  if (backwards) ends.reverse();
  const selection = getSelection();
  selection.removeAllRanges();
  selection.setBaseAndExtent(...ends[0], ...ends[1]);
  document.dispatchEvent(new PointerEvent('pointerup', { pointerType: 'mouse', bubbles: true }));
}"""

# Of many words, or of several paragraphs, the page asks whether they are meant.
_MEANT = "() => document.querySelector('[data-active] .large-span:not([hidden]) [data-large=take]')?.click()"

# The ranges that are drawn for the first question: [start in UTF-16 units, words].
_DRAWN_RANGES = """() => [...(CSS.highlights.get('mark-1') ?? [])].map((range) => {
  const before = new Range();
  before.setStart(document.getElementById('text'), 0);
  before.setEnd(range.startContainer, range.startOffset);
  return [before.toString().length, range.toString()];
})"""


@pytest.fixture(scope="module")
def items(site):
    """Yield items of the worker "reader", one text each."""
    site.run(SEED)
    return iter(site.assignments("reader", "any"))


@pytest.fixture
def reader(visit):
    return visit("reader")


def put(site, assignment, body):
    """Replace the text of an item."""
    with closing(sqlite3.connect(site.database, timeout=20)) as connection, connection:
        connection.execute(
            "update annotation_text set body = ?, sha256 = ? where id = (select i.text_id from"
            " annotation_item i join annotation_assignment a on a.item_id = i.id where a.id = ?)",
            (body, hashlib.sha256(body.encode()).hexdigest(), assignment),
        )


def units(text):
    """Return the length of a text in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def span_of(body, start, end):
    """Return the code points between two offsets in UTF-16 units, without outer white space.

    Half of a surrogate pair selects all of it. None if no word is left.
    """
    begins = [0]
    for sign in body:
        begins.append(begins[-1] + units(sign))
    first, last = (sum(begin < offset for begin in begins) for offset in (start, end))
    if begins[min(first, len(body))] > start:
        first -= 1
    span = [
        index
        for index in range(first, last)
        if not (body[index].isspace() or body[index] == "\ufeff")
    ]
    return (span[0], span[-1] + 1) if start < end and span else None


def expected_spans(body, selections):
    """Return the spans that selections leave on a question: none within another."""
    spans = []
    for start, end, *_ in selections:
        span = span_of(body, start, end)
        if span and not any(a <= span[0] and span[1] <= b for a, b in spans):
            spans.append(span)
    return sorted(spans)


@st.composite
def selected_texts(draw):
    """Draw a text of several words, and up to three selections in it."""
    body = draw(any_words)
    offset = st.integers(0, units(body))
    selection = st.tuples(offset, offset, st.booleans(), st.booleans())
    selections = draw(st.lists(selection, min_size=1, max_size=3))
    return body, [(min(a, b), max(a, b), *how) for a, b, *how in selections]


def by_thirds(body):
    """Return a text with three selections.

    All of it, and two that begin and end in the middle of words or characters.
    """
    length = units(body)
    third = length // 3
    return body, [
        (third, 2 * third + 1, True, False),
        (1, third + 1, False, True),
        (0, length, False, False),
    ]


PAIRS = [
    ("😀a😀 b", [(1, 3, False, False), (4, 5, True, True)]),  # from the middle of a pair
    ("a😀 😀", [(0, 2, False, True), (5, 6, False, False)]),  # to the middle of a pair
    ("\x85 a", [(0, 2, False, False), (0, 3, False, False)]),  # white space to the server alone
    ("\ufeff\ufeffa", [(0, 2, False, False), (1, 3, False, False)]),  # and to the page alone
    ("x" * 65_535 + "😀y" * 9, [(65_534, 65_545, False, True)]),  # over the end of a text node
]


def with_examples(values):
    """Add explicit hypothesis examples to a test."""

    def decorate(test):
        for value in values:
            test = example(chosen=value)(test)
        return test

    return decorate


def test_selection_is_stored_and_drawn_again_exactly(reader, site, items):
    page = reader.open("/work/")

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(chosen=selected_texts())
    @with_examples([*map(by_thirds, NASTY), *PAIRS])
    def select_and_reload(chosen):
        body, selections = chosen
        item = next(items)
        put(site, item, body)
        page.goto(f"{site.url}/work/{item}/")
        assert page.locator("#text").evaluate("text => text.textContent") == body
        for start, end, *how in selections:
            page.evaluate(_SELECT, [start, end, *how])
            if span_of(body, start, end):
                until(page, "getSelection().isCollapsed")  # the page has taken it
                page.evaluate(_MEANT)
        settled(page)

        expected = expected_spans(body, selections)
        rows = site.rows(
            "select spans from annotation_answer where assignment_id = ? order by id desc limit 1",
            item,
        )
        stored = (
            [(s["start"], s["end"], s["quote"]) for s in json.loads(rows[0][0])] if rows else []
        )
        assert [(start, end) for start, end, _ in stored] == expected
        assert all(body[start:end] == quote for start, end, quote in stored)

        ranges = [[units(body[:start]), body[start:end]] for start, end in expected]
        assert sorted(page.evaluate(_DRAWN_RANGES)) == ranges
        page.reload()
        assert sorted(page.evaluate(_DRAWN_RANGES)) == ranges

    select_and_reload()
    assert next(items)  # none was used twice


def test_selection_of_the_whole_page_marks_the_text_alone(reader, site, items):
    item = next(items)
    put(site, item, body := "\u3000 One. 👩‍🚒\r\n\r\nTwo. \u2028")
    page = reader.open(f"/work/{item}/")
    page.evaluate(
        "getSelection().selectAllChildren(document.body);"
        "document.dispatchEvent(new PointerEvent('pointerup', { pointerType: 'mouse' }))"
    )
    until(page, "getSelection().isCollapsed")
    page.evaluate(_MEANT)
    settled(page)
    [(stored,)] = site.rows("select spans from annotation_answer where assignment_id = ?", item)
    assert json.loads(stored) == [{"start": 2, "end": len(body) - 2, "quote": body[2:-2]}]


def test_keys_never_leave_a_span_of_what_the_server_takes_for_white_space(reader, site, items):
    item = next(items)
    put(site, item, "one \x85 two \x1c three")
    page = reader.open(f"/work/{item}/")
    for key in ("t", "Space", "Shift+ArrowDown", "Shift+ArrowLeft", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    settled(page)
    rows = site.rows(
        "select spans from annotation_answer where assignment_id = ? order by id desc", item
    )
    assert json.loads(rows[0][0]) == [{"start": 6, "end": 9, "quote": "two"}]
