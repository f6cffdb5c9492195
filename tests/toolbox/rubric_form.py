"""Data of the form that makes a rubric."""

TONE = {
    "slug": "tone",
    "title": "Tone",
    "question": "How does it sound?",
    "scale": "nominal",
    "shows": ["text"],
    "eta": "",
    "span_from": "",
    "impossible": "",
    "guideline": "Listen.",
}
LEVELS = [
    {"grade": "1", "label": "Warm", "name": "warm", "key": "w", "colour": "blue"},
    {"grade": "", "label": "", "name": "", "key": "", "colour": ""},  # left empty: no level
    {"grade": "0", "label": "Dry", "name": "", "key": "", "colour": ""},
]
EXAMPLES = [
    {"grade": "1", "text": "So good to see you!", "question": "", "reason": "It is a welcome."},
    {"grade": "", "text": "", "question": "", "reason": ""},  # left empty: no example
    {
        "grade": "1",
        "text": "Dear all,\r\nthank you!",
        "question": "Is it kind?",
        "reason": "Thanks.",
    },
]


def rubric_form_data(levels=LEVELS, examples=(), **changes):
    return TONE | _rows("levels", levels) | _rows("examples", examples) | changes


def _rows(prefix, rows):
    sent = {
        f"{prefix}-{n}-{name}": value for n, row in enumerate(rows) for name, value in row.items()
    }
    return {f"{prefix}-TOTAL_FORMS": len(rows), f"{prefix}-INITIAL_FORMS": 0} | sent
