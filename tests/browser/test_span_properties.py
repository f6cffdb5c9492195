"""Any text, any selection: what the task page sends, keeps and draws again after a reload.

Each example has an item of its own, whose text is put into the served site's database before the
page is opened. Places in the page are UTF-16 units, in the database code points.
"""

import hashlib
import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.any_text import NASTY, any_words
from tests.browser.hands import settled, until

ITEMS = 60  # one for each example, and some to spare
DRAWN = 20

SEED = f"""
from annotation.builder.drafts import open_campaign
from annotation.models import Campaign, Dataset, Rubric, SubQuestion, Text, Topic, User
from annotation.participation.assigning import rater_of
from tests.browser.material import PASSWORD

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
_DRAWN = """() => [...(CSS.highlights.get('mark-1') ?? [])].map((range) => {
  const before = new Range();
  before.setStart(document.getElementById('text'), 0);
  before.setEnd(range.startContainer, range.startOffset);
  return [before.toString().length, range.toString()];
})"""


@pytest.fixture(scope="module")
def items(site):
    """Items of the worker "reader", one text each."""
    site.run(SEED)
    return iter(site.assignments("reader", "any"))


@pytest.fixture
def reader(visit):
    return visit("reader")


def put(site, assignment, body):
    """Make this the text of an item."""
    with closing(sqlite3.connect(site.database, timeout=20)) as connection, connection:
        connection.execute(
            "update annotation_text set body = ?, sha256 = ? where id = (select i.text_id from"
            " annotation_item i join annotation_assignment a on a.item_id = i.id where a.id = ?)",
            (body, hashlib.sha256(body.encode()).hexdigest(), assignment),
        )


def units(words):
    """How many UTF-16 units the words have."""
    return len(words.encode("utf-16-le", "surrogatepass")) // 2


def span_of(body, start, end):
    """The code points between two places in UTF-16 units, white space at the ends left out.

    Whoever selects half of a surrogate pair has selected it. None if no word is left.
    """
    begins = [0]
    for sign in body:
        begins.append(begins[-1] + units(sign))
    first, last = (sum(begin < place for begin in begins) for place in (start, end))
    if begins[min(first, len(body))] > start:
        first -= 1
    span = [
        index
        for index in range(first, last)
        if not (body[index].isspace() or body[index] == "\ufeff")
    ]
    return (span[0], span[-1] + 1) if start < end and span else None


def kept_of(body, selections):
    """The spans that selections leave on a question, one after the other: none within another."""
    kept = []
    for start, end, *_ in selections:
        span = span_of(body, start, end)
        if span and not any(a <= span[0] and span[1] <= b for a, b in kept):
            kept.append(span)
    return sorted(kept)


@st.composite
def selected_texts(draw):
    """A text of several words, and up to three selections in it."""
    body = draw(any_words)
    place = st.integers(0, units(body))
    selection = st.tuples(place, place, st.booleans(), st.booleans())
    selections = draw(st.lists(selection, min_size=1, max_size=3))
    return body, [(min(a, b), max(a, b), *how) for a, b, *how in selections]


def by_thirds(body):
    """A text with three selections: all of it, and two that begin and end in the middle of things."""
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


def each(values):
    """Try a test on each of these values, whatever is drawn."""

    def tried(test):
        for value in values:
            test = example(chosen=value)(test)
        return test

    return tried


def test_what_is_selected_is_kept_and_drawn_again_sign_by_sign(reader, site, items):
    page = reader.open("/work/")

    @settings(
        max_examples=DRAWN,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(chosen=selected_texts())
    @each([*map(by_thirds, NASTY), *PAIRS])
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

        wanted = kept_of(body, selections)
        rows = site.rows(
            "select spans from annotation_answer where assignment_id = ? order by id desc limit 1",
            item,
        )
        kept = [(s["start"], s["end"], s["quote"]) for s in json.loads(rows[0][0])] if rows else []
        assert [(start, end) for start, end, _ in kept] == wanted
        assert all(body[start:end] == quote for start, end, quote in kept)

        drawn = [[units(body[:start]), body[start:end]] for start, end in wanted]
        assert sorted(page.evaluate(_DRAWN)) == drawn
        page.reload()
        assert sorted(page.evaluate(_DRAWN)) == drawn

    select_and_reload()
    assert next(items)  # none was used twice


def test_a_selection_of_the_whole_page_marks_the_text_alone(reader, site, items):
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
