"""Templates are read by people too: what the formatter leaves long is cut by hand."""

from tests.toolbox.paths import TEMPLATES

LONGEST = 120


def test_template_lines_fit_in_120():
    lines = [
        (path, number, line)
        for path in sorted(TEMPLATES.rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
    ]
    assert lines
    assert [f"{path}:{n}: {len(line)}" for path, n, line in lines if len(line) > LONGEST] == []
