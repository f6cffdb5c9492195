"""Material of tests of spans: strategies, and a parser of rendered texts."""

import json
from html.parser import HTMLParser

from hypothesis import example
from hypothesis import strategies as st


def with_examples(**values):
    """Decorate a Hypothesis test with an explicit example for each of these values."""
    [(name, examples)] = values.items()

    def decorated(test):
        for value in examples:
            test = example(**{name: value})(test)
        return test

    return decorated


def ends_of(body):
    """Draw two offsets in a text, in ascending order."""
    ends = st.integers(0, len(body))
    return st.tuples(ends, ends).map(sorted)


class Reading(HTMLParser):
    """Parser of a page: its characters as in the DOM, each with its labels and sentence."""

    def __init__(self, html):
        super().__init__(convert_charrefs=False)
        self.signs = []
        self.labels = ()
        self.sentence = None
        self.number = 0
        self.inside = None  # how deep in the text; None outside of it
        self.fields = []
        self.feed(html)
        self.close()

    @property
    def text(self):
        return "".join(sign for sign, _, _ in self.signs)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "input" and attrs.get("name") == "spans":
            self.fields.append(json.loads(attrs["value"]))
        if attrs.get("id") == "text":
            self.inside = 0
        elif self.inside is not None and tag in ("div", "p", "span", "mark"):
            self.inside += 1
        if tag == "span" and "sentence" in attrs.get("class", ""):
            self.number += 1
            self.sentence = self.number
        if tag == "mark":
            self.labels = tuple(attrs["data-label"].split())

    def handle_endtag(self, tag):
        if self.inside is not None and tag in ("div", "p", "span", "mark"):
            self.inside = self.inside - 1 if self.inside else None
        if tag == "mark":
            self.labels = ()
        if tag == "span":
            self.sentence = None

    def take(self, signs):
        if self.inside is not None:
            self.signs += [(sign, self.labels, self.sentence) for sign in signs]

    def handle_data(self, data):
        self.take(data.replace("\r\n", "\n").replace("\r", "\n"))  # as browsers read a file

    def handle_charref(self, name):
        self.take(chr(int(name[1:], 16) if name[0] in "xX" else int(name)))

    def handle_entityref(self, name):
        self.take({"amp": "&", "lt": "<", "gt": ">", "quot": '"'}[name])
