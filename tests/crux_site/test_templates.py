"""Templates are read by people too: what the formatter leaves long is cut by hand."""

from pathlib import Path

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
LONGEST = 120


def test_no_line_of_a_template_is_longer_than_120():
    lines = [
        (path, number, line)
        for path in sorted(TEMPLATES.rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
    ]
    assert lines
    assert [f"{path}:{n}: {len(line)}" for path, n, line in lines if len(line) > LONGEST] == []
