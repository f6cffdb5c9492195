"""Templates are read by people too: what the formatter leaves long is cut by hand."""

from pathlib import Path

import pytest

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
LONGEST = 120


# Those of annotation/ are still to come.
@pytest.mark.parametrize("app", ["", "crux_site", "evaluation", "judging"])
def test_no_line_of_a_template_is_longer_than_120(app):
    files = (TEMPLATES / app).rglob("*.html") if app else TEMPLATES.glob("*.html")
    lines = [
        (path, number, line)
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), start=1)
    ]
    assert lines
    assert [f"{path}:{n}: {len(line)}" for path, n, line in lines if len(line) > LONGEST] == []
