"""Data of the form that makes a rubric."""

TONE = {
    "slug": "tone",
    "title": "Tone",
    "question": "How does it sound?",
    "scale": "nominal",
    "shows": ["text"],
    "eta": "",
    "span_from": "",
    "guideline": "Listen.",
}
LEVELS = [
    {"grade": "1", "label": "Warm", "name": "warm", "key": "w", "colour": "blue"},
    {"grade": "", "label": "", "name": "", "key": "", "colour": ""},  # left empty: no level
    {"grade": "0", "label": "Dry", "name": "", "key": "", "colour": ""},
]


def rubric_form_data(levels=LEVELS, **changes):
    rows = {
        f"levels-{n}-{name}": value for n, row in enumerate(levels) for name, value in row.items()
    }
    return TONE | {"levels-TOTAL_FORMS": len(levels), "levels-INITIAL_FORMS": 0} | rows | changes
